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
}

// NormalName returns the form in which the ecosystem compares the name. All names of a package whose
// ecosystem is not known have the same form if any ecosystem takes them for the same.
func (p *Package) NormalName() string {
	if p.Ecosystem == "" {
		return ecosystem.NormalizeAnyName(p.Name)
	}
	return ecosystem.NameRuleOf(p.Ecosystem).Normalize(p.Name)
}

// A PackageVersion is a version of a package that images of an organisation hold.
type PackageVersion struct {
	UID        UID      `json:"uid"`
	Version    string   `json:"version,omitempty"` // "" if it is not known
	PURL       string   `json:"purl,omitempty"`    // package URL; "" if it is not known
	Licenses   []string `json:"licenses,omitempty"`
	Source     UID      `json:"source,omitempty"` // version of the source package that it was built of, if that is another one
	CreateTime Time     `json:"-"`

	Package Package `json:"package"`
	// Rank sorts the versions of a package as its ecosystem does.
	Rank string `json:"-"`

	isSource bool // whether an SBOM names it only as that of a source package
	isNew    bool // whether it is about to be inserted
}

// newPackageVersion returns a version of a package in an organisation. The UIDs of both follow from
// what they are. Names whose ecosystem is not known are compared byte by byte.
func newPackageVersion(root UID, of Package, version string, now Time) *PackageVersion {
	name := of.Name
	if of.Ecosystem != "" {
		name = of.NormalName()
	}
	of.UID, of.CreateTime = root+"/"+UID(hashTexts(of.Ecosystem, name)), now
	return &PackageVersion{UID: of.UID + "/" + UID(hashTexts(string(of.UID), version)), Version: version, CreateTime: now, Package: of}
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
	UIDs       []UID    `json:",omitempty"`

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
	}{{"names", len(f.Names)}, {"ecosystems", len(f.Ecosystems)}, {"uids", len(f.UIDs)}} {
		if x.n > maxIDs {
			v.add(x.field, "must be at most %d", maxIDs)
		}
	}
}

// PackageVersionFilter restricts a list of versions of packages.
type PackageVersionFilter struct {
	Versions []string `json:",omitempty"`
	Below    string   `json:",omitempty"` // the version comes before this one, as the ecosystem of the package sorts
	NotBelow string   `json:",omitempty"` // the version is this one, or comes after it
	UIDs     []UID    `json:",omitempty"`
	Held     Scope    `json:"-"`
}

func (f *PackageVersionFilter) check(v *violations) {
	v.checkFilter("versions", f.Versions...)
	v.checkFilter("versionBelow", f.Below)
	v.checkFilter("versionNotBelow", f.NotBelow)
}

var packageKind = Kind[*Package]{
	Name: "Package", Plural: "packages", Area: areaRegistry, Number: 21, Own: true, Parent: "Group",
	List: CapManifestMetadataList, Also: []Capability{CapTagList},
	Orders: []OrderField[*Package]{
		{"name", nil, func(p *Package) any { return p.Name }},
		{"uid", nil, func(p *Package) any { return string(p.UID) }},
	},
	DefaultOrder: Order{Field: "name"},
	UID:          func(p *Package) UID { return p.UID },
	Group:        parentOf(func(p *Package) UID { return p.UID }),
}

var packageVersionKind = Kind[*PackageVersion]{
	Name: "PackageVersion", Plural: "packageVersions", Area: areaRegistry, Number: 22, Own: true, Parent: "Package",
	List: CapManifestMetadataList, Also: []Capability{CapTagList},
	Orders: []OrderField[*PackageVersion]{
		{"version", nil, func(v *PackageVersion) any { return v.Rank }},
		{"uid", nil, func(v *PackageVersion) any { return string(v.UID) }},
	},
	DefaultOrder: Order{Field: "version"},
	UID:          func(v *PackageVersion) UID { return v.UID },
	Group:        func(v *PackageVersion) UID { return v.UID.Root() },
}

