package table

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// A Reader reads one kind through a connection.
type Reader[T, F any] struct {
	*Definition[T, F]
	Conn    dbconn.Conn
	Dialect *dbconn.Dialect
	Among   UIDKeys    // rows among which are those of a list; nil means that this is not known
	Finder  *Finder[F] // a better way to find the rows of a list than in the table; nil means that there is none
}

// A Finder finds the rows of one list, in place of their table.
type Finder[F any] struct {
	// AddRows adds the table t of the rows of an organization, joined with what the conditions need.
	AddRows func(s *Statement, organization core.UID)
	// Where adds the conditions of the filter, in place of those of the table.
	Where func(f F, s *Statement)
	// IsSorted means that it finds the page too, which is sorted, and not only the total.
	IsSorted bool
}

// Get reads rows by UID.
func (r *Reader[T, F]) Get(ctx context.Context, keys core.Keys) ([]T, error) {
	var rows []T
	s := NewStatement(r.Dialect)
	p := r.project(keys.Without)
	s.Add("SELECT ").Add(p.Selected).Add(" FROM ").Add(r.Name).Add(" t").Add(p.Joins)
	if uids := keys.UIDs; len(uids) == 1 {
		s.Plan, s.Quick = dbconn.PlanBySession, true
		s.Add(" WHERE t.uid = ?", r.key(uids[0]))
	} else {
		s.Add(" WHERE t.uid ?", r.keys(uids))
	}
	err := r.Conn.Run(ctx, s.Build(p.Collect(&rows)))
	return rows, err
}

// For a skip of more than farSkip rows, the total is read first: the page may be
// nearer to the other end.
const farSkip = 1000

// MaxBranches limits the branches that one statement reads.
const MaxBranches = 32

// List reads one page, and its total in the same round trip.
func (r *Reader[T, F]) List(ctx context.Context, q core.Query[F]) (core.Rows[T], error) {
	q = r.complete(q)
	var found core.Rows[T]
	r, err := r.planList(ctx, q)
	if err != nil {
		return found, err
	}
	var items []T
	var run []*dbconn.Statement
	far := q.Skip > farSkip && q.From == nil
	if far || q.Parts.Has(core.PartTotal) {
		run = append(run, r.total(q, &found.Total))
	}
	if far {
		if err := r.Conn.Run(ctx, run...); err != nil {
			return found, err
		}
		return r.farPage(ctx, q, found)
	}
	if q.Parts.Has(core.PartItems) {
		for branches := range slices.Chunk(q.Scope.Branches, MaxBranches) {
			run = append(run, r.page(q, branches, &items))
		}
	}
	if err := r.Conn.Run(ctx, run...); err != nil {
		return found, err
	}
	if len(q.Scope.Branches) > MaxBranches {
		slices.SortFunc(items, r.compare(q.Order, q.Backward))
		items = items[min(q.Skip, len(items)):]
	}
	found.Items, found.More = TrimPage(items, q.Limit, q.Backward)
	return found, nil
}

// planList returns a reader that reads a list in the best way.
func (r *Reader[T, F]) planList(ctx context.Context, q core.Query[F]) (*Reader[T, F], error) {
	if r.Plan == nil {
		return r, nil
	}
	return r.Plan(ctx, r, q)
}

// addFilter adds the conditions of a filter.
func (r *Reader[T, F]) addFilter(s *Statement, f F, how accessPath) {
	where := r.Where
	if how.isFound {
		where = r.Finder.Where
	}
	where(f, s)
	if r.Among != nil {
		s.Add(" AND t.uid ?", r.Among)
	}
}

// complete replaces a filter that is nil. A page is read with the column by which it is
// sorted, so that its rows can be compared and have cursors.
func (r *Reader[T, F]) complete(q core.Query[F]) core.Query[F] {
	q.Filter = r.fill(q.Filter)
	for _, key := range q.Order.Keys() {
		q.Without &^= r.CostlyColumns["t."+key.Field].Field
		if l, elsewhere := r.JoinedOrders[key.Field]; elsewhere {
			q.Without &^= r.CostlyColumns[l.Column].Field
		}
	}
	return q
}

// TrimPage removes the rows beyond the limit, and reverses rows that were read backward. It
// reports whether there were rows beyond the limit.
func TrimPage[T any](items []T, limit int, backward bool) ([]T, bool) {
	more := len(items) > limit
	if more {
		items = items[:limit]
	}
	if backward {
		slices.Reverse(items)
	}
	return items, more
}

