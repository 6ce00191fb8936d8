package platform_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/feeds"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// An overtakenStore belongs to a replica whose operation is overtaken by one of another replica.
// The other one begins when the first reaches a step, and either ends, or waits for a lock.
type overtakenStore struct {
	platform.Store
	step  string
	once  sync.Once
	other func()
}

// reach begins the other operation if this is the step.
func (s *overtakenStore) reach(step string) {
	if step == s.step {
		s.once.Do(s.other)
	}
}

// reachIn begins it if this is the step, and runs in a transaction.
func (s *overtakenStore) reachIn(on core.Conn, step string) {
	if _, isIn := on.(core.Tx); isIn {
		s.reach(step)
	}
}

// overtakenQueries are the queries of a overtakenStore.
type overtakenQueries struct {
	inventory.ImageQueries
	iam.IssuerQueries
	inventory.RepoQueries
	iam.SignInQueries
	inventory.TagQueries
	store *overtakenStore
}

// overtakenFeeds are the queries of its imports of feeds.
type overtakenFeeds struct {
	feeds.Queries
	store *overtakenStore
}

// overtakenImports are the queries of its imports.
type overtakenImports struct {
	registry.Queries
	store *overtakenStore
}

func (s *overtakenStore) Tables() platform.Tables {
	all := s.Store.Tables()
	queries := overtakenQueries{all.Inventory.ImageQueries, all.IAM.IssuerQueries, all.Inventory.RepoQueries, all.IAM.SignInQueries, all.Inventory.TagQueries, s}
	all.Inventory.ImageQueries, all.IAM.IssuerQueries, all.Inventory.RepoQueries, all.IAM.SignInQueries, all.Inventory.TagQueries = queries, queries, queries, queries, queries
	all.Registry.Queries = overtakenImports{all.Registry.Queries, s}
	all.Feeds.Queries = overtakenFeeds{all.Feeds.Queries, s}
	return all
}

func (q overtakenQueries) Candidates(ctx context.Context, on core.Conn, b iam.Bearer) ([]iam.Candidate, []iam.SignInOption, error) {
	defer q.store.reach("candidates")
	return q.SignInQueries.Candidates(ctx, on, b)
}

func (q overtakenImports) TagsOfSource(ctx context.Context, on core.Conn, from registry.RepoSource) ([]*inventory.Tag, error) {
	defer q.store.reach("tags of source")
	return q.Queries.TagsOfSource(ctx, on, from)
}

func (s *overtakenStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	return s.Store.Write(ctx, func(tx core.Tx) error {
		if err := unit(tx); err != nil {
			return err
		}
		s.reach("commit")
		return nil
	})
}

func (q overtakenQueries) IssuerProof(ctx context.Context, on core.Conn, root core.UID, issuer string) (*iam.IssuerProof, error) {
	defer q.store.reachIn(on, "proof")
	return q.IssuerQueries.IssuerProof(ctx, on, root, issuer)
}

func (q overtakenFeeds) AdvisoriesInheriting(ctx context.Context, on core.Conn, names []string) ([]*inventory.Advisory, error) {
	defer q.store.reachIn(on, "inheriting advisories")
	return q.Queries.AdvisoriesInheriting(ctx, on, names)
}

func (q overtakenFeeds) AdvisoriesOfRecords(ctx context.Context, on core.Conn, of feeds.AdvisoryRecords) ([]*inventory.Advisory, error) {
	defer q.store.reachIn(on, "advisories")
	return q.Queries.AdvisoriesOfRecords(ctx, on, of)
}

func (q overtakenQueries) Images(ctx context.Context, on core.Conn, keys inventory.ImageKeys) ([]*inventory.Image, error) {
	defer q.store.reachIn(on, "images")
	return q.ImageQueries.Images(ctx, on, keys)
}

func (q overtakenQueries) TagsByName(ctx context.Context, on core.Conn, names inventory.TagNames) ([]*inventory.Tag, error) {
	defer q.store.reachIn(on, "tags")
	return q.TagQueries.TagsByName(ctx, on, names)
}

func (q overtakenQueries) Readmes(ctx context.Context, on core.Conn, keys core.Keys) ([]*inventory.Readme, error) {
	defer q.store.reachIn(on, "readmes")
	return q.RepoQueries.Readmes(ctx, on, keys)
}

