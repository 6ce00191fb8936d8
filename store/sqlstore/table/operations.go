package table

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// A Kind is the Table of any kind.
type Kind interface {
	asCounted() (_ countedTable, counted bool)
	addHits(found *Statement, q core.SearchQuery, scopes map[byte]core.Scope)
}

// A Table is a core.Table. Its methods are not those of the Definition,
// because every Reader and Writer would have them too.
type Table[T, F any] struct{ *Definition[T, F] }

// New makes the table of a kind. Its rows are counted under the number that package
// platform gives the kind.
//
// The types of rows and filters are pointers, for the reason that resources in
// platform/core/kind.go has.
func New[V, W any](t *Definition[*V, *W]) Table[*V, *W] {
	var everything W
	t.pointerFunctions = pointerFunctions[*V, *W]{
		newRow:    func() *V { return new(V) },
		assign:    func(to, from *V) { *to = *from },
		newBuffer: func() rowBuffer[*V] { return new(buffer[V]) },
		fill:      func(f *W) *W { return cmp.Or(f, &everything) },
		restricts: Restricts[W],
	}
	for _, c := range t.CostlyColumns {
		t.omissible |= c.Field
	}
	for _, kind := range platform.Kinds() {
		if kind.Row == reflect.TypeFor[V]() {
			t.Number = kind.Number
			t.checkColumns(new(V), kind.Orders)
		}
	}
	return Table[*V, *W]{t}
}

// Reader returns what reads a kind through a store or a transaction.
func (k Table[T, F]) Reader(c core.Conn) *Reader[T, F] {
	s := SourceOf(c)
	return &Reader[T, F]{Definition: k.Definition, Conn: s.Reads, Dialect: s.Dialect}
}

// Writer returns what changes a kind in a transaction.
func (k Table[T, F]) Writer(tx core.Tx) *Writer[T, F] {
	return &Writer[T, F]{k.Reader(tx), tx, txOf(tx)}
}

// Get reads rows by UID.
func (k Table[T, F]) Get(ctx context.Context, on core.Conn, keys core.Keys) ([]T, error) {
	return k.Reader(on).Get(ctx, keys)
}

// List reads one page.
func (k Table[T, F]) List(ctx context.Context, on core.Conn, q core.Query[F]) (core.Rows[T], error) {
	return k.Reader(on).List(ctx, q)
}

// ListEach reads a page of each scope.
func (k Table[T, F]) ListEach(ctx context.Context, on core.Conn, q core.Query[F], scopes []core.Scope) ([]core.Rows[T], error) {
	return k.Reader(on).ListEach(ctx, q, scopes)
}

// Insert adds rows.
func (k Table[T, F]) Insert(ctx context.Context, tx core.Tx, rows ...T) error {
	return k.Writer(tx).Insert(ctx, rows...)
}

// InsertShown adds rows, and reads them back with their joined columns.
func (k Table[T, F]) InsertShown(ctx context.Context, tx core.Tx, rows ...T) error {
	return k.Writer(tx).InsertShown(ctx, rows...)
}

// Update writes the named fields, and reads the row back.
func (k Table[T, F]) Update(ctx context.Context, tx core.Tx, row T, fields ...string) error {
	return k.Writer(tx).Update(ctx, row, fields...)
}

// UpdateAll does so with many rows, and returns them as they were before.
func (k Table[T, F]) UpdateAll(ctx context.Context, tx core.Tx, changes ...core.RowChange[T]) ([]T, error) {
	return k.Writer(tx).UpdateAll(ctx, changes...)
}

// GetForUpdate reads a row and locks it until the transaction ends.
func (k Table[T, F]) GetForUpdate(ctx context.Context, tx core.Tx, uid core.UID) (T, error) {
	return k.Writer(tx).GetForUpdate(ctx, uid)
}

// Delete removes a row.
func (k Table[T, F]) Delete(ctx context.Context, tx core.Tx, uid core.UID) (T, error) {
	return k.Writer(tx).Delete(ctx, uid)
}

// DeleteAll removes rows.
func (k Table[T, F]) DeleteAll(ctx context.Context, tx core.Tx, uids []core.UID) ([]T, error) {
	return k.Writer(tx).DeleteAll(ctx, uids)
}

// ReadPairs reads rows by pairs of values, with one index lookup each. found is the
// condition, with args, by which the columns of p identify at most so many rows.
func (k Table[T, F]) ReadPairs(ctx context.Context, on core.Conn, columns []dbconn.ParentColumn, most int, found string, args ...any) ([]T, error) {
	r := k.Reader(on)
	q, whole := NewStatement(r.Dialect), k.ProjectAll()
	parents := q.Parents(columns...)
	q.Add("SELECT " + whole.Selected + " FROM ")
	q.AddPerParent(parents, k.Name, whole.Names, q.Follow().Add(found+fmt.Sprint(" LIMIT ", most), args...))
	var rows []T
	err := r.Conn.Run(ctx, q.Build(whole.Collect(&rows)))
	return rows, err
}
