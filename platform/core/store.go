package core

import (
	"context"
	"errors"
)

// Store is what the operations of all areas need of the database.
//
// Lists and reads take a Scope or Keys, which are made here. Thus
// access is decided before the store is called.
type Store interface {
	Conn

	// Write runs unit in one transaction. It commits if unit returns nil, and
	// rolls back otherwise. It runs unit again after a conflict with a concurrent
	// transaction, so unit must have no effect other than on tx. It fails with Uncertain
	// if nobody knows whether it has committed.
	Write(ctx context.Context, unit func(tx Tx) error) error

	// WritesAtOnce reports whether transactions write at the same time. Otherwise each one
	// waits for the one before.
	WritesAtOnce() bool

	// FoldText returns the form in which searches compare texts: without differences in
	// case and in how characters are encoded. It changes no blanks between words.
	FoldText(text string) string

	// Dependents counts the rows that refer to a row of a kind, by their kind. Kinds without
	// such rows are left out.
	Dependents(ctx context.Context, kind string, uid UID) ([]Dependents, error)

	// ExistingGroups returns those of the UIDs that are groups, in any order.
	ExistingGroups(ctx context.Context, uids []UID) ([]UID, error)

	// Changed returns a channel that is closed when this process stores the next
	// event or, while Follow runs, when another process may have stored an event.
	Changed() <-chan struct{}
}

// A Conn is what rows are read through: a Store, or one of its transactions. It does not check access.
type Conn interface {
	// Now returns the time of the clock that all processes on this database share: that of
	// its server, or of the only machine that uses an embedded database.
	Now(ctx context.Context) (Time, error)

	// Exists reports whether any kind has a resource uid.
	Exists(ctx context.Context, uid UID) (bool, error)

	// Session returns what the tables of the store know the connection by. Wrappers pass it on.
	Session() any
}

// A Table has the rows of one kind. It has no state: each call names what it reads through.
type Table[T, F any] interface {
	// Get reads rows by UID, in any order; missing ones are left out.
	Get(ctx context.Context, on Conn, keys Keys) ([]T, error)

	// List reads one page.
	List(ctx context.Context, on Conn, q Query[F]) (Rows[T], error)

	// ListEach reads the same page of many scopes in one statement (and one more
	// for totals), in the order of scopes. It ignores q.Scope.
	ListEach(ctx context.Context, on Conn, q Query[F], scopes []Scope) ([]Rows[T], error)

	RowWriter[T]
}

// Tx is a running transaction. It reads its own writes.
type Tx interface {
	Conn

	// Lock locks root exclusively until the transaction ends. LockShared locks it
	// shared: it waits for exclusive locks, not for other shared ones. The lock is taken
	// before the next statement of the transaction runs, and that reports an error of the lock,
	// such as ErrLocked.
	Lock(root UID)
	LockShared(root UID)

	// RunTogether runs functions that do not depend on one another's results, with contexts for what they
	// read and write: when all of them wait for the database, their statements are sent in one round trip, in the
	// order of the functions. The error is that of the first one that fails, in this order.
	RunTogether(ctx context.Context, functions ...func(context.Context) error) error

	// Record adds events, to be stored with the transaction's changes.
	Record(events ...*Event)
}

// A RowChange names the fields of a row that an update writes.
type RowChange[T any] struct {
	Row    T
	Fields []string
}

// RowWriter changes the rows of one kind. It updates the counters as well.
type RowWriter[T any] interface {
	// Insert inserts rows. It returns ErrDuplicate if another row has the unique
	// key, and ErrNoParent if the parent, or another row that a row refers to,
	// does not exist.
	Insert(ctx context.Context, tx Tx, rows ...T) error
	// InsertShown does so, and reads the rows back with what they show of other rows.
	InsertShown(ctx context.Context, tx Tx, rows ...T) error
	// Update writes the named fields and the update time of row, and reads back
	// the whole row. It returns ErrNotFound, ErrDuplicate or ErrNoParent.
	Update(ctx context.Context, tx Tx, row T, fields ...string) error
	// UpdateAll does so with many rows, in one round trip too, and returns them as they were before. After
	// an error, it returns those before the one that caused it.
	UpdateAll(ctx context.Context, tx Tx, changes ...RowChange[T]) (before []T, err error)
	// GetForUpdate reads a row and locks it until the transaction ends. It returns
	// ErrNotFound if the row does not exist.
	GetForUpdate(ctx context.Context, tx Tx, uid UID) (T, error)

	// Delete deletes a row and returns it. It returns ErrNotFound, or
	// ErrReferenced if another row refers to it.
	Delete(ctx context.Context, tx Tx, uid UID) (T, error)
	// DeleteAll does so with many rows, in one round trip too, and returns them in the
	// order of uids. After ErrNotFound and ErrReferenced, it returns the rows before the one that
	// caused it.
	DeleteAll(ctx context.Context, tx Tx, uids []UID) ([]T, error)
}

// ErrTooMany is the error of FindAdvisories if there are more rows than the limit.
var ErrTooMany = errors.New("more rows than the limit")

// Writes return these errors, or an *Error.
var (
	ErrNotFound   = errors.New("no such row")
	ErrDuplicate  = errors.New("a row with this unique key exists")
	ErrNoParent   = errors.New("a row that this one needs does not exist")
	ErrReferenced = errors.New("other rows need this one")
	ErrLocked     = errors.New("another transaction locks what the statement needs") // the statement has waited too long
)
