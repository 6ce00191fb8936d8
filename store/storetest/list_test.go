package storetest_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

func TestPagesOfEverySizeAndOrderMakeUpTheWholeList(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		for _, l := range f.listings() {
			t.Run(l.name(), l.checkOrders)
		}
	})
}

// checkOrders reads lists page by page in every order, forward and backward: a short list
// in small pages, and the whole list in larger ones.
func (k *kind[T, F]) checkOrders(t *testing.T) {
	for _, way := range []struct {
		c     *caller
		sizes []int
	}{{k.shortListCaller(), []int{1, 2, 3}}, {k.f.callers[0], []int{17, 50}}} {
		ctx := k.f.contextAs(way.c.subject)
		for _, order := range k.orders() {
			want := k.expectedRows(way.c, core.UIDFilter{}, filterCase[T, F]{}, order)
			for _, size := range way.sizes {
				for _, backward := range []bool{false, true} {
					req := core.ListRequest[F]{OrderBy: spell(order), PageSize: size, Backward: backward}
					got := k.readAll(t, ctx, req, len(want))
					if !slices.Equal(got, k.uids(want)) {
						t.Fatalf("%s, by %s in pages of %d, backward %v: got %v, want %v", way.c.subject, spell(order), size, backward, got, k.uids(want))
					}
				}
			}
		}
	}
}

// shortListCaller returns a caller who sees enough rows for several small pages.
func (k *kind[T, F]) shortListCaller() *caller {
	best, most := k.f.callers[0], -1
	for _, c := range k.f.callers {
		n := len(k.expectedRows(c, core.UIDFilter{}, filterCase[T, F]{}, k.ops.Kind().DefaultOrder))
		if n <= 20 && n > most {
			best, most = c, n
		}
	}
	return best
}

// readAll reads a list to its end and returns it in its order.
func (k *kind[T, F]) readAll(t *testing.T, ctx context.Context, req core.ListRequest[F], total int) []core.UID {
	t.Helper()
	all := []core.UID{}
	for pages := 0; ; pages++ {
		page, err := k.ops.List(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		if page.TotalCount != int64(total) {
			t.Fatalf("total is %d on page %d, want %d", page.TotalCount, pages, total)
		}
		further, back := page.HasNext, page.HasPrevious
		if req.Backward {
			further, back = back, further
		}
		if further != (page.NextPageToken() != "") || back != (pages > 0) {
			t.Fatalf("page %d says next %v, previous %v, token %q", pages, page.HasNext, page.HasPrevious, page.NextPageToken())
		}
		if req.Backward {
			all = append(k.uids(page.Items), all...)
		} else {
			all = append(all, k.uids(page.Items)...)
		}
		if page.NextPageToken() == "" {
			return all
		}
		req.PageToken = page.NextPageToken()
	}
}

func TestEveryListContainsTheVisibleMatchingRows(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		for _, l := range f.listings() {
			t.Run(l.name(), func(t *testing.T) {
				d := newDice(11)
				for range 150 {
					l.checkRandomPage(t, d)
				}
			})
		}
	})
}

// scope returns a random scope, which usually exists.
func (f *forest) scope(d dice) core.UIDFilter {
	somewhere := func() core.UID {
		switch d.IntN(10) {
		case 0:
			return d.below(pick(d, f.groups).UID) // This one does not exist.
		case 1:
			return pick(d, f.repos).UID
		case 2:
			return f.root
		default:
			return pick(d, f.groups).UID
		}
	}
	var s core.UIDFilter
	if d.IntN(8) == 0 {
		return s
	}
	for s = (core.UIDFilter{}); ; {
		switch d.IntN(6) {
		case 0:
			s.AncestorsOf = somewhere()
		case 1, 2:
			s.DescendantsOf = somewhere()
		case 3:
			s.ChildrenOf = somewhere()
		case 4:
			s.InRoot = true
		default:
			for range 1 + d.IntN(40) {
				s.IDs = append(s.IDs, f.randomUID(d))
			}
		}
		if d.IntN(4) > 0 {
			return s
		}
	}
}

func (f *forest) randomUID(d dice) core.UID {
	switch d.IntN(9) {
	case 0:
		return pick(d, f.groups).UID
	case 1:
		return pick(d, f.identities).UID
	case 2:
		return pick(d, f.roles).UID
	case 3:
		return pick(d, f.bindings).UID
	case 4:
		return pick(d, f.tags).UID
	case 5:
		return pick(d, f.advisories).UID
	case 6:
		return pick(d, f.builtIn).UID
	default:
		return pick(d, f.repos).UID
	}
}

