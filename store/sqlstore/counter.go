package sqlstore

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

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

// The counters store, for every scope and kind, the number of rows below the scope
// (n) and the number of its children (nc). They change in the transaction of the
// rows they count. Thus a total is exact and needs one read at any size.

// outsideScope is the scope of counters for kinds outside of the tree.
const outsideScope = "*"

// counterColumn returns the counter of the rows that a branchKey finds by a column, or
// "" if there is none.
func (t *table[T, F]) counterColumn(column string) string {
	switch column {
	case "", "root", "root_key", "g2", "g2_key", "g3", "g3_key":
		return "n"
	case "parent", "parent_key":
		return "nc"
	default:
		if t.countedBy == "t."+column {
			return "n"
		}
		return ""
	}
}

// restricts reports whether a filter has any condition: whether it differs from the empty one. An empty list is none.
func restricts[F any](f *F) bool { return !isEmpty(reflect.ValueOf(f).Elem()) }

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

// A counterSum has the counters whose sum is the total of a filter. It has none if the rows
// must be counted.
type counterSum struct {
	added      []byte
	subtracted byte // 0 means none
}

func (c counterSum) isEmpty() bool { return len(c.added) == 0 }

// counters returns the counters of a filter.
func (t *table[T, F]) counters(f F) counterSum {
	switch {
	case t.filterCounters != nil:
		return t.filterCounters(f)
	case t.uncounted || t.restricts(f):
		return counterSum{}
	default:
		return counterSum{added: []byte{t.number}}
	}
}

