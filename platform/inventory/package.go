package inventory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
)

// A Package is a package that images of an organization hold. Its UID follows from its
// ecosystem and name: packages are known by what they are, not by who stored them.
type Package struct {
	UID        core.UID  `json:"uid"`
	Name       string    `json:"name"`                // as its ecosystem spells it, such as @babel/core
	Ecosystem  string    `json:"ecosystem,omitempty"` // as OSV names it, such as npm or Debian:12; "" if it is not known
	CreateTime core.Time `json:"-"`

	// Within is the group or repo to which the list is restricted that has the package. So are
	// the lists of its versions and of what holds them. "" means anywhere.
	Within core.UID `json:"-"`
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
	return hex.EncodeToString(sum[:core.SegmentDigits/2])
}

// PackageFilter restricts a list of packages.
type PackageFilter struct {
	Names      []string `json:"names,omitempty"`      // names as the ecosystem of the package compares them
	Ecosystems []string `json:"ecosystems,omitempty"` // with or without the release
	Query      string   `json:"query,omitempty"`      // words of the name
	Licenses   []string `json:"licenses,omitempty"`   // ids of SPDX, or licenses as documents spell them; ecosystem.NoLicense for none

	// Held is where images must hold the package.
	Held core.Scope `json:"-"`
}

// maxLicenses is how many licenses a filter can have. Each is compared with those of each package.
const maxLicenses = 100

// Check adds the violations of the conditions.
func (f *PackageFilter) Check(v *core.Violations) {
	v.CheckFilter("names", f.Names...)
	v.CheckFilter("ecosystems", f.Ecosystems...)
	v.CheckFilter("licenses", f.Licenses...)
	v.CheckQuery(f.Query)
	if len(f.Licenses) > maxLicenses {
		v.Add("licenses", "must have at most %d items", maxLicenses)
	}
	for _, x := range []struct {
		field string
		n     int
	}{{"names", len(f.Names)}, {"ecosystems", len(f.Ecosystems)}} {
		if x.n > core.MaxIDs {
			v.Add(x.field, "must have at most %d items", core.MaxIDs)
		}
	}
}

// PackageKind has the facts about packages.
var PackageKind = core.Kind[*Package]{
	Name: "Package", Plural: "packages", Area: core.AreaRegistry, Number: 21, Own: true, GraphOnly: true, Parent: core.GroupRef,
	List: core.CapManifestMetadataList, Also: []core.Capability{core.CapTagList},
	Orders: []core.OrderField[*Package]{
		{Name: "name", Value: func(p *Package) any { return p.Name }},
		{Name: "uid", Value: func(p *Package) any { return string(p.UID) }},
	},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(p *Package) core.UID { return p.UID },
	Group:        core.ParentOf(func(p *Package) core.UID { return p.UID }),
}

// PackageQueries read and write packages in other ways than a Table does.
type PackageQueries interface {
	// ImagePackages reads what images hold, in the order of keys, with the packages sorted by name:
	// with one round trip, and one for their versions.
	ImagePackages(ctx context.Context, on core.Conn, keys ImageKeys) ([]*ImageContent, error)

	// StoredVersions returns those of the versions of packages that are stored.
	StoredVersions(ctx context.Context, tx core.Tx, uids []core.UID) ([]core.UID, error)

	// VersionsOfPackages reads all versions of packages.
	VersionsOfPackages(ctx context.Context, tx core.Tx, packages []core.UID) ([]*PackageVersion, error)

	// InsertPackages inserts versions that are not stored, and those of their packages that are not.
	InsertPackages(ctx context.Context, tx core.Tx, versions []*PackageVersion) error

	// FacetPackages counts the packages of lists, in the order of scopes.
	FacetPackages(ctx context.Context, on core.Conn, filter *PackageFilter, scopes []core.Scope) ([]*PackageFacets, error)

	// SetRanks changes the ranks of versions.
	SetRanks(ctx context.Context, tx core.Tx, versions []*PackageVersion) error
}

// PackageFacets count the packages of a list by what they have in common, sorted by descending count.
type PackageFacets struct {
	Licenses   []core.TextFacet `json:"licenses"` // ids of SPDX, licenses as documents spell them, and ecosystem.NoLicense
	Ecosystems []EcosystemFacet `json:"ecosystems"`
}

// Facets counts all packages of the lists that the pages belong to.
func (s Packages) Facets(ctx context.Context, pages []core.Page[*Package]) ([]*PackageFacets, error) {
	return core.FacetEach(ctx, s.rows, pages, s.area.tables.FacetPackages, func(f *PackageFacets) {
		f.Licenses, f.Ecosystems = core.SortFacets(f.Licenses), core.SortFacets(f.Ecosystems)
	})
}

