package rest

import (
	"net/http"
	"reflect"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

func registryRoutes(p *platform.Platform) []route {
	return []route{
		list("/registry/v2/repos", p.Repos,
			textFilter("name", func(f *inventory.RepoFilter) *string { return &f.Name }),
			textFilter("query", func(f *inventory.RepoFilter) *string { return &f.Query }),
			textsFilter("tiers", func(f *inventory.RepoFilter) *[]core.CatalogTier { return &f.Tiers }),
			textsFilter("bundles", func(f *inventory.RepoFilter) *[]string { return &f.Bundles }),
			textsFilter("aliases", func(f *inventory.RepoFilter) *[]string { return &f.Aliases }),
			labelsFilter(func(f *inventory.RepoFilter) *core.LabelFilter { return &f.LabelFilter })),
		get("/registry/v2/repos/{uid=**}", p.Repos),
		create("/registry/v2/repos/{parent=**}", p.Repos),
		update("/registry/v2/repos/{uid=**}", p.Repos),
		remove("/registry/v2/repos/{uid=**}", p.Repos),
		{
			name: "GetRepoReadme", method: http.MethodGet, pattern: "/registry/v2/repos/{uid=**}/readme",
			capabilities: capabilityList(core.CapRepoList), answer: inventory.Readme{},
			call: func(r *request) (any, error) { return p.Repos.Readme(r.Context(), r.uid()) },
		},
		patch("UpdateRepoReadme", "/registry/v2/repos/{uid=**}/readme", p.Repos.UpdateReadme, core.CapRepoUpdate),

		list("/registry/v2/tags", p.Tags,
			textFilter("name", func(f *inventory.TagFilter) *string { return &f.Name }),
			timeFilter("updated_since", func(f *inventory.TagFilter) *core.Time { return &f.UpdatedSince }),
			classFilter("include_referrers", inventory.TagClassReferrer),
			classFilter("include_dates", inventory.TagClassDate),
			classFilter("include_epochs", inventory.TagClassEpoch),
			textFilter("digest", func(f *inventory.TagFilter) *string { return &f.Digest }).withPattern(core.DigestPattern),
			textFilter("query", func(f *inventory.TagFilter) *string { return &f.Query })),
		get("/registry/v2/tags/{uid=**}", p.Tags),
		create("/registry/v2/tags/{parent=**}", p.Tags),
		remove("/registry/v2/tags/{uid=**}", p.Tags),

		{
			name: "GetArchitectures", method: http.MethodGet, pattern: "/registry/v2/repos/{repo_uid=**}/digests/{digest}/architectures",
			capabilities: capabilityList(core.CapRepoList, core.CapManifestMetadataList),
			answer:       architectures{}, call: imageArchitectures(p.Images),
		},
		{
			name: "GetSize", method: http.MethodGet, pattern: "/registry/v2/repos/{repo_uid=**}/digests/{digest}/size",
			capabilities: capabilityList(core.CapRepoList, core.CapManifestMetadataList),
			query:        []parameter{architecture}, answer: inventory.ImageSize{}, call: imageSize(p.Images),
		},
	}
}

type tagRequest = core.ListRequest[*inventory.TagFilter]

// classFilter returns a filter that excludes the tags of a class if its value is false.
// Without it, all tags are listed.
func classFilter(name string, class inventory.TagClass) filter[tagRequest] {
	return filter[tagRequest]{
		parameter{name: name, valueType: reflect.TypeFor[bool](), fallback: true},
		func(l *tagRequest, s string) error {
			included, err := parseBool(s)
			if err == nil && !included {
				l.Filter.Without = append(l.Filter.Without, class)
			}
			return err
		},
	}
}

var architecture = parameter{name: "architecture", valueType: reflect.TypeFor[string]()}

type architectures struct {
	Architectures []string `json:"architectures"`
}

func imageArchitectures(operations inventory.Images) operation {
	return func(r *request) (any, error) {
		image, err := operations.Get(r.Context(), r.image())
		if err != nil {
			return nil, err
		}
		return architectures{image.ArchitectureNames()}, nil
	}
}

func imageSize(operations inventory.Images) operation {
	return func(r *request) (any, error) {
		return operations.Size(r.Context(), r.image(), r.query.Get(architecture.name))
	}
}

// image returns the key of the image in the path.
func (r *request) image() core.ImageKey {
	return core.ImageKey{Repo: r.uid(), Digest: r.variables[1]}
}
