package inventory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
)

// A Component is a version of a package with what a document says of it. Documents differ, also about the
// same version, and none of them changes what another one says: the UID follows from all of it.
type Component struct {
	UID      core.UID // that of the package, and a hash
	PURL     string   // package URL; "" if it is not known
	Licenses []string
	Source   core.UID // version of the source package that it was built of; "" if the document names none
	Supplier string   // who distributes or publishes it; "" if the document does not say it
	Scope    PackageScope

	Version *PackageVersion // what is installed
}

// An InstalledPackage is a package of an image as a document describes it.
type InstalledPackage struct {
	Name, Version, Ecosystem, PURL string
	Licenses                       []string
	SourceName, SourceVersion      string // of the source package, if it has another name
	Supplier                       string
	Scope                          PackageScope
	Placement                      // with places in the list of packages
}

// Check adds the violations of a package of a document. The function at returns the path of a field, and packages is how many the
// document has.
func (p *InstalledPackage) Check(v *core.Violations, at func(field string) string, packages int) {
	v.CheckRequiredLine(at("name"), p.Name)
	v.CheckFilter(at("version"), p.Version)
	v.CheckFilter(at("ecosystem"), p.Ecosystem)
	v.CheckLine(at("purl"), p.PURL)
	v.CheckFilter(at("sourceName"), p.SourceName)
	v.CheckFilter(at("sourceVersion"), p.SourceVersion)
	v.CheckLines(at("licenses"), p.Licenses, core.MaxLines)
	p.checkPlacement(v, at, packages)
}

// NewComponent returns the component of a package of a document, and the version of the source package that it names, if any.
func NewComponent(root core.UID, p InstalledPackage, now core.Time) (c *Component, source *PackageVersion) {
	c = &Component{PURL: p.PURL, Licenses: p.Licenses, Supplier: p.Supplier, Scope: p.Scope, Version: newPackageVersion(root, Package{Name: p.Name, Ecosystem: p.Ecosystem}, p.Version, now)}
	if p.SourceName != "" {
		source = newPackageVersion(root, Package{Name: p.SourceName, Ecosystem: p.Ecosystem}, cmp.Or(p.SourceVersion, p.Version), now)
		c.Source = source.UID
	}
	facts := append([]string{string(c.Version.UID), string(c.Source), c.PURL, c.Supplier, string(c.Scope)}, c.Licenses...)
	c.UID = c.Version.Package.UID + "/" + core.UID(hashTexts(facts...))
	return c, source
}

// ComponentQueries read and write components.
type ComponentQueries interface {
	// Components reads components with their versions.
	Components(ctx context.Context, tx core.Tx, uids []core.UID) ([]*Component, error)

	// StoredComponents returns those of components that are stored.
	StoredComponents(ctx context.Context, tx core.Tx, uids []core.UID) ([]core.UID, error)

	// InsertComponents inserts components that are not stored.
	InsertComponents(ctx context.Context, tx core.Tx, all []*Component) error

	// ComponentsOf reads those components of images of a repo that are versions of packages or were built of
	// them, by digest.
	ComponentsOf(ctx context.Context, tx core.Tx, repo core.UID, digests []string, versions []core.UID) (map[string]HeldComponents, error)
}

// PutComponents stores those components that are new, with the versions that they name. Those of a stored component
// are stored.
func (area *Area) PutComponents(ctx context.Context, tx core.Tx, all []*Component, sources map[core.UID]*PackageVersion) error {
	added := make(map[core.UID]*Component, len(all))
	for _, c := range all {
		added[c.UID] = c
	}
	stored, err := area.tables.StoredComponents(ctx, tx, slices.Sorted(maps.Keys(added)))
	if err != nil {
		return err
	}
	for _, uid := range stored {
		delete(added, uid)
	}
	var versions []*PackageVersion
	insert := slices.SortedFunc(maps.Values(added), func(a, b *Component) int { return core.CompareTexts(a.UID, b.UID) })
	for _, c := range insert {
		if versions = append(versions, c.Version); c.Source != "" {
			versions = append(versions, sources[c.Source])
		}
	}
	if err := area.putPackages(ctx, tx, versions); err != nil {
		return err
	}
	return area.tables.InsertComponents(ctx, tx, insert)
}

// A candidate is a version of a package that advisories about an image can be about.
type candidate struct {
	*PackageVersion
	binaries []BinaryPackage // that were built of it, if it is of a source package
	scope    PackageScope    // of it, or of these binaries together; "" if it is not known
	direct   *bool           // of it, or of these binaries together; nil if it is not known
}

// A BinaryPackage is an installed package that was built of a source package.
type BinaryPackage struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"` // "" if it is not known
}

