package sqlstore

import (
	"bytes"

	"atrium/platform"
)

// Which column says that a row lies in a scope follows from the depth of the
// scope's UID.

// A reach is how a branch of a scope is found in a table: by one column, of
// which an index gives every order that is promised to be fast. Root stands
// beside it only where it comes second in that index. Beside parent, g2 or g3
// it says nothing new, and planners take conditions for independent: they
// would expect next to no rows and sort all of them, or walk another index.
type reach struct {
	column string // compared with key; "" where inside says it all
	uid    platform.UID
	name   string       // the key, where that is no UID
	root   platform.UID // if set: only rows of this organisation
	inside platform.UID // if set: only UIDs within it
	below  bool         // not inside itself
	but    platform.UID // if set: not this row itself
	around platform.UID // if set: only rows whose parent encloses this UID
}

// enclosing names the column for what lies within a UID of each depth. What
// is deeper is found below its third level, by the range of its UIDs: the
// index of the third level is walked in order, so a page costs no more than
// what lies within that level.
var enclosing = []string{"", "root", "g2", "g3"}

// reach tells how a branch is found. walk says that all its rows are read in
// the order of UIDs: that order is the tree's, so they are a range of the
// primary key.
func (t *table[T, F]) reach(b platform.Branch, walk bool) (reach, bool) {
	switch b.Relation {
	case platform.Children:
		return reach{column: "parent", uid: b.UID}, true
	case platform.OfIdentity:
		return reach{column: "identity", uid: b.UID, root: b.UID.Root(), inside: b.Inside}, true
	case platform.OfRole: // which can be one of all organisations
		return reach{column: "role", uid: b.UID, root: b.Inside.Root(), inside: b.Inside}, true
	case platform.OfArtifact:
		return reach{column: "artifact_name", name: b.Name, root: b.Inside.Root(), inside: b.Inside, around: b.Around}, true
	case platform.OfEcosystem:
		return reach{column: "ecosystem", name: b.Name}, true
	case platform.Within, platform.Below:
		below, depth := b.Relation == platform.Below && !t.sharesUID, b.UID.Depth()
		if walk {
			return reach{inside: b.UID, below: below}, true
		}
		if depth >= len(enclosing) {
			depth = len(enclosing) - 1
			return reach{column: enclosing[depth], uid: b.UID.Enclosing(depth), inside: b.UID, below: below}, true
		}
		r := reach{column: enclosing[depth], uid: b.UID}
		if below && t.selfEnclosed {
			r.but = b.UID
		}
		return r, true
	default:
		return reach{}, false
	}
}

// key is what the column is compared with.
func (r reach) key() any {
	if r.uid == "" {
		return r.name
	}
	return r.uid
}

// scope is what counters count the rows of a branch by: the narrowest UID that
// all of them lie within, or the ecosystem.
func (r reach) scope(b platform.Branch) string {
	switch {
	case r.inside != "":
		return string(r.inside)
	case b.Relation == platform.OfEcosystem:
		return b.Name
	default:
		return string(b.UID)
	}
}

// in adds the condition that a row lies in a branch and, for a page, comes
// after a position.
func (t *table[T, F]) in(s *statement, b platform.Branch, walk bool, o ordering, after *platform.Position) {
	r, ok := t.reach(b, walk)
	switch {
	case ok:
		and := ""
		if r.column != "" {
			s.add("t."+r.column+" = ?", r.key())
			and = " AND "
		}
		if r.root != "" {
			s.add(" AND t.root = ?", r.root)
		}
		if r.inside != "" {
			s.add(and)
			if s.within(r, o, after); o.byUID() {
				after = nil
			}
		}
		if r.but != "" {
			s.add(" AND t.uid <> ?", r.but)
		}
		s.around(r.around)
	case b.Relation == platform.Listed:
		s.add("t.uid ?", t.keys(b.UIDs))
	case b.Relation == platform.BuiltIn:
		s.add("t.root = ?", platform.UID(""))
	default:
		s.add("1 = 1")
	}
	o.from(s, after)
}

