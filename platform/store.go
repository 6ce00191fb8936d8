package platform

import (
	"context"
	"errors"
)

// Store is the database of the platform. Two engines implement it; store/storetest
// tests both.
//
// Lists and reads take a Scope or Keys, which only this package can make. Thus
// access is decided before the store is called.
type Store interface {
	Conn
	EventStore
	AuditStore
	RetentionStore
	WebhookStore

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

	// Gather announces that n concurrent calls will read for one response. Each
	// call uses a context from join, and calls end when it has finished. The store
	// may combine the statements of these calls.
	Gather(n int) (join func(context.Context) context.Context, end func())

	// AwaitOther calls wait while one of these calls waits for the read of another.
	AwaitOther(ctx context.Context, wait func())

	// AllowStandby marks ctx as that of a request that changes nothing. The store may
	// read from a copy of the database that has everything which was acknowledged before
	// the request. It always finds out from the database itself who the caller is.
	AllowStandby(ctx context.Context) context.Context

	// Dependents counts the rows that refer to a row of a kind, by their kind. Kinds without
	// such rows are left out.
	Dependents(ctx context.Context, kind string, uid UID) ([]Dependents, error)

	// MarkSeen sets the last seen time of identities. It changes no update time
	// and records no event.
	MarkSeen(ctx context.Context, identities []UID, at Time) error

	// SyncBuiltInRoles makes the stored built-in roles equal to roles.
	SyncBuiltInRoles(ctx context.Context, roles []*Role) error

	// Recount corrects the counters and returns how many were wrong.
	Recount(ctx context.Context) (wrong int64, err error)

	// Tables returns the tables of the database.
	Tables() Tables

	// CheckSchema fails if the store does not respond or does not have the schema
	// of this program.
	CheckSchema(ctx context.Context) error
	Close() error
}

// WebhookStore finds the work of those who deliver events.
type WebhookStore interface {
	// OldestWaiting returns the time of the first event that has not been relayed, and
	// the time at which the first delivery is due that has not ended. They are zero if
	// there is none.
	OldestWaiting(ctx context.Context) (event, delivery Time, err error)
	// DueDeliveries lists up to limit deliveries that are due now and have no lease that
	// lasts longer, the oldest first. next is the time at which the first of the others is
	// due, or zero.
	DueDeliveries(ctx context.Context, now Time, limit int) (due []UID, next Time, err error)
	// DueDeliveriesInTurn lists up to share such deliveries of each of the next
	// subscriptions after one that have any queued. It returns the last one of these, or
	// "" if no other follows.
	DueDeliveriesInTurn(ctx context.Context, now Time, after UID, subscriptions, share int) (due []UID, last UID, err error)
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

// AuthorityVersions are versions of what decides who callers are.
type AuthorityVersions struct {
	Roots   map[UID]string    // by organisation
	Issuers map[string]string // by the issuer of a rule; "" has identities whose rules name none
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

// WebhookQueries move events and deliveries on their way to sinks.
type WebhookQueries interface {
	// EventsToRelay reads the events of all organisations after a position, as EventsAfter does, and
	// denied changes with them.
	EventsToRelay(ctx context.Context, tx Tx, after EventPosition, limit int) ([]*Event, error)

	// RelayPosition returns the position of the last event that was relayed to
	// subscriptions.
	RelayPosition(ctx context.Context, tx Tx) (EventPosition, error)

	SetRelayPosition(ctx context.Context, tx Tx, at EventPosition) error

	// ClaimDeliveries gives leases, and the next tickets, to those of the deliveries that are
	// due now and have no lease that lasts longer. It waits for no other transaction: it
	// skips the deliveries that another one changes, as SetLeases does.
	ClaimDeliveries(ctx context.Context, tx Tx, deliveries []UID, now, until Time) ([]Ticket, error)

	// SetLeases changes the end of leases. It skips tickets that are no longer valid.
	SetLeases(ctx context.Context, tx Tx, tickets []Ticket, until Time) error

	// FailDeliveries ends up to limit pending deliveries of a disabled subscription as
	// failed, and returns their number. It does nothing for other subscriptions.
	FailDeliveries(ctx context.Context, tx Tx, subscription UID, reason string, at Time, limit int) (int, error)
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