// overtake returns a replica whose first operation is overtaken at a step by another one, and a
// function that waits until the other one has ended.
func (w *world) overtake(t *testing.T, step string, o platform.Options, other func() error) (p *platform.Platform, wait func()) {
	t.Helper()
	store, ended := &overtakenStore{Store: w.store}, make(chan error, 1)
	p = w.replica(store, o)
	store.step, store.other = step, func() {
		go func() { ended <- other() }()
		waitFor(t, func() bool { return len(ended) > 0 || w.waitsForLock() })
	}
	return p, func() { must(t, <-ended) }
}

// waitsForLock reports whether a transaction on PostgreSQL waits for another one.
func (w *world) waitsForLock() (waits bool) {
	w.Helper()
	if w.isSQLite() {
		return false
	}
	must(w, w.raw().QueryRowContext(w.Context(), "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&waits))
	return waits
}

func (w *world) isSQLite() bool { return strings.HasPrefix(w.url, "sqlite:") }

// onPostgres runs a test whose transactions overlap. SQLite has one writer at a time.
func onPostgres(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.isSQLite() {
			t.Skip("SQLite has one writer at a time")
		}
		test(t, w)
	})
}

func TestARecheckKeepsAConcurrentDecisionOfTheOperator(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		served, acme := w.strict(), w.found("acme")
		provider := w.providerBy(acme.owner, acme.uid)
		served[workplace] = []core.UID{acme.uid}
		_, err := w.p.IdentityProviders.Verify(acme.owner, provider.UID)
		must(t, err)
		served[workplace] = nil
		w.pass(25 * time.Hour)
		other, wait := w.overtake(t, "proof", platform.Options{IssuerFile: served.read}, func() error { return w.p.Issuers.Allow(w.operator(), acme.uid, workplace) })
		must(t, other.Issuers.Recheck(t.Context()))
		wait()
		got, err := w.p.IdentityProviders.Get(acme.owner, provider.UID)
		must(t, err)
		if !got.IssuerVerified {
			t.Error("the operator allowed the issuer, and the recheck removed that")
		}
	})
}

// A user who signs in for the first time gets the default role that the provider has then.
func TestAFirstSignInGivesTheDefaultRoleOfTheMoment(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		provider := w.providerOf(acme.uid, workplace, iam.OwnerRole)
		lower := func() error {
			_, err := w.p.IdentityProviders.Update(acme.owner, provider.UID, body[*iam.IdentityProvider](`{"defaultRole": %q}`, iam.ViewerRole))
			return err
		}
		other, wait := w.overtake(t, "candidates", platform.Options{AllowIssuers: true}, lower)
		_, err := other.Authenticate(w.Context(), visitor("bob", nil))
		must(t, err)
		wait()
		_, bob := w.enter(visitor("bob", nil))
		_, err = w.p.Repos.Create(bob, acme.uid, body[*inventory.Repo](`{"name": "x"}`))
		expectRefused(t, "a viewer who makes a repo", err, core.CodePermissionDenied)
	})
}

func TestADeletedProviderAdmitsNobody(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		provider := w.providerOf(acme.uid, workplace, iam.OwnerRole)
		other, wait := w.overtake(t, "candidates", platform.Options{AllowIssuers: true}, func() error { return w.p.IdentityProviders.Delete(acme.owner, provider.UID) })
		_, err := other.Authenticate(w.Context(), visitor("bob", nil))
		expectRefused(t, "a sign-in", err, core.CodeUnauthenticated)
		wait()
		page, err := w.p.RoleBindings.List(acme.owner, core.ListRequest[*iam.RoleBindingFilter]{})
		must(t, err)
		if page.TotalCount != 1 {
			t.Errorf("%d bindings, want that of the owner", page.TotalCount)
		}
	})
}

// highSeverity and lowSeverity are scores with these ratings.
var (
	highSeverity = []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}}
	lowSeverity  = []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "CVSS:3.1/AV:L/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N"}}
)

