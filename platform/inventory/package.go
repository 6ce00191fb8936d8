package platform

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"atrium/platform/ecosystem"
)

// A Package is a package that images of an organisation hold. Its UID follows from its
// ecosystem and name: packages are known by what they are, not by who stored them.
type Package struct {
	UID        UID    `json:"uid"`
	Name       string `json:"name"`                // as its ecosystem spells it, such as @babel/core
	Ecosystem  string `json:"ecosystem,omitempty"` // as OSV names it, such as npm or Debian:12; "" if it is not known
	CreateTime Time   `json:"-"`

	// Within is the group or repo to which the list is restricted that has the package. So are
	// the lists of its versions and of what holds them. "" means anywhere.
	Within UID `json:"-"`
}

// NormalName returns the form in which the ecosystem compares the name. All names of a package whose
// ecosystem is not known have the same form if any ecosystem takes them for the same.
func (p *Package) NormalName() string {
	if p.Ecosystem == "" {
		return ecosystem.NormalizeAnyName(p.Name)
	}
	return ecosystem.NameRuleOf(p.Ecosystem).Normalize(p.Name)
}

// hashTexts returns a hash of texts as one segment of a UID.
func hashTexts(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	return hex.EncodeToString(sum[:segmentDigits/2])
}

// PackageFilter restricts a list of packages.
type PackageFilter struct {
	Names      []string `json:",omitempty"` // names as the ecosystem of the package compares them
	Ecosystems []string `json:",omitempty"` // with or without the release
	Query      string   `json:",omitempty"` // words of the name

	// Held is where images must hold the package.
	Held Scope `json:"-"`
}

func (f *PackageFilter) check(v *violations) {
	v.checkFilter("names", f.Names...)
	v.checkFilter("ecosystems", f.Ecosystems...)
	v.checkQuery(f.Query)
	for _, x := range []struct {
		field string
		n     int
	}{{"names", len(f.Names)}, {"ecosystems", len(f.Ecosystems)}} {
		if x.n > maxIDs {
			v.add(x.field, "must be at most %d", maxIDs)
		}
	}
}

var packageKind = Kind[*Package]{
	Name: "Package", Plural: "packages", Area: areaRegistry, Number: 21, Own: true, GraphOnly: true, Parent: groupRef,
	List: CapManifestMetadataList, Also: []Capability{CapTagList},
	Orders: []OrderField[*Package]{
		{"name", nil, func(p *Package) any { return p.Name }},
		{"uid", nil, func(p *Package) any { return string(p.UID) }},
	},
	DefaultOrder: Order{Field: "name"},
	UID:          func(p *Package) UID { return p.UID },
	Group:        parentOf(func(p *Package) UID { return p.UID }),
}

// PackageQueries read and write packages in other ways than a Table does.
type PackageQueries interface {
	// ImagePackages reads what images hold, in the order of keys, with the packages sorted by name:
	// with one round trip, and one for their versions.
	ImagePackages(ctx context.Context, on Conn, keys ImageKeys) ([]*ImageContent, error)

	// StoredVersions returns those of the versions of packages that are stored.
	StoredVersions(ctx context.Context, tx Tx, uids []UID) ([]UID, error)

	// VersionsOfPackages reads all versions of packages.
	VersionsOfPackages(ctx context.Context, tx Tx, packages []UID) ([]*PackageVersion, error)

	// InsertPackages inserts versions that are not stored, and those of their packages that are not.
	InsertPackages(ctx context.Context, tx Tx, versions []*PackageVersion) error

	// SetRanks changes the ranks of versions.
	SetRanks(ctx context.Context, tx Tx, versions []*PackageVersion) error
}

// An ImageContent is what is known of the packages of an image.
type ImageContent struct {
	Repo   UID
	Digest string
	Basis  FindingBasis // BasisVersion if there is an SBOM

	Packages []ImagePackage
}

// An ImagePackage is a package of an image.
type ImagePackage struct {
	*PackageVersion
	Architectures []string // those that hold it; none means that the documents do not say it

	place int // its place among the packages of the image
}