// around adds the condition that the parent of a row encloses a UID.
func (s *statement) around(uid platform.UID) {
	if uid != "" {
		s.add(" AND t.parent ?", amongUIDs(uid.Ancestors()))
	}
}

// within adds the condition that a UID lies within another and, where UIDs
// are what rows are sorted by, after a position: one lower and one upper
// bound, since SQLite starts at no more than one.
func (s *statement) within(r reach, o ordering, after *platform.Position) {
	from, low, high := ">=", packed(r.inside), pastSubtree(r.inside)
	if r.below {
		from = ">"
	}
	if after != nil && o.byUID() {
		switch at := packed(after.UID); {
		case o.desc && bytes.Compare(at, high) < 0:
			high = at
		case !o.desc && bytes.Compare(at, low) >= 0:
			from, low = ">", at
		}
	}
	s.add("t.uid "+from+" ? AND t.uid < ?", low, high)
}

// An ordering is what rows of t are sorted by before their UIDs, as SQL, and
// the direction.
type ordering struct {
	value string // "" where UIDs alone are what rows are sorted by
	desc  bool
	alone bool                   // no index gives it: see orderingOf
	key   func(platform.UID) any // what UIDs are compared with
}

// A lookup is an order by a column of another table: all rows of a scope are
// read for it and sorted, since no index holds it. statement_timeout ends what
// takes too long.
type lookup struct {
	shown string // the column as it is selected: i.name
	value string // the same, looked up for a row of t
}

// nameOf looks up the name of the row of another table to which column points.
func nameOf(shown, table, column string) lookup {
	return lookup{shown, "(SELECT o.name FROM " + table + " o WHERE o.uid = t." + column + ")"}
}

func (t *table[T, F]) ordering(o platform.Order, backward bool) ordering {
	by := ordering{desc: o.Desc != backward, key: t.key}
	if l, elsewhere := t.lookups[o.Field]; elsewhere {
		by.value = l.value
	} else if o.Field != "uid" {
		by.value = "t." + o.Field
	}
	return by
}

// byUID reports whether UIDs alone are what rows are sorted by.
func (o ordering) byUID() bool { return o.value == "" }

// keys are the columns that a page of keys is sorted by, when it is merged
// with others.
func (o ordering) keys() string {
	if o.byUID() {
		return "t.uid"
	}
	return o.value + " AS sorted, t.uid"
}

// by is the ORDER BY clause over rows of t.
func (o ordering) orderBy() string {
	if !o.alone {
		return o.clause(o.value, "t.uid")
	}
	if o.byUID() {
		return o.clause("", alone("t.uid"))
	}
	return o.clause(alone(o.value), "t.uid")
}

// alone is a value that no index holds.
func alone(value string) string { return "COALESCE(" + value + ", " + value + ")" }

// byKeys is the ORDER BY clause over keys.
func (o ordering) byKeys() string {
	if o.byUID() {
		return o.clause("", "b.uid")
	}
	return o.clause("b.sorted", "b.uid")
}

func (o ordering) clause(value, uid string) string {
	direction := ""
	if o.desc {
		direction = " DESC"
	}
	if value != "" {
		value += direction + ", "
	}
	return " ORDER BY " + value + uid + direction
}

// addRows adds the condition that a row comes after a position. It compares the
// columns as one row value: the form that an index answers by one descent.
func (o ordering) from(s *statement, p *platform.Position) {
	if p == nil {
		return
	}
	sign := ">"
	if o.desc {
		sign = "<"
	}
	if o.byUID() {
		s.add(" AND t.uid "+sign+" ?", o.key(p.UID))
		return
	}
	s.add(" AND ("+o.value+", t.uid) "+sign+" (?, ?)", p.Value, o.key(p.UID))
}
