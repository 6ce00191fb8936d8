package core

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	rootA = UID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	rootB = UID("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")
)

// seg returns one segment below the root.
func seg(digit string) UID { return "/" + UID(strings.Repeat(digit, SegmentDigits)) }

var uidGrammar = regexp.MustCompile(`^[0-9a-f]{40}(/[0-9a-f]{16})*$`)

func TestAUIDIsValidAsItsGrammarSays(t *testing.T) {
	t.Parallel()
	for uid, want := range map[UID]bool{
		"":                          false,
		rootA:                       true,
		rootA + seg("1"):            true,
		rootA + seg("1") + seg("f"): true,
		rootA + "/":                 false,
		"/" + rootA:                 false,
		rootA[1:]:                   false,
		rootA + "a":                 false,
		rootA + seg("1")[:16]:       false,
		rootA + seg("1") + "1":      false,
		rootA + seg("g"):            false,
		rootA + seg("A"):            false,
		"A" + rootA[1:]:             false,
		rootA + "//" + seg("1")[1:]: false,
		rootA + "\n":                false,
		rootA + seg("1") + "\n":     false,
		" " + rootA:                 false,
		rootA + seg("1")[:15] + "é": false,
	} {
		if got := uid.Valid(); got != want {
			t.Errorf("%q: valid is %t, want %t", uid, got, want)
		}
	}
}

func TestAUIDEndsAtTheDeepestLevel(t *testing.T) {
	t.Parallel()
	deepest := rootA + UID(strings.Repeat(string(seg("1")), 28))
	if !deepest.Valid() || deepest.Depth() != 29 {
		t.Errorf("a UID of depth %d is valid, want 29: %t", deepest.Depth(), deepest.Valid())
	}
	if below := deepest + seg("1"); below.Valid() {
		t.Errorf("a UID of depth %d is valid", below.Depth())
	}
}

func TestAUIDContainsItsAncestors(t *testing.T) {
	t.Parallel()
	group, repo := rootA+seg("1"), rootA+seg("1")+seg("2")
	for _, x := range []struct {
		uid, root, parent UID
		depth             int
		ancestors         []UID
	}{
		{"", "", "", 0, nil},
		{rootA, rootA, "", 1, nil},
		{group, rootA, rootA, 2, []UID{rootA}},
		{repo, rootA, group, 3, []UID{rootA, group}},
	} {
		if got := x.uid.Root(); got != x.root {
			t.Errorf("%q: root is %q, want %q", x.uid, got, x.root)
		}
		if got := x.uid.Parent(); got != x.parent {
			t.Errorf("%q: parent is %q, want %q", x.uid, got, x.parent)
		}
		if got := x.uid.Depth(); got != x.depth {
			t.Errorf("%q: depth is %d, want %d", x.uid, got, x.depth)
		}
		if got := x.uid.Ancestors(); !slices.Equal(got, x.ancestors) {
			t.Errorf("%q: ancestors are %q, want %q", x.uid, got, x.ancestors)
		}
		for depth := range 5 {
			want := UID("")
			if all := append(slices.Clone(x.ancestors), x.uid); depth >= 1 && depth <= x.depth {
				want = all[depth-1]
			}
			if got := x.uid.Enclosing(depth); got != want {
				t.Errorf("%q: enclosing %d is %q, want %q", x.uid, depth, got, want)
			}
		}
	}
}

func TestWithinFollowsSegmentsNotLetters(t *testing.T) {
	t.Parallel()
	group := rootA + seg("1")
	for _, x := range []struct {
		uid, scope    UID
		within, below bool
	}{
		{group, group, true, false},
		{group, rootA, true, true},
		{group + seg("2"), rootA, true, true},
		{rootA, group, false, false},
		{group, rootB, false, false},
		{group, "", false, false},
		{"", "", true, false},
		{rootA + "/11", rootA + "/1", false, false}, // A longer last segment is a different segment.
		{group + seg("2"), rootA + seg("2"), false, false},
	} {
		if got := x.uid.Within(x.scope); got != x.within {
			t.Errorf("%q within %q: %t, want %t", x.uid, x.scope, got, x.within)
		}
		if got := x.uid.Below(x.scope); got != x.below {
			t.Errorf("%q below %q: %t, want %t", x.uid, x.scope, got, x.below)
		}
	}
}

func TestNewUIDsAreValidAndNeverTheSame(t *testing.T) {
	t.Parallel()
	seen := map[UID]bool{}
	for range 1000 {
		root := NewRootUID()
		child := root.NewChild()
		if !root.Valid() || !root.IsRoot() || !child.Valid() || child.Parent() != root || seen[root] || seen[child] {
			t.Fatalf("made %q and below it %q", root, child)
		}
		seen[root], seen[child] = true, true
	}
}

func TestUIDsOfABatchAreNeighbors(t *testing.T) {
	t.Parallel()
	var one, other UIDSeries
	group := NewRootUID().NewChild()
	first := one.Child(group)
	if far := other.Child(group); far[:len(far)-8] == first[:len(first)-8] {
		t.Errorf("two batches begin at %q and %q: a batch begins anywhere", first, far)
	}
	for last, n := first, 1; n < 1000; n++ {
		uid := one.Child(group)
		if !uid.Valid() || uid.Parent() != group {
			t.Fatalf("made %q below %q, want Parent %v", uid, group, group)
		}
		from, _ := strconv.ParseUint(string(last[len(group)+1:]), 16, 64)
		to, _ := strconv.ParseUint(string(uid[len(group)+1:]), 16, 64)
		if step := to - from; step == 0 || step > 1<<32 {
			t.Fatalf("%q follows %q: the step is %d", uid, last, step)
		}
		last = uid
	}
}

func FuzzUID(f *testing.F) {
	f.Add(string(rootA))
	f.Add(string(rootA + seg("1") + seg("2")))
	f.Add(string(rootA[:39]) + "/")
	f.Add("x")
	f.Fuzz(func(t *testing.T, s string) {
		u := UID(s)
		want := uidGrammar.MatchString(s) && len(s) <= maxUIDLength
		if u.Valid() != want {
			t.Fatalf("%q: valid is %t, the grammar says %t", s, u.Valid(), want)
		}
		// No text of a client may cause a panic.
		ancestors := u.Ancestors()
		_, _, _, _ = u.Root(), u.IsRoot(), u.Enclosing(3), u.Below("x")
		if !u.Valid() {
			_ = u.Parent()
			return
		}
		if len(ancestors) != u.Depth()-1 {
			t.Fatalf("%q: %d ancestors on depth %d", s, len(ancestors), u.Depth())
		}
		for i, a := range ancestors {
			if !a.Valid() || !u.Below(a) || a.Depth() != i+1 || u.Enclosing(i+1) != a {
				t.Fatalf("%q: its ancestor %d is %q", s, i, a)
			}
		}
		if len(ancestors) > 0 && u.Parent() != ancestors[len(ancestors)-1] {
			t.Fatalf("%q: parent is %q", s, u.Parent())
		}
	})
}
