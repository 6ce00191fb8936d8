package storetest_test

import (
	"context"
	"fmt"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

func TestRecountRepairsWrongCountersAndNoOthers(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		f.checkCounters(t, 0)
		db := f.openDirect()
		before := f.totals(t)
		const total = "SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT), CAST(COALESCE(SUM(nc), 0) AS BIGINT) FROM counter"
		sums := f.query(db, total)[0]

		f.exec(db, "UPDATE counter SET n = n + 3 WHERE kind = 5 AND scope = '"+string(f.root)+"'")
		f.exec(db, "DELETE FROM counter WHERE kind = 6")
		f.exec(db, "INSERT INTO counter (scope, kind, slot, n, nc) VALUES ('"+string(f.d.root())+"', 1, 0, 7, 7)")
		if wrong := must[int64](t)(f.store.Recount(t.Context())); wrong < 3 {
			t.Errorf("recount found %d wrong counters, want at least 3", wrong)
		}
		f.checkCounters(t, 0)
		if got := f.query(db, total)[0]; got[0] != sums[0] || got[1] != sums[1] {
			t.Errorf("the sums are %v, want %v", got, sums)
		}
		if after := f.totals(t); after != before {
			t.Errorf("totals are %v, want %v", after, before)
		}
	})
}

// checkCounters compares every counter with the rows.
func (w *world) checkCounters(t *testing.T, want int64) {
	t.Helper()
	if wrong := must[int64](t)(w.store.Recount(t.Context())); wrong != want {
		t.Errorf("%d counters are wrong, want %d", wrong, want)
	}
}

// totals returns the numbers of groups, repos and tags that the owner sees.
func (f *forest) totals(t *testing.T) (totals [3]int64) {
	t.Helper()
	ctx := f.contextAs("root")
	totals[0] = total(t, ctx, f.p.Groups.List, core.UIDFilter{})
	totals[1] = total(t, ctx, f.p.Repos.List, core.UIDFilter{DescendantsOf: f.root})
	totals[2] = total(t, ctx, f.p.Tags.List, core.UIDFilter{DescendantsOf: f.root})
	return totals
}

func total[T, F any](t *testing.T, ctx context.Context, list func(context.Context, core.ListRequest[F]) (core.Page[T], error), scope core.UIDFilter) int64 {
	t.Helper()
	page, err := list(ctx, core.ListRequest[F]{UIDP: scope, Parts: core.PartTotal})
	if err != nil {
		t.Fatal(err)
	}
	return page.TotalCount
}

func TestReadmesImagesAndVulnerabilitiesAreReadManyAtOnce(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		ctx := f.contextAs("root")
		var repos []core.UID
		var images []*inventory.Image
		for _, r := range f.repos {
			if r.UID.Root() == f.root {
				repos = append(repos, r.UID)
				images = append(images, &inventory.Image{Repo: r.UID, Digest: digests[len(repos)%3], Architectures: []inventory.Architecture{{Name: "amd64", Size: int64(len(repos))}}})
			}
		}
		f.insert(func(tx core.Tx) error {
			for _, uid := range repos {
				if err := storetest.Tables.Inventory.SetReadme(ctx, tx, uid, "readme of "+string(uid)); err != nil {
					return err
				}
			}
			if err := storetest.Tables.Registry.PutImages(ctx, tx, images[:1]); err != nil {
				return err
			}
			return storetest.Tables.Registry.PutImages(ctx, tx, images) // These images exist already.
		})
		readmes, errs := f.p.Repos.Readmes(ctx, repos)
		keys := make([]core.ImageKey, len(images))
		for i, uid := range repos {
			if errs[i] != nil || readmes[i].Content != "readme of "+string(uid) {
				t.Fatalf("the readme of %s is %v (%v)", uid, readmes[i], errs[i])
			}
			keys[i] = core.ImageKey{Repo: uid, Digest: images[i].Digest}
		}
		// The digest exists in one repo, but not in the next one.
		keys = append(keys, core.ImageKey{Repo: repos[0], Digest: images[1].Digest}, keys[0])
		found, errs := f.p.Images.GetMany(ctx, keys)
		for i, image := range images {
			if errs[i] != nil || found[i].Architectures[0].Size != image.Architectures[0].Size {
				t.Fatalf("image %d is %v (%v)", i, found[i], errs[i])
			}
		}
		expectError(t, errs[len(images)], core.CodeNotFound, string(repos[0])+"@"+images[1].Digest)
		if errs[len(images)+1] != nil {
			t.Errorf("asked for twice, an image was not given twice: %v", errs[len(images)+1])
		}
		for _, v := range f.vulnerabilities {
			for _, name := range []string{v.ID, v.Aliases[0]} {
				if got := must[*inventory.Vulnerability](t)(f.p.Vulnerabilities.Get(ctx, name)); got.ID != v.ID {
					t.Errorf("%s finds %s, want %s", name, got.ID, v.ID)
				}
			}
		}
	})
}

