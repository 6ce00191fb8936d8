package platform_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// These two registries have a repo with the same path.
const (
	hubApp   = "hub.example.com/team/app"
	otherApp = "other.example.com/team/app"
)

// manyTags adds tags t0, t1 ... from hubApp to a repo.
func (w *world) manyTags(repo core.UID, n int) {
	w.Helper()
	tags := make([]*registry.ImportedTag, n)
	for i := range tags {
		tags[i] = &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: fmt.Sprint("t", i), Digest: digest(i), Source: hubApp}}
	}
	_, err := w.p.Registry.ImportTags(w.operator(), tags, core.ImportOptions{NoEvents: true})
	must(w, err)
}

func (w *world) tagsIn(repo core.UID) int64 {
	w.Helper()
	page, err := w.p.Tags.List(w.operator(), core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: repo}})
	must(w, err)
	return page.TotalCount
}

func TestPruningRemovesTheTagsThatAreNotKeptAndNoOthers(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo, other := w.repo(acme.uid), w.repo(acme.uid)
		const many = core.ImportBatch + 50 // This is more than a page and more than a transaction.
		w.manyTags(repo, many)
		w.manyTags(other, 3)
		before := w.events()
		prune := func(want, events int, o core.ImportOptions, keep ...string) {
			t.Helper()
			removed, err := w.p.Registry.PruneTags(w.operator(), registry.RepoSource{Repo: repo, Source: hubApp}, keep, o)
			must(t, err)
			happened := since(w.events(), before)
			if before = w.events(); removed != want || len(happened) != events {
				t.Errorf("removed %d with %d events, want %d and %d", removed, len(happened), want, events)
			}
			for _, e := range happened {
				if e.kind != "platform.registry.tag.deleted" {
					t.Errorf("event %s, want platform.registry.tag.deleted", e.kind)
				}
			}
		}
		var all []string
		for i := range many {
			all = append(all, fmt.Sprint("t", i))
		}
		prune(0, 0, core.ImportOptions{}, append(all, "never there")...)
		prune(2, 2, core.ImportOptions{}, all[2:]...)
		prune(many-4, 0, core.ImportOptions{NoEvents: true}, "t1", "t2", "t1049")
		if here, there := w.tagsIn(repo), w.tagsIn(other); here != 2 || there != 3 {
			t.Errorf("%d, want 2 and %d tags are left, want 3", here, there)
		}
		prune(2, 2, core.ImportOptions{})
		if _, err := w.p.Repos.Get(acme.owner, repo); err != nil {
			t.Errorf("the repo: %v", err)
		}
		w.checkCounters()

		_, err := w.p.Registry.PruneTags(w.operator(), registry.RepoSource{Repo: missingBelow(acme.uid), Source: hubApp}, nil, core.ImportOptions{})
		expectRefused(t, "a missing repo", err, core.CodeNotFound)
		_, err = w.p.Registry.PruneTags(w.operator(), registry.RepoSource{Repo: "nonsense", Source: hubApp}, nil, core.ImportOptions{})
		if got := violationFields(err); got != "repo" {
			t.Errorf("got %v, want 'repo'", got)
		}
	})
}

