package rest

import (
	"net/http"
	"reflect"

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
			query:        []parameter{ecosystems}, answer: artifactCount{}, call: countArtifacts(p.Artifacts),
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

var ecosystems = parameter{name: "ecosystems", valueType: reflect.TypeFor[platform.Ecosystem](), repeated: true, required: true}

type artifactCount struct {
	Counts []*platform.EcosystemCount `json:"counts"`
}

func countArtifacts(operations platform.Artifacts) operation {
	return func(r *request) (any, error) {
		var asked []platform.Ecosystem
		for _, e := range r.query[ecosystems.name] {
			asked = append(asked, platform.Ecosystem(e))
		}
		counts, err := operations.Counts(r.Context(), asked)
		return artifactCount{counts}, err
	}
}
