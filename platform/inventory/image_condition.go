package inventory

import (
	"context"

	"atrium/platform/core"
)

// ImageConditions restrict repos and tags by what is in their images, as far as tags point to these that
// are not deprecated.
type ImageConditions struct {
	OpenSeverities   []core.SeverityRating `json:",omitempty"` // there is an open finding with one of these ratings
	VulnerabilityIDs []string              `json:",omitempty"` // there is an open finding of an advisory with one of these names
	Package          *PackageCondition     `json:",omitempty"` // an image holds it; nil means any
	PackagesKnown    *bool                 `json:",omitempty"` // there is an image whose packages an SBOM tells, or one without

	versions []core.UID // what Package means; only this package can say it
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
func (c ImageConditions) Versions() []core.UID { return c.versions }

func (c PackageCondition) bounds() VersionBounds {
	return VersionBounds{Below: c.VersionBelow, NotBelow: c.VersionNotBelow}
}

// Check adds the violations of the conditions.
func (c ImageConditions) Check(v *core.Violations) {
	for _, r := range c.OpenSeverities {
		core.CheckOneOf(v, "openSeverities", r, core.SeverityRatings())
	}
	if v.CheckFilter("vulnerabilityIds", c.VulnerabilityIDs...); len(c.VulnerabilityIDs) > core.MaxIDs {
		v.Add("vulnerabilityIds", "must have at most %d items", core.MaxIDs)
	}
	if c.Package == nil {
		return
	}
	if c.Package.Name == "" {
		v.Add("package.name", "is required")
	}
	v.CheckFilter("package.name", c.Package.Name)
	v.CheckFilter("package.ecosystem", c.Package.Ecosystem)
	v.CheckFilter("package.version", c.Package.Version)
	c.Package.bounds().check(v, "package.versionBelow", "package.versionNotBelow")
}

// Capabilities lists what the conditions need where they look.
func (c ImageConditions) Capabilities() (needed []core.Capability) {
	if c.OpenSeverities != nil || c.VulnerabilityIDs != nil {
		needed = append(needed, core.CapFindingsList, core.CapTagList)
	}
	if c.Package != nil || c.PackagesKnown != nil {
		needed = append(needed, core.CapManifestMetadataList, core.CapTagList)
	}
	return needed
}

// decide finds the versions that a condition means: one read for the packages, and one for their
// versions. The scope narrows where the packages are looked for.
func (s PackageVersions) decide(ctx context.Context, scope core.UIDFilter, c ImageConditions) (ImageConditions, error) {
	c.versions = nil
	var v core.Violations
	if c.Check(&v); c.Package == nil || len(v) > 0 { // the list says what is wrong
		return c, nil
	}
	_, roots, err := heldBy(ctx, scope.Scope())
	if err != nil {
		return c, err
	}
	filter := &PackageFilter{Names: []string{c.Package.Name}}
	if c.Package.Ecosystem != "" {
		filter.Ecosystems = []string{c.Package.Ecosystem}
	}
	c.versions = []core.UID{}
	packages, err := s.area.tables.Packages.List(ctx, s.area.Store, core.Query[*PackageFilter]{Scope: roots, Filter: filter, Order: core.Order{Field: "uid"}, Limit: core.NoLimit, Parts: core.PartItems})
	if err != nil || len(packages.Items) == 0 {
		return c, err
	}
	bounds, readable := c.Package.bounds(), false
	for _, p := range packages.Items {
		readable = readable || bounds.readable(p.Ecosystem)
	}
	if !readable {
		return c, core.Invalid(unreadableBound("package.versionBelow", packages.Items[0].Ecosystem))
	}
	found, err := s.versionsOf(ctx, packages.Items)
	for _, version := range found {
		if (c.Package.Version == "" || c.Package.Version == version.Version) && (!bounds.isGiven() || bounds.contains(version.Package.Ecosystem, version.Version)) {
			c.versions = append(c.versions, version.UID)
		}
	}
	return c, err
}
