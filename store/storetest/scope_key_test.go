package storetest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// A twin is one of two branches of an organization: a group in a group, each with a repo that
// has two tags.
type twin struct {
	groups, repos [2]core.UID // the outer group comes first
	tags          [2][]core.UID
}

func (w *world) createTwin(d dice, root core.UID) (made twin) {
	w.t.Helper()
	parent := root
	for level := range made.groups {
		g := &iam.Group{UID: d.below(parent), Name: "group " + d.hex(8)}
		repo := &inventory.Repo{UID: d.below(g.UID), Name: "repo"}
		tags := times(2, func(i int) *inventory.Tag {
			made := core.At(epoch.AddDate(0, 0, i))
			return &inventory.Tag{UID: d.below(repo.UID), Name: fmt.Sprint("tag ", i), Digest: "sha256:" + strings.Repeat("a", 64), Deprecated: true, CreateTime: made, UpdateTime: made}
		})
		w.insert(func(tx core.Tx) error {
			return errors.Join(storetest.Tables.IAM.Groups.Insert(w.t.Context(), tx, g),
				storetest.Tables.Inventory.Repos.Insert(w.t.Context(), tx, repo), storetest.Tables.Inventory.Tags.Insert(w.t.Context(), tx, tags...))
		})
		made.groups[level], made.repos[level], parent = g.UID, repo.UID, g.UID
		for _, tag := range tags {
			made.tags[level] = append(made.tags[level], tag.UID)
		}
	}
	return made
}

// copyKeys gives a row the keys of another row.
func (w *world) copyKeys(table string, from, to core.UID) {
	w.t.Helper()
	for _, column := range []string{"parent_key", "g2_key", "g3_key"} {
		w.exec(w.openDirect(), fmt.Sprintf("UPDATE %[1]s SET %[2]s = (SELECT o.%[2]s FROM %[1]s o WHERE o.uid = $1) WHERE uid = $2", table, column), packUID(from), packUID(to))
	}
}

func packUID(u core.UID) []byte {
	b, _ := u.Packed()
	return b
}

// Different scopes can have the same key. One branch gets the keys of the other here, as if
// the hashes of their UIDs were equal. Lists and totals must not contain its rows.
func TestScopesWithEqualKeysDoNotMix(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		d := newDice(31)
		root := &iam.Group{UID: d.root(), Name: "root"}
		w.insert(func(tx core.Tx) error { return storetest.Tables.IAM.Groups.Insert(t.Context(), tx, root) })
		asked, other := w.createTwin(d, root.UID), w.createTwin(d, root.UID)
		for level := range other.repos {
			w.copyKeys("repo", asked.repos[level], other.repos[level])
			for i, tag := range other.tags[level] {
				w.copyKeys("tag", asked.tags[level][i], tag)
			}
		}
		yes := true
		for _, filter := range []*inventory.TagFilter{nil, {Deprecated: &yes}, {Digest: "sha256:" + strings.Repeat("a", 64)}} {
			for _, order := range []string{"name", "create_time", "update_time desc", "uid"} {
				for _, asking := range []struct {
					scope core.UIDFilter
					want  int
				}{
					{descendantsOf(asked.groups[0]), 4},
					{descendantsOf(asked.groups[1]), 2},
					{descendantsOf(asked.repos[0]), 2},
					{childrenOf(asked.repos[0]), 2},
					{childrenOf(asked.repos[1]), 2},
					{childrenOf(asked.groups[0]), 0},
				} {
					req := core.ListRequest[*inventory.TagFilter]{UIDP: asking.scope, OrderBy: order, Filter: filter}
					w.checkNotMixed(t, req, asking.scope, asking.want)
					req.Skip = 1
					w.checkNotMixed(t, req, asking.scope, max(0, asking.want-1))
				}
			}
		}
	})
}

// checkNotMixed checks that List and ListEach return want tags, all of them in the scope.
func (w *world) checkNotMixed(t *testing.T, req core.ListRequest[*inventory.TagFilter], scope core.UIDFilter, want int) {
	t.Helper()
	page, err := w.p.Tags.List(w.operator(), req)
	if err != nil {
		t.Fatal(err)
	}
	check := func(how string, page core.Page[*inventory.Tag], want int) {
		t.Helper()
		for _, tag := range page.Items {
			if !tag.UID.Within(scope.ChildrenOf) && !tag.UID.Within(scope.DescendantsOf) {
				t.Errorf("%s of %+v by %s, skip %d, contains %s", how, scope, req.OrderBy, req.Skip, tag.UID)
			}
		}
		if want >= 0 && (len(page.Items) != want || page.TotalCount != int64(want+req.Skip) && want > 0) {
			t.Errorf("%s of %+v by %s, skip %d, filter %+v, has %d of %d tags, want %d", how, scope, req.OrderBy, req.Skip, req.Filter, len(page.Items), page.TotalCount, want)
		}
	}
	// A page of UIDs of a parent skips the rows of the other, too: see scope_key.go.
	if skipsBoth := req.Skip > 0 && scope.ChildrenOf != "" && req.OrderBy != "name"; skipsBoth {
		want = -1
	}
	check("a list", page, want)
	if req.Skip > 0 {
		return
	}
	pages, errs := w.p.Tags.ListEach(w.operator(), core.ListRequest[*inventory.TagFilter]{OrderBy: req.OrderBy, Filter: req.Filter}, []core.UIDFilter{scope})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	check("a list of several scopes", pages[0], want)
}
