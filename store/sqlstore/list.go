package sqlstore

import (
	"context"
	"slices"
	"strings"

	"atrium/platform"
)

// reader reads one kind through a connection.
type reader[T, F any] struct {
	*table[T, F]
	conn    Conn
	dialect *Dialect
}

// names lists the table's own columns, as they are selected from t, without
// some long texts.
func (t *table[T, F]) names(without platform.LongTexts) string {
	names := make([]string, 0, len(t.columns)+5)
	names = append(names, "t.uid")
	for _, c := range t.columns {
		if _, own := c.own(); own && c.sql != "t.uid" && !t.leavesOut(c, without) {
			names = append(names, c.sql)
		}
	}
	for _, extra := range t.joinBy {
		names = append(names, "t."+extra)
	}
	return strings.Join(names, ", ")
}

// selected lists every column that a row is scanned from. In the place of a
// long text that is left out stands an empty one.
func (t *table[T, F]) selected(without platform.LongTexts) string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		if names[i] = c.sql; t.leavesOut(c, without) {
			names[i] = "''"
		}
	}
	return strings.Join(names, ", ")
}

// leavesOut reports whether a read without some long texts leaves a column out.
func (t *table[T, F]) leavesOut(c column[T], without platform.LongTexts) bool {
	text, long := t.long[c.sql]
	return long && without.Has(text)
}

// destinations are where the columns of a row are scanned to, after extra.
func (t *table[T, F]) destinations(row *T, extra ...any) []any {
	to := make([]any, 0, len(t.columns)+len(extra))
	to = append(to, extra...)
	for _, c := range t.columns {
		to = append(to, c.to(row))
	}
	return to
}

func (t *table[T, F]) collect(into *[]*T) func(scan func(...any) error) error {
	scan := t.scanner()
	return func(scanRow func(...any) error) error {
		row, err := scan(scanRow)
		*into = append(*into, row)
		return err
	}
}

// scanner gives a function that scans one row after the other, each after
// extra. All of them go through one row, so that places for columns are made
// once.
func (t *table[T, F]) scanner(extra ...any) func(scan func(...any) error) (*T, error) {
	var through, empty T
	var free []T
	to, made := t.destinations(&through, extra...), 1
	return func(scan func(...any) error) (*T, error) {
		if through = empty; len(free) == 0 {
			free = make([]T, made)
			made = min(2*made, maxRowsAtOnce)
		}
		err := scan(to...)
		row := &free[0]
		*row, free = through, free[1:]
		return row, err
	}
}

// maxRowsAtOnce is how many rows share one piece of memory, which is kept as
// long as one of them is.
const maxRowsAtOnce = 32

// Get reads rows by UID.
func (r reader[T, F]) Get(ctx context.Context, keys platform.Keys) ([]*T, error) {
	var rows []*T
	s := r.dialect.statement()
	s.add("SELECT " + r.selected(keys.Without()) + " FROM " + r.name + " t" + r.joins)
	if uids := keys.UIDs(); len(uids) == 1 {
		s.add(" WHERE t.uid = ?", r.key(uids[0]))
	} else {
		s.add(" WHERE t.uid ?", r.keys(uids))
	}
	err := r.conn.Run(ctx, s.done(r.collect(&rows)))
	return rows, err
}

// A skip past this many rows is worth a look at the total first: the page may
// be nearer to the other end.
const farSkip = 1000

// maxBranches is how many branches one statement reads.
const maxBranches = 32

// List reads one page, and its total in the same round trip.
func (r reader[T, F]) List(ctx context.Context, q platform.Query[F]) (platform.Rows[T], error) {
	var found platform.Rows[T]
	var items []*T
	var run []*Statement
	far := q.Skip > farSkip && q.From == nil
	if far || q.Parts.Has(platform.PartTotal) {
		run = append(run, r.total(q, &found.Total))
	}
	if far {
		if err := r.conn.Run(ctx, run...); err != nil {
			return found, err
		}
		return r.farPage(ctx, q, found)
	}
	if q.Parts.Has(platform.PartItems) {
		for branches := range slices.Chunk(q.Scope.Branches(), maxBranches) {
			run = append(run, r.page(q, branches, &items))
		}
	}
	if err := r.conn.Run(ctx, run...); err != nil {
		return found, err
	}
	if len(q.Scope.Branches()) > maxBranches {
		slices.SortFunc(items, r.compare(q.Order, q.Backward))
		items = items[min(q.Skip, len(items)):]
	}
	found.Items, found.More = cut(items, q.Limit, q.Backward)
	return found, nil
}

// cut takes the one row more that was read away again, and turns what was
// read backward.
func cut[T any](items []*T, limit int, backward bool) ([]*T, bool) {
	more := len(items) > limit
	if more {
		items = items[:limit]
	}
	if backward {
		slices.Reverse(items)
	}
	return items, more
}

// farPage reads a page that lies far from the start, from whichever end is
// nearer.
func (r reader[T, F]) farPage(ctx context.Context, q platform.Query[F], found platform.Rows[T]) (platform.Rows[T], error) {
	total := int(found.Total)
	if q.Skip >= total || !q.Parts.Has(platform.PartItems) {
		return found, nil
	}
	limit := min(q.Limit, total-q.Skip)
	behind := total - q.Skip - limit // rows beyond the page
	turned := behind < q.Skip
	near := q
	if turned {
		near.Backward, near.Skip, near.Limit = !q.Backward, behind, limit-1
	}
	var items []*T
	var run []*Statement
	for branches := range slices.Chunk(q.Scope.Branches(), maxBranches) {
		run = append(run, r.page(near, branches, &items))
	}
	if err := r.conn.Run(ctx, run...); err != nil {
		return found, err
	}
	if len(run) > 1 {
		slices.SortFunc(items, r.compare(near.Order, near.Backward))
		items = items[min(near.Skip, len(items)):]
	}
	items = items[:min(len(items), limit)]
	if near.Backward {
		slices.Reverse(items)
	}
	found.Items, found.More = items, behind > 0
	return found, nil
}

