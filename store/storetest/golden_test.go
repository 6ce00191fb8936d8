package storetest_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"atrium/platform"
	"atrium/store/storetest"
)

var update = flag.Bool("update", false, "write the SQL of lists to testdata/lists")

// The files of testdata/lists have the SQL of lists of each kind on each engine, so that a search for it finds the kind,
// and a change of the code that puts it together shows what it changes. After such a change,
//
//	scripts/with-postgres go test ./store/storetest -run TestTheSQLOfListsIsKnown -update
//
// writes them anew.
func TestTheSQLOfListsIsKnown(t *testing.T) {
	t.Parallel()
	var lock sync.Mutex
	byKind := map[string]map[string]string{} // then by engine
	t.Run("on", func(t *testing.T) {
		storetest.EachURL(t, func(t *testing.T, url string) {
			listed := listEachKind(t, newWorld(t, url))
			lock.Lock()
			defer lock.Unlock()
			for kind, text := range listed {
				if byKind[kind] == nil {
					byKind[kind] = map[string]string{}
				}
				byKind[kind][filepath.Base(t.Name())] = text
			}
		})
	})
	for kind, texts := range byKind {
		var file strings.Builder
		for _, engine := range slices.Sorted(maps.Keys(texts)) {
			file.WriteString("-- " + strings.ToUpper(engine) + "\n" + texts[engine] + "\n")
		}
		compareWithFile(t, filepath.Join("testdata", "lists", kind+".sql"), file.String())
	}
}

// compareWithFile compares a text with a file, or writes the file.
func compareWithFile(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not the SQL of today, which is:\n%s", name, got)
	}
}

// listEachKind lists each kind, and returns the SQL of that by kind.
func listEachKind(t *testing.T, w *world) map[string]string {
	t.Helper()
	ctx, org := w.createOrganisation("acme")
	p := w.replica(w.newSpy())
	root := org.Group.UID
	wide, groups := descendantsOf(root), []platform.UIDFilter{childrenOf(root), childrenOf(w.group(ctx, root, "below"))}
	repos := []platform.UIDFilter{childrenOf(w.repo(ctx, root, "one")), childrenOf(w.repo(ctx, root, "two"))}
	changed := platform.ChangeFilter{UpdatedSince: platform.At(epoch)}
	g := golden{t, ctx, map[string]string{}}
	addSQL(g, p.Groups, wide, groups, &platform.GroupFilter{Query: "word", ChangeFilter: changed})
	addSQL(g, p.Identities, wide, groups, &platform.IdentityFilter{Query: "word"})
	addSQL(g, p.Roles, wide, groups, &platform.RoleFilter{Capabilities: []platform.Capability{platform.CapTagList}})
	addSQL(g, p.RoleBindings, wide, groups, &platform.RoleBindingFilter{Capability: platform.CapTagList})
	addSQL(g, p.IdentityProviders, wide, groups, &platform.IdentityProviderFilter{ChangeFilter: changed})
	addSQL(g, p.AccountAssociations, wide, groups, &platform.AccountAssociationFilter{Name: "one"})
	addSQL(g, p.GroupInvites, wide, groups, &platform.GroupInviteFilter{KeyID: "0123456789abcdef"})
	addSQL(g, p.ExternalGroupRoleMappings, wide, groups, &platform.ExternalGroupRoleMappingFilter{ExternalGroupID: "staff"})
	addSQL(g, p.Repos, wide, groups, &platform.RepoFilter{Tags: &platform.TagCondition{Name: "latest"}})
	addSQL(g, p.Tags, wide, repos, &platform.TagFilter{Digest: digests[0]})
	addSQL(g, p.Advisories, wide, groups, &platform.AdvisoryFilter{Severities: []platform.SeverityRating{platform.SeverityHigh}, Aliases: []string{"CVE-1"}})
	addSQL(g, p.Findings, wide, repos, &platform.FindingFilter{Query: "word"})
	addSQL(g, p.Subscriptions, wide, groups, &platform.SubscriptionFilter{Sink: "https://sink.example.com"})
	addSQL(g, p.Deliveries, wide, groups, &platform.DeliveryFilter{State: platform.DeliveryPending})
	addSQL(g, p.Vulnerabilities, platform.UIDFilter{}, nil, &platform.VulnerabilityFilter{ID: "CVE-1"})
	addSQL(g, allArtifacts{p.Artifacts}, platform.UIDFilter{}, nil, &platform.ArtifactFilter{Query: "word", Ecosystems: bothEcosystems})
	addSQL(g, p.ArtifactVersions, platform.UIDFilter{}, repos, &platform.ArtifactVersionFilter{})
	addSQL(g, heldPackages{p.Packages}, wide, nil, &platform.PackageFilter{Query: "word"})
	addSQL(g, p.PackageVersions, wide, nil, &platform.PackageVersionFilter{Versions: []string{"1"}})
	return g.byKind
}

