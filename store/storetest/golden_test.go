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

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/webhooks"
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
	ctx, org := w.createOrganization("acme")
	p := w.replica(w.newSpy())
	root := org.Group.UID
	wide, groups := descendantsOf(root), []core.UIDFilter{childrenOf(root), childrenOf(w.group(ctx, root, "below"))}
	repos := []core.UIDFilter{childrenOf(w.repo(ctx, root, "one")), childrenOf(w.repo(ctx, root, "two"))}
	changed := core.ChangeFilter{UpdatedSince: core.At(epoch)}
	g := golden{t, ctx, map[string]string{}}
	addSQL(g, p.Groups, wide, groups, &iam.GroupFilter{Query: "word", ChangeFilter: changed})
	addSQL(g, p.Identities, wide, groups, &iam.IdentityFilter{Query: "word"})
	addSQL(g, p.Roles, wide, groups, &iam.RoleFilter{Capabilities: []core.Capability{core.CapTagList}})
	addSQL(g, p.RoleBindings, wide, groups, &iam.RoleBindingFilter{Capability: core.CapTagList})
	addSQL(g, p.IdentityProviders, wide, groups, &iam.IdentityProviderFilter{ChangeFilter: changed})
	addSQL(g, p.AccountAssociations, wide, groups, &iam.AccountAssociationFilter{Name: "one"})
	addSQL(g, p.GroupInvites, wide, groups, &iam.GroupInviteFilter{KeyID: "0123456789abcdef"})
	addSQL(g, p.ExternalGroupRoleMappings, wide, groups, &iam.ExternalGroupRoleMappingFilter{ExternalGroupID: "staff"})
	addSQL(g, p.Repos, wide, groups, &inventory.RepoFilter{Tags: &core.TagCondition{Name: "latest"}})
	addSQL(g, p.Tags, wide, repos, &inventory.TagFilter{Digest: digests[0]})
	addSQL(g, p.Advisories, wide, groups, &inventory.AdvisoryFilter{Severities: []core.SeverityRating{core.SeverityHigh}, Aliases: []string{"CVE-1"}})
	addSQL(g, p.Findings, wide, repos, &inventory.FindingFilter{Query: "word"})
	addSQL(g, p.Subscriptions, wide, groups, &webhooks.SubscriptionFilter{Sink: "https://sink.example.com"})
	addSQL(g, p.Deliveries, wide, groups, &webhooks.DeliveryFilter{State: webhooks.DeliveryPending})
	addSQL(g, p.Vulnerabilities, core.UIDFilter{}, nil, &inventory.VulnerabilityFilter{ID: "CVE-1"})
	addSQL(g, allArtifacts{p.Artifacts}, core.UIDFilter{}, nil, &libraries.ArtifactFilter{Query: "word", Ecosystems: bothEcosystems})
	addSQL(g, p.ArtifactVersions, core.UIDFilter{}, repos, &libraries.ArtifactVersionFilter{})
	addSQL(g, heldPackages{p.Packages}, wide, nil, &inventory.PackageFilter{Query: "word"})
	addSQL(g, p.PackageVersions, wide, nil, &inventory.PackageVersionFilter{Versions: []string{"1"}})
	return g.byKind
}

// heldPackages lists the packages that images in a group hold, which is how they are listed.
type heldPackages struct{ inventory.Packages }

func (p heldPackages) List(ctx context.Context, req core.ListRequest[*inventory.PackageFilter]) (core.Page[*inventory.Package], error) {
	within := req.UIDP.DescendantsOf
	req.UIDP = core.UIDFilter{}
	return p.ListHeld(ctx, within, req)
}

// allArtifacts lists artifacts, for which a list must name their ecosystems.
type allArtifacts struct{ libraries.Artifacts }

func (a allArtifacts) List(ctx context.Context, req core.ListRequest[*libraries.ArtifactFilter]) (core.Page[*libraries.Artifact], error) {
	req.Filter = cmp.Or(req.Filter, &libraries.ArtifactFilter{Ecosystems: bothEcosystems})
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
	List(context.Context, core.ListRequest[F]) (core.Page[T], error)
	ListEach(context.Context, core.ListRequest[F], []core.UIDFilter) ([]core.Page[T], []error)
	Kind() *core.Kind[T]
}

// addSQL adds the SQL of a list of a kind in a scope, of one for each of several parents, and of one with a filter.
func addSQL[T, F any](g golden, ops listedKind[T, F], scope core.UIDFilter, parents []core.UIDFilter, filter F) {
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
	request := core.ListRequest[F]{UIDP: scope}
	add("a list", func(ctx context.Context) error {
		_, err := ops.List(ctx, request)
		return err
	})
	if len(parents) > 0 {
		add(fmt.Sprintf("lists of %d parents", len(parents)), func(ctx context.Context) error {
			_, errs := ops.ListEach(ctx, core.ListRequest[F]{}, parents)
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
