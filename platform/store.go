package platform

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// Store keeps the platform's state. Two engines implement it; store/storetest
// holds what both must do.
//
// Lists and reads take a Scope or Keys, which only this package can make: what
// a caller may see is decided before the store is asked.
type Store interface {
	Reader

	// Write runs unit in one transaction and commits when it returns nil.
	// Everything it did is undone otherwise. A unit that lost against a
	// concurrent one is run again, so it must have no effect but on tx.
	Write(ctx context.Context, unit func(tx Tx) error) error

	// Gather says that n calls are about to read for one answer, each with the
	// context that join makes of its own. The store may run together what they
	// ask for. Each call says by end that it is over.
	Gather(n int) (join func(context.Context) context.Context, end func())

	// AwaitOther says that one of these calls waits for what another reads.
	AwaitOther(ctx context.Context, wait func())

	// Candidates finds identities whose rule may match the token of a bearer,
	// by one indexed statement: those of equal keys, and those with patterns of
	// organisations that have proven the issuer, up to MaxCandidates. The same
	// statement finds the identity providers of its issuer that have a proof.
	// The caller decides.
	Candidates(ctx context.Context, b Bearer) ([]Candidate, []Entrance, error)

	// StaticIdentities finds identities with keys of their own that name
	// exactly this issuer and subject.
	StaticIdentities(ctx context.Context, issuer, subject string) ([]*Identity, error)

	// KnowsIssuer reports whether some identity or identity provider names
	// issuer exactly.
	KnowsIssuer(ctx context.Context, issuer string) (bool, error)

	// IssuerProofs lists every proof and, without a method, what organisations
	// have providers and patterns for but no proof.
	IssuerProofs(ctx context.Context) ([]*IssuerProof, error)

	// DueIssuerProofs lists proofs by a file that were not looked at since a
	// time, the one that waits for longest first.
	DueIssuerProofs(ctx context.Context, before Time, limit int) ([]*IssuerProof, error)

	// LookupIdentity finds the oldest identity with exactly this issuer and
	// subject; "" where there is none.
	LookupIdentity(ctx context.Context, issuer, subject string) (UID, error)

	// Seen notes that identities have acted. It is no change: no event, no
	// update time.
	Seen(ctx context.Context, identities []UID, at Time) error

	// EventPosition finds the place of an event, "" the newest; found is
	// false where there is no such event.
	EventPosition(ctx context.Context, id string) (at EventPosition, found bool, err error)

	// Changed is closed when this process has stored the next event, has been
	// told to Wake or, while Follow runs, may have heard of an event that
	// another stored.
	Changed() <-chan struct{}
	Wake()

	// Event reads one; nil where it is not there.
	Event(ctx context.Context, id string) (*Event, error)

	// EventLog reads events and denials, as an AuditRequest asks.
	EventLog(ctx context.Context, q AuditQuery) ([]*Event, error)

	// EventActivity counts, interval by interval, events that tell of changes
	// and denials. AdvisoryActivity counts the advisories that stand: those
	// that were published and those that were fixed.
	EventActivity(ctx context.Context, q ActivityQuery) ([]ActivityCount, error)
	AdvisoryActivity(ctx context.Context, q ActivityQuery) ([]ActivityCount, error)

	// ReadyDeliveries gives the tickets of those at StageReady, the longest
	// ready first.
	ReadyDeliveries(ctx context.Context, limit int) ([]Ticket, error)

	// Beat counts the beats of a replica up by one, and reads those of all.
	// RemoveReplicas forgets replicas.
	Beat(ctx context.Context, replica string) (map[string]int64, error)
	RemoveReplicas(ctx context.Context, replicas []string) error

	// PurgeEvents and PurgeDeliveries remove at most limit of what is older:
	// events of lesser ids that have been relayed, and deliveries that ended
	// before a time. They tell how many.
	PurgeEvents(ctx context.Context, before string, limit int) (int64, error)
	PurgeDeliveries(ctx context.Context, before Time, limit int) (int64, error)

	// Follow tells Changed of what other processes store, and them of what
	// this one does, until ctx ends. It never fails: deaf is called once,
	// with the reason, whenever others stop being heard, and who waits for
	// Changed must look by themselves now and then.
	Follow(ctx context.Context, deaf func(error))

	// SyncBuiltInRoles makes the stored built-in roles equal to roles.
	SyncBuiltInRoles(ctx context.Context, roles []*Role) error

	// Recount corrects the counters and tells how many were wrong.
	Recount(ctx context.Context) (wrong int64, err error)

	// CheckSchema reports whether the store answers and has the schema that
	// this program knows.
	CheckSchema(ctx context.Context) error
	Close() error
}

