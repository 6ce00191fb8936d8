package sqlstore

import (
	"cmp"
	"context"
	"reflect"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

// A kindTable is a table of any kind.
type kindTable interface {
	asCounted() (_ countedTable, counted bool)
	addHits(found *statement, q platform.SearchQuery, scopes map[byte]platform.Scope)
}

// A storedKind is the kindTable of a kind. These methods are not those of the table
// itself, because every reader and writer would have them too.
type storedKind[T, F any] struct{ *table[T, F] }

// newTable makes the table of a kind. Its rows are counted under the number that package
// platform gives the kind.
//
// The types of rows and filters are pointers, for the reason that resources in
// platform/kind.go has.
func newTable[V, W any](t *table[*V, *W]) storedKind[*V, *W] {
	var everything W
	t.pointerFunctions = pointerFunctions[*V, *W]{
		newRow:    func() *V { return new(V) },
		assign:    func(to, from *V) { *to = *from },
		newBuffer: func() rowBuffer[*V] { return new(buffer[V]) },
		fill:      func(f *W) *W { return cmp.Or(f, &everything) },
		restricts: restricts[W],
	}
	for _, c := range t.costly {
		t.omissible |= c.field
	}
	for _, kind := range platform.Kinds() {
		if kind.Row == reflect.TypeFor[V]() {
			t.number = kind.Number
			t.checkColumns(new(V), kind.Orders)
		}
	}
	return storedKind[*V, *W]{t}
}

// reader returns what reads a kind through a store or a transaction.
func (k storedKind[T, F]) reader(c platform.Conn) *reader[T, F] {
	s := sourceOf(c)
	return &reader[T, F]{table: k.table, conn: s.reads, dialect: s.dialect}
}

// writer returns what changes a kind in a transaction.
func (k storedKind[T, F]) writer(tx platform.Tx) *writer[T, F] {
	return &writer[T, F]{k.reader(tx), tx, counterTxOf(tx)}
}

func (k storedKind[T, F]) Get(ctx context.Context, on platform.Conn, keys platform.Keys) ([]T, error) {
	return k.reader(on).Get(ctx, keys)
}

func (k storedKind[T, F]) List(ctx context.Context, on platform.Conn, q platform.Query[F]) (platform.Rows[T], error) {
	return k.reader(on).List(ctx, q)
}

func (k storedKind[T, F]) ListEach(ctx context.Context, on platform.Conn, q platform.Query[F], scopes []platform.Scope) ([]platform.Rows[T], error) {
	return k.reader(on).ListEach(ctx, q, scopes)
}

func (k storedKind[T, F]) Insert(ctx context.Context, tx platform.Tx, rows ...T) error {
	return k.writer(tx).Insert(ctx, rows...)
}

func (k storedKind[T, F]) InsertShown(ctx context.Context, tx platform.Tx, rows ...T) error {
	return k.writer(tx).InsertShown(ctx, rows...)
}

func (k storedKind[T, F]) Update(ctx context.Context, tx platform.Tx, row T, fields ...string) error {
	return k.writer(tx).Update(ctx, row, fields...)
}

func (k storedKind[T, F]) UpdateAll(ctx context.Context, tx platform.Tx, changes ...platform.RowChange[T]) ([]T, error) {
	return k.writer(tx).UpdateAll(ctx, changes...)
}

func (k storedKind[T, F]) GetForUpdate(ctx context.Context, tx platform.Tx, uid platform.UID) (T, error) {
	return k.writer(tx).GetForUpdate(ctx, uid)
}

func (k storedKind[T, F]) Delete(ctx context.Context, tx platform.Tx, uid platform.UID) (T, error) {
	return k.writer(tx).Delete(ctx, uid)
}

func (k storedKind[T, F]) DeleteAll(ctx context.Context, tx platform.Tx, uids []platform.UID) ([]T, error) {
	return k.writer(tx).DeleteAll(ctx, uids)
}

// ReadPairs reads rows by pairs of values, with one index lookup each. found is the
// condition, with args, by which the columns of p identify at most one row.
func (k storedKind[T, F]) ReadPairs(ctx context.Context, on platform.Conn, columns []dbconn.ParentColumn, found string, args ...any) ([]T, error) {
	r := k.reader(on)
	q, whole := newStatement(r.dialect), k.projectAll()
	parents := q.parents(columns...)
	q.add("SELECT " + whole.selected + " FROM ")
	q.addPerParent(parents, k.name, whole.names, q.follow().add(found+" LIMIT 1", args...))
	var rows []T
	err := r.conn.Run(ctx, q.build(whole.collect(&rows)))
	return rows, err
}
