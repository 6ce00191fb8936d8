package rest

import (
	"net/http"
	"slices"

	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// packagesRoutes returns the routes of packages that images hold, and of what vulnerabilities affect.
func packagesRoutes(p *platform.Platform) []route {
	type listing = core.ListRequest[*inventory.PackageFilter]
	const path, vulnerabilities = "/registry/v2/packages", "/vulnerabilities/v2"
	w := wire.New(p)
	conditions := append(packageFilters(), withinList[*inventory.PackageFilter]())
	read := p.Packages.Kind().ReadCapabilities()
	advisories, findings := p.Advisories.Kind().ReadCapabilities(), p.Findings.Kind().ReadCapabilities()
	return []route{
		listAll(path, wire.HeldPackages{Packages: p.Packages}, conditions...),
		get(path+"/{uid=**}", wire.HeldPackages{Packages: p.Packages}),
		ask("CountPackages", path+":count", w.CountPackages, ofList(conditions, func(q *listing) *listing { return q }), read...),
		listVersions(path+"/{uid=**}/versions", w.PackageVersions()),
		get("/registry/v2/packageVersions/{uid=**}", w.PackageVersions()),

		ask("GetVulnerabilityExposure", vulnerabilities+"/exposures", w.GetVulnerabilityExposure, []filter[wire.NamedVulnerability]{
			value("id", parseText[string], func(q *wire.NamedVulnerability) *string { return &q.ID }).asRequired(),
		}, findings...),
		ask("SummarizeAdvisories", vulnerabilities+"/advisories:summarize", w.SummarizeAdvisories, []filter[wire.Place]{place()}, advisories...),
		ask("GetAdvisoryActivity", vulnerabilities+"/advisories:activity", w.GetAdvisoryActivity, intervals(func(q *wire.Interval) *wire.Interval { return q }), advisories...),
	}
}

// packageFilters are the conditions of lists of packages, and of files with them.
func packageFilters() []filter[core.ListRequest[*inventory.PackageFilter]] {
	type pkg = inventory.PackageFilter
	return []filter[core.ListRequest[*pkg]]{
		textsFilter("names", func(f *pkg) *[]string { return &f.Names }),
		textsFilter("ecosystems", func(f *pkg) *[]string { return &f.Ecosystems }),
		textsFilter("licenses", func(f *pkg) *[]string { return &f.Licenses }),
		textFilter("query", func(f *pkg) *string { return &f.Query }),
	}
}

// withinList is the parameter of the group or repo below which a list looks.
func withinList[F any]() filter[core.ListRequest[F]] {
	return value("within", parseText[core.UID], func(l *core.ListRequest[F]) *core.UID { return &l.UIDP.DescendantsOf })
}

// listVersions returns the route that lists the versions of the package in the path.
func listVersions(pattern string, versions wire.HeldVersions) route {
	type (
		version = inventory.PackageVersionFilter
		listing = core.ListRequest[*version]
	)
	kind := versions.Kind()
	filters := slices.Concat([]filter[listing]{
		textsFilter("versions", func(f *version) *[]string { return &f.Versions }),
		textsFilter("licenses", func(f *version) *[]string { return &f.Licenses }),
		textFilter("below", func(f *version) *string { return &f.Below }),
		textFilter("not_below", func(f *version) *string { return &f.NotBelow }),
		withinList[*version](),
	}, pagingFilters[*version](kind))
	return route{
		name: "ListPackageVersions", method: http.MethodGet, pattern: pattern, capabilities: kind.ReadCapabilities(), query: parametersOf(filters),
		answer: inventory.PackageVersion{}, plural: kind.Plural, kind: factsOf(kind), reportsQuery: true,
		call: func(r *request) (any, error) {
			page, err := versions.ListOf(r.Context(), r.uid(), listRequest(r, filters))
			return newEnvelope(kind.Plural, page), err
		},
	}
}