// Reader gives the tables to read from.
type Reader interface {
	// Table gives the Table of the kind whose rows have a type; nil where there
	// is none. TableOf gives it with its own type.
	Table(row reflect.Type) any

	// EventsAfter reads events of organisations (none: of all) that follow a
	// position, in order. It gives none while one that comes before it may
	// still appear.
	EventsAfter(ctx context.Context, roots []UID, after EventPosition, limit int) ([]*Event, error)

	// ActiveSubscriptions reads the subscriptions of organisations that are
	// not disabled.
	ActiveSubscriptions(ctx context.Context, roots []UID) ([]*Subscription, error)

	// Exists reports whether any kind has a resource uid.
	Exists(ctx context.Context, uid UID) (bool, error)

	// Grants reads the roles bound to identities.
	Grants(ctx context.Context, identities []UID) ([]Grant, error)

	// MappedGrants reads the roles that an identity provider maps external
	// groups to: these groups, or all where none are given. The Identity of
	// each is the provider.
	MappedGrants(ctx context.Context, provider UID, externalGroups ...string) ([]Grant, error)

	// IssuerProof reads what an organisation has proven of an issuer; one
	// without a method where that is nothing.
	IssuerProof(ctx context.Context, root UID, issuer string) (*IssuerProof, error)

	// ProvidersOfIssuer lists the identity providers that an organisation has for
	// an issuer.
	ProvidersOfIssuer(ctx context.Context, root UID, issuer string) ([]UID, error)

	// CountRules counts the identities of an organisation that tokens find by a
	// key, without one of them.
	CountRules(ctx context.Context, root UID, key RuleKey, without UID) (int, error)

	// TermsOf reads acceptances by group and document; missing ones are left
	// out.
	TermsOf(ctx context.Context, keys TermsKeys) ([]*TermsAcceptance, error)

	// Images reads the images of (repo, digest) pairs; missing ones are left
	// out.
	Images(ctx context.Context, keys ImageKeys) ([]*Image, error)

	// TagsNamed reads the tags of (repo, name) pairs; missing ones are left
	// out.
	TagsNamed(ctx context.Context, names TagNames) ([]*Tag, error)

	// Search finds the places of what a query asks for, the best first.
	Search(ctx context.Context, q SearchQuery) ([]SearchPlace, error)

	// FacetRepos counts the repos of each scope by what they have, with one
	// statement, in no order.
	FacetRepos(ctx context.Context, filter RepoFilter, scopes []Scope) ([]*RepoFacets, error)

	// GroupsOfPath reads the group that the names of a path lead to, and
	// ReposOfPath the repos that the path can mean, whoever may see them.
	GroupsOfPath(ctx context.Context, path Path) ([]*Group, error)
	ReposOfPath(ctx context.Context, path Path) ([]*Repo, error)

	// SummarizeAdvisories counts the advisories of each scope that stand, with one
	// statement.
	SummarizeAdvisories(ctx context.Context, scopes []Scope) ([]*AdvisorySummary, error)

	// AdvisoriesInheriting reads the advisories of all groups that have one of
	// names as id or alias, and that no vector of their own rates.
	AdvisoriesInheriting(ctx context.Context, names []string) ([]*Advisory, error)

	// AdvisoriesNamed reads the advisories of a group by (advisory id, artifact
	// name) pairs; missing ones are left out.
	AdvisoriesNamed(ctx context.Context, names AdvisoryNames) ([]*Advisory, error)

	// TagsFrom reads the tags of a repo that a source brought.
	TagsFrom(ctx context.Context, from RepoSource) ([]*Tag, error)

	// RepoSources reads which repos of a group hold tags that were brought
	// from a registry, the host that sources begin with.
	RepoSources(ctx context.Context, group UID, registry string) ([]RepoSource, error)

	// Feed reads advisories, sorted by artifact name and advisory id.
	// It returns ErrTooMany where there are more than the limit.
	Feed(ctx context.Context, q FeedQuery) ([]*Advisory, error)

	// Keys gives every key of a purpose, the oldest first, as it is stored.
	Keys(ctx context.Context, purpose string) ([]Key, error)

	// Readmes reads the readmes of repos; missing repos are left out.
	Readmes(ctx context.Context, keys Keys) ([]*Readme, error)
}

// Table reads the rows of one kind.
type Table[T, F any] interface {
	// Get reads rows by UID, in any order; missing ones are left out.
	Get(ctx context.Context, keys Keys) ([]*T, error)

	// List reads one page.
	List(ctx context.Context, q Query[F]) (Rows[T], error)

	// ListEach reads the same page of many scopes in one statement (and one
	// more for totals), in the order of scopes. q.Scope is not looked at.
	ListEach(ctx context.Context, q Query[F], scopes []Scope) ([]Rows[T], error)
}

