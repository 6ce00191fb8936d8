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

func TestManyListsAtOnceAreTheSameAsOneByOne(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		for _, l := range f.listings() {
			t.Run(l.name(), func(t *testing.T) {
				d := newDice(13)
				for range 20 {
					l.checkEach(t, d)
				}
			})
		}
	})
}

// checkEach reads the lists of many random scopes together and one by one, and compares
// them.
func (k *kind[T, F]) checkEach(t *testing.T, d dice) {
	t.Helper()
	c := pick(d, k.f.callers)
	ctx := k.f.contextAs(c.subject)
	req := core.ListRequest[F]{
		Filter: pick(d, k.filters).filter, OrderBy: spell(pick(d, k.orders())), PageSize: 1 + d.IntN(6), Skip: d.IntN(2) * d.IntN(4), Backward: d.IntN(3) == 0,
		Parts: pick(d, []core.Parts{0, core.PartItems, core.PartItems | core.PartMore, core.PartTotal}),
	}
	scopes := make([]core.UIDFilter, 1+d.IntN(12))
	for i := range scopes {
		switch d.IntN(6) {
		case 0:
			scopes[i] = k.existingScope(d)
		case 1:
			scopes[i].ChildrenOf = pick(d, k.f.repos).UID
		case 2:
			scopes[i].DescendantsOf = pick(d, k.f.groups).UID
		default:
			scopes[i].ChildrenOf = pick(d, k.f.groups).UID
		}
	}
	pages, errs := k.ops.ListEach(ctx, req, scopes)
	for i, scope := range scopes {
		req.UIDP = scope
		one, err := k.ops.List(ctx, req)
		k.expectSame(t, fmt.Sprintf("%s, %d of %d, %+v", c.subject, i, len(scopes), req), req.Parts, pages[i], errs[i], one, err)
	}
}

// existingScope returns a random scope that exists, because callers who ask for many
// scopes have read them before.
func (k *kind[T, F]) existingScope(d dice) core.UIDFilter {
	for {
		s := k.f.scope(d)
		asked := slices.DeleteFunc([]core.UID{s.AncestorsOf, s.ChildrenOf, s.DescendantsOf}, func(u core.UID) bool { return u == "" })
		if !slices.ContainsFunc(asked, func(u core.UID) bool { return !k.f.exists(u) }) {
			return s
		}
	}
}

func (k *kind[T, F]) expectSame(t *testing.T, asked string, parts core.Parts, got core.Page[T], gotErr error, want core.Page[T], wantErr error) {
	t.Helper()
	if (gotErr == nil) != (wantErr == nil) || gotErr != nil && core.AsError(gotErr).Code != core.AsError(wantErr).Code {
		t.Fatalf("%s: got error %v, want %v", asked, gotErr, wantErr)
	}
	if !slices.Equal(k.uids(got.Items), k.uids(want.Items)) {
		t.Fatalf("%s: got %v, want %v", asked, k.uids(got.Items), k.uids(want.Items))
	}
	if parts.Has(core.PartTotal) && got.TotalCount != want.TotalCount {
		t.Fatalf("%s: total is %d, want %d", asked, got.TotalCount, want.TotalCount)
	}
	if got.HasNext != want.HasNext || got.HasPrevious != want.HasPrevious || (got.NextPageToken() == "") != (want.NextPageToken() == "") {
		t.Fatalf("%s: next %v, previous %v, want %v, %v", asked, got.HasNext, got.HasPrevious, want.HasNext, want.HasPrevious)
	}
}

func TestBindingsOfManyIdentitiesAndRolesAreTheFilteredLists(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		k := &kind[*iam.RoleBinding, *iam.RoleBindingFilter]{f: f, ops: f.p.RoleBindings}
		d := newDice(17)
		for range 30 {
			c := pick(d, f.callers)
			ctx := f.contextAs(c.subject)
			req := core.ListRequest[*iam.RoleBindingFilter]{OrderBy: spell(pick(d, k.orders())), PageSize: 1 + d.IntN(4), Skip: d.IntN(2), Backward: d.IntN(3) == 0}
			if d.IntN(3) == 0 {
				req.UIDP.DescendantsOf = pick(d, f.groups).UID
			}
			identities := times(6, func(int) *core.UID { return &pick(d, f.bindings).Identity.UID })
			roles := times(6, func(int) *core.UID { return &pick(d, f.bindings).Role.UID })
			pages, errs := f.p.RoleBindings.ListOfIdentities(ctx, req, values(identities))
			for i, uid := range identities {
				one := req
				one.Filter = &iam.RoleBindingFilter{Identity: *uid}
				want, err := f.p.RoleBindings.List(ctx, one)
				k.expectSame(t, fmt.Sprintf("%s, %+v", c.subject, one), 0, pages[i], errs[i], want, err)
				checkToken(t, ctx, k, one, pages[i])
			}
			pages, errs = f.p.RoleBindings.ListOfRoles(ctx, req, values(roles))
			for i, uid := range roles {
				one := req
				one.Filter = &iam.RoleBindingFilter{Role: *uid}
				want, err := f.p.RoleBindings.List(ctx, one)
				k.expectSame(t, fmt.Sprintf("%s, %+v", c.subject, one), 0, pages[i], errs[i], want, err)
			}
		}
	})
}

