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

// A Query is a page that may be read as it stands.
type Query[F any] struct {
	Scope    Scope
	Filter   F
	Order    Order
	From     *Position // exclusive; nil: the first row, or the last for Backward
	Backward bool      // rows before From, still given in Order
	Limit    int
	Skip     int
	Parts    Parts
	Without  LongTexts
}

// Rows is what a Query found.
type Rows[T any] struct {
	Items []*T
	More  bool // rows follow in the direction of the query
	Total int64
}

// Keys are UIDs that the caller may read.
type Keys struct {
	uids    []UID
	without LongTexts
}

// UIDs lists them.
func (k Keys) UIDs() []UID { return k.uids }

// Without is what need not be read of them.
func (k Keys) Without() LongTexts { return k.without }

// A Scope is what a list may return: rows of any of its branches. No two
// branches hold the same row.
type Scope struct{ branches []Branch }

// Branches lists them; none: nothing may be returned.
func (s Scope) Branches() []Branch { return s.branches }

// A Branch is one reason why rows are in a scope.
type Branch struct {
	Relation Relation
	UID      UID    // what Relation speaks of
	UIDs     []UID  // for Listed
	Name     string // for OfArtifact and OfEcosystem
	Inside   UID    // if set: only rows within this UID
}

// A Relation says how rows lie to a UID.
type Relation uint8

// The relations.
const (
	Everything  Relation = iota // every row; of kinds outside the tree only
	Within                      // the UID itself and all below
	Below                       // all strictly below
	Children                    // the parent is
	Listed                      // one of UIDs
	BuiltIn                     // rows that belong to no organisation
	OfIdentity                  // role bindings: the identity is
	OfRole                      // role bindings: the role is
	OfArtifact                  // advisories: the artifact is Name
	OfEcosystem                 // artifacts: the ecosystem is Name
)

// A Grant is a role bound to an identity on a group, whose effect reaches the
// group and everything below.
type Grant struct {
	Identity     UID
	Group        UID
	Role         UID
	Capabilities []Capability

	ExternalGroup string // of an identity provider, which maps it to Role
}

// A Key is secret material that replicas share through the store.
type Key struct {
	ID         int // from 1, in order of making
	Purpose    string
	Material   []byte
	Sealed     bool // Material is encrypted
	CreateTime Time
}

// A StoredSecret is an encrypted secret of a resource.
type StoredSecret struct {
	Owner  UID
	Place  int // which of its secrets, as the store numbers them
	Hidden []byte
}
