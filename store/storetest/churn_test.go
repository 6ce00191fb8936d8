package storetest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// While others insert and delete rows, a walk must return each row that exists throughout
// exactly once, and no row twice.
func TestWalksNeitherRepeatNorLoseRowsWhileOthersComeAndGo(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		root := org.Group.UID
		groups := []core.UID{root, w.group(ctx, root, "a"), w.group(ctx, root, "b")}
		groups = append(groups, w.group(ctx, groups[1], "c"))
		who := w.identity(ctx, root, "parts")
		for _, g := range groups[1:3] {
			w.bind(ctx, g, who, iam.ViewerRole)
		}
		stays := map[core.UID]bool{} // The value says whether "parts" sees the repo.
		d := newDice(31)
		var rows []*inventory.Repo
		for i := range 40 {
			g := pick(d, groups)
			now := core.At(w.now())
			r := &inventory.Repo{UID: d.below(g), Name: fmt.Sprintf("m-%02d", i/2*2), CreateTime: now, UpdateTime: now}
			if i%2 == 1 {
				r.Name += "-twin"
			}
			rows = append(rows, r)
			stays[r.UID] = g != root
		}
		w.insert(func(tx core.Tx) error { return storetest.Tables.Inventory.Repos.Insert(ctx, tx, rows...) })

		stop := make(chan struct{})
		var churning sync.WaitGroup
		for i := range 3 {
			churning.Go(func() { w.churn(t, ctx, groups, uint64(i), stop) })
		}
		parts := w.contextAs("parts")
		for _, order := range []string{"name", "name desc", "create_time", "create_time desc", "update_time desc", "uid", "uid desc"} {
			for _, backward := range []bool{false, true} {
				req := core.ListRequest[*inventory.RepoFilter]{OrderBy: order, PageSize: 3, Backward: backward}
				w.checkWalk(t, ctx, req, stays, false)
				w.checkWalk(t, parts, req, stays, true)
			}
		}
		close(stop)
		churning.Wait()
		w.checkCounters(t, 0)
	})
}

// churn creates and deletes repos until stop. Their names, times and UIDs are between
// those of the other repos.
func (w *world) churn(t *testing.T, ctx context.Context, groups []core.UID, seed uint64, stop <-chan struct{}) {
	d := newDice(seed + 100)
	var mine []core.UID
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		if len(mine) > 20 || len(mine) > 0 && d.IntN(2) == 0 {
			at := d.IntN(len(mine))
			if err := w.p.Repos.Delete(ctx, mine[at]); err != nil {
				t.Error(err)
				return
			}
			mine = append(mine[:at], mine[at+1:]...)
			continue
		}
		made, err := w.p.Repos.Create(ctx, pick(d, groups), input[*inventory.Repo](fmt.Sprintf(`{"name": "m-%02d-%d-%d"}`, d.IntN(40), seed, n)))
		if err != nil {
			t.Error(err)
			return
		}
		mine = append(mine, made.UID)
	}
}

// checkWalk walks a list and checks what it returns.
func (w *world) checkWalk(t *testing.T, ctx context.Context, req core.ListRequest[*inventory.RepoFilter], stays map[core.UID]bool, parts bool) {
	t.Helper()
	found := map[core.UID]int{}
	for {
		page, err := w.p.Repos.List(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.Items {
			found[r.UID]++
		}
		if req.PageToken = page.NextPageToken(); req.PageToken == "" {
			break
		}
	}
	for uid, n := range found {
		if n > 1 {
			t.Errorf("by %s, backward %v: %s came %d times", req.OrderBy, req.Backward, uid, n)
		}
	}
	for uid, seenByParts := range stays {
		if want := seenByParts || !parts; want != (found[uid] == 1) {
			t.Errorf("by %s, backward %v: %s came %d times, want it %v", req.OrderBy, req.Backward, uid, found[uid], want)
		}
	}
}