// checkRandomPage reads one random page and compares it with the expected rows.
func (k *kind[T, F]) checkRandomPage(t *testing.T, d dice) {
	t.Helper()
	c, scope, s, order := pick(d, k.f.callers), k.f.scope(d), pick(d, k.filters), pick(d, k.orders())
	ctx := k.f.contextAs(c.subject)
	want := k.expectedRows(c, scope, s, order)
	req := core.ListRequest[F]{UIDP: scope, Filter: s.filter, OrderBy: spell(order), PageSize: 1 + d.IntN(20), Backward: d.IntN(3) == 0}
	if code := k.expectedCode(c, scope, want); code != 0 {
		if _, err := k.ops.List(ctx, req); !errors.Is(err, &core.Error{Code: code}) {
			t.Fatalf("%s, %+v: got %v, want %v", c.subject, scope, err, code)
		}
		return
	}
	// from is the number of rows before the page.
	from := 0
	if req.Backward {
		from = len(want)
	}
	if len(want) > 0 && d.IntN(2) == 0 {
		at := d.IntN(len(want))
		req.PageToken = k.cursor(t, ctx, req, at)
		if from = at + 1; req.Backward {
			from = at
		}
	}
	if d.IntN(2) == 0 {
		req.Skip = d.IntN(len(want) + 3)
	}
	first, last := from+req.Skip, from+req.Skip+req.PageSize
	if req.Backward {
		first, last = from-req.Skip-req.PageSize, from-req.Skip
	}
	first, last = min(max(first, 0), len(want)), min(max(last, 0), len(want))
	req.Parts = pick(d, []core.Parts{0, core.PartItems, core.PartItems | core.PartMore})
	page, err := k.ops.List(ctx, req)
	if err != nil {
		t.Fatalf("%s, %+v: %v", c.subject, req, err)
	}
	if got := k.uids(page.Items); !slices.Equal(got, k.uids(want[first:last])) {
		t.Fatalf("%s, %+v: got %v, want %v", c.subject, req, got, k.uids(want[first:last]))
	}
	if req.Parts == 0 && page.TotalCount != int64(len(want)) {
		t.Fatalf("%s, %+v: total is %d, want %d", c.subject, req, page.TotalCount, len(want))
	}
	more := last < len(want)
	if req.Backward {
		more = first > 0
	}
	more = more && req.Parts.Has(core.PartMore)
	if first < last && more != (page.NextPageToken() != "") {
		t.Fatalf("%s, %+v: more is %v, want %v", c.subject, req, !more, more)
	}
}

// expectedCode returns the code with which a list must fail; 0 means that it must
// succeed.
func (k *kind[T, F]) expectedCode(c *caller, scope core.UIDFilter, want []T) core.Code {
	if k.f.isRefused(c, k.ops.Kind().List, scope, k.ops.Kind().Name == "Group") {
		return core.CodePermissionDenied
	}
	for _, asked := range []core.UID{scope.AncestorsOf, scope.DescendantsOf, scope.ChildrenOf} {
		if asked != "" && len(want) == 0 && !k.f.exists(asked) {
			return core.CodeNotFound
		}
	}
	return 0
}

func (f *forest) exists(uid core.UID) bool {
	return slices.ContainsFunc(f.groups, func(g *iam.Group) bool { return g.UID == uid }) ||
		slices.ContainsFunc(f.repos, func(r *inventory.Repo) bool { return r.UID == uid })
}

// cursor returns the token of an item of the list.
func (k *kind[T, F]) cursor(t *testing.T, ctx context.Context, req core.ListRequest[F], at int) string {
	t.Helper()
	req.PageSize, req.Skip, req.Backward = 1, at, false
	page, err := k.ops.List(ctx, req)
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("no item %d: %v, want 1 items", at, err)
	}
	return page.Cursor(0)
}

func TestRowsAreReadAsTheyWereWritten(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		for _, l := range f.listings() {
			t.Run(l.name(), l.checkGet)
		}
	})
}

// checkGet reads every row of the first organization and compares it.
func (k *kind[T, F]) checkGet(t *testing.T) {
	rows := k.expectedRows(k.f.callers[0], core.UIDFilter{}, filterCase[T, F]{}, k.ops.Kind().DefaultOrder)
	uids := append(k.uids(rows), k.f.d.below(k.f.root), k.f.d.below(k.f.other), "x")
	got, errs := k.ops.GetMany(k.f.contextAs("root"), append(uids, uids[0]))
	for i, want := range rows {
		if errs[i] != nil || !reflect.DeepEqual(got[i], want) {
			t.Fatalf("got %+v (%v), want %+v", got[i], errs[i], want)
		}
	}
	for i, code := range []core.Code{core.CodeNotFound, core.CodePermissionDenied, core.CodeInvalidArgument} {
		if err := errs[len(rows)+i]; !errors.Is(err, &core.Error{Code: code}) {
			t.Errorf("%s: got %v, want %v", uids[len(rows)+i], err, code)
		}
	}
	if !reflect.DeepEqual(got[len(got)-1], rows[0]) {
		t.Errorf("asked for twice, a row was not given twice")
	}
}
