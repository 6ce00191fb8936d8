package platform

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// Store is the database of the platform. Two engines implement it; store/storetest
// tests both.
//
// Lists and reads take a Scope or Keys, which only this package can make. Thus
// access is decided before the store is called.
type Store interface {
	Reader

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

	// StaticIdentities finds identities with static keys that name exactly this
	// issuer and subject. There is a limit; the first one of each organisation
	// precedes the second ones.
	StaticIdentities(ctx context.Context, issuer, subject string) ([]*Identity, error)

	// KnowsIssuer reports whether an identity or an identity provider names
	// exactly this issuer.
	KnowsIssuer(ctx context.Context, issuer string) (bool, error)

	// IssuerProofs lists all proofs, and the issuers of providers and patterns
	// without a proof, which have no method.
	IssuerProofs(ctx context.Context) ([]*IssuerProof, error)

	// DueIssuerProofs lists proofs by a file that were not checked since a time,
	// the least recently checked first.
	DueIssuerProofs(ctx context.Context, before Time, limit int) ([]*IssuerProof, error)

	// LookupIdentities finds the identities of organisations with exactly this issuer and
	// subject, the oldest first.
	LookupIdentities(ctx context.Context, issuer, subject string, organisations []UID) ([]UID, error)
	// MarkSeen sets the last seen time of identities. It changes no update time
	// and records no event.
	MarkSeen(ctx context.Context, identities []UID, at Time) error

	// EventPosition finds the position of an event, or of the newest event if id
	// is "". found is false if there is no such event.
	EventPosition(ctx context.Context, id string) (at EventPosition, found bool, err error)

	// Changed returns a channel that is closed when this process stores the next
	// event, when Wake is called or, while Follow runs, when another process may
	// have stored an event.
	Changed() <-chan struct{}
	Wake()

	// Event reads one event, or nil if it does not exist.
	Event(ctx context.Context, id string) (*Event, error)

	// EventLog reads events, including denials.
	EventLog(ctx context.Context, q AuditQuery) ([]*Event, error)
	// EventActivity counts changes and denials per interval. AdvisoryActivity
	// counts, without withdrawn ones, the advisories that were opened and those that
	// were fixed.
	EventActivity(ctx context.Context, q ActivityQuery) ([]EventCount, error)
	AdvisoryActivity(ctx context.Context, q ActivityQuery) ([]AdvisoryCount, error)

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

	// PartitionEvents prepares the store for the events that follow now. Each partition
	// has the events of a time of this width. If now is much later than the clock of the
	// database, PartitionEvents uses an earlier time. It returns the time that it used, or
	// zero if it has not found out. A store without partitions does nothing.
	PartitionEvents(ctx context.Context, now Time, width time.Duration) (used Time, err error)
	// PartitionDeliveries does so for the deliveries that end after now, which must be a
	// time that PartitionEvents has used.
	PartitionDeliveries(ctx context.Context, now Time, width time.Duration) error

	// PurgeEvents deletes at most limit relayed events with smaller ids, and before that
	// drops whole partitions of such events. It may keep events of the partition to
	// which before belongs.
	// PurgeDeliveries deletes at most limit deliveries that ended before a time, and also
	// drops whole partitions. It may keep those of the partition to which before belongs.
	// Both return how many they deleted.
	PurgeEvents(ctx context.Context, before string, limit int) (int64, error)
	// PurgeEventMentions deletes at most limit entries of the index of the resources that
	// events mention. Their events were deleted before.
	PurgeEventMentions(ctx context.Context, limit int) (int64, error)
	PurgeDeliveries(ctx context.Context, before Time, limit int) (int64, error)

	// Follow exchanges notifications of stored events with other processes until
	// ctx ends. Notifications of others are signalled by Changed. Follow never
	// returns an error. It calls onLost each time notifications stop; callers that
	// wait on Changed must also poll.
	Follow(ctx context.Context, onLost func(error))

	// SyncBuiltInRoles makes the stored built-in roles equal to roles.
	SyncBuiltInRoles(ctx context.Context, roles []*Role) error

	// Recount corrects the counters and returns how many were wrong.
	Recount(ctx context.Context) (wrong int64, err error)

	// CheckSchema fails if the store does not respond or does not have the schema
	// of this program.
	CheckSchema(ctx context.Context) error
	Close() error
}

