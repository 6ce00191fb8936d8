package inventory

import (
	"context"
	"slices"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A PackageVersion is a version of a package that images of an organization hold.
type PackageVersion struct {
	UID        core.UID  `json:"uid"`
	Version    string    `json:"version,omitempty"` // "" if it is not known
	CreateTime core.Time `json:"-"`

	Package Package `json:"package"`
	// Rank sorts the versions of a package as its ecosystem does.
	Rank string `json:"-"`

	isNew bool // whether it is about to be inserted
}

// newPackageVersion returns a version of a package in an organization. The UIDs of both follow from
// what they are. Names whose ecosystem is not known are compared byte by byte.
func newPackageVersion(root core.UID, of Package, version string, now core.Time) *PackageVersion {
	of.UID, of.CreateTime = of.UIDIn(root), now
	return &PackageVersion{UID: of.UID + "/" + core.UID(hashTexts(string(of.UID), version)), Version: version, CreateTime: now, Package: of}
}

// UIDIn returns the UID that a package has in an organization.
func (p *Package) UIDIn(root core.UID) core.UID {
	name := p.Name
	if p.Ecosystem != "" {
		name = p.NormalName()
	}
	return root + "/" + core.UID(hashTexts(p.Ecosystem, name))
}

// PackageVersionFilter restricts a list of versions of packages.
type PackageVersionFilter struct {
	Versions []string `json:"versions,omitempty"`
	Licenses []string `json:"licenses,omitempty"` // as in PackageFilter
	VersionBounds

	// Held is where images must hold the version.
	Held core.Scope `json:"-"`
}

// VersionBounds restrict versions by the order of the ecosystem of their package. Operations
// compare the versions of a package with the bounds, because no order of texts is that of versions. A
// version that its ecosystem cannot read is outside.
type VersionBounds struct {
	Below    string `json:"below,omitempty"`    // the version comes before this one
	NotBelow string `json:"notBelow,omitempty"` // the version is this one, or comes after it

	within []core.UID // the versions within the bounds; nil means that they are not decided
}

// Within lists the versions within the bounds; nil means that there are no bounds.
func (b VersionBounds) Within() []core.UID { return b.within }

func (b VersionBounds) isGiven() bool { return b.Below != "" || b.NotBelow != "" }

func (b VersionBounds) check(v *core.Violations, below, notBelow string) {
	v.CheckFilter(below, b.Below)
	v.CheckFilter(notBelow, b.NotBelow)
}

// contains reports whether a version is within the bounds.
func (b VersionBounds) contains(ecosystem, version string) bool {
	isIn := func(bound string, ok func(int) bool) bool {
		if bound == "" {
			return true
		}
		order, err := affected.Compare(ecosystem, version, bound)
		return err == nil && ok(order)
	}
	return isIn(b.Below, func(order int) bool { return order < 0 }) && isIn(b.NotBelow, func(order int) bool { return order >= 0 })
}

// readable reports whether the ecosystem can read the bounds.
func (b VersionBounds) readable(ecosystem string) bool {
	for _, bound := range []string{b.Below, b.NotBelow} {
		if _, err := affected.Compare(ecosystem, bound, bound); bound != "" && err != nil {
			return false
		}
	}
	return true
}

// Check adds the violations of the conditions.
func (f *PackageVersionFilter) Check(v *core.Violations) {
	v.CheckFilter("versions", f.Versions...)
	if len(f.Versions) > core.MaxIDs {
		v.Add("versions", "must have at most %d items", core.MaxIDs)
	}
	if v.CheckFilter("licenses", f.Licenses...); len(f.Licenses) > maxLicenses {
		v.Add("licenses", "must have at most %d items", maxLicenses)
	}
	f.VersionBounds.check(v, "below", "notBelow")
}

// PackageVersionKind has the facts about package versions.
var PackageVersionKind = core.Kind[*PackageVersion]{
	Name: "PackageVersion", Plural: "packageVersions", Area: core.AreaRegistry, Number: 22, Own: true, GraphOnly: true, Parent: core.Ref{Name: "Package", Area: core.AreaRegistry},
	List: core.CapManifestMetadataList, Also: []core.Capability{core.CapTagList},
	Orders: []core.OrderField[*PackageVersion]{
		{Name: "version", Value: func(v *PackageVersion) any { return v.Rank }},
		{Name: "uid", Value: func(v *PackageVersion) any { return string(v.UID) }},
	},
	DefaultOrder: core.Order{Field: "version"},
	UID:          func(v *PackageVersion) core.UID { return v.UID },
	Group:        func(v *PackageVersion) core.UID { return v.UID.Root() },
}

// PackageVersionQueries read and write versions of packages in other ways than a Table does.
type PackageVersionQueries interface {
	// AdvisoriesOfVersions finds, for each version, the advisories with findings of it that
	// count in a scope, with one statement.
	AdvisoriesOfVersions(ctx context.Context, on core.Conn, versions []*PackageVersion, scopes []core.Scope) ([][]core.UID, error)

	// LicensesOfVersions finds, for each version, the licenses that documents of images in a scope give it, with one
	// statement, and one more if the documents of its organization differ.
	LicensesOfVersions(ctx context.Context, on core.Conn, versions []*PackageVersion, scopes []core.Scope) ([][]string, error)
}

// PackageVersions are the operations on versions of packages.
type PackageVersions struct {
	core.Resources[*PackageVersion, *PackageVersionFilter]
	rows *core.Collection[*PackageVersion, *PackageVersionFilter]
	area *Area
}

// GetMany reads versions that an image holds which the caller may see, with one read. The results
// are in the order of uids; each has a version or an error.
func (s PackageVersions) GetMany(ctx context.Context, uids []core.UID) ([]*PackageVersion, []error) {
	return getHeld(ctx, s.rows, uids, func(held core.Scope) *PackageVersionFilter { return &PackageVersionFilter{Held: held} })
}

// ListOfPackages reads the same page of the versions of each package that images hold, with one read,
// and one more if there are bounds. The images lie where the list is restricted to that has the
// packages; of several such lists, each needs its own read.
func (s PackageVersions) ListOfPackages(ctx context.Context, req core.ListRequest[*PackageVersionFilter], packages []*Package) ([]core.Page[*PackageVersion], []error) {
	return core.ReadGroups(packages, func(p *Package) core.UID { return p.Within }, func(within core.UID, packages []*Package) ([]core.Page[*PackageVersion], []error) {
		return s.listOfPackages(ctx, within, req, packages)
	})
}

func (s PackageVersions) listOfPackages(ctx context.Context, within core.UID, req core.ListRequest[*PackageVersionFilter], packages []*Package) ([]core.Page[*PackageVersion], []error) {
	pages, errs := make([]core.Page[*PackageVersion], len(packages)), make([]error, len(packages))
	fail := func(err error) ([]core.Page[*PackageVersion], []error) {
		for i := range errs {
			errs[i] = s.rows.Kind.AddArea(err)
		}
		return pages, errs
	}
	held, _, err := heldBy(ctx, within)
	if err != nil {
		return fail(err)
	}
	req.Filter = core.EditFilter(req.Filter, func(f *PackageVersionFilter) { f.Held = held })
	if req.Filter.isGiven() {
		if req.Filter.within, err = s.withinBounds(ctx, packages, req.Filter.VersionBounds); err != nil {
			return fail(err)
		}
	}
	pages, errs = s.rows.ReadEach(ctx, len(packages), func(i int) (core.ListRequest[*PackageVersionFilter], core.Query[*PackageVersionFilter], error) {
		of := req
		of.UIDP = core.UIDFilter{ChildrenOf: packages[i].UID, DescendantsOf: within} // tokens belong to both
		q, err := s.rows.BuildQuery(ctx, of)
		if err == nil && !req.Filter.readable(packages[i].Ecosystem) {
			err = core.Invalid(unreadableBound("below", packages[i].Ecosystem))
		}
		q.Scope = core.NewScope(core.Branch{Relation: core.Children, UID: packages[i].UID})
		return of, q, err
	})
	for _, page := range pages {
		for _, v := range page.Items {
			v.Package.Within = within
		}
	}
	return pages, errs
}

func unreadableBound(field, ecosystem string) fieldmask.Violation {
	if ecosystem == "" {
		return fieldmask.Violation{Field: field, Description: "cannot be used for a package whose ecosystem is not known, because its versions have no order"}
	}
	return fieldmask.Violation{Field: field, Description: "must be a version that " + ecosystem + " can compare"}
}

// withinBounds reads all versions of packages, and lists those within bounds.
func (s PackageVersions) withinBounds(ctx context.Context, packages []*Package, bounds VersionBounds) ([]core.UID, error) {
	found, err := s.versionsOf(ctx, packages)
	uids := []core.UID{}
	for _, v := range found {
		if bounds.contains(v.Package.Ecosystem, v.Version) {
			uids = append(uids, v.UID)
		}
	}
	return uids, err
}

// versionsOf reads all versions of packages, with one read.
func (s PackageVersions) versionsOf(ctx context.Context, packages []*Package) (versions []*PackageVersion, err error) {
	scopes := make([]core.Scope, len(packages))
	for i, p := range packages {
		scopes[i] = core.NewScope(core.Branch{Relation: core.Children, UID: p.UID})
	}
	q := core.Query[*PackageVersionFilter]{Filter: &PackageVersionFilter{}, Order: core.Order{Field: "uid"}, Limit: core.NoLimit, Parts: core.PartItems}
	found, err := s.rows.Table.ListEach(ctx, s.area.Store, q, scopes)
	for _, rows := range found {
		versions = append(versions, rows.Items...)
	}
	return versions, err
}

// ListAdvisories reads, for each version, a page of the advisories that affect it in images that the
// caller may see, the worst first unless the request says otherwise. It needs one read for all versions,
// and one for the advisories, which the caller may see as those of findings.
func (s PackageVersions) ListAdvisories(ctx context.Context, req core.ListRequest[*AdvisoryFilter], versions []*PackageVersion) ([]core.Page[*Advisory], []error) {
	pages, errs := make([]core.Page[*Advisory], len(versions)), make([]error, len(versions))
	scopes := make([]core.Scope, len(versions))
	of := s.area.Advisories.rows
	if req.OrderBy == "" {
		req.OrderBy = "severity desc"
	}
	for i, v := range versions {
		var findings core.Query[*FindingFilter]
		findings, errs[i] = s.area.Findings.rows.Query(ctx, core.ListRequest[*FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: v.Package.Within}})
		scopes[i] = findings.Scope
	}
	affecting, err := s.area.tables.AdvisoriesOfVersions(ctx, s.area.Store, versions, scopes)
	var found map[core.UID]*Advisory
	if all := slices.Concat(affecting...); err == nil && len(all) > 0 {
		slices.Sort(all)
		found, err = s.area.Findings.Advisories(ctx, slices.Compact(all), req.Without)
	}
	for i, v := range versions {
		own := req
		own.UIDP = core.UIDFilter{DescendantsOf: v.Package.Within, IDs: []core.UID{v.UID}} // tokens belong to both
		q, failed := of.BuildQuery(ctx, own)
		for _, e := range []error{err, failed} {
			if errs[i] == nil {
				errs[i] = e
			}
		}
		if errs[i] = of.Kind.AddArea(errs[i]); errs[i] != nil {
			continue
		}
		var all []*Advisory
		for _, uid := range affecting[i] {
			if found[uid] != nil {
				all = append(all, found[uid])
			}
		}
		pages[i] = of.NewPage(own, q, core.PageOf(of.Kind, q, all))
	}
	return pages, errs
}

// Licenses reads, for each version, the licenses that the SBOMs of images that the caller may see give it, with one
// read, and one more where SBOMs differ. The images lie where the list is restricted to that has the package.
func (s PackageVersions) Licenses(ctx context.Context, versions []*PackageVersion) ([][]string, error) {
	if len(versions) == 0 {
		return nil, nil
	}
	scopes := make([]core.Scope, len(versions))
	for i, v := range versions {
		held, _, err := heldBy(ctx, v.Package.Within)
		if err != nil {
			return nil, s.rows.Kind.AddArea(err)
		}
		scopes[i] = held
	}
	found, err := s.area.tables.LicensesOfVersions(ctx, s.area.Store, versions, scopes)
	return found, s.rows.Kind.AddArea(err)
}
