package core

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// holds reports whether a branch contains a row, as store.go defines it.
func (b Branch) holds(row UID) bool {
	switch b.Relation {
	case Within:
		return row.Within(b.UID)
	case Below:
		return row.Below(b.UID)
	case Children:
		return row.Parent() == b.UID
	case Listed:
		return slices.Contains(b.UIDs, row)
	case BuiltIn:
		return slices.Contains(builtIn, row)
	default:
		panic(fmt.Sprint("a list never asks for relation ", b.Relation))
	}
}

// meets reports whether a row meets a filter, as page.go defines it.
func (f UIDFilter) meets(row UID) bool {
	return (f.AncestorsOf == "" || f.AncestorsOf.Below(row)) &&
		(f.DescendantsOf == "" || row.Below(f.DescendantsOf)) &&
		(f.ChildrenOf == "" || row.Parent() == f.ChildrenOf) &&
		(!f.InRoot || row.IsRoot()) &&
		(f.IDs == nil || slices.Contains(f.IDs, row))
}

// The kinds of the test, beside things in groups: groups, and a kind with rows of no organization.
var (
	groups  = Kind[*thing]{Name: GroupRef.Name, Area: GroupRef.Area, Parent: GroupRef, List: CapGroupsList}
	roles   = Kind[*thing]{Name: "Role", Area: AreaIAM, Parent: GroupRef, List: CapRolesList, IsBuiltIn: func(uid UID) bool { return slices.Contains(builtIn, uid) }}
	builtIn = []UID{rootA[:39] + "e", rootA[:39] + "f"}
)

// A forest has all rows of a test.
type forest struct {
	*rand.Rand
	rows []UID
}

func newForest(seed uint64) forest {
	f := forest{Rand: rand.New(rand.NewPCG(seed, 1))}
	var grow func(u UID, depth int)
	grow = func(u UID, depth int) {
		f.rows = append(f.rows, u)
		if depth < 4 {
			for _, digit := range []string{"1", "2", "3"}[:1+f.IntN(3)] {
				grow(u+seg(digit), depth+1)
			}
		}
	}
	grow(rootA, 1)
	grow(rootB, 1)
	return f
}

func (f forest) some() UID { return f.rows[f.IntN(len(f.rows))] }

// randomFilter returns a filter with one condition, sometimes several.
func (f forest) randomFilter() (asked UIDFilter) {
	for n := f.IntN(3); n >= 0; n-- {
		switch f.IntN(6) {
		case 0:
			asked.AncestorsOf = f.some()
		case 1:
			asked.DescendantsOf = f.some()
		case 2:
			asked.ChildrenOf = f.some()
		case 3:
			asked.InRoot = true
		case 4:
			asked.IDs = []UID{}
			for range f.IntN(4) {
				asked.IDs = append(asked.IDs, f.some(), builtIn[f.IntN(len(builtIn))])
			}
		default: // There is no condition.
		}
	}
	return asked
}

// For all grants and filters, a list must return exactly the rows that the caller could
// read one by one and that match the filter, each from one branch only.
func TestAScopeIsTheReadablePartOfTheRequest(t *testing.T) {
	t.Parallel()
	denied, empty := 0, 0
	for seed := range uint64(20_000) {
		f := newForest(seed)
		actor := &Actor{Identities: []UID{rootA + seg("f")}}
		for range f.IntN(4) {
			set := []Capability{CapRolesList, CapGroupsList, CapRepoList}[:1+f.IntN(3)]
			actor.Grants = append(actor.Grants, HeldGrant{f.some(), CapabilitySetOf(set), Time{}})
		}
		if f.IntN(3) == 0 {
			actor.Grants = append(actor.Grants, HeldGrant{rootA, CapabilitySetOf([]Capability{CapRolesList, CapGroupsList, CapRepoList}), Time{}})
		}
		asked := f.randomFilter()
		inGroups := slices.DeleteFunc(slices.Clone(f.rows), UID.IsRoot) // All kinds except groups are in groups.
		checkScope(t, seed, &roles, actor, asked, append(inGroups, builtIn...), &denied, &empty)
		checkScope(t, seed, &groups, actor, asked, f.rows, &denied, &empty)
		checkScope(t, seed, &thingKind, actor, asked, inGroups, &denied, &empty)
	}
	if denied < 10_000 || empty < 5_000 || denied+empty > 50_000 {
		t.Errorf("the dice are loaded: %d denied, %d empty of 60,000", denied, empty)
	}
}

