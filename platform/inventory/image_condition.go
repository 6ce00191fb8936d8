package platform

import "context"

// ImageConditions restrict repos and tags by what is in their images, as far as tags point to these that
// are not deprecated.
type ImageConditions struct {
	OpenSeverities   []SeverityRating  `json:",omitempty"` // there is an open finding with one of these ratings
	VulnerabilityIDs []string          `json:",omitempty"` // there is an open finding of an advisory with one of these names
	Package          *PackageCondition `json:",omitempty"` // an image holds it; nil means any

	versions []UID // what Package means; only this package can say it
}

// A PackageCondition asks for a package, at some of its versions.
type PackageCondition struct {
	Name            string // name as the ecosystem of the package compares it
	Ecosystem       string `json:",omitempty"` // with or without the release; "" means any
	Version         string `json:",omitempty"` // exact version; "" means any
	VersionBelow    string `json:",omitempty"` // see VersionBounds
	VersionNotBelow string `json:",omitempty"`
}

// Versions lists the versions that Package means.
func (c ImageConditions) Versions() []UID { return c.versions }

func (c PackageCondition) bounds() VersionBounds {
	return VersionBounds{Below: c.VersionBelow, NotBelow: c.VersionNotBelow}
}

func (c ImageConditions) check(v *violations) {
	for _, r := range c.OpenSeverities {
		checkOneOf(v, "openSeverities", r, SeverityRatings())
	}
	if v.checkFilter("vulnerabilityIds", c.VulnerabilityIDs...); len(c.VulnerabilityIDs) > maxIDs {
		v.add("vulnerabilityIds", "must be at most %d", maxIDs)
	}
	if c.Package == nil {
		return
	}
	if c.Package.Name == "" {
		v.add("package.name", "is required")
	}
	v.checkFilter("package.name", c.Package.Name)
	v.checkFilter("package.ecosystem", c.Package.Ecosystem)
	v.checkFilter("package.version", c.Package.Version)
	c.Package.bounds().check(v, "package.versionBelow", "package.versionNotBelow")
}

// capabilities lists what the conditions need where they look.
func (c ImageConditions) capabilities() (needed []Capability) {
	if c.OpenSeverities != nil || c.VulnerabilityIDs != nil {
		needed = append(needed, CapFindingsList, CapTagList)
	}
	if c.Package != nil {
		needed = append(needed, CapManifestMetadataList, CapTagList)
	}
	return needed
}

// decide finds the versions that a condition means: one read for the packages, and one for their
// versions. The scope narrows where the packages are looked for.
func (s PackageVersions) decide(ctx context.Context, scope UIDFilter, c ImageConditions) (ImageConditions, error) {
	c.versions = nil
	var v violations
	if c.check(&v); c.Package == nil || len(v) > 0 { // the list says what is wrong
		return c, nil
	}
	_, roots, err := heldBy(ctx, scope.scope())
	if err != nil {
		return c, err
	}
	filter := &PackageFilter{Names: []string{c.Package.Name}}
	if c.Package.Ecosystem != "" {
		filter.Ecosystems = []string{c.Package.Ecosystem}
	}
	c.versions = []UID{}
	packages, err := s.area.tables.Packages.List(ctx, s.area.store, Query[*PackageFilter]{Scope: roots, Filter: filter, Order: Order{Field: "uid"}, Limit: noLimit, Parts: PartItems})
	if err != nil || len(packages.Items) == 0 {
		return c, err
	}
	bounds, readable := c.Package.bounds(), false
	for _, p := range packages.Items {
		readable = readable || bounds.readable(p.Ecosystem)
	}
	if !readable {
		return c, Invalid(unreadableBound("package.versionBelow", packages.Items[0].Ecosystem))
	}
	found, err := s.versionsOf(ctx, packages.Items)
	for _, version := range found {
		if (c.Package.Version == "" || c.Package.Version == version.Version) && (!bounds.isGiven() || bounds.contains(version.Package.Ecosystem, version.Version)) {
			c.versions = append(c.versions, version.UID)
		}
	}
	return c, err
}
