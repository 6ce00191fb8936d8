package sqlstore

import (
	"bytes"

	"atrium/platform"
)

// The depth of a scope's UID determines the column by which its rows are found.

// A reach describes how the rows of a branch are found in a table: by one column,
// which has an index for every order that must be fast. root is an additional
// condition only if it is the second column of that index. With parent, g2 or g3 it
// would be redundant. Planners assume that conditions are independent: they would
// expect almost no rows, and then sort all rows or use another index.
type reach struct {
	column        string // column that is compared with uid or name; "" means that inside suffices
	uid           platform.UID
	name          string       // value that column is compared with, if that is not a UID
	root          platform.UID // organisation that the rows must belong to; "" means any
	inside        platform.UID // UID within which the rows must lie; "" means anywhere
	strictlyBelow bool         // whether the row of inside itself is left out
	exclude       platform.UID // UID of a row that is left out; "" means none
	around        platform.UID // UID that the parent of each row must enclose; "" means any parent
}

// enclosing names the column that finds the rows within a UID of each depth. Deeper
// UIDs are found through their third level, by a range of UIDs. The index of the
// third level is read in order, so a page costs at most the rows within that level.
var enclosing = []string{"", "root", "g2", "g3"}

// reach returns how a branch is found. walk means that all its rows are read in the
// order of UIDs. This is the order of the tree, so the rows are a range of the
// primary key.
func (t *table[T, F]) reach(b platform.Branch, walk bool) (reach, bool) {
	switch b.Relation {
	case platform.Children:
		return reach{column: "parent", uid: b.UID}, true
	case platform.OfIdentity:
		return reach{column: "identity", uid: b.UID, root: b.UID.Root(), inside: b.Inside}, true
	case platform.OfRole: // a built-in role belongs to all organisations
		return reach{column: "role", uid: b.UID, root: b.Inside.Root(), inside: b.Inside}, true
	case platform.OfArtifact:
		return reach{column: "artifact_name", name: b.Name, root: b.Inside.Root(), inside: b.Inside, around: b.Around}, true
	case platform.OfEcosystem:
		return reach{column: "ecosystem", name: b.Name}, true
	case platform.Within, platform.Below:
		below, depth := b.Relation == platform.Below && !t.sharesUID, b.UID.Depth()
		if walk {
			return reach{inside: b.UID, strictlyBelow: below}, true
		}
		if depth >= len(enclosing) {
			depth = len(enclosing) - 1
			return reach{column: enclosing[depth], uid: b.UID.Enclosing(depth), inside: b.UID, strictlyBelow: below}, true
		}
		r := reach{column: enclosing[depth], uid: b.UID}
		if below && t.selfEnclosed {
			r.exclude = b.UID
		}
		return r, true
	default:
		return reach{}, false
	}
}

// key returns the value that the column is compared with.
func (r reach) key() any {
	if r.uid == "" {
		return r.name
	}
	return r.uid
}

// scope returns the counter scope of a branch: the smallest UID that contains all of
// its rows, or the ecosystem.
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

// addBranch adds the condition that a row is in a branch and, for a page, comes
// after a position.
func (t *table[T, F]) addBranch(s *statement, b platform.Branch, walk bool, o ordering, after *platform.Position) {
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
			if s.addWithin(r, o, after); o.byUID() {
				after = nil
			}
		}
		if r.exclude != "" {
			s.add(" AND t.uid <> ?", r.exclude)
		}
		s.addAround(r.around)
	case b.Relation == platform.Listed:
		s.add("t.uid ?", t.keys(b.UIDs))
	case b.Relation == platform.BuiltIn:
		s.add("t.root = ?", platform.UID(""))
	default:
		s.add("1 = 1")
	}
	o.addAfter(s, after)
}

// addAround adds the condition that the parent of a row contains a UID.
func (s *statement) addAround(uid platform.UID) {
	if uid != "" {
		s.add(" AND t.parent ?", uidValueList(uid.Ancestors()))
	}
}

// addWithin adds the condition that a UID is within another and, if rows are sorted
// by UID, comes after a position. It uses one lower and one upper bound, because
// SQLite uses only one of each in an index.
func (s *statement) addWithin(r reach, o ordering, after *platform.Position) {
	from, low, high := ">=", packUID(r.inside), pastSubtree(r.inside)
	if r.strictlyBelow {
		from = ">"
	}
	if after != nil && o.byUID() {
		switch at := packUID(after.UID); {
		case o.desc && bytes.Compare(at, high) < 0:
			high = at
		case !o.desc && bytes.Compare(at, low) >= 0:
			from, low = ">", at
		}
	}
	s.add("t.uid "+from+" ? AND t.uid < ?", low, high)
}

// An ordering is the SQL expression by which rows of t are sorted before their UIDs,
// and the direction.
type ordering struct {
	value     string // SQL of the values; "" means that rows are sorted by UID only
	desc      bool
	unindexed bool                   // whether no index has this order: see orderingOf
	unique    bool                   // whether no two rows have the same value: see orderingAmong
	key       func(platform.UID) any // returns the value that UIDs are compared with
}

// A lookup is an order by a column of another table. No index supports it, so all
// rows of a scope are read and sorted. statement_timeout limits the time.
type lookup struct {
	column string // SQL that selects the column from its join, such as i.name
	value  string // SQL that looks up the same column for a row of t
}

// nameOf makes a lookup of the name of the row in another table that column refers
// to.
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

// orderingAmong returns o for rows of which areSiblings tells that they have the same
// parent. The index of names that are unique among siblings does not contain UIDs, so an
// engine would sort the rows again if the clause had them.
func (t *table[T, F]) orderingAmong(areSiblings bool, o ordering) ordering {
	o.unique = areSiblings && t.uniqueNames && o.value == "t.name"
	return o
}

// byUID reports whether UIDs alone are what rows are sorted by.
func (o ordering) byUID() bool { return o.value == "" }

// keys returns the columns by which a page of keys is sorted when it is merged with
// others.
func (o ordering) keys() string {
	if o.byUID() {
		return "t.uid"
	}
	return o.value + " AS sorted, t.uid"
}

// orderBy returns the ORDER BY clause for rows of t.
func (o ordering) orderBy() string {
	switch {
	case !o.unindexed && o.unique:
		return o.clause("", o.value)
	case !o.unindexed:
		return o.clause(o.value, "t.uid")
	case o.byUID():
		return o.clause("", withoutIndex("t.uid"))
	default:
		return o.clause(withoutIndex(o.value), "t.uid")
	}
}

// withoutIndex changes an expression so that no index matches it.
func withoutIndex(value string) string { return "COALESCE(" + value + ", " + value + ")" }

// byKeys returns the ORDER BY clause for keys.
func (o ordering) byKeys() string {
	if o.byUID() {
		return o.clause("", "b.uid")
	}
	return o.clause("b.sorted", "b.uid")
}

// clause returns the ORDER BY clause for a value, which may be "", and a value that no
// two rows share.
func (o ordering) clause(value, unique string) string {
	direction := ""
	if o.desc {
		direction = " DESC"
	}
	if value != "" {
		value += direction + ", "
	}
	return " ORDER BY " + value + unique + direction
}

// addAfter adds the condition that a row comes after a position. It compares the columns
// as one row value, which needs a single index search.
func (o ordering) addAfter(s *statement, p *platform.Position) {
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
