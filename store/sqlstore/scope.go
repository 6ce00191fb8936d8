package sqlstore

import (
	"atrium/platform"
)

// Which column says that a row lies in a scope follows from the depth of the
// scope's UID. Every condition on the tree names root too, so that the tables
// can be partitioned by it.

// A reach is how a branch of a scope is found in a table.
type reach struct {
	column string // compared with key, beside root
	key    string
	inside platform.UID // if set: only UIDs within it
	but    platform.UID // if set: not this row itself
}

// enclosing names the column for what lies within a UID of each depth. What
// is deeper is found below its third level, by the range of its UIDs.
var enclosing = []string{"", "root", "g2", "g3"}

func (t *table[T, F]) reach(b platform.Branch) (reach, bool) {
	switch b.Relation {
	case platform.Children:
		return reach{column: "parent", key: string(b.UID)}, true
	case platform.OfIdentity:
		return reach{column: "identity", key: string(b.UID), inside: b.Inside}, true
	case platform.OfRole:
		return reach{column: "role", key: string(b.UID), inside: b.Inside}, true
	case platform.OfArtifact:
		return reach{column: "artifact_name", key: b.Name, inside: b.Inside}, true
	case platform.Within, platform.Below:
		depth := b.UID.Depth()
		r := reach{key: string(b.UID)}
		if depth >= len(enclosing) {
			depth = len(enclosing) - 1
			r.key, r.inside = string(b.UID.Enclosing(depth)), b.UID
		}
		r.column = enclosing[depth]
		if b.Relation == platform.Below && t.selfEnclosed {
			r.but = b.UID
		}
		return r, true
	default:
		return reach{}, false
	}
}

// scope is the narrowest UID that all rows of a branch lie within.
func (r reach) scope(b platform.Branch) platform.UID {
	if r.inside != "" {
		return r.inside
	}
	return b.UID
}

// in adds the condition that a row lies in a branch.
func (t *table[T, F]) in(s *statement, b platform.Branch) {
	r, ok := t.reach(b)
	switch {
	case ok:
		s.add("t.root = ?", string(r.scope(b).Root()))
		if r.column != "root" {
			s.add(" AND t."+r.column+" = ?", r.key)
		}
		if r.inside != "" {
			s.add(" AND t.uid >= ? AND t.uid < ?", string(r.inside), pastSubtree(r.inside))
		}
		if r.but != "" {
			s.add(" AND t.uid <> ?", string(r.but))
		}
	case b.Relation == platform.Listed:
		s.add("t.uid ?", uidList(b.UIDs))
	case b.Relation == platform.BuiltIn:
		s.add("t.root = ''")
	default:
		s.add("1 = 1")
	}
}

// pastSubtree is the least text above every UID within u: 0 follows / in the
// order of bytes.
func pastSubtree(u platform.UID) string { return string(u) + "0" }

func uidList(uids []platform.UID) list {
	l := make(list, len(uids))
	for i, u := range uids {
		l[i] = string(u)
	}
	return l
}

// An ordering is the columns that rows are sorted by, and the direction.
type ordering struct {
	columns []string
	desc    bool
}

func orderingOf(o platform.Order, backward bool) ordering {
	columns := []string{o.Field, "uid"}
	if o.Field == "uid" {
		columns = columns[1:]
	}
	return ordering{columns, o.Desc != backward}
}

// by is the ORDER BY clause over the columns of table.
func (o ordering) by(table string) string {
	clause := " ORDER BY "
	for i, c := range o.columns {
		if i > 0 {
			clause += ", "
		}
		clause += table + "." + c
		if o.desc {
			clause += " DESC"
		}
	}
	return clause
}

// from adds the condition that a row comes after a position. It compares the
// columns as one row value: the form that an index answers by one descent.
func (o ordering) from(s *statement, p *platform.Position) {
	if p == nil {
		return
	}
	sign := ">"
	if o.desc {
		sign = "<"
	}
	if len(o.columns) == 1 {
		s.add(" AND t.uid "+sign+" ?", string(p.UID))
		return
	}
	s.add(" AND (t."+o.columns[0]+", t.uid) "+sign+" (?, ?)", p.Value, string(p.UID))
}