// page reads up to one row more than the limit, so that it is known whether
// more follow. The rows of several branches are merged.
func (r reader[T, F]) page(q platform.Query[F], branches []platform.Branch, into *[]*T) *Statement {
	s := r.dialect.statement()
	o := r.orderingOf(q)
	limit, skip := int64(q.Limit+1), int64(q.Skip)
	if len(q.Scope.Branches()) > maxBranches {
		limit, skip = limit+skip, 0 // the skip is counted when all chunks are merged
	}
	simple := len(branches) == 1 && skip == 0
	switch {
	case simple && r.joins == "":
		s.add("SELECT " + r.selected(q.Without) + " FROM ")
		r.branch(s, q, branches[0], o)
		s.add(o.orderBy()+" LIMIT ?", limit)
	case simple:
		s.add("SELECT " + r.selected(q.Without) + " FROM (SELECT " + r.names(q.Without) + " FROM ")
		r.branch(s, q, branches[0], o)
		s.add(o.orderBy()+" LIMIT ?) t"+r.joins+o.orderBy(), limit)
	default:
		// Keys first: what is skipped is only counted in the index.
		s.add("SELECT " + r.selected(q.Without) + " FROM (")
		r.pageKeys(s, q, branches, o, limit, skip)
		s.add(") k JOIN " + r.name + " t ON t.uid = k.uid" + r.joins + o.orderBy())
	}
	return s.done(r.collect(into))
}

// pageKeys adds a select of the UIDs of a page out of one or several branches, of
// which each gives no more than the page may need.
func (r reader[T, F]) pageKeys(s *statement, q platform.Query[F], branches []platform.Branch, o ordering, limit, skip int64) {
	one := func(b platform.Branch, limit int64) {
		s.add("SELECT " + o.keys() + " FROM ")
		r.branch(s, q, b, o)
		s.add(o.orderBy()+" LIMIT ?", limit)
	}
	if len(branches) == 1 {
		one(branches[0], limit)
		s.add(" OFFSET ?", skip)
		return
	}
	s.add("SELECT b.uid FROM (")
	for i, b := range branches {
		if i > 0 {
			s.add(" UNION ALL ")
		}
		s.add("SELECT * FROM (")
		one(b, limit+skip)
		s.add(") u")
	}
	s.add(") b"+o.byKeys()+" LIMIT ? OFFSET ?", limit, skip)
}

// branch adds the rows of one branch.
func (r reader[T, F]) branch(s *statement, q platform.Query[F], b platform.Branch, o ordering) {
	r.addRows(s, q.Filter)
	s.add(" WHERE ")
	r.in(s, b, r.walks(q), o, q.From)
	r.inRoot(s, q.Filter, b)
	r.where(q.Filter, s)
}

// walks reports whether a page is read along the primary key: where one counter
// counts what the filter leaves, that is all rows or nearly all. Where a filter
// leaves few rows, its index may be the better way, and is for the planner to
// choose.
func (r reader[T, F]) walks(q platform.Query[F]) bool {
	return q.Order.Field == "uid" && len(r.counters(q.Filter)) == 1
}

// compare orders rows as a page is read.
func (r reader[T, F]) compare(order platform.Order, backward bool) func(a, b *T) int {
	shown := "t." + order.Field
	if l, elsewhere := r.lookups[order.Field]; elsewhere {
		shown = l.shown
	}
	at := slices.IndexFunc(r.columns, func(c column[T]) bool { return c.sql == shown })
	sign := 1
	if order.Desc != backward {
		sign = -1
	}
	return func(a, b *T) int {
		if c := compareColumns(r.columns[at].to(a), r.columns[at].to(b)); c != 0 {
			return sign * c
		}
		return sign * strings.Compare(string(r.uid(a)), string(r.uid(b)))
	}
}

// compareColumns compares what two rows have in one column.
func compareColumns(a, b any) int {
	switch a := a.(type) {
	case timeColumn:
		b, _ := b.(timeColumn)
		return a.to.Compare(b.to.Time)
	case *string:
		b, _ := b.(*string)
		return strings.Compare(*a, *b)
	case severityColumn:
		b, _ := b.(severityColumn)
		return strings.Compare(a.to.SortKey(), b.to.SortKey())
	default: // UIDs, which are compared in any case
		return 0
	}
}

// pairs reads rows by pairs, each by one look into an index: found says, with
// args, how the columns of p name at most one row.
func pairs[T, F any](ctx context.Context, s tables, t *table[T, F], columns []ParentColumn, found string, args ...any) ([]*T, error) {
	q, one := s.dialect.statement(), s.dialect.statement()
	parents := s.dialect.Parents(q.arg, columns...)
	one.args = q.args
	one.add(found+" LIMIT 1", args...)
	q.args = one.args
	q.add("SELECT " + t.selected(0) + " FROM ")
	q.sql.WriteString(s.dialect.PerParent(parents, t.name, t.names(0), one.sql.String()))
	var rows []*T
	err := s.conn.Run(ctx, q.done(t.collect(&rows)))
	return rows, err
}
