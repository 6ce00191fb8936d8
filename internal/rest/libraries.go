package rest

import (
	"net/http"

	"atrium/platform"
)

func librariesRoutes(p *platform.Platform) []route {
	type filter = platform.ArtifactFilter
	return []route{
		listAll("/libraries/v2/artifacts", p.Artifacts,
			textsFilter("ecosystems", func(f *filter) *[]platform.Ecosystem { return &f.Ecosystems }).asRequired(),
			textFilter("query", func(f *filter) *string { return &f.Query }),
			textFilter("cuda_version", func(f *filter) *string { return &f.CudaVersion }),
			value("remediated", parseBool, func(l *platform.ListRequest[*filter]) *bool { return &l.Filter.Remediated })),
		listArtifactVersions(p.ArtifactVersions),
		{
			name: "GetArtifactCount", method: http.MethodGet, pattern: "/libraries/v2/artifacts/count",
			capabilities: capabilityList(platform.CapLibrariesArtifactsList),
			query:        parametersOf(counted), answer: artifactCount{}, call: countArtifacts(p.Artifacts),
		},
	}
}

// listArtifactVersions returns a route that lists the versions of the artifact in the path.
func listArtifactVersions(operations platform.ArtifactVersions) route {
	filters := pagingFilters[*platform.ArtifactVersionFilter](operations.Kind())
	list := listAll("/libraries/v2/artifacts/{artifact_id=*}/versions", operations)
	list.call = func(r *request) (any, error) {
		page, err := operations.ListOf(r.Context(), r.uid(), listRequest(r, filters))
		return newEnvelope(list.plural, page), err
	}
	return list
}

type artifactCount struct {
	Counts []*platform.EcosystemCount `json:"counts"`
}

// counted is the query of countArtifacts.
var counted = []filter[[]platform.Ecosystem]{
	values("ecosystems", parseText[platform.Ecosystem], func(asked *[]platform.Ecosystem) *[]platform.Ecosystem { return asked }).asRequired(),
}

func countArtifacts(operations platform.Artifacts) operation {
	return func(r *request) (any, error) {
		var asked []platform.Ecosystem
		if malformed := decodeFilters(r, counted, &asked); len(malformed) > 0 {
			return nil, platform.Invalid(malformed...)
		}
		counts, err := operations.Counts(r.Context(), asked)
		return artifactCount{counts}, err
	}
}