func checkScope[T any](t *testing.T, seed uint64, k *Kind[T], actor *Actor, asked UIDFilter, rows []UID, denied, empty *int) {
	t.Helper()
	scope, err := k.Scope(actor, asked)
	if err != nil {
		if *denied++; !errors.Is(err, &Error{Code: CodePermissionDenied}) {
			t.Fatalf("seed %d: %s: %v", seed, k.Name, err)
		}
		if k.isRelated(actor, asked) {
			t.Fatalf("seed %d: %s %+v: %v, though the rule of lists allows it", seed, k.Name, asked, err)
		}
		return
	}
	if !k.isRelated(actor, asked) {
		t.Fatalf("seed %d: %s %+v: the rule of lists refuses it, yet it is answered", seed, k.Name, asked)
	}
	found := 0
	for _, row := range rows {
		in := 0
		for _, b := range scope.Branches {
			if b.holds(row) {
				in++
			}
		}
		want := 0
		if asked.meets(row) && k.ReadableBy(actor, row) {
			want, found = 1, found+1
		}
		if in != want {
			t.Fatalf("seed %d: %s %+v: %s is in %d branches of %v, want %d; the caller holds %v", seed, k.Name, asked, row, in, scope.Branches, want, actor.Grants)
		}
	}
	if found == 0 {
		*empty++
	}
}

// isRelated is the rule of lists: the caller must hold the capability somewhere, and for
// each requested scope on it, above it or anywhere below. Children are shown to callers
// who hold it on the parent or above. A list of groups also shows the groups on which it
// is held.
func (k *Kind[T]) isRelated(a *Actor, asked UIDFilter) bool {
	holds := func(at func(UID) bool) bool {
		return slices.ContainsFunc(a.Grants, func(g HeldGrant) bool { return g.set.has(k.List) && at(g.Scope) })
	}
	ok := holds(func(UID) bool { return true })
	for _, u := range []UID{asked.AncestorsOf, asked.DescendantsOf} {
		ok = ok && (u == "" || holds(func(s UID) bool { return s.Within(u) || u.Within(s) }))
	}
	u := asked.ChildrenOf
	return ok && (u == "" || holds(func(s UID) bool { return u.Within(s) || k.Name == "Group" && s.Parent() == u }))
}

func TestGrantsAreLimitedToTheSubtreeOfTheirIdentity(t *testing.T) {
	t.Parallel()
	team, other := rootA+seg("1"), rootA+seg("2")
	sub := team + seg("3")
	for _, x := range []struct {
		home, bound, want UID
	}{
		{rootA, rootA, rootA}, {rootA, team, team}, {rootA, sub, sub},
		{team, rootA, team}, {team, team, team}, {team, sub, sub}, {sub, rootA, sub}, {sub, team, sub},
		{team, other, ""}, {other, sub, ""}, {rootB, rootA, ""}, {rootB, team, ""},
	} {
		got := LimitToHome([]Grant{{Identity: x.home + seg("9"), Group: x.bound, Capabilities: []Capability{CapRepoList}}})
		scope := UID("")
		if len(got) == 1 {
			scope = got[0].Scope
		}
		if scope != x.want {
			t.Errorf("bound on %s, an identity of %s reaches %q, want %q", x.bound, x.home, scope, x.want)
		}
	}
}
