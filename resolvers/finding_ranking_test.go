package resolvers

import "testing"

func TestRankingsAreInTheGraph(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const counts = `{ totalCount nodes { vulnerabilityId vulnerability { name findings(where: {states: [OPEN]}) { totalCount } } severity { rating score } knownExploited epss findings fixable images repos } }`
		w.ask(`query($org: UID!, $checkout: UID!, $uid: UID!) {
			topVulnerabilities `+counts+`
			byImages: topVulnerabilities(within: $org, by: IMAGES, first: 1) `+counts+`
			ofRepo: topVulnerabilities(within: $checkout, where: {severities: [CRITICAL, LOW]}) `+counts+`
			listed: topVulnerabilities(where: {uids: [$uid]}) `+counts+`
			topPackages(where: {fixable: true}, by: SEVERITY) { totalCount nodes { package heldPackage { name versions { totalCount } } ecosystem severity { score } findings images repos } }
			unknown: topPackages(where: {packages: ["checkout"]}) { nodes { package ecosystem severity { rating score } } }
			none: topPackages(where: {packages: []}, first: 0) { totalCount nodes { package } }
		}`, "org", w.org, "checkout", w.checkout, "uid", w.ask(`query($repo: UID!) { findings(within: $repo, directOnly: true, where: {packages: ["express"]}) { nodes { uid } } }`, "repo", w.checkout).value("findings.nodes.0.uid")).
			expect("topVulnerabilities.totalCount", 3).expect("topVulnerabilities.nodes.*.vulnerabilityId", "CVE-1 CVE-3 CVE-5").
			expect("topVulnerabilities.nodes.*.findings", "3 1 1").expect("topVulnerabilities.nodes.*.images", "2 1 1").expect("topVulnerabilities.nodes.*.repos", "2 1 1").
			expect("topVulnerabilities.nodes.*.fixable", "3 1 0").expect("topVulnerabilities.nodes.0.severity.score", 9.8).expect("topVulnerabilities.nodes.0.epss", nil).
			expect("topVulnerabilities.nodes.*.vulnerability.findings.totalCount", "3 1 1").
			expect("topPackages.nodes.*.heldPackage.name", "left-pad express").expect("byImages.totalCount", 3).expect("byImages.nodes.*.vulnerabilityId", "CVE-1").
			expect("ofRepo.nodes.*.vulnerabilityId", "CVE-1 CVE-3").expect("ofRepo.nodes.*.findings", "1 1").
			expect("listed.nodes.*.vulnerabilityId", "CVE-3").
			expect("topPackages.nodes.*.package", "left-pad express").expect("topPackages.nodes.0.ecosystem", "npm").
			expect("unknown.nodes.0.ecosystem", nil).expect("unknown.nodes.0.severity.rating", "UNKNOWN").expect("unknown.nodes.0.severity.score", nil).
			expect("none.totalCount", 0)
		w.askAs(theOwner, `{ topPackages(first: -1) { totalCount } topVulnerabilities(first: 101) { totalCount } }`).expectErrors("INVALID_ARGUMENT topPackages", "INVALID_ARGUMENT topVulnerabilities")
		w.askAs("shopper", `query($lab: UID!) { topPackages(within: $lab) { totalCount } }`, "lab", w.lab).expectErrors("PERMISSION_DENIED topPackages")
		w.askAs("shopper", `{ topVulnerabilities { totalCount } }`).expect("topVulnerabilities.totalCount", 3)
	})
}

func TestTheGraphSaysWhatToUpgradeFirst(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const asked = `{ totalCount nodes { package ecosystem heldPackage { name versions { totalCount } } to steps { package from to findings } gone { total critical fixable knownExploited } severity { rating } epss images repos dueTime reasons } }`
		w.ask(`query($checkout: UID!) { upgrades `+asked+` ofRepo: upgrades(within: $checkout, where: {packages: ["express"]}, first: 1) `+asked+` }`, "checkout", w.checkout).
			expect("upgrades.totalCount", 2).expect("upgrades.nodes.*.package", "left-pad express").expect("upgrades.nodes.*.heldPackage.name", "left-pad express").
			expect("upgrades.nodes.0.to", "1.3.0").expect("upgrades.nodes.0.gone.total", 3).expect("upgrades.nodes.0.images", 2).expect("upgrades.nodes.0.reasons", []any{"SEVERE", "SEVERAL_IMAGES"}).
			expect("upgrades.nodes.0.dueTime", nil).expect("upgrades.nodes.0.epss", nil).
			expect("ofRepo.totalCount", 1).expect("ofRepo.nodes.*.package", "express").expect("ofRepo.nodes.0.reasons", []any{})
		w.askAs(theOwner, `{ upgrades(first: 101) { totalCount } }`).expectErrors("INVALID_ARGUMENT upgrades")
		w.askAs("shopper", `query($lab: UID!) { upgrades(within: $lab) { totalCount } }`, "lab", w.lab).expectErrors("PERMISSION_DENIED upgrades")
	})
}
