package table

import (
	"slices"
	"strings"

	"atrium/platform/core"
)

// A Projection is the set of columns that a read selects from a table. Reads leave out
// only columns that cost much, so each table has few projections. Plan tests check all
// of them: with fewer columns, an index can contain all that is selected, and a planner
// may then read it in the wrong order and sort.
type Projection[T, F any] struct {
	*Definition[T, F]
	columns  []Column[T] // columns in the order in which they are scanned
	Selected string      // SQL that selects the columns
	Names    string      // columns of t that the projection selects or that its joins compare
	Joins    string      // the joins that the columns need
	joinOne  [2]string   // joins for rows with one parent, without the UID of that parent between; empty if no join is by it
}

// A CostlyColumn is a column that a read may leave out.
type CostlyColumn struct {
	Field   core.CostlyFields // the column is left out if a read leaves out any of these fields
	Instead string            // SQL that is selected instead of the column; "" means nothing
}

// project returns the projection without some fields.
func (t *Definition[T, F]) project(without core.CostlyFields) *Projection[T, F] {
	without &= t.omissible
	known, found := t.projections.Load(without)
	if !found {
		known, _ = t.projections.LoadOrStore(without, t.newProjection(without))
	}
	p, _ := known.(*Projection[T, F])
	return p
}

// ProjectAll returns the projection of all columns.
func (t *Definition[T, F]) ProjectAll() *Projection[T, F] { return t.project(0) }

// ProjectWithout returns the projection without some fields.
func (t *Definition[T, F]) ProjectWithout(fields core.CostlyFields) *Projection[T, F] {
	return t.project(fields)
}

// newProjection makes the projection that project stores.
func (t *Definition[T, F]) newProjection(without core.CostlyFields) *Projection[T, F] {
	p := &Projection[T, F]{Definition: t}
	names, selected, needsJoins := []string{"t.uid"}, []string{}, false
	if t.HasScopeKeys {
		names = append(names, "t.rest", "t.local") // one of these sorts the rows
	}
	for _, c := range t.Columns {
		costly, isCostly := t.CostlyColumns[c.SQL]
		switch _, own := c.ownName(); {
		case isCostly && without.HasAny(costly.Field) && costly.Instead == "":
			continue
		case isCostly && without.HasAny(costly.Field):
			c.SQL = costly.Instead
		case !own:
			needsJoins = true
		case c.SQL != "t.uid":
			names = append(names, c.SQL)
		}
		p.columns, selected = append(p.columns, c), append(selected, c.SQL)
	}
	for _, j := range t.Joins {
		column := "t." + j.Column
		if !slices.Contains(names, column) {
			names = append(names, column)
		}
		if needsJoins {
			p.join(j.SQL, column)
		}
	}
	p.Selected, p.Names = strings.Join(selected, ", "), strings.Join(names, ", ")
	return p
}

// join adds a join by a column.
func (p *Projection[T, F]) join(sql, column string) {
	switch {
	case column == "t.parent":
		p.joinOne[0] = p.Joins + sql
	case p.joinOne[0] != "":
		p.joinOne[1] += sql + column
	}
	p.Joins += sql + column
}

// addJoins adds the joins of the rows of branches. Children of one UID have one parent, so it
// is joined by that UID: then the database reads it once, and not for each row.
func (p *Projection[T, F]) addJoins(s *Statement, branches []core.Branch) {
	if p.joinOne[0] != "" && len(branches) == 1 && branches[0].Relation == core.Children && branches[0].UID != "" {
		s.Add(p.joinOne[0]+"?"+p.joinOne[1], branches[0].UID)
		return
	}
	s.Add(p.Joins)
}

// Collect returns a function that appends the rows that it scans.
func (p *Projection[T, F]) Collect(into *[]T) func(scan func(...any) error) error {
	rows := p.scanner()
	return func(scan func(...any) error) error {
		row, err := rows.scan(scan)
		*into = append(*into, row)
		return err
	}
}

// A rowScanner scans rows. All of them are scanned through one row value, so that the
// scan destinations are made only once.
type rowScanner[T any] struct {
	buffer rowBuffer[T]
	to     []any
}

// scanner returns a rowScanner whose rows follow extra.
func (p *Projection[T, F]) scanner(extra ...any) rowScanner[T] {
	s := rowScanner[T]{p.newBuffer(), slices.Grow(extra, len(p.columns))}
	target := s.buffer.target()
	for _, c := range p.columns {
		s.to = append(s.to, c.To(target))
	}
	return s
}

func (s rowScanner[T]) scan(scan func(...any) error) (T, error) {
	err := scan(s.to...)
	return s.buffer.keep(), err
}

// A rowBuffer is a row to scan through.
type rowBuffer[T any] interface {
	target() T
	keep() T // moves the scanned values into a row of its own
}

// A buffer is a rowBuffer of pointers to V. It allocates several rows at once.
type buffer[V any] struct {
	row  V
	free []V
	made int
}

func (b *buffer[V]) target() *V { return &b.row }

func (b *buffer[V]) keep() *V {
	if len(b.free) == 0 {
		b.made = max(1, min(2*b.made, maxRowsAtOnce))
		b.free = make([]V, b.made)
	}
	row := &b.free[0]
	b.free = b.free[1:]
	*row = b.row
	b.row = *new(V)
	return row
}

// maxRowsAtOnce is the number of rows that are allocated together. Their memory is
// freed only when none of them is used any more.
const maxRowsAtOnce = 32