// A Reader reads rows. It does not check access.
type Reader interface {
	// Table returns the Table of a kind by the type of its rows, or nil. Use
	// TableOf to get it with its static type.
	Table(row reflect.Type) any

	// EventsAfter reads events after a position, in order. An empty roots selects
	// all organisations. It returns an event only when no earlier event can still
	// be committed. It may return fewer events than there are, for a moment.
	EventsAfter(ctx context.Context, roots []UID, after EventPosition, limit int) ([]*Event, error)
	// EventsUpTo reads all events after a position up to the position of an event that
	// EventsAfter has returned, in order, but at most limit.
	EventsUpTo(ctx context.Context, roots []UID, after, upTo EventPosition, limit int) ([]*Event, error)

	// ActiveSubscriptions reads the subscriptions of organisations that are
	// not disabled.
	ActiveSubscriptions(ctx context.Context, roots []UID) ([]*Subscription, error)

	// Exists reports whether any kind has a resource uid.
	Exists(ctx context.Context, uid UID) (bool, error)

	// Candidates finds, with one indexed statement, up to MaxCandidates identities
	// whose rule may match the token of a bearer: rules with the exact keys, and
	// rules with patterns of organisations that have proven the issuer. The same
	// statement finds the identity providers of the issuer that have a proof. The
	// caller of Candidates does the exact matching.
	Candidates(ctx context.Context, b Bearer) ([]Candidate, []SignInOption, error)

	// Grants reads the roles bound to identities.
	Grants(ctx context.Context, identities []UID) ([]Grant, error)

	// AuthorityVersions reads the versions of organisations and issuers. The version of an
	// organisation changes with everything in it that decides who a caller is and what they
	// hold. The version of an issuer changes with each identity, provider and proof that names
	// it.
	AuthorityVersions(ctx context.Context, roots []UID, issuers []string) (AuthorityVersions, error)

	// MappedGrants reads the roles that an identity provider maps external groups
	// to, for the given groups or for all if none are given. The Identity of each
	// grant is the provider.
	MappedGrants(ctx context.Context, provider UID, externalGroups ...string) ([]Grant, error)

	// ProvisionedGrants reads the roles that are bound to the identities of an identity
	// provider. Grants of several identities on the same group are one.
	ProvisionedGrants(ctx context.Context, provider UID) ([]Grant, error)

	// IssuerProof reads the proof of an organisation for an issuer. The method is
	// empty if there is no proof.
	IssuerProof(ctx context.Context, root UID, issuer string) (*IssuerProof, error)

	// ProvidersOfIssuer lists the identity providers that an organisation has for
	// an issuer.
	ProvidersOfIssuer(ctx context.Context, root UID, issuer string) ([]UID, error)

	// CountRules counts the identities of an organisation with a rule key, or with
	// static keys for its issuer and subject, except one identity.
	CountRules(ctx context.Context, root UID, key RuleKey, without UID) (int, error)

	// CountBindings counts the role bindings of one identity and of the others that CountRules
	// counts. It counts no more than most.
	CountBindings(ctx context.Context, root UID, key RuleKey, identity UID, most int) (int, error)

	// HasOwner reports whether an owner of an organisation has a rule or static keys, or is
	// a user of an identity provider. It leaves out one role binding, or the rule and the
	// keys of one identity; "" leaves out nothing.
	HasOwner(ctx context.Context, root, without UID) (bool, error)

	// TermsOf reads acceptances by group and document; missing ones are left
	// out.
	TermsOf(ctx context.Context, keys TermsKeys) ([]*TermsAcceptance, error)

	// Images reads the images of (repo, digest) pairs; missing ones are left
	// out.
	Images(ctx context.Context, keys ImageKeys) ([]*Image, error)

	// TagsByName reads the tags of (repo, name) pairs; missing ones are left
	// out.
	TagsByName(ctx context.Context, names TagNames) ([]*Tag, error)

	// Search finds the places of the hits of a query, best first.
	Search(ctx context.Context, q SearchQuery) ([]SearchPlace, error)

	// FacetRepos counts the repos of each scope by facet, with one statement. The
	// values of a facet are not sorted.
	FacetRepos(ctx context.Context, filter *RepoFilter, scopes []Scope) ([]*RepoFacets, error)

	// GroupsOfPath reads the group that a path names. ReposOfPath reads the repos
	// that a path can name. Neither checks access.
	GroupsOfPath(ctx context.Context, path Path) ([]*Group, error)
	ReposOfPath(ctx context.Context, path Path) ([]*Repo, error)

	// SummarizeAdvisories counts the advisories of each scope, without withdrawn
	// ones, with one statement.
	SummarizeAdvisories(ctx context.Context, scopes []Scope) ([]*AdvisorySummary, error)

	// AdvisoriesInheriting reads the advisories of all groups that have one of the
	// names as id or alias and no CVSS severity of their own.
	AdvisoriesInheriting(ctx context.Context, names []string) ([]*Advisory, error)

	// AdvisoriesByName reads the advisories of a group by (advisory id, artifact
	// name) pairs; missing ones are left out.
	AdvisoriesByName(ctx context.Context, names AdvisoryNames) ([]*Advisory, error)

	// TagsOfSource reads the tags of a repo that were imported from a source.
	TagsOfSource(ctx context.Context, from RepoSource) ([]*Tag, error)

	// RepoSources reads the sources of tags in the repos of a group that were
	// imported from a registry host.
	RepoSources(ctx context.Context, group UID, registry string) ([]RepoSource, error)

	// ListFeed reads advisories, sorted by artifact name and advisory id. It
	// returns ErrTooMany if there are more than the limit.
	ListFeed(ctx context.Context, q FeedQuery) ([]*Advisory, error)
	// Keys reads the keys of a purpose as they are stored, oldest first.
	Keys(ctx context.Context, purpose string) ([]Key, error)

	// Readmes reads the readmes of repos; missing repos are left out.
	Readmes(ctx context.Context, keys Keys) ([]*Readme, error)
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

// TableOf returns the table of the kind T, whose filter is F.
func TableOf[T, F any](r Reader) Table[T, F] {
	table, ok := r.Table(reflect.TypeFor[T]().Elem()).(Table[T, F])
	if !ok {
		panic(fmt.Sprintf("the store has no table of %v by %v", reflect.TypeFor[T]().Elem(), reflect.TypeFor[F]().Elem()))
	}
	return table
}

// An OverdueDelivery is a delivery whose next attempt should have been made at a time.
type OverdueDelivery struct {
	UID UID
	At  Time
}

// Tx is a running transaction. It reads its own writes.
type Tx interface {
	Reader

	// Rows returns the RowWriter of a kind by the type of its rows, or nil. Use
	// RowsOf to get it with its static type.
	Rows(row reflect.Type) any
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

	// PutIssuerProof stores a proof, or replaces the one of the same
	// organisation and issuer. DeleteIssuerProof removes it, if it is there.
	PutIssuerProof(ctx context.Context, proof *IssuerProof) error
	DeleteIssuerProof(ctx context.Context, root UID, issuer string) error

	// SetReadme replaces the readme of an existing repo.
	SetReadme(ctx context.Context, repo UID, content string) error
	// ClaimTags sets the source of tags that still have their digests. It changes no update
	// times and records no events.
	ClaimTags(ctx context.Context, source string, tags []*Tag) error

	// LockTagsOfSource returns those of tags that still come from a source. They stay as they
	// are until the transaction ends.
	LockTagsOfSource(ctx context.Context, from RepoSource, tags []UID) ([]UID, error)

	// RaiseAdvisoryTimes and RaiseVulnerabilityTimes replace the source times of rows by later
	// ones. They keep times that are later already, and everything else of the rows.
	RaiseAdvisoryTimes(ctx context.Context, times []SourceTime) error
	RaiseVulnerabilityTimes(ctx context.Context, times []SourceTime) error

	// PutImages stores images, replacing those of the same repo and digest.
	PutImages(ctx context.Context, images []*Image) error

	// PutKey adds or replaces a key; DeleteKey removes one, if it is there.
	PutKey(ctx context.Context, k Key) error
	DeleteKey(ctx context.Context, purpose string, id int) error

	// Secrets reads all encrypted secrets of resources. PutSecrets replaces them;
	// it removes a secret without content.
	Secrets(ctx context.Context) ([]StoredSecret, error)
	PutSecrets(ctx context.Context, secrets []StoredSecret) error

	// Lock locks root exclusively until the transaction ends. LockShared locks it
	// shared: it waits for exclusive locks, not for other shared ones.
	Lock(ctx context.Context, root UID) error
	LockShared(ctx context.Context, root UID) error

	// Record adds events, to be stored with the transaction's changes.
	Record(events ...*Event)
}

// RowsOf returns the RowWriter of the kind T.
func RowsOf[T any](tx Tx) RowWriter[T] {
	rows, ok := tx.Rows(reflect.TypeFor[T]().Elem()).(RowWriter[T])
	if !ok {
		panic(fmt.Sprintf("the store has no rows of %v", reflect.TypeFor[T]().Elem()))
	}
	return rows
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