// Imports of advisories and vulnerabilities must not undo each other, whatever their order.
func TestConcurrentImportsOfFeedsKeepEachOther(t *testing.T) {
	for _, c := range []struct {
		name, step    string
		before        *inventory.Advisory // stored before, or nil
		first, second any                 // the import that is overtaken, and the other one
		check         func(t *testing.T, a *inventory.Advisory)
	}{
		{
			"a withdrawn advisory stays withdrawn", "inheriting advisories", &inventory.Advisory{},
			lowSeverity, &inventory.Advisory{DeleteTime: core.At(epoch)},
			func(t *testing.T, a *inventory.Advisory) {
				if a != nil {
					t.Errorf("it is listed: %+v", a)
				}
			},
		},
		{
			"an advisory keeps its own severities", "inheriting advisories", &inventory.Advisory{},
			lowSeverity, &inventory.Advisory{Severities: highSeverity},
			func(t *testing.T, a *inventory.Advisory) {
				if len(a.Severities) != 1 || a.Severity.Rating != core.SeverityCritical {
					t.Errorf("it has %+v, rated %+v", a.Severities, a.Severity)
				}
			},
		},
		{
			"an advisory inherits from a vulnerability of the same time", "commit", nil,
			&inventory.Advisory{}, highSeverity,
			func(t *testing.T, a *inventory.Advisory) {
				if a.Severity.Rating != core.SeverityCritical {
					t.Errorf("it is rated %+v", a.Severity)
				}
			},
		},
		{
			"an older record does not replace a newer one", "advisories", &inventory.Advisory{Author: "first", UpdateTime: core.At(epoch.AddDate(0, 0, 1))},
			&inventory.Advisory{Author: "older", UpdateTime: core.At(epoch.AddDate(0, 0, 2))}, &inventory.Advisory{Author: "newest", UpdateTime: core.At(epoch.AddDate(0, 0, 3))},
			func(t *testing.T, a *inventory.Advisory) {
				if a.Author != "newest" {
					t.Errorf("it is by %q, want newest", a.Author)
				}
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			onPostgres(t, func(t *testing.T, w *world) {
				acme := w.found("acme")
				load := func(p *platform.Platform, what any) error {
					switch what := what.(type) {
					case *inventory.Advisory:
						record := *what
						record.AdvisoryID, record.ArtifactName, record.Aliases = "A-1", "a", []string{"CVE-1"}
						_, err := p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{&record})
						return err
					default:
						_, err := p.Feeds.ImportVulnerabilities(w.operator(), []*inventory.Vulnerability{{ID: "CVE-1", Severities: what.([]inventory.Severity)}})
						return err
					}
				}
				if c.before != nil {
					must(t, load(w.p, c.before))
				}
				other, wait := w.overtake(t, c.step, platform.Options{}, func() error { return load(w.p, c.second) })
				must(t, load(other, c.first))
				wait()
				page, err := w.p.Advisories.List(acme.owner, core.ListRequest[*inventory.AdvisoryFilter]{})
				must(t, err)
				var found *inventory.Advisory
				if len(page.Items) > 0 {
					found = page.Items[0]
				}
				c.check(t, found)
				w.checkCounters()
			})
		})
	}
}

// A tag that a caller has moved is not the import's any more: a prune must keep it.
func TestAPruneKeepsATagThatACallerHasTakenOver(t *testing.T) {
	const source = "ghcr.io/a/b"
	move := func(w *world, acme org, repo core.UID) func() error {
		return func() error {
			_, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`{"name": "v1", "digest": %q}`, digest(2)))
			return err
		}
	}
	load := func(p *platform.Platform, w *world, repo core.UID) error {
		_, err := p.Registry.ImportTags(w.operator(), []*registry.ImportedTag{{Repo: repo, Tag: inventory.Tag{Name: "v1", Digest: digest(1), Source: source}}}, core.ImportOptions{})
		return err
	}
	prune := func(t *testing.T, p *platform.Platform, w *world, repo core.UID) {
		t.Helper()
		if n, err := p.Registry.PruneTags(w.operator(), registry.RepoSource{Repo: repo, Source: source}, nil, core.ImportOptions{}); err != nil || n != 0 {
			t.Errorf("the prune removes %d tags, %v, although the only one is a caller's", n, err)
		}
	}
	t.Run("while it is pruned", func(t *testing.T) {
		onEachEngine(t, func(t *testing.T, w *world) {
			acme := w.found("acme")
			repo := w.repo(acme.uid)
			must(t, load(w.p, w, repo))
			other, wait := w.overtake(t, "tags of source", platform.Options{}, move(w, acme, repo))
			prune(t, other, w, repo)
			wait()
		})
	})
	t.Run("while it is imported", func(t *testing.T) {
		onPostgres(t, func(t *testing.T, w *world) {
			acme := w.found("acme")
			repo := w.repo(acme.uid)
			_, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`{"name": "v1", "digest": %q}`, digest(1)))
			must(t, err)
			other, wait := w.overtake(t, "tags", platform.Options{}, move(w, acme, repo))
			must(t, load(other, w, repo))
			wait()
			prune(t, w.p, w, repo)
		})
	})
}

