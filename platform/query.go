package platform

// What a store is asked for, decided by the operations: it may be read as it stands.

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
	Around   UID    // for OfArtifact, if set: only rows in groups that enclose this UID
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