func values[T any](pointers []*T) []T {
	all := make([]T, len(pointers))
	for i, p := range pointers {
		all[i] = *p
	}
	return all
}

// checkToken expects that the token of a page works in the list of its scope.
func checkToken[T, F any](t *testing.T, ctx context.Context, k *kind[T, F], req core.ListRequest[F], page core.Page[T]) {
	t.Helper()
	if req.PageToken = page.NextPageToken(); req.PageToken == "" {
		return
	}
	req.Skip = 0
	if next, err := k.ops.List(ctx, req); err != nil || len(next.Items) == 0 {
		t.Fatalf("%+v does not continue: %v", req, err)
	}
}

// For every caller, a summary must equal the totals of the corresponding lists.
func TestSummariesOfAdvisoriesAreTheTotalsOfLists(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		k := &kind[*inventory.Advisory, *inventory.AdvisoryFilter]{f: f, ops: f.p.Advisories, rows: f.advisories}
		type s = filterCase[*inventory.Advisory, *inventory.AdvisoryFilter]
		filled := 0
		check := func(c *caller, what string, scope core.UIDFilter, keeps s, got *inventory.AdvisorySummary, err error) {
			t.Helper()
			listed, wantErr := f.p.Advisories.List(f.contextAs(c.subject), core.ListRequest[*inventory.AdvisoryFilter]{UIDP: scope, Filter: keeps.filter})
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%s, %s: %v, and the list %v", c.subject, what, err, wantErr)
			}
			if err != nil {
				return
			}
			want := inventory.AdvisorySummary{}
			for _, a := range k.expectedRows(c, scope, keeps, k.ops.Kind().DefaultOrder) {
				want.Add(a.Severity.Rating, a.State(), 1)
				filled++
			}
			if sum := got.Open.Total + got.Fixed.Total + got.NotAffected.Total; *got != want || sum != listed.TotalCount {
				t.Errorf("%s, %s: %+v, want %+v; the list holds %d", c.subject, what, *got, want, listed.TotalCount)
			}
		}
		for _, c := range f.callers {
			ctx := f.contextAs(c.subject)
			groups := values(times(len(f.groups), func(i int) *core.UID { return &f.groups[i].UID }))
			summaries, errs := f.p.Advisories.SummarizeGroups(ctx, groups)
			for i, group := range groups {
				check(c, string(group), core.UIDFilter{DescendantsOf: group}, s{}, summaries[i], errs[i])
			}
			all, err := f.p.Advisories.Summarize(ctx, "")
			check(c, "all", core.UIDFilter{}, s{}, all, err)
		}
		if filled == 0 {
			t.Error("no summary counts anything")
		}
	})
}

func TestEffectiveBindingsAreThoseOfTheGroupAndAllAboveIt(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		k := &kind[*iam.RoleBinding, *iam.RoleBindingFilter]{f: f, ops: f.p.RoleBindings, rows: f.bindings}
		c := f.callers[0]
		for _, g := range f.groups {
			if g.UID.Root() != f.root {
				continue
			}
			counts := filterCase[*iam.RoleBinding, *iam.RoleBindingFilter]{matches: func(b *iam.RoleBinding) bool { return g.UID.Within(b.Group.UID) }}
			order := core.Order{Field: "create_time", Desc: true}
			want := k.uids(k.expectedRows(c, core.UIDFilter{}, counts, order))
			pages, errs := f.p.RoleBindings.ListEffective(f.contextAs(c.subject), []core.UID{g.UID}, "", core.ListRequest[*iam.RoleBindingFilter]{PageSize: 200})
			page, err := pages[0], errs[0]
			if err != nil || !slices.Equal(k.uids(page.Items), want) || page.TotalCount != int64(len(want)) {
				t.Fatalf("%s: got %v of %d (%v), want %v", g.UID, k.uids(page.Items), page.TotalCount, err, want)
			}
		}
	})
}

// For every caller, the bindings of several groups that are read together must equal
// those that are read one by one.
func TestEffectiveBindingsOfManyGroupsAreThoseOfEach(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		var groups []core.UID
		for _, g := range f.groups {
			groups = append(groups, g.UID)
		}
		shown := 0
		for _, c := range f.callers {
			for _, capability := range []core.Capability{"", core.CapRepoCreate} {
				req := core.ListRequest[*iam.RoleBindingFilter]{PageSize: 3}
				pages, errs := f.p.RoleBindings.ListEffective(f.contextAs(c.subject), groups, capability, req)
				for i, g := range groups {
					single, singleErrs := f.p.RoleBindings.ListEffective(f.contextAs(c.subject), []core.UID{g}, capability, req)
					together, alone, err := pages[i], single[0], singleErrs[0]
					if fmt.Sprint(errs[i]) != fmt.Sprint(err) || together.TotalCount != alone.TotalCount || together.HasNext != alone.HasNext || !slices.EqualFunc(together.Items, alone.Items, func(a, b *iam.RoleBinding) bool { return a.UID == b.UID }) {
						t.Fatalf("%s with %q: together %d of %d (%v), alone %d of %d (%v)", g, capability, len(together.Items), together.TotalCount, errs[i], len(alone.Items), alone.TotalCount, err)
					}
					shown += len(together.Items)
				}
			}
		}
		if shown == 0 {
			t.Error("no page shows anything")
		}
	})
}