// PackageReads reads packages, and who holds them.
type PackageReads interface {
	Packages() Table[*Package, *PackageFilter]
	PackageVersions() Table[*PackageVersion, *PackageVersionFilter]

	// ImagePackages reads the packages of images, sorted by name, with one statement.
	ImagePackages(ctx context.Context, keys ImageKeys) ([]*ImageContent, error)

	// ImagesHolding reads a page of the live images in a scope that hold one of versions, in
	// the order of their repos and of their numbers, and counts them all.
	ImagesHolding(ctx context.Context, q HolderQuery) (Rows[*Image], error)
}

// An ImageContent is what is known of the packages of an image.
type ImageContent struct {
	Repo   UID
	Digest string
	Basis  FindingBasis // BasisVersion if there is an SBOM
	// Versions has a version for each package, and Architectures the architectures that hold
	// it; none of them means that the documents do not say it.
	Packages []ImagePackage
}

// An ImagePackage is a package of an image.
type ImagePackage struct {
	*PackageVersion
	Architectures []string
}

// A HolderQuery asks for the images that hold one of the versions of packages.
type HolderQuery struct {
	Scope    Scope
	Versions []UID
	After    *ImagePosition // exclusive; nil means that the page begins with the first image
	Limit    int
	Parts    Parts
}

// An ImagePosition is the place of an image in the order of HolderQuery.
type ImagePosition struct {
	Repo   UID
	Number int64
}

// Packages are the operations on packages.
type Packages struct {
	*resources[*Package, *PackageFilter]
}

// PackageVersions are the operations on versions of packages.
type PackageVersions struct {
	*resources[*PackageVersion, *PackageVersionFilter]
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
	for _, b := range held.branches {
		root := Branch{Relation: Children, UID: b.UID.Root()}
		if !slices.ContainsFunc(roots.branches, func(r Branch) bool { return r.UID == root.UID }) {
			roots.branches = append(roots.branches, root)
		}
	}
	return held, roots, nil
}

// ListHeld reads a page of the packages that images below a group, or of a repo, hold and the
// caller may see. within "" means anywhere.
func (s Packages) ListHeld(ctx context.Context, within UID, req ListRequest[*PackageFilter]) (Page[*Package], error) {
	if err := checkWithin(within); err != nil {
		return Page[*Package]{}, s.kind.addArea(err)
	}
	held, roots, err := heldBy(ctx, within)
	if err != nil {
		return Page[*Package]{}, s.kind.addArea(err)
	}
	req.UIDP.DescendantsOf = within // tokens belong to it
	req.Filter = changeFilter(req.Filter, func(f *PackageFilter) { f.Held = held })
	page, err := s.listInScope(ctx, roots, req)
	return page, s.kind.addArea(err)
}

// ListEachHeld reads the same page of the versions of each package that images within a scope
// hold, with one read.
func (s PackageVersions) ListOfPackages(ctx context.Context, within UID, req ListRequest[*PackageVersionFilter], packages []*Package) ([]Page[*PackageVersion], []error) {
	pages, errs := make([]Page[*PackageVersion], len(packages)), make([]error, len(packages))
	held, _, err := heldBy(ctx, within)
	if err != nil {
		for i := range errs {
			errs[i] = s.kind.addArea(err)
		}
		return pages, errs
	}
	req.Filter = changeFilter(req.Filter, func(f *PackageVersionFilter) { f.Held = held })
	return s.readEach(ctx, len(packages), func(i int) (ListRequest[*PackageVersionFilter], Query[*PackageVersionFilter], error) {
		of := req
		of.UIDP = UIDFilter{ChildrenOf: packages[i].UID}
		q, err := s.buildQuery(ctx, of)
		q.Scope = newScope(Branch{Relation: Children, UID: packages[i].UID})
		return of, q, err
	})
}

func checkWithin(within UID) error {
	if within == "" {
		return nil
	}
	return invalidUID("within", within)
}
