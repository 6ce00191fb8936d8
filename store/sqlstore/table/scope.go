package table

import (
	"bytes"
	"strconv"
	"strings"

	"atrium/platform/core"
)

// The depth of a scope's UID determines the column by which its rows are found.

// A branchKey describes how the rows of a branch are found in a table: by one column,
// which has an index for every order that must be fast. root is an additional
// condition only if it is the second column of that index. With parent, g2 or g3 it
// would be redundant. Planners assume that conditions are independent: they would
// expect almost no rows, and then sort all rows or use another index.
type branchKey struct {
	column        string // column that is compared with uid or name; "" means that inside suffices
	hasKey        bool   // whether the column contains keys of scopes
	uid           core.UID
	name          string   // value that column is compared with, if that is not a UID
	root          core.UID // organization that the rows must belong to; "" means any
	inside        core.UID // UID within which the rows must lie; "" means anywhere
	strictlyBelow bool     // whether the row of inside itself is left out
	exclude       core.UID // UID of a row that is left out; "" means none
	isRare        bool     // whether the column finds few rows

	narrowing Narrowing // a further condition

	tie tiebreaker // tiebreaker of the order
}

// A Narrowing is a condition on the rows of a branch. The zero narrowing is none.
type Narrowing struct {
	SQL   string // " AND ..." that compares with p.x, and with p.xroot if there is a root
	Text  string // value of p.x; "" means that it is bytes
	Bytes []byte
	Root  []byte // value of p.xroot, a second value; nil means that there is none

	// FoundByParent means that an index finds the rows of a parent that meet the condition by the UID of the parent.
	ByParent bool
}

// ElementsOf begins a placeholder in the SQL of a narrowing, which a column and } end. It stands for the table e of the
// values of that column, which has a list.
const ElementsOf = "{elements of "

// A Relation is how rows of a kind relate to a UID or a name outside of the tree.
type Relation struct {
	Column string // column that is compared with the UID or the name
	IsNear bool   // whether the rows belong to the organization of the UID, wherever else they must lie
	IsRare bool   // whether few rows have the same value, so that its index finds them in any order
}

// value returns the value of p.x.
func (n Narrowing) value() any {
	if n.Bytes == nil {
		return n.Text
	}
	return n.Bytes
}

// AddNarrowing adds a condition with its values.
func (s *Statement) AddNarrowing(n Narrowing) {
	if n.SQL == "" {
		return
	}
	values := []string{"p.x", s.Arg(n.value())}
	if n.Root != nil {
		values = append([]string{"p.xroot", s.Arg(n.Root)}, values...)
	}
	s.sql.WriteString(strings.NewReplacer(values...).Replace(s.withElements(n.SQL)))
}

// withElements replaces the placeholder that ElementsOf begins.
func (s *Statement) withElements(sql string) string {
	before, rest, found := strings.Cut(sql, ElementsOf)
	if !found {
		return sql
	}
	column, after, _ := strings.Cut(rest, "}")
	return before + s.Dialect.Elements(column) + after
}

// An accessPath is the way in which the rows of a list are found.
type accessPath struct {
	walk     bool // whether all rows are read in the order of UIDs, along the primary key
	byParent bool // whether the children of a scope are found by its UID, not by its key
	byWords  bool // whether the rows are found by the words of a search
	keysOnly bool // whether the UIDs are read, and then the rows by their UIDs
	isFound  bool // whether the rows are found by the finder of the reader
}

// EnclosingColumns names the column that finds the rows within a UID of each depth. Deeper
// UIDs are found through their third level, by a range of UIDs. The index of the
// third level is read in order, so a page costs at most the rows within that level.
var EnclosingColumns = []string{"", "root", "g2", "g3"}

// branchKey returns how a branch is found.
func (t *Definition[T, F]) branchKey(b core.Branch, how accessPath) (branchKey, bool) {
	r, ok := t.branchKeyByUID(b, how.walk)
	if t.Narrow != nil {
		r.narrowing = t.Narrow(b)
	}
	if !t.HasScopeKeys || !ok {
		return r, ok
	}
	switch r.column {
	case "":
		return r, true
	case "parent":
		if !how.byParent && !r.narrowing.ByParent {
			r.column, r.hasKey = keyColumns[r.column], true
		}
		r.tie = tiebreaker{"t.local", r.uid}
	case "root", "g2", "g3":
		r.column, r.hasKey, r.tie = keyColumns[r.column], true, tiebreaker{"t.rest", r.uid.Root()}
	default:
		r.tie = tiebreaker{"t.rest", r.root}
	}
	return r, true
}