// TableOf gives the table of the kind T, whose filter is F.
func TableOf[T, F any](r Reader) Table[T, F] {
	table, ok := r.Table(reflect.TypeFor[T]()).(Table[T, F])
	if !ok {
		panic(fmt.Sprintf("the store has no table of %v by %v", reflect.TypeFor[T](), reflect.TypeFor[F]()))
	}
	return table
}

// Tx is a transaction under way: it reads its own writes.
type Tx interface {
	Reader

	// Rows gives the Rower of the kind whose rows have a type; nil where there
	// is none. RowsOf gives it with its own type.
	Rows(row reflect.Type) any

	// Relayed is the place of the last event that has become deliveries.
	Relayed(ctx context.Context) (EventPosition, error)
	SetRelayed(ctx context.Context, at EventPosition) error

	// Waiting counts the deliveries of subscriptions at StageReady and
	// StageQueued.
	Waiting(ctx context.Context, subscriptions []UID) (map[UID]int, error)

	// Queued moves deliveries from StageReady to StageQueued, or to StageAgain
	// where they have been tried. Those whose tickets are good no more stay.
	Queued(ctx context.Context, tickets []Ticket) error

	// GiveBack makes deliveries that have not ended ready, each with the next
	// ticket. Those whose tickets are good no more stay.
	GiveBack(ctx context.Context, tickets []Ticket) error

	// NextHeld makes the oldest delivery that a subscription holds ready.
	NextHeld(ctx context.Context, subscription UID) error

	// Revive makes ready what is in the queue since before a time, and of what
	// is held one for each subscription that has nothing else to be tried.
	Revive(ctx context.Context, due Time) error

	// FailDeliveries ends all deliveries of a subscription that have not.
	FailDeliveries(ctx context.Context, subscription UID, reason string, at Time) error

	// PutIssuerProof stores a proof, or replaces the one of the same
	// organisation and issuer. DeleteIssuerProof removes it, if it is there.
	PutIssuerProof(ctx context.Context, proof *IssuerProof) error
	DeleteIssuerProof(ctx context.Context, root UID, issuer string) error

	// SetReadme changes the readme of a repo that is there.
	SetReadme(ctx context.Context, repo UID, content string) error

	// ClaimTags notes the source that brought tags, which is no change of them:
	// neither their update times nor events tell of it.
	ClaimTags(ctx context.Context, source string, tags []UID) error

	// PutImages stores images, replacing those of the same repo and digest.
	PutImages(ctx context.Context, images []*Image) error

	// PutKey adds or replaces a key; DeleteKey removes one, if it is there.
	PutKey(ctx context.Context, k Key) error
	DeleteKey(ctx context.Context, purpose string, id int) error

	// Secrets reads every encrypted secret of a resource. PutSecrets replaces
	// what it has read; one without content is removed.
	Secrets(ctx context.Context) ([]StoredSecret, error)
	PutSecrets(ctx context.Context, secrets []StoredSecret) error

	// Lock makes units that lock the same root wait for each other. Units that
	// only share the lock wait for those that have it, not for each other.
	Lock(ctx context.Context, root UID) error
	LockShared(ctx context.Context, root UID) error

	// Record adds events, to be stored with the transaction's changes.
	Record(events ...*Event)
}

// RowsOf changes the rows of the kind T.
func RowsOf[T any](tx Tx) Rower[T] {
	rows, ok := tx.Rows(reflect.TypeFor[T]()).(Rower[T])
	if !ok {
		panic(fmt.Sprintf("the store has no rows of %v", reflect.TypeFor[T]()))
	}
	return rows
}

// Rower changes the rows of one kind. Counters follow by themselves.
type Rower[T any] interface {
	// Insert adds rows, many at once where many are given. ErrDuplicate: the
	// kind's unique key is taken. ErrNoParent: the parent, or another row
	// that a row points to, is missing.
	Insert(ctx context.Context, rows ...*T) error

	// Update writes the named fields (and the update time) of row and reads
	// back the whole. ErrNotFound, ErrDuplicate, ErrNoParent.
	Update(ctx context.Context, row *T, fields ...string) error

	// Current reads a row that is about to be updated. Nobody else changes it
	// before the transaction ends. ErrNotFound.
	Current(ctx context.Context, uid UID) (*T, error)

	// Delete removes and returns a row. ErrNotFound; ErrReferenced: another
	// row needs it.
	Delete(ctx context.Context, uid UID) (*T, error)
}

// ErrTooMany is what Feed answers instead of more than it was asked for.
var ErrTooMany = errors.New("more rows than the limit")

// What a write can answer beside an Error.
var (
	ErrNotFound   = errors.New("no such row")
	ErrDuplicate  = errors.New("a row with this unique key exists")
	ErrNoParent   = errors.New("a row that this one needs does not exist")
	ErrReferenced = errors.New("other rows need this one")
)
