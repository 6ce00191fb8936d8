package resolvers

import (
	"testing"

	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// origins is an SBOM of npm: express is direct, qs comes through it, and nothing is known of alone.
func (w *shop) origins(image int, licenses ...string) {
	w.t.Helper()
	yes, no := true, false
	b := &registry.ImportedSBOM{Repo: w.tools, Digest: digest(image), Format: "CycloneDX 1.6"}
	for _, p := range []inventory.InstalledPackage{
		{Name: "express", Supplier: "Acme", Scope: inventory.ScopeRequired, Placement: inventory.Placement{Direct: &yes, IntroducedBy: []int{}, Layer: "sha256:1"}},
		{Name: "qs", Licenses: licenses, Scope: inventory.ScopeDevelopment, Placement: inventory.Placement{Direct: &no, IntroducedBy: []int{0}}},
		{Name: "alone"},
	} {
		p.Version, p.Ecosystem, p.PURL = "1", "npm", "pkg:npm/"+p.Name+"@1"
		b.Packages = append(b.Packages, p)
	}
	done := must(w.p.Registry.ImportSBOMs(w.ctx, []*registry.ImportedSBOM{b}))(w.t)
	for _, err := range done.Rejected {
		w.t.Fatal(err)
	}
}

func TestPackagesAndFindingsTellWhereTheyComeFrom(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		w.origins(5, "MIT OR Apache-2.0")
		w.point(w.tools, "five", 5)
		w.advise(w.org, fixedBefore("CVE-6", "qs", "2", "9.8"), fixedBefore("CVE-7", "alone", "2", "9.1"), fixedBefore("CVE-8", "express", "2", "8"))
		w.settle()
		const image = `query($repo: UID!) { repo(uid: $repo) { tags(where: {name: "five"}) { nodes { image { `
		w.ask(image+`packages { nodes { name supplier scope layer direct introducedBy { name version ecosystem purl } } } } } } } }`, "repo", w.tools).
			expect("repo.tags.nodes.0.image.packages.nodes", []any{
				map[string]any{"name": "alone", "supplier": nil, "scope": nil, "layer": nil, "direct": nil, "introducedBy": nil},
				map[string]any{"name": "express", "supplier": "Acme", "scope": "REQUIRED", "layer": "sha256:1", "direct": true, "introducedBy": []any{}},
				map[string]any{"name": "qs", "supplier": nil, "scope": "DEVELOPMENT", "layer": nil, "direct": false, "introducedBy": []any{
					map[string]any{"name": "express", "version": "1", "ecosystem": "npm", "purl": "pkg:npm/express@1"},
				}},
			})
		for condition, want := range map[string]string{
			`direct: true`: "express", `direct: false`: "qs", `scopes: [REQUIRED, OPTIONAL]`: "express", `scopes: []`: "", `licenses: ["mit"]`: "qs", `licenses: ["NONE"]`: "alone express",
		} {
			w.ask(image+`packages(where: {`+condition+`}) { nodes { name } } } } } } }`, "repo", w.tools).expect("repo.tags.nodes.0.image.packages.nodes.*.name", want)
		}

		must(w.p.Registry.ImportImages(w.ctx, []*inventory.Image{{Repo: w.tools, Digest: digest(5), Architectures: []inventory.Architecture{{Name: "amd64"}}, BaseName: "debian:12", BaseDigest: digest(9)}}))(t)
		w.ask(image+`baseName baseDigest } } } } }`, "repo", w.tools).
			expect("repo.tags.nodes.0.image.baseName", "debian:12").expect("repo.tags.nodes.0.image.baseDigest", digest(9))

		const findings = `query($repo: UID!) { findings(within: $repo, where: {vulnerabilityIds: ["CVE-6", "CVE-7", "CVE-8"]}, orderBy: {field: SEVERITY, direction: ASC}) { nodes { package `
		got := w.ask(findings+`direct introducedBy { name } } } }`, "repo", w.tools).
			expect("findings.nodes", []any{
				map[string]any{"package": "express", "direct": true, "introducedBy": []any{}},
				map[string]any{"package": "alone", "direct": nil, "introducedBy": nil},
				map[string]any{"package": "qs", "direct": false, "introducedBy": []any{map[string]any{"name": "express"}}},
			})
		one := w.ask(findings+`direct } } }`, "repo", w.tools)
		if got.statements != 4 || one.statements != 1 {
			t.Errorf("direct and introducedBy take %d statements, and direct alone %d, want 4 and 1", got.statements, one.statements)
		}
		w.member(w.org, "auditor", w.role(w.org, "auditor", "findings.list", "tag.list", "repo.list"))
		w.askAs("auditor", findings+`introducedBy { name } } } }`, "repo", w.tools).expectErrors("PERMISSION_DENIED findings.nodes.0.introducedBy", "PERMISSION_DENIED findings.nodes.1.introducedBy", "PERMISSION_DENIED findings.nodes.2.introducedBy")

		w.ask(`query($org: UID!) { packages(within: $org) { facets { licenses { value count } ecosystems { value count } } } }`, "org", w.lab).
			expect("packages.facets.licenses", []any{
				map[string]any{"value": "MIT", "count": 2.0}, map[string]any{"value": "NONE", "count": 2.0}, map[string]any{"value": "Apache-2.0", "count": 1.0},
			}).expect("packages.facets.ecosystems", []any{map[string]any{"value": "npm", "count": 4.0}})
		w.ask(`query($org: UID!) { packages(within: $org, where: {licenses: ["Apache-2.0"]}) { totalCount nodes { name versions(where: {licenses: ["apache-2.0"]}) { nodes { version } } } } }`, "org", w.lab).
			expect("packages.totalCount", 1).expect("packages.nodes.0.name", "qs").expect("packages.nodes.0.versions.nodes.*.version", "1")
	})
}