// candidates returns the versions that advisories can be about, sorted by UID: those of source packages, and those
// that are installed. Where a package and its source have the same name, the version of the source counts: advisories
// about sources have it. versions has those of source packages.
func candidates(components []*Component, versions map[core.UID]*PackageVersion, direct DirectComponents) []candidate {
	byUID := map[core.UID]*candidate{}
	add := func(v *PackageVersion, of *Component) *candidate {
		c, known := byUID[v.UID]
		if !known {
			c = &candidate{PackageVersion: v, direct: direct[of.UID]}
			byUID[v.UID] = c
		}
		c.scope, c.direct = mergeScopes(c.scope, of.Scope, !known), mergeDirect(c.direct, direct[of.UID])
		return c
	}
	for _, c := range components {
		source := versions[c.Source]
		if source == nil || source.Package.UID != c.Version.Package.UID {
			add(c.Version, c)
		}
		if source != nil {
			of := add(source, c)
			of.binaries = append(of.binaries, BinaryPackage{c.Version.Package.Name, c.Version.Version})
		}
	}
	all := make([]candidate, 0, len(byUID))
	for _, c := range byUID {
		slices.SortFunc(c.binaries, func(a, b BinaryPackage) int {
			return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
		})
		c.binaries = slices.Compact(c.binaries)
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b candidate) int { return core.CompareTexts(a.UID, b.UID) })
	return all
}

// usesOf returns the versions that components name, with their licenses: ecosystem.NoLicense if documents say none. Of source packages,
// nothing is installed, and there is nothing to say.
func usesOf(components []*Component) map[core.UID][]string {
	uses := make(map[core.UID][]string, len(components))
	for _, c := range components {
		if _, known := uses[c.Source]; c.Source != "" && !known {
			uses[c.Source] = nil
		}
		uses[c.Version.UID] = append(uses[c.Version.UID], c.Licenses...)
	}
	for _, c := range components {
		uses[c.Version.UID] = LicensesOfUse(uses[c.Version.UID])
	}
	for v, licenses := range uses {
		slices.Sort(licenses)
		uses[v] = slices.Compact(licenses)
	}
	return uses
}

// LicensesOfUse returns the licenses of an installed package: ecosystem.NoLicense if documents say none.
func LicensesOfUse(said []string) []string {
	if len(said) == 0 {
		return []string{ecosystem.NoLicense}
	}
	return said
}

// usesOfNames returns versions that stand for names, of which no licenses are known.
func usesOfNames(versions []core.UID) map[core.UID][]string {
	uses := make(map[core.UID][]string, len(versions))
	for _, v := range versions {
		uses[v] = nil
	}
	return uses
}

// A DocumentContent is what one document says of the packages of an image.
type DocumentContent struct {
	Architecture string       // "" if it is for all
	Components   []*Component // nil for one that does not exist any more
	Placements   []Placement  // of the components; nil if the document says nothing of them
}

// placement returns the placement of a component.
func (d DocumentContent) placement(n int) (p Placement) {
	if d.Placements != nil {
		p = d.Placements[n]
	}
	return p
}

// NewImageContent returns what documents say together. Several can have the same version of a package, each with a
// package URL of its own: the first one counts.
func NewImageContent(key core.ImageKey, basis FindingBasis, documents []DocumentContent) *ImageContent {
	content, at := &ImageContent{Repo: key.Repo, Digest: key.Digest, Basis: basis}, map[core.UID]int{}
	for _, d := range documents {
		for place, c := range d.Components {
			if c == nil {
				continue
			}
			n, known := at[c.Version.UID]
			if !known {
				n = len(content.Packages)
				at[c.Version.UID], content.Packages = n, append(content.Packages, ImagePackage{PackageVersion: c.Version, PURL: c.PURL})
			}
			p := &content.Packages[n]
			p.Scope, p.Supplier = mergeScopes(p.Scope, c.Scope, !known), cmp.Or(p.Supplier, c.Supplier)
			p.Add(d.placement(place), func(place int) *Component { return d.Components[place] })
			for _, license := range c.Licenses {
				if !slices.Contains(p.Licenses, license) {
					p.Licenses = append(p.Licenses, license)
				}
			}
			if d.Architecture != "" && !slices.Contains(p.Architectures, d.Architecture) {
				p.Architectures = append(p.Architectures, d.Architecture)
			}
		}
	}
	slices.SortFunc(content.Packages, func(a, b ImagePackage) int {
		return cmp.Or(cmp.Compare(a.Package.Name, b.Package.Name), cmp.Compare(a.Package.Ecosystem, b.Package.Ecosystem), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.UID, b.UID))
	})
	return content
}