// sql returns the total of the counters c that a condition selects. column is n or nc.
func (c counterSum) sql(column, condition string) string {
	value, numbers := "c."+column, c.added
	if c.subtracted != 0 {
		value = fmt.Sprintf("CASE c.kind WHEN %d THEN -%s ELSE %[2]s END", c.subtracted, value)
		numbers = append(slices.Clone(numbers), c.subtracted)
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
func (r *reader[T, F]) total(q platform.Query[F], into *int64) *dbconn.Statement {
	s := newStatement(r.dialect)
	s.add("SELECT 0")
	var within, parents keyList
	self := 0
	counters := r.counters(q.Filter)
	filtered := counters.isEmpty()
	for _, b := range q.Scope.Branches() {
		switch by := r.relations[b.Relation]; {
		case filtered || r.narrow != nil && r.narrow(b).sql != "":
			r.countInto(s, q, b)
		case b.Relation == platform.Everything:
			within = append(within, outsideScope)
		case r.countedBy != "" && r.countedBy == "t."+by.column:
			within = append(within, b.Name)
		case b.Relation == platform.Children:
			parents = append(parents, string(b.UID))
		case b.Relation == platform.Within || b.Relation == platform.Below:
			within = append(within, string(b.UID))
			if r.selfEnclosed && b.Relation == platform.Within {
				self++ // the group itself is not counted
			}
		default:
			r.countInto(s, q, b)
		}
	}
	for _, sum := range []struct {
		column string
		scopes keyList
	}{{"n", within}, {"nc", parents}} {
		if len(sum.scopes) > 0 {
			s.add(" + ").add(counters.sql(sum.column, "c.scope ?"), sum.scopes)
		}
	}
	return s.build(func(scan func(...any) error) error {
		err := scan(into)
		*into += int64(self)
		return err
	})
}

// countInto adds the number of rows of a branch to the sum that s selects.
func (r *reader[T, F]) countInto(s *statement, q platform.Query[F], b platform.Branch) {
	for _, q.Filter = range r.filters(q.Filter) {
		s.addSlow(" + (SELECT COUNT(*) FROM ")
		r.selectCounted(s, q, b)
		s.add(")")
	}
}

// countUpTo counts the rows of a query over all pages, up to a limit for each branch.
func (r *reader[T, F]) countUpTo(ctx context.Context, q platform.Query[F], limit int) (found int64, err error) {
	var run []*dbconn.Statement
	for _, b := range q.Scope.Branches() {
		s := newStatement(r.dialect).add("SELECT COUNT(*) FROM (SELECT 1 FROM ")
		r.selectCounted(s, q, b)
		run = append(run, s.add(" LIMIT ?) x", int64(limit)).build(func(scan func(...any) error) error {
			var n int64
			err := scan(&n)
			found += n
			return err
		}))
	}
	err = r.conn.Run(ctx, run...)
	return found, err
}

// selectCounted adds the rows of a branch that a query finds over all pages.
func (r *reader[T, F]) selectCounted(s *statement, q platform.Query[F], b platform.Branch) {
	how := r.accessPath("", q.Filter)
	r.addRows(s, q.Filter, b, how)
	s.add(" WHERE ")
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
func (d deltas) count(kind byte, uid platform.UID, quietParent bool, slot int, by int64) {
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
func (d deltas) dropScope(scope platform.UID) {
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
		s := newStatement(dialect)
		s.add("INSERT INTO counter (scope, kind, slot, n, nc) VALUES ")
		for i, k := range keys {
			if i > 0 {
				s.add(", ")
			}
			s.add("(?, ?, ?, ?, ?)", k.scope, int64(k.kind), int64(k.slot), d[k].n, d[k].nc)
		}
		s.add(" ON CONFLICT (scope, kind, slot) DO UPDATE SET n = counter.n + excluded.n, nc = counter.nc + excluded.nc")
		run = append(run, s.build(nil))
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
	place func(platform.UID) platform.UID
	key   func(platform.UID) any

	classColumn   string // "" means that rows have no classes
	classCounters func(class int64) []byte

	otherCounters map[byte]string
}

func (t storedKind[T, F]) asCounted() (_ countedTable, counted bool) {
	group := ""
	if t.enclosed == nil {
		group = cmp.Or(t.countedBy, "'"+outsideScope+"'")
	}
	return countedTable{t.name, t.number, group, t.treeUID, t.key, t.classColumn, t.classCounters, t.otherCounters}, !t.uncounted
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
func (t *table[T, F]) group(row T) string {
	for _, c := range slices.Concat(t.columns, t.writeOnly) {
		if c.sql == t.countedBy {
			if key, ok := c.to(row).(*uidKey); ok {
				return string(*key)
			}
			group, _ := encodeColumn(c.to(row)).(string)
			return group
		}
	}
	return outsideScope
}

// recount corrects the counters of kinds from their rows and returns how many were wrong.
func recount(ctx context.Context, tx *dbconn.Tx, d *dbconn.Dialect, kinds []kindTable) (wrong int64, err error) {
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
func computeCounters(ctx context.Context, tx *dbconn.Tx, d *dbconn.Dialect, kinds []kindTable) (deltas, error) {
	truth := deltas{}
	var run []*dbconn.Statement
	for _, t := range countedTables(kinds) {
		read := "SELECT t.uid, " + cmp.Or(t.group, "''") + ", " + t.classSQL() + " FROM " + t.name + " t"
		run = append(run, newStatement(d).add(read).build(func(scan func(...any) error) error {
			var uid, group string
			var class int64
			err := scan(scopeColumn{&uid}, scopeColumn{&group}, &class)
			if t.group == "" {
				truth.count(t.number, t.place(platform.UID(uid)), false, 0, 1)
				for _, number := range t.countersOf(class) {
					truth.count(number, t.place(platform.UID(uid)), false, 0, 1)
				}
			} else {
				truth.countOutside(t.number, group, false, 0, 1)
			}
			return err
		}))
		for number, read := range t.otherCounters {
			run = append(run, newStatement(d).add(read).build(func(scan func(...any) error) error {
				var within platform.UID
				err := scan(keyOf(&within))
				truth.count(number, childOf(within), false, 0, 1)
				return err
			}))
		}
	}
	err := tx.Run(ctx, run...)
	return truth, err
}

// childOf returns the UID of a row below a resource that has no UID of its own, for counters.
func childOf(uid platform.UID) platform.UID { return uid + "/0000000000000000" }

// differences returns what must be added to the counters to correct them.
func differences(ctx context.Context, tx *dbconn.Tx, d *dbconn.Dialect, truth deltas) (deltas, error) {
	read := newStatement(d).add("SELECT scope, kind, CAST(SUM(n) AS BIGINT), CAST(SUM(nc) AS BIGINT) FROM counter GROUP BY scope, kind")
	err := tx.Run(ctx, read.build(func(scan func(...any) error) error {
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
func countedTables(kinds []kindTable) []countedTable {
	all := make([]countedTable, 0, len(kinds))
	for _, t := range kinds {
		if counter, counted := t.asCounted(); counted {
			all = append(all, counter)
		}
	}
	return all
}

// exists looks for a UID in the counted ones of kinds.
func exists(ctx context.Context, s source, kinds []kindTable, uid platform.UID) (bool, error) {
	q, found := newStatement(s.dialect), false
	for _, t := range countedTables(kinds) {
		if len(q.args) > 0 {
			q.addUnion()
		}
		q.add("SELECT 1 FROM "+t.name+" WHERE uid = ?", t.key(uid))
	}
	err := s.reads.Run(ctx, q.build(func(func(...any) error) error { found = true; return nil }))
	return found, err
}
