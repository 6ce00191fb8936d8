package storetest_test

import (
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store"
	"atrium/store/storetest"
)

// A pooler before PostgreSQL may need another query mode, which finds out types
// differently.
func TestEveryQueryModeReadsAndWritesTheSame(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, storetest.Postgres(t))
			s, err := store.Open(t.Context(), w.url, store.Options{QueryMode: mode, MaxConnections: 4})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			w.store, w.p = s, w.replica(s)
			w.checkReadsAndWrites(t)
		})
	}
}

// The attack is a database whose transactions see only what was committed before they began. A
// transaction that has waited for a lock would not see what was committed meanwhile.
func TestWritersAreReadCommittedInEveryDatabase(t *testing.T) {
	t.Parallel()
	for _, isolation := range []string{"repeatable read", "serializable"} {
		t.Run(isolation, func(t *testing.T) {
			t.Parallel()
			w := &world{t: t, url: storetest.Postgres(t)}
			for _, statement := range []string{
				"CREATE FUNCTION check_isolation() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN" +
					" ASSERT current_setting('transaction_isolation') = 'read committed', 'the isolation is ' || current_setting('transaction_isolation'); RETURN NEW; END $$",
				"CREATE TRIGGER isolation BEFORE INSERT OR UPDATE ON repo FOR EACH ROW EXECUTE FUNCTION check_isolation()",
				"CREATE TRIGGER isolation BEFORE INSERT OR UPDATE ON event FOR EACH ROW EXECUTE FUNCTION check_isolation()",
				"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', current_database(), '" + isolation + "'); END $$",
			} {
				w.exec(w.openDirect(), statement)
			}
			newWorld(t, w.url).checkReadsAndWrites(t)
		})
	}
}

func (w *world) checkReadsAndWrites(t *testing.T) {
	ctx, org := w.createOrganization("acme")
	root := org.Group.UID
	group := w.group(ctx, root, "a")
	w.repos(group, 30)
	repo := w.repo(ctx, root, "nginx")
	tags := times(20, func(i int) *registry.ImportedTag {
		return &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: tagNames[i], Digest: digests[i%3]}}
	})
	must[core.Imported](t)(w.p.Registry.ImportTags(w.operator(), tags, core.ImportOptions{}))
	must[core.Imported](t)(w.p.Registry.ImportTags(w.operator(), tags, core.ImportOptions{})) // These tags name their repos.
	w.bind(ctx, group, w.identity(ctx, root, "who"), iam.ViewerRole)

	if got := len(readEverything(t, ctx, w.p.Repos.List, descendantsOf(root))); got != 31 {
		t.Errorf("there are %d repos, want 31", got)
	}
	for _, order := range []string{"name", "create_time desc", "uid"} {
		req := core.ListRequest[*inventory.RepoFilter]{UIDP: descendantsOf(root), OrderBy: order, PageSize: 7}
		for pages := 1; ; pages++ {
			page := must[core.Page[*inventory.Repo]](t)(w.p.Repos.List(ctx, req))
			if req.PageToken = page.NextPageToken(); req.PageToken == "" {
				if pages != 5 || page.TotalCount != 31 {
					t.Errorf("by %s: %d pages of %d, want 5 of 31", order, pages, page.TotalCount)
				}
				break
			}
		}
	}
	named := core.ListRequest[*inventory.TagFilter]{UIDP: childrenOf(repo), Filter: &inventory.TagFilter{Names: tagNames[:3], UpdatedSince: core.At(epoch)}}
	if page := must[core.Page[*inventory.Tag]](t)(w.p.Tags.List(ctx, named)); len(page.Items) != 3 {
		t.Errorf("%d tags have one of three names, want 3", len(page.Items))
	}
	pages, errs := w.p.Repos.ListEach(ctx, core.ListRequest[*inventory.RepoFilter]{PageSize: 5}, []core.UIDFilter{childrenOf(group), childrenOf(root), descendantsOf(group)})
	for i, want := range []int64{30, 1, 30} {
		if errs[i] != nil || pages[i].TotalCount != want {
			t.Errorf("list %d: %d (%v), want %d", i, pages[i].TotalCount, errs[i], want)
		}
	}
	bindings := readEverything(t, w.contextAs("who"), w.p.RoleBindings.List, core.UIDFilter{})
	if !slices.ContainsFunc(bindings, func(b *iam.RoleBinding) bool { return b.Identity.Subject == "who" }) {
		t.Errorf("bindings are %+v", bindings)
	}
	w.checkCounters(t, 0)
}
