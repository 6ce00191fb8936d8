package rest

import (
	"errors"
	"reflect"
	"strings"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

func advisoryRoutes(p *platform.Platform) []route {
	return []route{
		listAll("/advisory/v2/documents", p.AdvisoryDocuments,
			textFilter("id", func(f *reports.DocumentFilter) *string { return &f.ID }),
			textsFilter("cves", func(f *reports.DocumentFilter) *[]string { return &f.CVEs })),
		listAll("/advisory/v2/metadata", p.Vulnerabilities,
			textFilter("id", func(f *inventory.VulnerabilityFilter) *string { return &f.ID }),
			textsFilter("ids", func(f *inventory.VulnerabilityFilter) *[]string { return &f.IDs })),
		listResolvedVulnsReports(p.ResolvedVulnerabilities),
	}
}

// listResolvedVulnsReports returns a route that lists reports about images.
func listResolvedVulnsReports(operations reports.ResolvedVulnerabilities) route {
	type resolved = reports.ResolvedVulnerabilityFilter
	refs := values("imageRefs", parseImageRef, func(l *core.ListRequest[*resolved]) *[]reports.ImageRef { return &l.Filter.ImageRefs }).asRequired()
	refs.valueType = reflect.TypeFor[string]()
	r := listAll("/advisory/v2/images/resolvedVulns", operations, refs,
		timeFilter("start_time", func(f *resolved) *core.Time { return &f.StartTime }).asRequired(),
		timeFilter("end_time", func(f *resolved) *core.Time { return &f.EndTime }).asRequired())
	r.capabilities = capabilityList(core.CapRepoList, core.CapManifestMetadataList, core.CapTagList)
	return r
}

// parseImageRef reads `repo[:tag[,tag...]]`. Neither a repo's uid nor its name
// has a colon.
func parseImageRef(s string) (reports.ImageRef, error) {
	repo, tags, tagged := strings.Cut(s, ":")
	ref := reports.ImageRef{Repo: repo}
	if tagged {
		ref.Tags = strings.Split(tags, ",")
	}
	if repo == "" || tagged && tags == "" {
		return ref, errors.New("must be the uid or the name of a repo, optionally followed by a colon and a comma-separated list of tags")
	}
	return ref, nil
}