// farPage reads a page far from the start, from the nearer end.
func (r *Reader[T, F]) farPage(ctx context.Context, q core.Query[F], found core.Rows[T]) (core.Rows[T], error) {
	total := int(found.Total)
	if q.Skip >= total || !q.Parts.Has(core.PartItems) {
		return found, nil
	}
	limit := min(q.Limit, total-q.Skip)
	behind := total - q.Skip - limit // rows beyond the page
	near := q
	near.Limit, near.Parts = limit, core.PartItems
	if behind < q.Skip {
		near.Backward, near.Skip = !q.Backward, behind
	}
	var items []T
	var run []*dbconn.Statement
	for branches := range slices.Chunk(q.Scope.Branches, MaxBranches) {
		run = append(run, r.page(near, branches, &items))
	}
	if err := r.Conn.Run(ctx, run...); err != nil {
		return found, err
	}
	if len(run) > 1 {
		slices.SortFunc(items, r.compare(near.Order, near.Backward))
		items = items[min(near.Skip, len(items)):]
	}
	found.Items, _ = TrimPage(items, limit, near.Backward)
	found.More = behind > 0
	return found, nil
}

// page builds a statement that reads the rows of a page. It merges those of several
// branches. Unless its filter has arguments, it needs one plan: PostgreSQL would plan it for
// each small page, because it expects a tenth of all rows from a LIMIT that it does not know.
func (r *Reader[T, F]) page(q core.Query[F], branches []core.Branch, into *[]T) *dbconn.Statement {
	s, p := NewStatement(r.Dialect), r.project(q.Without)
	s.Plan = dbconn.PlanOnce
	o := r.orderingOf(q)
	limit, skip := int64(q.MaxRows()), int64(q.Skip)
	if len(q.Scope.Branches) > MaxBranches {
		limit, skip = limit+skip, 0 // the skip is counted when all chunks are merged
	}
	simple := len(branches) == 1 && skip == 0 && len(r.filters(q.Filter)) == 1
	switch how := r.pathOf(q); {
	case simple && p.Joins == "":
		o = o.withTie(r.tie(branches[0], how))
		s.Add("SELECT " + p.Selected + " FROM ")
		r.branch(s, q, branches[0], how, o, limit)
	case simple:
		o = o.withTie(r.tie(branches[0], how))
		s.Add("SELECT " + p.Selected + " FROM (SELECT " + p.Names + " FROM ")
		r.branch(s, q, branches[0], how, o, limit)
		s.Add(") t")
		p.addJoins(s, branches)
		s.Add(o.orderBy())
	default:
		// The keys are selected first, so that skipped rows are read from the index only.
		s.Add("SELECT " + p.Selected + " FROM (")
		r.pageKeys(s, q, branches, o, limit, skip)
		s.Add(") k JOIN " + r.Name + " t ON t.uid = k.uid")
		p.addJoins(s, branches)
		s.Add(o.orderBy())
	}
	return s.Build(p.Collect(into))
}

// pageKeys adds a select of the UIDs of a page from one or several branches. Each
// branch returns at most as many rows as the page can need.
func (r *Reader[T, F]) pageKeys(s *Statement, q core.Query[F], branches []core.Branch, o ordering, limit, skip int64) {
	filters := r.filters(q.Filter)
	if len(branches) == 1 && len(filters) == 1 {
		q.Filter = filters[0]
		r.branchKeys(s, q, branches[0], o, limit)
		s.Add(" OFFSET ?", skip)
		return
	}
	s.Add("SELECT b.uid FROM (")
	for i, b := range branches {
		for j, filter := range filters {
			if i+j > 0 {
				s.AddUnion()
			}
			s.Add("SELECT * FROM (")
			q.Filter = filter
			r.branchKeys(s, q, b, o, limit+skip)
			s.Add(") u")
		}
	}
	s.Add(") b"+o.byKeys()+" LIMIT ? OFFSET ?", limit, skip)
}

// branchKeys adds a select of the UIDs of a page from one branch.
func (r *Reader[T, F]) branchKeys(s *Statement, q core.Query[F], b core.Branch, o ordering, limit int64) {
	how := r.pathOf(q)
	how.keysOnly = true
	o = o.withTie(r.tie(b, how))
	s.Add("SELECT ").addKeys(o)
	s.Add(" FROM ")
	r.branch(s, q, b, how, o, limit)
}