// The records of a repo that is deleted during an import are rejected, and the others are stored.
func TestAnImportOutlastsTheDeletionOfARepo(t *testing.T) {
	for step, load := range map[string]func(w *world, p *platform.Platform, repos []core.UID) (core.Imported, error){
		"tags": func(w *world, p *platform.Platform, repos []core.UID) (core.Imported, error) {
			tag := inventory.Tag{Name: "v1", Digest: digest(1)}
			return p.Registry.ImportTags(w.operator(), []*registry.ImportedTag{{Repo: repos[0], Tag: tag}, {Repo: repos[1], Tag: tag}}, core.ImportOptions{})
		},
		"images": func(w *world, p *platform.Platform, repos []core.UID) (core.Imported, error) {
			return p.Registry.ImportImages(w.operator(), []*inventory.Image{{Repo: repos[0], Digest: digest(1)}, {Repo: repos[1], Digest: digest(1)}})
		},
	} {
		t.Run(step, func(t *testing.T) {
			onPostgres(t, func(t *testing.T, w *world) {
				acme := w.found("acme")
				repos := []core.UID{w.repo(acme.uid), w.repo(acme.uid)}
				other, wait := w.overtake(t, step, platform.Options{}, func() error { return w.p.Repos.Delete(acme.owner, repos[1]) })
				done, err := load(w, other, repos)
				if err != nil || done.Added != 1 || len(done.Rejected) != 1 || done.Rejected[1] == nil {
					t.Errorf("%+v, %v, want that the second record is rejected", done, err)
				}
				wait()
				w.checkCounters()
			})
		})
	}
}

// An import of names and digests must not undo a deprecation that comes at the same time.
func TestAnImportOfNamesKeepsAConcurrentDeprecation(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		set := func(deprecated bool) error {
			_, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`{"name": "v1", "digest": %q, "deprecated": %t}`, digest(1), deprecated))
			return err
		}
		must(t, set(false))
		other, wait := w.overtake(t, "tags", platform.Options{}, func() error { return set(true) })
		moved := &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: "v1", Digest: digest(2), Source: "ghcr.io/a/b"}}
		_, err := other.Registry.ImportTags(w.operator(), []*registry.ImportedTag{moved}, core.ImportOptions{NamesOnly: true})
		must(t, err)
		wait()
		page, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{})
		must(t, err)
		if tag := page.Items[0]; !tag.Deprecated || tag.Digest != digest(2) {
			t.Errorf("the tag is %+v, want digest 2, deprecated", tag)
		}
		w.checkCounters()
	})
}

// The audit log says what each change has replaced, also if two come at the same time.
func TestConcurrentChangesOfAReadmeAreRecordedInTheirOrder(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		write := func(p *platform.Platform, content string) error {
			_, err := p.Repos.UpdateReadme(acme.owner, repo, body[*inventory.Readme](`{"content": %q}`, content))
			return err
		}
		other, wait := w.overtake(t, "readmes", platform.Options{}, func() error { return write(w.p, "second") })
		must(t, write(other, "first"))
		wait()
		log, err := w.p.AuditLog.List(acme.owner, events.AuditRequest{DescendantsOf: repo, PageSize: 2})
		must(t, err)
		replaced := map[string]string{}
		for _, e := range log.Items {
			replaced[string(e.Changes[0].After)] = string(e.Changes[0].Before)
		}
		if replaced[`"first"`] == replaced[`"second"`] {
			t.Errorf("both changes replace %s", replaced[`"first"`])
		}
	})
}
