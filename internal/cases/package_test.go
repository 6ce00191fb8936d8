package cases

import (
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// {package} is held by an image. Its rights are those on the images that hold it.
var _ = newKind(kind{
	name: "Package", plural: "Packages", ref: "package", area: "registry", in: "{org}", put: putPackage, ownRights: true,
	minimal: fields{"name": "package-{n}"}, full: fields{"name": "package-{n}"},
	rows: []row{
		{name: "count", setup: []call{{rpc: "GetPackage", target: "{package}"}}, do: call{rpc: "CountPackages", params: fields{"names": []string{"{package.name}"}}},
			want: resource(fields{"licenses": []fields{{"value": "MIT", "count": 1}}, "ecosystems": []fields{{"value": "npm", "count": 1}}})},
		{name: "versions", do: call{rpc: "ListPackageVersions", target: "{package}"},
			want: expectedItems{{"uid": "<uid>", "version": "1.2.0", "package": fields{"uid": "{package}", "name": "{package.name}", "ecosystem": "npm"}}}},
		{name: "versions before one", do: call{rpc: "ListPackageVersions", target: "{package}", params: fields{"below": "1.0.0"}}, want: expectedItems{}},
		{name: "versions of a missing one", do: call{rpc: "ListPackageVersions", target: "{org}/00000000000000ff"}, want: notFound("registry/Package", "{org}/00000000000000ff")},
	},
	library: library{
		hasNoScopes: true,
		items:       []item{{"a", "{org}", fields{"name": "delta"}}, {"b", "{org}", fields{"name": "alpha"}}, {"c", "{org}", fields{"name": "charlie"}}, {"d", "{org}", fields{"name": "beta"}}},
		orders:      []order{{"name", "name"}, {"uid", "uid"}}, byDefault: "name", params: fields{"within": "{org}"},
		filters: []filterCase{{fields{"names": []string{"alpha", "beta"}}, "b d"}, {fields{"ecosystems": []string{"npm"}}, "a b c d"}, {fields{"licenses": []string{"NONE"}}, ""}, {fields{"query": "har"}, "c"}},
	},
})

// putPackage imports the SBOM of an image that holds a package.
func putPackage(e *env, org string, given fields) fields {
	e.Helper()
	name := given["name"].(string)
	repo := keyOf(e.mustCall(call{rpc: "CreateRepo", target: org, fields: fields{"name": "holds-" + name}}).resource)
	e.mustCall(call{rpc: "CreateTag", target: repo, fields: fields{"name": "latest", "digest": digest(1)}})
	done, err := e.w.p.Registry.ImportSBOMs(e.operator(), []*registry.ImportedSBOM{{Repo: core.UID(repo), Digest: digest(1), Format: "CycloneDX 1.5", Packages: []inventory.InstalledPackage{
		{Name: name, Version: "1.2.0", Ecosystem: "npm", PURL: "pkg:npm/" + name + "@1.2.0", Licenses: []string{"MIT"}},
	}}})
	if err != nil || len(done.Rejected) > 0 {
		e.Fatal(err, done.Rejected)
	}
	if err := e.w.p.Findings.SettleIn(e.operator(), core.UID(org).Root()); err != nil {
		e.Fatal(err)
	}
	return e.mustCall(call{rpc: "ListPackages", params: fields{"within": org, "names": []any{name}}}).items[0]
}
