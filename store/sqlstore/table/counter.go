package table

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// The counters store, for every scope and kind, the number of rows below the scope
// (n) and the number of its children (nc). They change in the transaction of the
// rows they count. Thus a total is exact and needs one read at any size.

// outsideScope is the scope of counters for kinds outside of the tree.
const outsideScope = "*"

// counterColumn returns the counter of the rows that a branchKey finds by a column, or
// "" if there is none.
func (t *Definition[T, F]) counterColumn(column string) string {
	switch column {
	case "", "root", "root_key", "g2", "g2_key", "g3", "g3_key":
		return "n"
	case "parent", "parent_key":
		return "nc"
	default:
		if t.CountedBy == "t."+column {
			return "n"
		}
		return ""
	}
}

// Restricts reports whether a filter has any condition: whether it differs from the empty one. An empty list is none.
func Restricts[F any](f *F) bool { return !isEmpty(reflect.ValueOf(f).Elem()) }

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		for i := range v.NumField() { // unlike Fields, it allocates nothing
			if !isEmpty(v.Field(i)) {
				return false
			}
		}
		return true
	default:
		return v.IsZero()
	}
}

// A CounterSum has the counters whose sum is the total of a filter. It has none if the rows
// must be counted.
type CounterSum struct {
	Added      []byte
	Subtracted byte // 0 means none
}

func (c CounterSum) isEmpty() bool { return len(c.Added) == 0 }

// counters returns the counters of a filter.
func (t *Definition[T, F]) counters(f F) CounterSum {
	switch {
	case t.FilterCounters != nil:
		return t.FilterCounters(f)
	case t.IsUncounted || t.restricts(f):
		return CounterSum{}
	default:
		return CounterSum{Added: []byte{t.Number}}
	}
}

// sql returns the total of the counters c that a condition selects. column is n or nc.
func (c CounterSum) sql(column, condition string) string {
	value, numbers := "c."+column, c.Added
	if c.Subtracted != 0 {
		value = fmt.Sprintf("CASE c.kind WHEN %d THEN -%s ELSE %[2]s END", c.Subtracted, value)
		numbers = append(slices.Clone(numbers), c.Subtracted)
	}
	return "COALESCE((SELECT CAST(SUM(" + value + ") AS BIGINT) FROM counter c WHERE c.kind " + selectKinds(numbers) + " AND " + condition + "), 0)"
}

// selectKinds returns the condition on the kind of counters. Those of successive numbers lie together in the index, where a
// list would be searched for one after the other.
func selectKinds(numbers []byte) string {
	first, last := int(slices.Min(numbers)), int(slices.Max(numbers))
	switch {
	case len(numbers) == 1:
		return "= " + strconv.Itoa(first)
	case last-first == len(numbers)-1:
		return fmt.Sprintf("BETWEEN %d AND %d", first, last)
	}
	texts := make([]string, len(numbers))
	for i, number := range numbers {
		texts[i] = strconv.Itoa(int(number))
	}
	return "IN (" + strings.Join(texts, ", ") + ")"
}

// total builds a statement that counts what a query finds over all pages.
func (r *Reader[T, F]) total(q core.Query[F], into *int64) *dbconn.Statement {
	s := NewStatement(r.Dialect)
	s.Add("SELECT 0")
	var within, parents Keys
	self := 0
	counters := r.counters(q.Filter)
	filtered := counters.isEmpty()
	for _, b := range q.Scope.Branches {
		switch by := r.Relations[b.Relation]; {
		case filtered || r.Narrow != nil && r.Narrow(b).SQL != "":
			r.countInto(s, q, b)
		case b.Relation == core.Everything:
			within = append(within, outsideScope)
		case r.CountedBy != "" && r.CountedBy == "t."+by.Column:
			within = append(within, b.Name)
		case b.Relation == core.Children:
			parents = append(parents, string(b.UID))
		case b.Relation == core.Within || b.Relation == core.Below:
			within = append(within, string(b.UID))
			if r.LiesInItself && b.Relation == core.Within {
				self++ // the group itself is not counted
			}
		default:
			r.countInto(s, q, b)
		}
	}
	for _, sum := range []struct {
		column string
		scopes Keys
	}{{"n", within}, {"nc", parents}} {
		if len(sum.scopes) > 0 {
			s.Add(" + ").Add(counters.sql(sum.column, "c.scope ?"), sum.scopes)
		}
	}
	return s.Build(func(scan func(...any) error) error {
		err := scan(into)
		*into += int64(self)
		return err
	})
}

// countInto adds the number of rows of a branch to the sum that s selects.
func (r *Reader[T, F]) countInto(s *Statement, q core.Query[F], b core.Branch) {
	for _, q.Filter = range r.filters(q.Filter) {
		s.AddSlow(" + (SELECT COUNT(*) FROM ")
		r.selectCounted(s, q, b)
		s.Add(")")
	}
}