// Packages are the operations on packages.
type Packages struct {
	Resources[*Package, *PackageFilter]
	rows *Collection[*Package, *PackageFilter]
	area *inventoryArea
}

// heldBy returns the scope in which images must hold what the caller asks for, and the
// organisations that it lies in.
func heldBy(ctx context.Context, within UID) (held Scope, roots Scope, err error) {
	actor, err := requireCaller(ctx)
	if err != nil {
		return Scope{}, Scope{}, err
	}
	if held, err = packageKind.scope(actor, UIDFilter{DescendantsOf: within}); err != nil {
		return Scope{}, Scope{}, err
	}
	for _, b := range held.Branches {
		root := Branch{Relation: Children, UID: b.UID.Root()}
		if !slices.ContainsFunc(roots.Branches, func(r Branch) bool { return r.UID == root.UID }) {
			roots.Branches = append(roots.Branches, root)
		}
	}
	return held, roots, nil
}

// ListHeld reads a page of the packages that images below a group, or of a repo, hold and the
// caller may see. within "" means anywhere.
func (s Packages) ListHeld(ctx context.Context, within UID, req ListRequest[*PackageFilter]) (Page[*Package], error) {
	if err := checkWithin(within); err != nil {
		return Page[*Package]{}, s.rows.kind.addArea(err)
	}
	held, roots, err := heldBy(ctx, within)
	if err != nil {
		return Page[*Package]{}, s.rows.kind.addArea(err)
	}
	req.UIDP.DescendantsOf = within // tokens belong to it
	req.Filter = changeFilter(req.Filter, func(f *PackageFilter) { f.Held = held })
	page, err := s.rows.listInScope(ctx, roots, req)
	if err == nil && len(page.Items) == 0 && page.TotalCount == 0 {
		err = s.rows.scopeExists(ctx, req.UIDP)
	}
	for _, p := range page.Items {
		p.Within = within
	}
	return page, s.rows.kind.addArea(err)
}

// GetMany reads packages that an image holds which the caller may see, with one read. The results
// are in the order of uids; each has a package or an error.
func (s Packages) GetMany(ctx context.Context, uids []UID) ([]*Package, []error) {
	return getHeld(ctx, s.rows, uids, func(held Scope) *PackageFilter { return &PackageFilter{Held: held} })
}

// getHeld reads rows that images hold. The function filter returns the filter of the rows that images in
// a scope hold.
func getHeld[T any, F filter](ctx context.Context, r *Collection[T, F], uids []UID, filter func(held Scope) F) ([]T, []error) {
	rows, errs := make([]T, len(uids)), make([]error, len(uids))
	held, roots, err := heldBy(ctx, "")
	var readable []UID
	for i, uid := range uids {
		switch {
		case err != nil:
			errs[i] = err
		case !uid.Valid():
			errs[i] = invalidUID("uid", uid)
		case !slices.ContainsFunc(roots.Branches, func(b Branch) bool { return uid.Within(b.UID) }):
			errs[i] = r.kind.refuseReadingOf(ActorOf(ctx), uid)
		default:
			readable = append(readable, uid)
		}
		errs[i] = r.kind.addArea(errs[i])
	}
	if len(readable) == 0 {
		return rows, errs
	}
	q := Query[F]{Scope: newScope(Branch{Relation: Listed, UIDs: readable}), Filter: filter(held), Order: r.kind.DefaultOrder, Limit: noLimit, Parts: PartItems}
	found, err := r.table.List(ctx, r.core.store, q)
	byUID := make(map[UID]int, len(found.Items))
	for n, row := range found.Items {
		byUID[r.kind.UID(row)] = n
	}
	for i, uid := range uids {
		switch n, known := byUID[uid]; {
		case errs[i] != nil:
		case err != nil:
			errs[i] = r.kind.addArea(err)
		case known:
			rows[i] = found.Items[n]
		default:
			errs[i] = r.kind.notFound(uid)
		}
	}
	return rows, errs
}

func checkWithin(within UID) error {
	if within == "" {
		return nil
	}
	return invalidUID("within", within)
}