func TestVulnerabilitiesAreListedPageByPageAndByAlias(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		k := &kind[*inventory.Vulnerability, *inventory.VulnerabilityFilter]{f: f, ops: uidReader{f.p.Vulnerabilities}, rows: f.vulnerabilities}
		ctx := f.contextAs("stranger") // Everybody may read all of it.
		for _, order := range k.orders() {
			k.sort(k.rows, order)
			for _, backward := range []bool{false, true} {
				req := core.ListRequest[*inventory.VulnerabilityFilter]{OrderBy: spell(order), PageSize: 5, Backward: backward}
				if got := k.readAll(t, ctx, req, len(k.rows)); len(got) != len(k.rows) || got[0] != k.uid(k.rows[0]) || got[11] != k.uid(k.rows[11]) {
					t.Errorf("%+v: got %v, want %v", req, got, k.uids(k.rows))
				}
			}
		}
		req := core.ListRequest[*inventory.VulnerabilityFilter]{Filter: &inventory.VulnerabilityFilter{ID: "CVE-SHARED"}}
		if page, err := f.p.Vulnerabilities.List(ctx, req); err != nil || len(page.Items) != 12 || page.TotalCount != 12 {
			t.Errorf("the shared alias finds %d of %d (%v), want 12", len(page.Items), page.TotalCount, err)
		}
	})
}

// A uidReader reads vulnerabilities by UID, like other kinds.
type uidReader struct{ inventory.Vulnerabilities }

func (v uidReader) GetMany(ctx context.Context, uids []core.UID) ([]*inventory.Vulnerability, []error) {
	ids := make([]string, len(uids))
	for i, uid := range uids {
		ids[i] = string(uid)
	}
	return v.Vulnerabilities.GetMany(ctx, ids)
}

// Deprecated tags have counters, which stay exact when tags change, also if two imports
// change the same tag at the same time. Without the lock of the row, such a change counts
// twice.
func TestDeprecatedTagsAreCounted(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		owner, org := w.createOrganization("acme")
		repo := w.repo(owner, w.group(owner, org.Group.UID, "team"), "app")
		const tags, rounds = 10, 20
		names := times(tags, func(i int) string { return fmt.Sprint("v", i) })
		importTags := func(deprecated bool) error {
			_, err := w.p.Registry.ImportTags(w.operator(), times(tags, func(i int) *registry.ImportedTag {
				return &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: names[i], Digest: digests[0], Deprecated: deprecated && i%2 == 0}}
			}), core.ImportOptions{})
			return err
		}
		for n := range rounds {
			runTogether(t, 2, func(int) error { return importTags(n%2 == 0) })
		}
		w.checkCounters(t, 0)
		if err := importTags(true); err != nil {
			t.Fatal(err)
		}
		count := func(deprecated bool) (totals [2]int64) {
			for i, scope := range []core.UIDFilter{childrenOf(repo), descendantsOf(org.Group.UID)} {
				page := must[core.Page[*inventory.Tag]](t)(w.p.Tags.List(owner, core.ListRequest[*inventory.TagFilter]{UIDP: scope, Parts: core.PartTotal, Filter: &inventory.TagFilter{Deprecated: &deprecated}}))
				totals[i] = page.TotalCount
			}
			return totals
		}
		if yes, no := count(true), count(false); yes != [2]int64{tags / 2, tags / 2} || no != yes {
			t.Errorf("%v tags are deprecated and %v are not, want %d", yes, no, tags/2)
		}
		page := must[core.Page[*inventory.Tag]](t)(w.p.Tags.List(owner, core.ListRequest[*inventory.TagFilter]{UIDP: childrenOf(repo)}))
		for i, tag := range page.Items {
			runTogether(t, 2, func(writer int) error {
				if writer == 0 {
					return w.p.Tags.Delete(owner, tag.UID)
				}
				return importTags(i%2 == 0) // may add the tag again
			})
		}
		w.checkCounters(t, 0)
		for _, name := range names {
			for _, tag := range must[core.Page[*inventory.Tag]](t)(w.p.Tags.List(owner, core.ListRequest[*inventory.TagFilter]{UIDP: childrenOf(repo), Filter: &inventory.TagFilter{Name: name}})).Items {
				if err := w.p.Tags.Delete(owner, tag.UID); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.checkCounters(t, 0)
		if yes, no := count(true)[1], count(false)[1]; yes+no != 0 {
			t.Errorf("%d and %d tags are left", yes, no)
		}
	})
}