// CountUpTo counts the rows of a query over all pages, up to a limit for each branch.
func (r *Reader[T, F]) CountUpTo(ctx context.Context, q core.Query[F], limit int) (found int64, err error) {
	var run []*dbconn.Statement
	for _, b := range q.Scope.Branches {
		s := NewStatement(r.Dialect).Add("SELECT COUNT(*) FROM (SELECT 1 FROM ")
		r.selectCounted(s, q, b)
		run = append(run, s.Add(" LIMIT ?) x", int64(limit)).Build(func(scan func(...any) error) error {
			var n int64
			err := scan(&n)
			found += n
			return err
		}))
	}
	err = r.Conn.Run(ctx, run...)
	return found, err
}

// selectCounted adds the rows of a branch that a query finds over all pages.
func (r *Reader[T, F]) selectCounted(s *Statement, q core.Query[F], b core.Branch) {
	how := r.accessPath("", q.Filter)
	r.addRows(s, q.Filter, b, how)
	s.Add(" WHERE ")
	r.addBranch(s, b, how, ordering{}, nil)
	r.addFilter(s, q.Filter, how)
}

type counterKey struct {
	scope string
	kind  byte
	slot  int
}

type counts struct{ n, nc int64 }

// deltas sums the changes of a transaction, so that each counter is written once.
type deltas map[counterKey]counts

// countOutside adds by to the counters of a kind outside of the tree.
func (d deltas) countOutside(kind byte, group string, quiet bool, slot int, by int64) {
	c := counts{n: by}
	if group != outsideScope {
		c.nc = by // lists of children read nc
	}
	if quiet {
		slot = 0
	}
	d.add(counterKey{group, kind, slot}, c)
}

// count adds by to the counters of all scopes that contain uid. Busy scopes use
// several slots.
func (d deltas) count(kind byte, uid core.UID, quietParent bool, slot int, by int64) {
	parent := uid.Parent()
	for _, scope := range uid.Ancestors() {
		k, c := counterKey{string(scope), kind, slot}, counts{n: by}
		if scope == parent {
			c.nc = by
			if quietParent {
				k.slot = 0
			}
		}
		d.add(k, c)
	}
}

// dropScope discards the changes of a scope whose counters have been deleted.
func (d deltas) dropScope(scope core.UID) {
	maps.DeleteFunc(d, func(k counterKey, _ counts) bool { return k.scope == string(scope) })
}

func (d deltas) add(k counterKey, c counts) {
	sum := d[k]
	d[k] = counts{sum.n + c.n, sum.nc + c.nc}
}

// sortedKeys lists the counters to write, deepest scopes first. All transactions
// lock them in this order. The deepest scopes have the fewest writers, so the most
// contended counters are locked for the shortest time.
func (d deltas) sortedKeys() []counterKey {
	keys := make([]counterKey, 0, len(d))
	for k, c := range d {
		if c != (counts{}) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b counterKey) int {
		return cmp.Or(cmp.Compare(len(b.scope), len(a.scope)), strings.Compare(a.scope, b.scope), cmp.Compare(a.kind, b.kind), cmp.Compare(a.slot, b.slot))
	})
	return keys
}

// statements returns the statements that write the sums.
func (d deltas) statements(dialect *dbconn.Dialect) []*dbconn.Statement {
	const perStatement = 50
	var run []*dbconn.Statement
	for keys := range slices.Chunk(d.sortedKeys(), perStatement) {
		s := NewStatement(dialect)
		s.Add("INSERT INTO counter (scope, kind, slot, n, nc) VALUES ")
		for i, k := range keys {
			if i > 0 {
				s.Add(", ")
			}
			s.Add("(?, ?, ?, ?, ?)", k.scope, int64(k.kind), int64(k.slot), d[k].n, d[k].nc)
		}
		s.Add(" ON CONFLICT (scope, kind, slot) DO UPDATE SET n = counter.n + excluded.n, nc = counter.nc + excluded.nc")
		run = append(run, s.Build(nil))
	}
	return run
}

func randomSlot(d *dbconn.Dialect) int { return rand.IntN(d.Slots) }

// A countedTable is one whose rows are counted.
type countedTable struct {
	name   string
	number byte
	// group is SQL that selects the counter scope of a row outside of the tree. "" means
	// that the kind is in the tree.
	group string
	place func(core.UID) core.UID
	key   func(core.UID) any

	classColumn   string // "" means that rows have no classes
	classCounters func(class int64) []byte

	otherCounters map[byte]string
}

func (t Table[T, F]) asCounted() (_ countedTable, counted bool) {
	group := ""
	if t.LiesIn == nil {
		group = cmp.Or(t.CountedBy, "'"+outsideScope+"'")
	}
	return countedTable{t.Name, t.Number, group, t.treeUID, t.key, t.ClassColumn, t.ClassCounters, t.OtherCounters}, !t.IsUncounted
}