// filters returns the filters by which the rows of a filter are found.
func (r *Reader[T, F]) filters(f F) []F {
	if r.Split != nil {
		if parts := r.Split(f); parts != nil {
			return parts
		}
	}
	return []F{f}
}

// pathOf returns how the rows of a page are found.
func (r *Reader[T, F]) pathOf(q core.Query[F]) accessPath {
	return r.accessPath(q.Order.Field, q.Filter)
}

// branch adds the first rows of one branch.
func (r *Reader[T, F]) branch(s *Statement, q core.Query[F], b core.Branch, how accessPath, o ordering, limit int64) {
	r.addRows(s, q.Filter, b, how)
	s.Add(" WHERE ")
	r.addBranch(s, b, how, o, q.From)
	before := len(s.Args)
	r.addFilter(s, q.Filter, how)
	if len(s.Args) > before {
		s.Plan = dbconn.PlanAsNeeded
	}
	s.Add(r.orderingAmong(b.Relation == core.Children, o).orderBy()+" LIMIT ?", limit)
}

// accessPath returns how the rows of a list are found, or, without an order, those that are
// counted. The primary key is walked if the filter keeps all or nearly all rows, which their
// counter tells. If a filter matches few rows, its index may be better, and the planner chooses.
func (r *Reader[T, F]) accessPath(order string, f F) accessPath {
	return accessPath{
		walk:     order == "uid" && r.keepsMost(f) || r.WalksPrimaryKey != nil && r.WalksPrimaryKey(f),
		byParent: r.FoundByParent != nil && r.FoundByParent(order, f),
		byWords:  r.looksFor(f),
		isFound:  r.Finder != nil && (r.Finder.IsSorted || order == ""),
	}
}

// keepsMost reports whether a filter keeps all or nearly all rows.
func (t *Definition[T, F]) keepsMost(f F) bool {
	sum := t.counters(f)
	return len(sum.Added) == 1 && (sum.Added[0] == t.Number || t.MostCounter != 0 && sum.Added[0] == t.MostCounter)
}

// compare returns the order in which the rows of a page are read.
func (t *Definition[T, F]) compare(order core.Order, backward bool) func(a, b T) int {
	keys := order.Keys()
	columns, signs := make([]func(T) any, len(keys)), make([]int, len(keys))
	for i, key := range keys {
		shown := "t." + key.Field
		if l, elsewhere := t.JoinedOrders[key.Field]; elsewhere {
			shown = l.Column
		}
		at := slices.IndexFunc(t.Columns, func(c Column[T]) bool { return c.SQL == shown })
		if at < 0 {
			panic(t.Name + " has no column " + shown + " to compare rows by")
		}
		columns[i], signs[i] = t.Columns[at].To, 1
		if key.Desc != backward {
			signs[i] = -1
		}
	}
	return func(a, b T) int {
		for i, column := range columns {
			if c := compareColumns(column(a), column(b)); c != 0 {
				return signs[i] * c
			}
		}
		return signs[len(signs)-1] * strings.Compare(string(t.UID(a)), string(t.UID(b)))
	}
}

// checkColumns panics if a column is of a type that cannot be stored, or one of orders of a type that cannot be compared.
func (t *Definition[T, F]) checkColumns(row T, orders []string) {
	t.appendValues(nil, row, new(sharedValues))
	for _, field := range orders {
		t.compare(core.Order{Field: field}, false)(row, row)
	}
}

// compareColumns compares the values of two rows in one column.
func compareColumns(a, b any) int {
	switch a := a.(type) {
	case timeColumn:
		b, _ := b.(timeColumn)
		return a.to.Compare(b.to.Time)
	case deadlineColumn:
		b, _ := b.(deadlineColumn)
		return a.to.OrNoDeadline().Compare(b.to.OrNoDeadline().Time)
	case *string:
		b, _ := b.(*string)
		return strings.Compare(*a, *b)
	case textStorer:
		b, _ := b.(textStorer)
		return strings.Compare(a.StoredText(), b.StoredText())
	case *uidKey, uidColumn: // the caller compares UIDs in any case
		return 0
	default:
		panic(fmt.Sprintf("no rows are compared by a %T", a))
	}
}