// An ImageContent is what is known of the packages of an image.
type ImageContent struct {
	Repo   core.UID
	Digest string
	Basis  FindingBasis // BasisVersion if there is an SBOM

	Packages []ImagePackage
}

// An ImagePackage is a package of an image.
type ImagePackage struct {
	*PackageVersion
	PURL          string   // package URL; "" if it is not known
	Licenses      []string // as the documents spell them
	Architectures []string // those that hold it; none means that the documents do not say it
	Supplier      string   // who distributes or publishes it; "" if it is not known
	Scope         PackageScope
	PackageOrigin

	place int // its place among the packages of the image
}

// Packages are the operations on packages.
type Packages struct {
	core.Resources[*Package, *PackageFilter]
	rows *core.Collection[*Package, *PackageFilter]
	area *Area
}

// heldBy returns the scope in which images must hold what the caller asks for, and the
// organizations that it lies in.
func heldBy(ctx context.Context, within core.UID) (held core.Scope, roots core.Scope, err error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return core.Scope{}, core.Scope{}, err
	}
	if held, err = PackageKind.Scope(actor, core.UIDFilter{DescendantsOf: within}); err != nil {
		return core.Scope{}, core.Scope{}, err
	}
	for _, b := range held.Branches {
		root := core.Branch{Relation: core.Children, UID: b.UID.Root()}
		if !slices.ContainsFunc(roots.Branches, func(r core.Branch) bool { return r.UID == root.UID }) {
			roots.Branches = append(roots.Branches, root)
		}
	}
	return held, roots, nil
}

// ListHeld reads a page of the packages that images below a group, or of a repo, hold and the
// caller may see. within "" means anywhere.
func (s Packages) ListHeld(ctx context.Context, within core.UID, req core.ListRequest[*PackageFilter]) (core.Page[*Package], error) {
	if err := checkWithin(within); err != nil {
		return core.Page[*Package]{}, s.rows.Kind.AddArea(err)
	}
	held, roots, err := heldBy(ctx, within)
	if err != nil {
		return core.Page[*Package]{}, s.rows.Kind.AddArea(err)
	}
	req.UIDP.DescendantsOf = within // tokens belong to it
	req.Filter = core.EditFilter(req.Filter, func(f *PackageFilter) { f.Held = held })
	page, err := s.rows.ListInScope(ctx, roots, req)
	if err == nil && len(page.Items) == 0 && page.TotalCount == 0 {
		err = s.rows.ScopeExists(ctx, req.UIDP)
	}
	for _, p := range page.Items {
		p.Within = within
	}
	return page, s.rows.Kind.AddArea(err)
}

// GetMany reads packages that an image holds which the caller may see, with one read. The results
// are in the order of uids; each has a package or an error.
func (s Packages) GetMany(ctx context.Context, uids []core.UID) ([]*Package, []error) {
	return getHeld(ctx, s.rows, uids, func(held core.Scope) *PackageFilter { return &PackageFilter{Held: held} })
}

// getHeld reads rows that images hold. The function filter returns the filter of the rows that images in
// a scope hold.
func getHeld[T any, F core.Filter](ctx context.Context, r *core.Collection[T, F], uids []core.UID, filter func(held core.Scope) F) ([]T, []error) {
	rows, errs := make([]T, len(uids)), make([]error, len(uids))
	held, roots, err := heldBy(ctx, "")
	var readable []core.UID
	for i, uid := range uids {
		switch {
		case err != nil:
			errs[i] = err
		case !uid.Valid():
			errs[i] = core.InvalidUID("uid", uid)
		case !slices.ContainsFunc(roots.Branches, func(b core.Branch) bool { return uid.Within(b.UID) }):
			errs[i] = r.Kind.RefuseReadingOf(core.ActorOf(ctx), uid)
		default:
			readable = append(readable, uid)
		}
		errs[i] = r.Kind.AddArea(errs[i])
	}
	if len(readable) == 0 {
		return rows, errs
	}
	q := core.Query[F]{Scope: core.NewScope(core.Branch{Relation: core.Listed, UIDs: readable}), Filter: filter(held), Order: r.Kind.DefaultOrder, Limit: core.NoLimit, Parts: core.PartItems}
	found, err := r.Table.List(ctx, r.Core.Store, q)
	byUID := make(map[core.UID]int, len(found.Items))
	for n, row := range found.Items {
		byUID[r.Kind.UID(row)] = n
	}
	for i, uid := range uids {
		switch n, known := byUID[uid]; {
		case errs[i] != nil:
		case err != nil:
			errs[i] = r.Kind.AddArea(err)
		case known:
			rows[i] = found.Items[n]
		default:
			errs[i] = r.Kind.NotFound(uid)
		}
	}
	return rows, errs
}

func checkWithin(within core.UID) error {
	if within == "" {
		return nil
	}
	return core.InvalidUID("within", within)
}
