package storetest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// A long list is read from its nearer end. Pages far from both ends, near one end and
// past the end must equal those of a plain walk.
func TestSkippedPagesOfLongListsAreTheSameFromBothEnds(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		k, callers := longList(w)
		for _, subject := range callers {
			ctx := w.contextAs(subject)
			for _, order := range []string{"name", "create_time desc", "uid"} {
				all := wholeList(t, ctx, k, order)
				for _, skip := range []int{1, 999, 1000, 1001, 1250, 1500, 2400, len(all) - 51, len(all) - 50, len(all) - 7, len(all) - 1, len(all), len(all) + 1, 1 << 40} {
					for _, backward := range []bool{false, true} {
						k.checkSkip(t, ctx, all, core.ListRequest[*inventory.RepoFilter]{OrderBy: order, Skip: skip, PageSize: 50, Backward: backward})
					}
				}
				from := core.ListRequest[*inventory.RepoFilter]{OrderBy: order, Skip: 1100, PageSize: 20, PageToken: k.cursor(t, ctx, core.ListRequest[*inventory.RepoFilter]{OrderBy: order}, 1199)}
				if got, want := k.list(t, ctx, from), all[2300:2320]; !slices.Equal(got, want) {
					t.Fatalf("%s by %s, 1100 after item 1199: got %v, want %v", subject, order, got, want)
				}
				from.Backward = true
				if got, want := k.list(t, ctx, from), all[79:99]; !slices.Equal(got, want) {
					t.Fatalf("%s by %s, 1100 before item 1199: got %v, want %v", subject, order, got, want)
				}
			}
		}
	})
}

// The index of words finds the rows of an organization. A skip must count only those of the group.
func TestASkipInASearchCountsOnlyRowsOfItsGroup(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		k, callers := longList(w)
		ctx := w.contextAs(callers[0])
		req := core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{ChildrenOf: k.f.groups[1].UID}, OrderBy: "create_time desc", PageSize: 200}
		all := k.list(t, ctx, req)
		req.Filter, req.PageSize = &inventory.RepoFilter{Query: "repo"}, 20
		for _, skip := range []int{1, 7, len(all) - 1} {
			req.Skip = skip
			k.checkSkip(t, ctx, all, req)
		}
	})
}

// longList creates 2,600 repos in 40 groups. Its callers see them through one scope, some
// scopes, and more scopes than one statement reads.
func longList(w *world) (*kind[*inventory.Repo, *inventory.RepoFilter], []string) {
	f := &forest{world: w, d: newDice(23)}
	root := &iam.Group{UID: f.d.root(), Name: "long", CreateTime: f.randomTime()}
	groups := times(40, func(i int) *iam.Group {
		return &iam.Group{UID: f.d.below(root.UID), Name: fmt.Sprint("g", i), CreateTime: f.randomTime()}
	})
	uids := make([]core.UID, len(groups))
	for i, g := range groups {
		uids[i] = g.UID
	}
	f.groups = append([]*iam.Group{root}, groups...)
	f.repos = times(2600, func(i int) *inventory.Repo {
		return &inventory.Repo{UID: f.d.below(uids[i%40]), Name: fmt.Sprint("repo-", f.d.IntN(100), "-", i), CreateTime: f.randomTime()}
	})
	f.caller("one", iam.ViewerRole, root.UID, root.UID)
	f.caller("all forty", iam.ViewerRole, root.UID, uids...)
	f.caller("most", iam.ViewerRole, root.UID, uids[:39]...)
	f.insertAll()
	return &kind[*inventory.Repo, *inventory.RepoFilter]{f: f, ops: w.p.Repos, rows: f.repos}, []string{"one", "all forty", "most"}
}

func (k *kind[T, F]) list(t *testing.T, ctx context.Context, req core.ListRequest[F]) []core.UID {
	t.Helper()
	page, err := k.ops.List(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	return k.uids(page.Items)
}

// wholeList reads a list without skips.
func wholeList[T, F any](t *testing.T, ctx context.Context, k *kind[T, F], order string) []core.UID {
	t.Helper()
	var all []core.UID
	for req := (core.ListRequest[F]{OrderBy: order, PageSize: 200}); ; {
		page, err := k.ops.List(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, k.uids(page.Items)...)
		if req.PageToken = page.NextPageToken(); req.PageToken == "" {
			return all
		}
	}
}

// checkSkip compares a page after a skip with the same part of the whole list.
func (k *kind[T, F]) checkSkip(t *testing.T, ctx context.Context, all []core.UID, req core.ListRequest[F]) {
	t.Helper()
	page, err := k.ops.List(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	first := min(req.Skip, len(all))
	last := min(first+req.PageSize, len(all))
	more := last < len(all)
	if req.Backward {
		first, last = len(all)-last, len(all)-first
		more = first > 0
	}
	if got := k.uids(page.Items); !slices.Equal(got, all[first:last]) {
		t.Fatalf("%+v: got %d items %v, want %v", req, len(got), got, all[first:last])
	}
	if page.TotalCount != int64(len(all)) || page.Skipped != req.Skip || first < last && more != (page.NextPageToken() != "") {
		t.Fatalf("%+v: total %d, skipped %d, token %q; want %d, %d, more %v", req, page.TotalCount, page.Skipped, page.NextPageToken(), len(all), req.Skip, more)
	}
}
