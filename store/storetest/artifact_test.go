package storetest_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/libraries"
	"atrium/store/storetest"
)

var bothEcosystems = []libraries.Ecosystem{libraries.EcosystemJava, libraries.EcosystemPython}

// A library has the artifacts and versions that a test created. Lists are compared with
// it.
type library struct {
	*world
	ctx       context.Context
	d         dice
	artifacts []*libraries.Artifact
	versions  []*libraries.ArtifactVersion // The first artifact has all these versions except one.
}

func (w *world) library() *library {
	ctx, _ := w.createOrganization("acme")
	l := &library{world: w, ctx: ctx, d: newDice(3)}
	when := func() core.Time { return core.At(epoch.Add(pick(l.d, moments))) }
	l.artifacts = times(23, func(i int) *libraries.Artifact {
		return &libraries.Artifact{
			UID: l.d.root(), Name: fmt.Sprintf("%s%d", pick(l.d, tagNames), i), Description: pick(l.d, words), Ecosystem: bothEcosystems[i%2],
			Remediated: i%3 == 0, CudaVersion: pick(l.d, []string{"", "11.8", "12.1"}), LatestVersion: "1", VersionCount: 5, CreateTime: when(), UpdateTime: when(),
		}
	})
	version := func(a *libraries.Artifact, i int) *libraries.ArtifactVersion {
		return &libraries.ArtifactVersion{
			UID: l.d.below(a.UID), Name: a.Name, Description: a.Description, Version: fmt.Sprint(i), SortKey: pick(l.d, tagNames) + "\x01",
			SizeBytes: int64(l.d.IntN(1 << 40)), CreateTime: when(), UpdateTime: when(),
		}
	}
	l.versions = times(17, func(i int) *libraries.ArtifactVersion { return version(l.artifacts[0], i) })
	other := version(l.artifacts[1], 0)
	l.insert(func(tx core.Tx) error {
		if err := storetest.Tables.Libraries.Artifacts.Insert(ctx, tx, l.artifacts...); err != nil {
			return err
		}
		return storetest.Tables.Libraries.ArtifactVersions.Insert(ctx, tx, append(slices.Clone(l.versions), other)...)
	})
	return l
}

func ofJava(a *libraries.Artifact) bool { return a.Ecosystem == libraries.EcosystemJava }

func TestArtifactsAreListedInEveryOrderPageByPage(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		l := w.library()
		for _, s := range []filterCase[*libraries.Artifact, *libraries.ArtifactFilter]{
			{&libraries.ArtifactFilter{Ecosystems: bothEcosystems}, func(*libraries.Artifact) bool { return true }},
			{&libraries.ArtifactFilter{Ecosystems: bothEcosystems[:1]}, ofJava},
			{&libraries.ArtifactFilter{Ecosystems: bothEcosystems, Remediated: true}, func(a *libraries.Artifact) bool { return a.Remediated }},
			{&libraries.ArtifactFilter{Ecosystems: bothEcosystems[:1], CudaVersion: "12.1"}, func(a *libraries.Artifact) bool { return ofJava(a) && a.CudaVersion == "12.1" }},
		} {
			k := &kind[*libraries.Artifact, *libraries.ArtifactFilter]{f: &forest{world: w}, ops: w.p.Artifacts}
			for _, a := range l.artifacts {
				if s.matches(a) {
					k.rows = append(k.rows, a)
				}
			}
			k.checkPagesAndSkips(t, l.ctx, core.ListRequest[*libraries.ArtifactFilter]{Filter: s.filter})
		}
	})
}

func TestVersionsAreListedInEveryOrderPageByPage(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		l := w.library()
		k := &kind[*libraries.ArtifactVersion, *libraries.ArtifactVersionFilter]{f: &forest{world: w}, ops: w.p.ArtifactVersions, rows: l.versions}
		k.checkPagesAndSkips(t, l.ctx, core.ListRequest[*libraries.ArtifactVersionFilter]{UIDP: childrenOf(l.artifacts[0].UID)})
		scopes := []core.UIDFilter{childrenOf(l.artifacts[2].UID), childrenOf(l.artifacts[0].UID), childrenOf(l.artifacts[1].UID)}
		pages, errs := w.p.ArtifactVersions.ListEach(l.ctx, core.ListRequest[*libraries.ArtifactVersionFilter]{PageSize: 4}, scopes)
		k.sort(k.rows, core.Order{Field: "version", Desc: true})
		for i, want := range []int{0, len(l.versions), 1} {
			if errs[i] != nil || int(pages[i].TotalCount) != want || len(pages[i].Items) != min(4, want) {
				t.Errorf("page %d: %d of %d (%v), want %d", i, len(pages[i].Items), pages[i].TotalCount, errs[i], want)
			}
		}
		if got, want := k.uids(pages[1].Items), k.uids(k.rows[:4]); !slices.Equal(got, want) {
			t.Errorf("together: %v, want %v", got, want)
		}
	})
}

// checkPagesAndSkips walks a list in every order, in both directions, and skips in it.
func (k *kind[T, F]) checkPagesAndSkips(t *testing.T, ctx context.Context, req core.ListRequest[F]) {
	t.Helper()
	for _, order := range k.orders() {
		k.sort(k.rows, order)
		all := k.uids(k.rows)
		req.OrderBy, req.PageSize = spell(order), 4
		for _, backward := range []bool{false, true} {
			req.Backward = backward
			if got := k.readAll(t, ctx, req, len(all)); !slices.Equal(got, all) {
				t.Errorf("%+v: got %v, want %v", req, got, all)
			}
			skipping := req
			skipping.Skip = 3
			k.checkSkip(t, ctx, all, skipping)
		}
	}
	got, errs := k.ops.GetMany(ctx, k.uids(k.rows))
	for i, row := range k.rows {
		if errs[i] != nil || !reflect.DeepEqual(got[i], row) {
			t.Errorf("%+v is read as %+v (%v)", row, got[i], errs[i])
		}
	}
}

func TestTheCountersOfTheCatalogFollowItsRows(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		l := w.library()
		w.checkCounters(t, 0)
		last := l.versions[len(l.versions)-1]
		w.insert(func(tx core.Tx) error {
			_, err := storetest.Tables.Libraries.ArtifactVersions.Delete(l.ctx, tx, last.UID)
			return err
		})
		w.checkCounters(t, 0)
		total := func(want int64) {
			t.Helper()
			page, err := w.p.ArtifactVersions.ListOf(l.ctx, l.artifacts[0].UID, core.ListRequest[*libraries.ArtifactVersionFilter]{PageSize: 1})
			if err != nil || page.TotalCount != want {
				t.Errorf("there are %d versions (%v), want %d", page.TotalCount, err, want)
			}
		}
		total(int64(len(l.versions)) - 1)
		w.exec(w.openDirect(), "DELETE FROM counter WHERE kind IN (15, 16)")
		total(0)
		w.checkCounters(t, 4) // There are counters of two ecosystems and two artifacts.
		total(int64(len(l.versions)) - 1)
		err := w.store.Write(l.ctx, func(tx core.Tx) error {
			_, err := storetest.Tables.Libraries.Artifacts.Delete(l.ctx, tx, l.artifacts[0].UID)
			return err
		})
		if err == nil {
			t.Error("an artifact with versions was deleted")
		}
	})
}