// IsOrganization reports whether a branch has all rows of an organization, by their key.
func (t *Definition[T, F]) IsOrganization(b core.Branch) bool {
	r, ok := t.branchKey(b, accessPath{})
	return ok && r.column == keyColumns["root"] && r.narrowing.SQL == ""
}

// tie returns the tiebreaker of the rows of a branch.
func (t *Definition[T, F]) tie(b core.Branch, how accessPath) tiebreaker {
	r, _ := t.branchKey(b, how)
	return r.tie
}

// branchKeyByUID returns how a branch is found in a table without keys. A walk reads all its
// rows in the order of UIDs. This is the order of the tree, so the rows are a range of
// the primary key.
func (t *Definition[T, F]) branchKeyByUID(b core.Branch, walk bool) (branchKey, bool) {
	switch b.Relation {
	case core.Children:
		return branchKey{column: "parent", uid: b.UID}, true
	case core.Within, core.Below:
		below, depth := b.Relation == core.Below && !t.SharesUID, b.UID.Depth()
		if walk {
			return branchKey{inside: b.UID, strictlyBelow: below}, true
		}
		if depth >= len(EnclosingColumns) {
			depth = len(EnclosingColumns) - 1
			return branchKey{column: EnclosingColumns[depth], uid: b.UID.Enclosing(depth), inside: b.UID, strictlyBelow: below}, true
		}
		r := branchKey{column: EnclosingColumns[depth], uid: b.UID}
		if below && t.LiesInItself {
			r.exclude = b.UID
		}
		return r, true
	default:
		by, known := t.Relations[b.Relation]
		r := branchKey{column: by.Column, uid: b.UID, name: b.Name, root: b.Inside.Root(), inside: b.Inside, isRare: by.IsRare}
		if by.IsNear {
			r.root = b.UID.Root()
		}
		return r, known
	}
}

// key returns the value that the column is compared with.
func (r branchKey) key() any {
	switch {
	case r.uid == "":
		return r.name
	case r.column == "parent_key":
		return ParentKey(r.uid)
	case r.hasKey:
		return ScopeKey(r.uid)
	default:
		return r.uid
	}
}

// prefix returns SQL for the part of a row that confirms its scope, or "" if the scope
// needs no confirmation.
func (r branchKey) prefix() string {
	if r.inside != "" {
		return ""
	}
	return scopePrefixes[r.column]
}

// isElsewhere reports whether there is no row, because the scope that must contain the
// rows is in another organization.
func (r branchKey) isElsewhere() bool {
	return r.tie.base != "" && r.inside != "" && r.inside.Root() != r.tie.base.Root()
}

// scope returns the counter scope of a branch: the smallest UID that contains all of
// its rows, or the name that they share.
func (r branchKey) scope(b core.Branch) string {
	switch {
	case r.inside != "":
		return string(r.inside)
	case r.name != "":
		return r.name
	default:
		return string(b.UID)
	}
}

// addBranch adds the condition that a row is in a branch and, for a page, comes
// after a position.
func (t *Definition[T, F]) addBranch(s *Statement, b core.Branch, how accessPath, o ordering, after *core.Position) {
	r, ok := t.branchKey(b, how)
	s.Organization = b.UID.Root()
	switch {
	case ok:
		and := ""
		switch {
		case r.column == "":
		case how.byWords && r.hasKey:
			// The index of words begins with the organization. PostgreSQL would read an index of
			// keys beside it, which costs more than it saves.
			s.Add("t.root = ?", r.uid.Root())
			and = " AND "
		default:
			s.Add("t."+r.column+" = ?", r.key())
			and = " AND "
		}
		switch {
		case r.root != "" && r.tie.base != "":
			s.Add(" AND t.root_key = ?", ScopeKey(r.root))
		case r.root != "":
			s.Add(" AND t.root = ?", r.root)
		}
		// Rows that are found by their key and read by their UIDs need no confirmation: the few
		// of another scope with the same key get UIDs that no row has.
		isSure := how.keysOnly && !how.byWords && r.column == "parent_key"
		if prefix := r.prefix(); prefix != "" && !isSure {
			s.Add(" AND "+Confirm(prefix+" = ?"), RestOf(r.uid))
		}
		if r.inside != "" {
			s.Add(and)
			if s.addWithin(r, o, after); o.byUID() {
				after = nil
			}
		}
		if r.exclude != "" {
			s.Add(" AND t.uid <> ?", r.exclude)
		}
		if how.byWords && r.uid != "" && !r.hasKey {
			s.Add(" AND t.root = ?", b.UID.Root())
		}
	case b.Relation == core.Listed:
		s.Add("t.uid ?", t.keys(b.UIDs))
	case b.Relation == core.BuiltIn:
		s.Add("t.root = ?", core.UID(""))
	default:
		s.Add("1 = 1")
	}
	s.AddNarrowing(r.narrowing)
	o.addAfter(s, after)
}