// classSQL selects the class of a row of t.
func (t countedTable) classSQL() string { return castClass(cmp.Or(t.classColumn, "0")) }

// castClass returns SQL that converts the column of a class, which may be a boolean, into a
// number.
func castClass(column string) string { return "CAST(" + column + " AS INTEGER)" }

// countersOf returns the counters of a class.
func (t countedTable) countersOf(class int64) []byte {
	if t.classCounters == nil {
		return nil
	}
	return t.classCounters(class)
}

// group returns the counter scope of a row outside of the tree.
func (t *Definition[T, F]) group(row T) string {
	for _, c := range slices.Concat(t.Columns, t.WriteOnly) {
		if c.SQL == t.CountedBy {
			if key, ok := c.To(row).(*uidKey); ok {
				return string(*key)
			}
			group, _ := encodeColumn(c.To(row)).(string)
			return group
		}
	}
	return outsideScope
}

// Recount corrects the counters of kinds from their rows and returns how many were wrong.
func Recount(ctx context.Context, tx *dbconn.Tx, d *dbconn.Dialect, kinds []Kind) (wrong int64, err error) {
	if err := tx.LockCounters(ctx); err != nil {
		return 0, err
	}
	truth, err := computeCounters(ctx, tx, d, kinds)
	if err != nil {
		return 0, err
	}
	difference, err := differences(ctx, tx, d, truth)
	if err != nil || len(difference) == 0 {
		return 0, err
	}
	return int64(len(difference)), tx.Run(ctx, difference.statements(d)...)
}

// computeCounters returns what the counters of all rows must be.
func computeCounters(ctx context.Context, tx *dbconn.Tx, d *dbconn.Dialect, kinds []Kind) (deltas, error) {
	truth := deltas{}
	var run []*dbconn.Statement
	for _, t := range countedTables(kinds) {
		read := "SELECT t.uid, " + cmp.Or(t.group, "''") + ", " + t.classSQL() + " FROM " + t.name + " t"
		run = append(run, NewStatement(d).Add(read).Build(func(scan func(...any) error) error {
			var uid, group string
			var class int64
			err := scan(scopeColumn{&uid}, scopeColumn{&group}, &class)
			if t.group == "" {
				truth.count(t.number, t.place(core.UID(uid)), false, 0, 1)
				for _, number := range t.countersOf(class) {
					truth.count(number, t.place(core.UID(uid)), false, 0, 1)
				}
			} else {
				truth.countOutside(t.number, group, false, 0, 1)
			}
			return err
		}))
		for number, read := range t.otherCounters {
			run = append(run, NewStatement(d).Add(read).Build(func(scan func(...any) error) error {
				var within core.UID
				var n int64
				err := scan(UIDOf(&within), &n)
				truth.count(number, ChildOf(within), false, 0, n)
				return err
			}))
		}
	}
	err := tx.Run(ctx, run...)
	return truth, err
}

// ChildOf returns the UID of a row below a resource that has no UID of its own, for counters.
func ChildOf(uid core.UID) core.UID { return uid + "/0000000000000000" }

// differences returns what must be added to the counters to correct them.
func differences(ctx context.Context, tx *dbconn.Tx, d *dbconn.Dialect, truth deltas) (deltas, error) {
	read := NewStatement(d).Add("SELECT scope, kind, CAST(SUM(n) AS BIGINT), CAST(SUM(nc) AS BIGINT) FROM counter GROUP BY scope, kind")
	err := tx.Run(ctx, read.Build(func(scan func(...any) error) error {
		var scope string
		var kind, n, nc int64
		if err := scan(&scope, &kind, &n, &nc); err != nil {
			return err
		}
		truth.add(counterKey{scope, byte(kind), 0}, counts{-n, -nc})
		return nil
	}))
	for k, c := range truth {
		if c == (counts{}) {
			delete(truth, k)
		}
	}
	return truth, err
}

// countedTables lists the tables that counters count.
func countedTables(kinds []Kind) []countedTable {
	all := make([]countedTable, 0, len(kinds))
	for _, t := range kinds {
		if counter, counted := t.asCounted(); counted {
			all = append(all, counter)
		}
	}
	return all
}

// Exists looks for a UID in the counted ones of kinds.
func Exists(ctx context.Context, s Source, kinds []Kind, uid core.UID) (bool, error) {
	q, found := NewStatement(s.Dialect), false
	for _, t := range countedTables(kinds) {
		if len(q.Args) > 0 {
			q.AddUnion()
		}
		q.Add("SELECT 1 FROM "+t.name+" WHERE uid = ?", t.key(uid))
	}
	err := s.Reads.Run(ctx, q.Build(func(func(...any) error) error { found = true; return nil }))
	return found, err
}
