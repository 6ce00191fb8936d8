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
	Reader
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

	// CheckSchema fails if the store does not respond or does not have the schema
	// of this program.
	CheckSchema(ctx context.Context) error
	Close() error
}

// WebhookStore finds the work of those who deliver events.
type WebhookStore interface {
	// OldestWaiting returns the time of the first event that has not been relayed, and
	// the time at which the first delivery is due that has not ended and is not held.
	// They are zero if there is none.
	OldestWaiting(ctx context.Context) (event, delivery Time, err error)
	// ReadyDeliveries returns the tickets of deliveries at StageReady, oldest
	// first.
	ReadyDeliveries(ctx context.Context, limit int) ([]Ticket, error)
	// Heartbeat increments the heartbeat count of a replica and returns the counts
	// of all replicas. RemoveReplicas removes replicas.
	Heartbeat(ctx context.Context, replica string) (map[string]int64, error)
	RemoveReplicas(ctx context.Context, replicas []string) error
}

// A Reader reads rows. It does not check access.
type Reader interface {
	GroupReads
	IdentityReads
	RoleReads
	RoleBindingReads
	IdentityProviderReads
	AccountAssociationReads
	GroupInviteReads
	ExternalGroupRoleMappingReads
	TermsAcceptanceReads
	RepoReads
	TagReads
	SubscriptionReads
	DeliveryReads
	AdvisoryReads
	VulnerabilityReads
	ArtifactReads
	ArtifactVersionReads
	ImageReads
	SignInReads
	IssuerReads
	KeyReads
	SearchReads
	EventReads

	// Exists reports whether any kind has a resource uid.
	Exists(ctx context.Context, uid UID) (bool, error)
}

// AuthorityVersions are versions of what decides who callers are.
type AuthorityVersions struct {
	Roots   map[UID]string    // by organisation
	Issuers map[string]string // by the issuer of a rule; "" has identities whose rules name none
}

// Table reads the rows of one kind.
type Table[T, F any] interface {
	// Get reads rows by UID, in any order; missing ones are left out.
	Get(ctx context.Context, keys Keys) ([]T, error)

	// List reads one page.
	List(ctx context.Context, q Query[F]) (Rows[T], error)

	// ListEach reads the same page of many scopes in one statement (and one more
	// for totals), in the order of scopes. It ignores q.Scope.
	ListEach(ctx context.Context, q Query[F], scopes []Scope) ([]Rows[T], error)
}

// An OverdueDelivery is a delivery whose next attempt should have been made at a time.
type OverdueDelivery struct {
	UID UID
	At  Time
}

// Tx is a running transaction. It reads its own writes.
type Tx interface {
	Reader
	GroupWrites
	IdentityWrites
	RoleWrites
	RoleBindingWrites
	IdentityProviderWrites
	AccountAssociationWrites
	GroupInviteWrites
	ExternalGroupRoleMappingWrites
	TermsAcceptanceWrites
	RepoWrites
	TagWrites
	SubscriptionWrites
	DeliveryWrites
	AdvisoryWrites
	VulnerabilityWrites
	ArtifactWrites
	ArtifactVersionWrites
	ImageWrites
	IssuerWrites
	KeyWrites
	WebhookWrites

	// Lock locks root exclusively until the transaction ends. LockShared locks it
	// shared: it waits for exclusive locks, not for other shared ones.
	Lock(ctx context.Context, root UID) error
	LockShared(ctx context.Context, root UID) error

	// Record adds events, to be stored with the transaction's changes.
	Record(events ...*Event)
}

// WebhookWrites moves events and deliveries on their way to sinks.
type WebhookWrites interface {
	// RelayPosition returns the position of the last event that was relayed to
	// subscriptions.
	RelayPosition(ctx context.Context) (EventPosition, error)
	SetRelayPosition(ctx context.Context, at EventPosition) error

	// CountWaiting counts the deliveries of subscriptions at StageReady and
	// StageQueued.
	CountWaiting(ctx context.Context, subscriptions []UID) (map[UID]int, error)

	// MarkQueued moves deliveries from StageReady to StageQueued, or to
	// StageRetryQueued after a first attempt. It skips tickets that are no longer
	// valid.
	MarkQueued(ctx context.Context, tickets []Ticket) error

	// Requeue moves deliveries that have not ended to StageReady, each with the
	// next ticket. It skips tickets that are no longer valid.
	Requeue(ctx context.Context, tickets []Ticket) error

	// ReleaseNextHeld moves the oldest held delivery of a subscription to
	// StageReady.
	ReleaseNextHeld(ctx context.Context, subscription UID) error

	// OverdueDeliveries returns up to limit queued deliveries that are overdue since a
	// time, in the order of their times and UIDs, beginning after another delivery.
	OverdueDeliveries(ctx context.Context, due Time, after OverdueDelivery, limit int) ([]OverdueDelivery, error)

	// RequeueLost moves those of the deliveries to StageReady that are queued and
	// overdue since a time.
	RequeueLost(ctx context.Context, due Time, deliveries []UID) error

	// ReleaseIdle moves a held delivery to StageReady for each of up to limit
	// subscriptions that have only held ones. It returns their number.
	ReleaseIdle(ctx context.Context, limit int) (int, error)

	// FailDeliveries ends up to limit pending deliveries of a disabled subscription as
	// failed, and returns their number. It does nothing for other subscriptions.
	FailDeliveries(ctx context.Context, subscription UID, reason string, at Time, limit int) (int, error)

	// DisabledWithPending returns the disabled subscriptions that have pending deliveries.
	DisabledWithPending(ctx context.Context) ([]UID, error)
}

// RowWriter changes the rows of one kind. It updates the counters as well.
type RowWriter[T any] interface {
	// Insert inserts rows. It returns ErrDuplicate if another row has the unique
	// key, and ErrNoParent if the parent, or another row that a row refers to,
	// does not exist.
	Insert(ctx context.Context, rows ...T) error
	// Update writes the named fields and the update time of row, and reads back
	// the whole row. It returns ErrNotFound, ErrDuplicate or ErrNoParent.
	Update(ctx context.Context, row T, fields ...string) error
	// GetForUpdate reads a row and locks it until the transaction ends. It returns
	// ErrNotFound if the row does not exist.
	GetForUpdate(ctx context.Context, uid UID) (T, error)

	// Delete deletes a row and returns it. It returns ErrNotFound, or
	// ErrReferenced if another row refers to it.
	Delete(ctx context.Context, uid UID) (T, error)
}

// ErrTooMany is the error of ListFeed if there are more rows than the limit.
var ErrTooMany = errors.New("more rows than the limit")

// Writes return these errors, or an *Error.
var (
	ErrNotFound   = errors.New("no such row")
	ErrDuplicate  = errors.New("a row with this unique key exists")
	ErrNoParent   = errors.New("a row that this one needs does not exist")
	ErrReferenced = errors.New("other rows need this one")
	ErrLocked     = errors.New("another transaction locks what the statement needs") // the statement has waited too long
)
