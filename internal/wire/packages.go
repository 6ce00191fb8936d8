package wire

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// HeldPackages lists the packages that images hold: those within the group or repo below which a request lists.
type HeldPackages struct{ inventory.Packages }

// List reads a page of packages.
func (s HeldPackages) List(ctx context.Context, req core.ListRequest[*inventory.PackageFilter]) (core.Page[*inventory.Package], error) {
	return s.Packages.ListHeld(ctx, req.UIDP.DescendantsOf, req)
}

// Get reads a package that an image holds which the caller may see.
func (s HeldPackages) Get(ctx context.Context, uid core.UID) (*inventory.Package, error) {
	found, errs := s.Packages.GetMany(ctx, []core.UID{uid})
	return found[0], errs[0]
}

// CountPackages counts the packages of a list by their values.
func (o Operations) CountPackages(ctx context.Context, req *core.ListRequest[*inventory.PackageFilter]) (*inventory.PackageFacets, error) {
	return countRows(ctx, req, HeldPackages{o.p.Packages}.List, o.p.Packages.Facets)
}

// HeldVersions lists the versions of a package that images hold.
type HeldVersions struct {
	inventory.PackageVersions
	packages HeldPackages
}

// PackageVersions returns the operations on versions.
func (o Operations) PackageVersions() HeldVersions {
	return HeldVersions{o.p.PackageVersions, HeldPackages{o.p.Packages}}
}

// ListOf reads a page of the versions of a package that images hold: those within the group or repo below which the request lists.
func (s HeldVersions) ListOf(ctx context.Context, of core.UID, req core.ListRequest[*inventory.PackageVersionFilter]) (core.Page[*inventory.PackageVersion], error) {
	one, err := s.packages.Get(ctx, of)
	if err != nil {
		return core.Page[*inventory.PackageVersion]{}, err
	}
	one.Within, req.UIDP = req.UIDP.DescendantsOf, core.UIDFilter{}
	pages, errs := s.ListOfPackages(ctx, req, []*inventory.Package{one})
	return pages[0], errs[0]
}

// Get reads a version that an image holds which the caller may see.
func (s HeldVersions) Get(ctx context.Context, uid core.UID) (*inventory.PackageVersion, error) {
	found, errs := s.PackageVersions.GetMany(ctx, []core.UID{uid})
	return found[0], errs[0]
}

type (
	// A NamedVulnerability names a vulnerability by any of its names.
	NamedVulnerability struct {
		ID string `json:"id"`
	}
	// A VulnerabilityExposure is what is known of a vulnerability, and what it affects as far as the caller may see it.
	VulnerabilityExposure struct {
		Name           string                   `json:"name"`
		Names          []string                 `json:"names"`
		Metadata       *inventory.Vulnerability `json:"metadata,omitempty"`
		KnownExploited core.Time                `json:"knownExploitedTime,omitzero"`
		EPSS           *float64                 `json:"epss,omitempty"`
		Findings       inventory.FindingFacets  `json:"findings"`
	}
)

// GetVulnerabilityExposure reads what is known of a vulnerability, and counts what it affects.
func (o Operations) GetVulnerabilityExposure(ctx context.Context, in *NamedVulnerability) (*VulnerabilityExposure, error) {
	named, errs := o.p.Vulnerabilities.GetNamed(ctx, []string{in.ID}, 0)
	if errs[0] != nil {
		return nil, errs[0]
	}
	v := named[0]
	known := v.Metadata
	if known == nil {
		known = &inventory.Vulnerability{ID: v.Name}
	}
	exploited, err := o.p.Vulnerabilities.Exploitations(ctx, []*inventory.Vulnerability{known})
	if err != nil {
		return nil, err
	}
	counted, err := o.CountFindings(ctx, &CountFindingsRequest{ListRequest: core.ListRequest[*inventory.FindingFilter]{Filter: &inventory.FindingFilter{VulnerabilityIDs: v.Names}}})
	if err != nil {
		return nil, err
	}
	return &VulnerabilityExposure{v.Name, v.Names, v.Metadata, exploited[0].KnownDate, exploited[0].EPSS, *counted}, nil
}

// SummarizeAdvisories counts the advisories of a group by state and rating.
func (o Operations) SummarizeAdvisories(ctx context.Context, in *Place) (*inventory.AdvisorySummary, error) {
	return o.p.Advisories.Summarize(ctx, in.Within)
}
