package rest

import (
	"errors"
	"net/http"
	"reflect"
	"strings"

	"atrium/platform"
)

func advisoryRoutes(p *platform.Platform) []route {
	return []route{
		listAll("/advisory/v2/documents", p.AdvisoryDocuments,
			textFilter("id", func(f *platform.DocumentFilter) *string { return &f.ID }),
			textsFilter("cves", func(f *platform.DocumentFilter) *[]string { return &f.CVEs })),
		listAll("/advisory/v2/metadata", p.Vulnerabilities,
			textFilter("id", func(f *platform.VulnerabilityFilter) *string { return &f.ID }),
			textsFilter("ids", func(f *platform.VulnerabilityFilter) *[]string { return &f.IDs })),
		listResolvedVulnsReports(p.ResolvedVulnerabilities),
	}
}

type resolvedVulnsReports struct {
	ResolvedVulnsReports []*platform.ResolvedVulnerabilityReport `json:"resolvedVulnsReports"`
}

// listResolvedVulnsReports returns a route that lists all reports in one response.
func listResolvedVulnsReports(operations platform.ResolvedVulnerabilities) route {
	type resolvedRequest = platform.ResolvedVulnerabilityRequest
	refs := values("imageRefs", parseImageRef, func(r *resolvedRequest) *[]platform.ImageRef { return &r.ImageRefs }).asRequired()
	refs.valueType = reflect.TypeFor[string]()
	filters := []filter[resolvedRequest]{
		refs,
		value("start_time", platform.ParseTime, func(r *resolvedRequest) *platform.Time { return &r.StartTime }).asRequired(),
		value("end_time", platform.ParseTime, func(r *resolvedRequest) *platform.Time { return &r.EndTime }).asRequired(),
	}
	return route{
		name: "ListResolvedVulnsReports", method: http.MethodGet, pattern: "/advisory/v2/images/resolvedVulns",
		capabilities: capabilityList(platform.CapRepoList, platform.CapManifestMetadataList, platform.CapTagList),
		query:        parametersOf(filters), answer: resolvedVulnsReports{}, reportsQuery: true,
		call: func(r *request) (any, error) {
			var in resolvedRequest
			in.Malformed = decodeFilters(r, filters, &in)
			found, err := operations.List(r.Context(), in)
			return resolvedVulnsReports{found}, err
		},
	}
}

// parseImageRef reads `repo[:tag[,tag...]]`. Neither a repo's uid nor its name
// has a colon.
func parseImageRef(s string) (platform.ImageRef, error) {
	repo, tags, tagged := strings.Cut(s, ":")
	ref := platform.ImageRef{Repo: repo}
	if tagged {
		ref.Tags = strings.Split(tags, ",")
	}
	if repo == "" || tagged && tags == "" {
		return ref, errors.New("must be the uid or the name of a repo, optionally followed by a colon and a comma-separated list of tags")
	}
	return ref, nil
}
