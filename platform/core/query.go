package core

import "slices"

// An ImageKey identifies an image.
type ImageKey struct {
	Repo   UID
	Digest string
}

// Text returns the key as errors name the image.
func (k ImageKey) Text() string { return string(k.Repo) + "@" + k.Digest }

// The types of this file are requests to a store. The operations have checked and
// authorized them.

// A Query asks for one page of rows.
type Query[F any] struct {
	Scope  Scope
	Filter F
	Order  Order
	// From is exclusive. nil means that the page begins with the first row, or with the
	// last one if Backward.
	From *Position
	// Backward means that the rows before From are read. The result is still in Order.
	Backward bool
	Limit    int
	Skip     int
	Parts    Parts
	Without  CostlyFields
}

// MaxRows returns how many rows to read: one more than Limit shows whether more rows follow.
func (q Query[F]) MaxRows() int {
	if q.Parts.Has(PartMore) {
		return q.Limit + 1
	}
	return q.Limit
}

// Rows is the result of a Query.
type Rows[T any] struct {
	Items []T
	More  bool // whether there are more rows in the direction of the query; it says nothing without PartMore
	Total int64
}

// Keys are UIDs that the caller may read.
type Keys struct {
	UIDs    []UID
	Without CostlyFields // the costly fields to leave empty
}

// A Scope is the set of rows that a list may return: the rows of its branches. No
// two branches contain the same row. Without branches, the scope is empty.
type Scope struct{ Branches []Branch }

// Holding returns the rows whose images hold a version of a package.
func (s Scope) Holding(version UID) Scope {
	held := Scope{slices.Clone(s.Branches)}
	for i := range held.Branches {
		held.Branches[i].Holds = version
	}
	return held
}

// A Branch is a set of rows, defined by their relation to a UID or a name.
type Branch struct {
	Relation Relation
	UID      UID    // the UID that Relation refers to
	UIDs     []UID  // the UIDs of Listed
	Name     string // the id of OfDocument, or the name of OfEcosystem
	Inside   UID    // UID within which the rows must lie; "" means anywhere

	// At most one of these narrows the branch.
	Digest string // digest of the image that findings or tags belong to; "" means any
	Holds  UID    // version of a package that images of repos or tags hold; "" means any
	Lacks  UID    // representative advisory of which the image of a tag is free, as its SBOM shows; "" means any
	// Affecting is a repo, or an image of it, with findings of the advisories; zero means any.
	Affecting ImageKey
}

// A Relation defines how rows relate to a UID.
type Relation uint8

// The relations.
const (
	Everything  Relation = iota // every row, only for kinds outside of the tree
	Within                      // the row of the UID itself and all rows below
	Below                       // all rows strictly below the UID
	Children                    // rows whose parent is the UID
	Listed                      // rows with one of UIDs
	BuiltIn                     // rows that belong to no organization
	OfIdentity                  // role bindings of the identity
	OfRole                      // role bindings of the role
	OfDocument                  // advisories about the artifacts with the exact name Name
	OfEcosystem                 // artifacts of the ecosystem Name
	OfAdvisory                  // findings that an advisory represents
)

// A Grant is a role that is bound to an identity on a group. It applies to the
// group and everything below.
type Grant struct {
	Identity     UID
	Group        UID
	Role         UID
	Capabilities []Capability
	ExpireTime   Time // time from which it gives nothing; zero means never

	ExternalGroup string // the external group of an identity provider that is mapped to Role
}

// A Key is secret material that replicas share through the store.
type Key struct {
	ID         int // number that counts from 1 in the order of creation
	Purpose    string
	Material   []byte
	Sealed     bool // whether Material is encrypted
	CreateTime Time
}

// A StoredSecret is an encrypted secret of a resource.
type StoredSecret struct {
	Owner     UID
	Place     int // number of the secret among those of the owner
	Encrypted []byte
}