func TestPruningRemovesOnlyTagsOfItsSource(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo, elsewhere := w.repo(acme.uid), w.repo(w.found("globex").uid)
		bring := func(repo core.UID, source, want string, tags ...string) {
			t.Helper()
			rows := make([]*registry.ImportedTag, len(tags))
			for i, name := range tags {
				rows[i] = &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: name, Digest: digest(i), Source: source}}
			}
			got, err := w.p.Registry.ImportTags(w.operator(), rows, core.ImportOptions{NamesOnly: true})
			expectImported(t, source, got, err, want)
		}
		prune := func(source string, want int, keep ...string) {
			t.Helper()
			removed, err := w.p.Registry.PruneTags(w.operator(), registry.RepoSource{Repo: repo, Source: source}, keep, core.ImportOptions{})
			if err != nil || removed != want {
				t.Errorf("%s: removed %d, want %d (%v)", source, removed, want, err)
			}
		}
		sources := func(host string, want ...registry.RepoSource) {
			t.Helper()
			got, err := w.p.Registry.ListSources(w.operator(), acme.uid, host)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("from %s are %v, want %v (%v)", host, got, want, err)
			}
		}
		own := w.tag(repo)
		bring(repo, "", mustSucceed(1, 0, 0, 0), "listed") // It comes from a file.
		bring(repo, hubApp, mustSucceed(3, 0, 0, 0), "1", "2", "both")
		bring(repo, otherApp, mustSucceed(1, 1, 0, 0), "3", "both") // The import moves it.
		bring(elsewhere, hubApp, mustSucceed(1, 0, 0, 0), "1")
		sources("hub.example.com", registry.RepoSource{Repo: repo, Source: hubApp})
		sources("other.example.com", registry.RepoSource{Repo: repo, Source: otherApp})
		sources("example.com")
		sources("hub.example.co")
		prune("", 0)
		prune("hub.example.com/team", 0)
		prune(hubApp, 1, "1") // The import removes 2, but not the tag that another source moved.
		prune(otherApp, 1, "both")
		if left := w.tagsIn(repo); left != 4 {
			t.Errorf("%d tags are left, want those of a caller and of a file, 1 and both", left)
		}

		before := w.events()
		bring(repo, hubApp, mustSucceed(0, 0, 1, 0), "listed") // An unchanged tag belongs to the source that imported it last.
		if happened := since(w.events(), before); len(happened) != 0 {
			t.Errorf("a claim has events: %v, want 0 items", happened)
		}
		_, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`{"name": "1", "digest": %q}`, digest(9)))
		must(t, err) // A caller has moved it, so it belongs to the caller.
		prune(hubApp, 1)
		if _, err := w.p.Tags.Get(acme.owner, own); err != nil {
			t.Errorf("a tag of a caller: %v", err)
		}
		sources("hub.example.com")
		w.checkCounters()

		_, err = w.p.Registry.ListSources(acme.owner, acme.uid, "hub.example.com")
		expectRefused(t, "an owner", err, core.CodePermissionDenied)
	})
}

func TestTwoPruningsAtOnceRemoveEveryTagOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		repo := w.repo(w.found("acme").uid)
		w.manyTags(repo, 300)
		var both sync.WaitGroup
		var removed atomic.Int64
		for range 2 {
			both.Go(func() {
				n, err := w.p.Registry.PruneTags(w.operator(), registry.RepoSource{Repo: repo, Source: hubApp}, []string{"t0"}, core.ImportOptions{})
				if err != nil {
					t.Error(err)
				}
				removed.Add(int64(n))
			})
		}
		both.Wait()
		if left := w.tagsIn(repo); removed.Load() != 299 || left != 1 {
			t.Errorf("removed %d, want 299, %d are left, want 1", removed.Load(), left)
		}
		w.checkCounters()
	})
}

func TestAnImportKeepsFieldsThatItDoesNotName(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repos := func(description, readme string, o core.ImportOptions, want string) core.UID {
			t.Helper()
			rows := []*registry.ImportedRepo{{Repo: inventory.Repo{Name: "golang", Description: description}, Readme: readme}}
			got, err := w.p.Registry.ImportRepos(w.operator(), acme.uid, rows, o)
			expectImported(t, "repos", got, err, want)
			return rows[0].UID
		}
		golang := repos("Go", "# Go", core.ImportOptions{}, mustSucceed(1, 0, 0, 0))
		if again := repos("", "", core.ImportOptions{NamesOnly: true}, mustSucceed(0, 0, 1, 0)); again != golang {
			t.Errorf("%s became %s, want %v", golang, again, golang)
		}
		readme, err := w.p.Repos.Readme(acme.owner, golang)
		if err != nil || readme.Content != "# Go" {
			t.Errorf("got %+v (%v), want Content '# Go'", readme, err)
		}
		tag := func(n int, deprecated bool, o core.ImportOptions, want string) {
			t.Helper()
			got, err := w.p.Registry.ImportTags(w.operator(), []*registry.ImportedTag{{Repo: golang, Tag: inventory.Tag{Name: "1", Digest: digest(n), Deprecated: deprecated}}}, o)
			expectImported(t, "tags", got, err, want)
		}
		tag(1, true, core.ImportOptions{}, mustSucceed(1, 0, 0, 0))
		tag(1, false, core.ImportOptions{NamesOnly: true}, mustSucceed(0, 0, 1, 0))
		tag(2, false, core.ImportOptions{NamesOnly: true}, mustSucceed(0, 1, 0, 0))
		page, err := w.p.Tags.List(acme.owner, core.ListRequest[*inventory.TagFilter]{UIDP: core.UIDFilter{ChildrenOf: golang}})
		if err != nil || len(page.Items) != 1 || !page.Items[0].Deprecated || page.Items[0].Digest != digest(2) {
			t.Errorf("%+v, want 1 of them (%v)", page.Items, err)
		}
	})
}
