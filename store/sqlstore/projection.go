package sqlstore

import (
	"slices"
	"strings"

	"atrium/platform"
)

// A projection is the set of columns that a read selects from a table. Reads leave out
// only columns that cost much, so each table has few projections. Plan tests check all
// of them: with fewer columns, an index can contain all that is selected, and a planner
// may then read it in the wrong order and sort.
type projection[T, F any] struct {
	*table[T, F]
	columns  []column[T] // in the order in which they are scanned
	selected string      // the same, as SQL
	names    string      // the columns of t that are selected or joined by
	joins    string      // the joins that the columns need
}

// A costlyColumn is a column that a read may leave out.
type costlyColumn struct {
	field   platform.CostlyFields // the column is left out together with this field
	instead string                // if set: what is selected instead
}

// project returns the projection without some fields.
func (t *table[T, F]) project(without platform.CostlyFields) *projection[T, F] {
	without &= t.omissible
	known, found := t.projections.Load(without)
	if !found {
		known, _ = t.projections.LoadOrStore(without, t.newProjection(without))
	}
	p, _ := known.(*projection[T, F])
	return p
}

// whole returns the projection of all columns.
func (t *table[T, F]) whole() *projection[T, F] { return t.project(0) }

func (t *table[T, F]) newProjection(without platform.CostlyFields) *projection[T, F] {
	p := &projection[T, F]{table: t}
	names, selected := []string{"t.uid"}, []string{}
	for _, c := range t.columns {
		costly, isCostly := t.costly[c.sql]
		switch _, own := c.own(); {
		case isCostly && without.Has(costly.field) && costly.instead == "":
			continue
		case isCostly && without.Has(costly.field):
			c.sql = costly.instead
		case !own:
			p.joins = t.joins
		case c.sql != "t.uid":
			names = append(names, c.sql)
		}
		p.columns, selected = append(p.columns, c), append(selected, c.sql)
	}
	for _, column := range t.joinBy {
		names = append(names, "t."+column)
	}
	p.selected, p.names = strings.Join(selected, ", "), strings.Join(names, ", ")
	return p
}

// collect returns a function that appends the rows that it scans.
func (p *projection[T, F]) collect(into *[]T) func(scan func(...any) error) error {
	scan := p.scanner()
	return func(scanRow func(...any) error) error {
		row, err := scan(scanRow)
		*into = append(*into, row)
		return err
	}
}

// scanner returns a function that scans rows, each after extra. All rows are
// scanned through one row value, so that the scan destinations are made only once.
func (p *projection[T, F]) scanner(extra ...any) func(scan func(...any) error) (T, error) {
	through, keep := p.newBuffer()
	to := slices.Grow(extra, len(p.columns))
	for _, c := range p.columns {
		to = append(to, c.to(through))
	}
	return func(scan func(...any) error) (T, error) {
		err := scan(to...)
		return keep(), err
	}
}

// newBuffer makes a row to scan through, and a function that moves what was scanned
// into a row of its own.
func newBuffer[V any]() (through *V, keep func() *V) {
	through = new(V)
	var free []V
	made := 1
	return through, func() *V {
		if len(free) == 0 {
			free = make([]V, made)
			made = min(2*made, maxRowsAtOnce)
		}
		row := &free[0]
		*row, free = *through, free[1:]
		*through = *new(V)
		return row
	}
}

// maxRowsAtOnce is the number of rows that are allocated together. Their memory is
// freed only when none of them is used any more.
const maxRowsAtOnce = 32