// heldPackages lists the packages that images in a group hold, which is how they are listed.
type heldPackages struct{ platform.Packages }

func (p heldPackages) List(ctx context.Context, req platform.ListRequest[*platform.PackageFilter]) (platform.Page[*platform.Package], error) {
	within := req.UIDP.DescendantsOf
	req.UIDP = platform.UIDFilter{}
	return p.ListHeld(ctx, within, req)
}

// allArtifacts lists artifacts, for which a list must name their ecosystems.
type allArtifacts struct{ platform.Artifacts }

func (a allArtifacts) List(ctx context.Context, req platform.ListRequest[*platform.ArtifactFilter]) (platform.Page[*platform.Artifact], error) {
	req.Filter = cmp.Or(req.Filter, &platform.ArtifactFilter{Ecosystems: bothEcosystems})
	return a.Artifacts.List(ctx, req)
}

// A golden collects the SQL of lists.
type golden struct {
	t      *testing.T
	ctx    context.Context //nolint:containedctx // the context of the caller who lists
	byKind map[string]string
}

// listedKind has the operations that read lists of a kind.
type listedKind[T, F any] interface {
	List(context.Context, platform.ListRequest[F]) (platform.Page[T], error)
	ListEach(context.Context, platform.ListRequest[F], []platform.UIDFilter) ([]platform.Page[T], []error)
	Kind() *platform.Kind[T]
}

// addSQL adds the SQL of a list of a kind in a scope, of one for each of several parents, and of one with a filter.
func addSQL[T, F any](g golden, ops listedKind[T, F], scope platform.UIDFilter, parents []platform.UIDFilter, filter F) {
	g.t.Helper()
	var text strings.Builder
	add := func(title string, list func(ctx context.Context) error) {
		statements, err := recordStatements(g.ctx, list)
		if err != nil {
			g.t.Errorf("%s, %s: %v", ops.Kind().Plural, title, err)
		}
		text.WriteString("\n-- " + title + "\n")
		for _, s := range statements {
			if !strings.HasPrefix(s.SQL, "SELECT 1 FROM grp ") { // it looks for the scope of an empty list
				text.WriteString(breakLines(s.SQL) + ";\n")
			}
		}
	}
	request := platform.ListRequest[F]{UIDP: scope}
	add("a list", func(ctx context.Context) error {
		_, err := ops.List(ctx, request)
		return err
	})
	if len(parents) > 0 {
		add(fmt.Sprintf("lists of %d parents", len(parents)), func(ctx context.Context) error {
			_, errs := ops.ListEach(ctx, platform.ListRequest[F]{}, parents)
			return errs[0]
		})
	}
	request.Filter = filter
	add("a list with a filter", func(ctx context.Context) error {
		_, err := ops.List(ctx, request)
		return err
	})
	g.byKind[ops.Kind().Plural] = text.String()
}

// breakLines begins a line with each clause of a statement that is in no parentheses.
func breakLines(sql string) string {
	var lines strings.Builder
	depth := 0
	for at, letter := range sql {
		switch letter {
		case '(':
			depth++
		case ')':
			depth--
		case ' ':
			if depth == 0 && beginsClause.MatchString(sql[at+1:]) && !strings.HasSuffix(sql[:at], " CROSS") && !strings.HasSuffix(sql[:at], " LEFT") {
				lines.WriteString("\n ")
			}
		}
		lines.WriteRune(letter)
	}
	return lines.String()
}

var beginsClause = regexp.MustCompile(`^(FROM|WHERE|AND|ORDER BY|UNION ALL|(CROSS |LEFT )?JOIN) `)