// addWithin adds the condition that a UID is within another and, if rows are sorted
// by UID, comes after a position. It uses one lower and one upper bound, because
// SQLite uses only one of each in an index.
func (s *Statement) addWithin(r branchKey, o ordering, after *core.Position) {
	from, low, high := ">=", PackUID(r.inside), PastSubtree(r.inside)
	switch {
	case r.isElsewhere():
		low, high = []byte{}, []byte{} // nothing is between them
	case r.tie.base != "":
		low, high = RestOf(r.inside), PastRest(r.inside)
	}
	if r.strictlyBelow {
		from = ">"
	}
	if after != nil && o.byUID() {
		switch at := r.tie.position(after.UID); {
		case o.desc && bytes.Compare(at, high) < 0:
			high = at
		case !o.desc && bytes.Compare(at, low) >= 0:
			from, low = ">", at
		}
	}
	s.Add(hideRange(r.isRare, r.tie.sql()+" "+from+" ? AND "+r.tie.sql()+" < ?"), low, high)
}

// hideRange hides a range of UIDs from planners if the column of a branch finds few rows. PostgreSQL would expect
// that the range has fewer, and read an index of the organization to its end.
func hideRange(isRare bool, within string) string {
	if isRare {
		return Confirm(within)
	}
	return within
}

// An ordering is the SQL expression by which rows of t are sorted before their UIDs,
// and the direction.
type ordering struct {
	value     string // SQL of the values; "" means that rows are sorted by UID only
	desc      bool
	then      []sortKey          // what sorts rows with equal values; no index has such an order
	tieDesc   bool               // whether UIDs descend
	unindexed bool               // whether no index has this order: see orderingOf
	unique    bool               // whether no two rows have the same value: see orderingAmong
	key       func(core.UID) any // returns the value that UIDs are compared with

	tie tiebreaker
}

// A sortKey is a further expression by which rows are sorted.
type sortKey struct {
	value string
	desc  bool
}

// withTie returns the same order with another tiebreaker.
func (o ordering) withTie(t tiebreaker) ordering {
	o.tie = t
	return o
}

// position returns the value that the tiebreaker is compared with.
func (o ordering) position(u core.UID) any {
	if o.tie.base != "" {
		return o.tie.position(u)
	}
	return o.key(u)
}

// A JoinedOrder is an order by a column of another table. No index supports it, so all
// rows of a scope are read and sorted. statement_timeout limits the time.
type JoinedOrder struct {
	Column string // SQL that selects the column from its join, such as i.name
	Value  string // SQL that looks up the same column for a row of t
}

// OrderByName returns the order by a name in another table, for the row that column refers
// to.
func OrderByName(shown, table, column string) JoinedOrder {
	return JoinedOrder{shown, "(SELECT o.name FROM " + table + " o WHERE o.uid = t." + column + ")"}
}

// ordering returns the ordering of an order in which a list is read.
func (t *Definition[T, F]) ordering(o core.Order, backward bool) ordering {
	by := ordering{value: t.sortedBy(o.Field), desc: o.Desc != backward, key: t.key}
	by.tieDesc = by.desc
	for _, key := range o.Then {
		if key.Field == "" {
			break
		}
		by.unindexed, by.tieDesc = true, key.Desc != backward
		if value := t.sortedBy(key.Field); value != "" {
			by.then = append(by.then, sortKey{value, by.tieDesc})
		}
	}
	return by
}

// sortedBy returns the SQL of the values of a field by which rows are sorted, or "" for UIDs.
func (t *Definition[T, F]) sortedBy(field string) string {
	if l, elsewhere := t.JoinedOrders[field]; elsewhere {
		return l.Value
	}
	if field == "uid" {
		return ""
	}
	return "t." + field
}

// orderingAmong returns o without UIDs if names are unique among the rows. The index of
// names that are unique among siblings does not contain UIDs, so an engine would sort the
// rows again if the clause had them.
func (t *Definition[T, F]) orderingAmong(areSiblings bool, o ordering) ordering {
	o.unique = areSiblings && t.HasUniqueNames && o.value == "t.name"
	return o
}

