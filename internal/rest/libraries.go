package rest

import (
	"net/http"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/libraries"
)

func librariesRoutes(p *platform.Platform) []route {
	type filter = libraries.ArtifactFilter
	return []route{
		listAll("/libraries/v2/artifacts", p.Artifacts,
			textsFilter("ecosystems", func(f *filter) *[]libraries.Ecosystem { return &f.Ecosystems }).asRequired(),
			textFilter("query", func(f *filter) *string { return &f.Query }),
			textFilter("cuda_version", func(f *filter) *string { return &f.CudaVersion }),
			value("remediated", parseBool, func(l *core.ListRequest[*filter]) *bool { return &l.Filter.Remediated })),
		listArtifactVersions(p.ArtifactVersions),
		{
			name: "GetArtifactCount", method: http.MethodGet, pattern: "/libraries/v2/artifacts/count",
			capabilities: capabilityList(core.CapLibrariesArtifactsList),
			query:        parametersOf(counted), answer: artifactCount{}, call: countArtifacts(p.Artifacts),
		},
	}
}

// listArtifactVersions returns a route that lists the versions of the artifact in the path.
func listArtifactVersions(operations libraries.ArtifactVersions) route {
	filters := pagingFilters[*libraries.ArtifactVersionFilter](operations.Kind())
	list := listAll("/libraries/v2/artifacts/{artifact_id=*}/versions", operations)
	list.call = func(r *request) (any, error) {
		page, err := operations.ListOf(r.Context(), r.uid(), listRequest(r, filters))
		return newEnvelope(list.plural, page), err
	}
	return list
}

type artifactCount struct {
	Counts []*libraries.EcosystemCount `json:"counts"`
}

// counted is the query of countArtifacts.
var counted = []filter[[]libraries.Ecosystem]{
	values("ecosystems", parseText[libraries.Ecosystem], func(asked *[]libraries.Ecosystem) *[]libraries.Ecosystem { return asked }).asRequired(),
}

func countArtifacts(operations libraries.Artifacts) operation {
	return func(r *request) (any, error) {
		var asked []libraries.Ecosystem
		if malformed := decodeFilters(r, counted, &asked); len(malformed) > 0 {
			return nil, core.Invalid(malformed...)
		}
		counts, err := operations.Counts(r.Context(), asked)
		return artifactCount{counts}, err
	}
}
