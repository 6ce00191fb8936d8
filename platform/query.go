package platform

// The types of this file are requests to a store. The operations have checked and
// authorised them.

// A Query asks for one page of rows.
type Query[F any] struct {
	Scope    Scope
	Filter   F
	Order    Order
	From     *Position // exclusive; nil: from the first row, or from the last if Backward
	Backward bool      // reads the rows before From; the result is still in Order
	Limit    int
	Skip     int
	Parts    Parts
	Without  CostlyFields
}

// Rows is the result of a Query.
type Rows[T any] struct {
	Items []T
	More  bool // there are more rows in the direction of the query
	Total int64
}

// Keys are UIDs that the caller may read.
type Keys struct {
	uids    []UID
	without CostlyFields
}

// UIDs lists the UIDs.
func (k Keys) UIDs() []UID { return k.uids }

// Without returns the costly fields to leave empty.
func (k Keys) Without() CostlyFields { return k.without }

// A Scope is the set of rows that a list may return: the rows of its branches. No
// two branches contain the same row.
type Scope struct{ branches []Branch }

// Branches lists the branches. Without branches, the scope is empty.
func (s Scope) Branches() []Branch { return s.branches }

// A Branch is a set of rows, defined by their relation to a UID or a name.
type Branch struct {
	Relation Relation
	UID      UID    // the UID that Relation refers to
	UIDs     []UID  // for Listed
	Name     string // for OfArtifact and OfEcosystem
	Inside   UID    // if set: only rows within this UID
	Around   UID    // for OfArtifact, if set: only rows in groups that enclose this UID
}

// A Relation defines how rows relate to a UID.
type Relation uint8

// The relations.
const (
	Everything  Relation = iota // every row; only for kinds outside of the tree
	Within                      // the UID itself and all below
	Below                       // everything strictly below the UID
	Children                    // the parent is
	Listed                      // one of UIDs
	BuiltIn                     // rows that belong to no organisation
	OfIdentity                  // role bindings of the identity
	OfRole                      // role bindings of the role
	OfArtifact                  // advisories about the artifact Name
	OfEcosystem                 // artifacts of the ecosystem Name
)

// A Grant is a role that is bound to an identity on a group. It applies to the
// group and everything below.
type Grant struct {
	Identity     UID
	Group        UID
	Role         UID
	Capabilities []Capability

	ExternalGroup string // the external group of an identity provider that is mapped to Role
}

// A Key is secret material that replicas share through the store.
type Key struct {
	ID         int // counts from 1 in order of creation
	Purpose    string
	Material   []byte
	Sealed     bool // Material is encrypted
	CreateTime Time
}

// A StoredSecret is an encrypted secret of a resource.
type StoredSecret struct {
	Owner     UID
	Place     int // number of the secret among those of the owner
	Encrypted []byte
}