// byUID reports whether UIDs alone are what rows are sorted by.
func (o ordering) byUID() bool { return o.value == "" }

// addKeys adds the columns by which a page of keys is sorted when it is merged with
// others. The UID is put together if that lets an index suffice.
func (s *Statement) addKeys(o ordering) {
	if !o.byUID() {
		s.Add(o.value + " AS sorted, ")
	}
	for i, key := range o.then {
		s.Add(key.value + " AS " + sortedName(i) + ", ")
	}
	if o.tie.base == "" {
		s.Add("t.uid")
		return
	}
	s.sql.WriteString(s.Dialect.JoinBytes(s.Arg(PackUID(o.tie.base)), o.tie.sql()) + " AS uid")
}

// orderBy returns the ORDER BY clause for rows of t.
func (o ordering) orderBy() string {
	switch {
	case !o.unindexed && o.unique:
		return o.clause("", "", o.value)
	case !o.unindexed:
		return o.clause(o.value, "", o.tie.sql())
	case o.byUID():
		return o.clause("", "", WithoutIndex(o.tie.sql()))
	default:
		var then strings.Builder
		for _, key := range o.then {
			then.WriteString(key.value + direction(key.desc) + ", ")
		}
		return o.clause(WithoutIndex(o.value), then.String(), o.tie.sql())
	}
}

// direction returns the SQL of a direction.
func direction(desc bool) string {
	if desc {
		return " DESC"
	}
	return ""
}

// sortedName returns the name of the column of a further key.
func sortedName(i int) string { return "sorted" + strconv.Itoa(i+2) }

// WithoutIndex changes an expression so that no index matches it.
func WithoutIndex(value string) string { return "COALESCE(" + value + ", " + value + ")" }

// byKeys returns the ORDER BY clause for keys.
func (o ordering) byKeys() string {
	if o.byUID() {
		return o.clause("", "", "b.uid")
	}
	var then strings.Builder
	for i, key := range o.then {
		then.WriteString("b." + sortedName(i) + direction(key.desc) + ", ")
	}
	return o.clause("b.sorted", then.String(), "b.uid")
}

// clause returns the ORDER BY clause for a value, which may be "", the further ones, and a value that no
// two rows share.
func (o ordering) clause(value, then, unique string) string {
	if value != "" {
		value += direction(o.desc) + ", "
	}
	return " ORDER BY " + value + then + unique + direction(o.tieDesc)
}

// addAfter adds the condition that a row comes after a position. It compares the columns
// as one row value, which needs a single index search.
func (o ordering) addAfter(s *Statement, p *core.Position) {
	if p == nil {
		return
	}
	switch sign := operatorAfter(o.desc); {
	case o.byUID():
		s.Add(" AND "+o.tie.sql()+" "+sign+" ?", o.position(p.UID))
	case len(o.then) > 0 || o.tieDesc != o.desc:
		o.addAfterKeys(s, p, o.tie.sql(), "?", o.position(p.UID))
	default:
		s.Add(" AND ("+o.value+", "+o.tie.sql()+") "+sign+" (?, ?)", p.Value, o.position(p.UID))
	}
}

// operatorAfter returns the operator between values and that of a position before them.
func operatorAfter(desc bool) string {
	if desc {
		return "<"
	}
	return ">"
}

// addAfterKeys is addAfter for keys of different directions, which cannot be one row value. tie and at are SQL of the end of the UID of a row and
// of the position, with the arguments of at.
func (o ordering) addAfterKeys(s *Statement, p *core.Position, tie, at string, args ...any) {
	keys, values := append([]sortKey{{o.value, o.desc}}, o.then...), append([]any{p.Value}, p.Then[:]...)
	for i, key := range keys {
		before := " AND ("
		if i > 0 {
			before = " OR "
		}
		s.Add(before+"("+key.value+" "+operatorAfter(key.desc)+" ?", values[i])
		for j, equal := range keys[:i] {
			s.Add(" AND "+equal.value+" = ?", values[j])
		}
		s.Add(")")
	}
	s.Add(" OR (")
	for i, equal := range keys {
		s.Add(equal.value+" = ? AND ", values[i])
	}
	s.Add(tie+" "+operatorAfter(o.tieDesc)+" "+at+"))", args...)
}

// AddMembers adds the condition that a row is in a branch.
func (t *Definition[T, F]) AddMembers(s *Statement, b core.Branch) {
	t.addBranch(s, b, accessPath{}, ordering{}, nil)
}
