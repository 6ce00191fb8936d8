package cases

import (
	"fmt"
	"sync/atomic"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// {upgrade} is a finding that an upgrade does away with.
var _ = newKind(kind{
	name: "Upgrade", ref: "upgrade", area: "vulnerabilities", in: "{group}", put: putFixableFinding,
	rows: []row{
		{name: "upgrades", setup: []call{getFixable}, do: call{rpc: "GetUpgrades", params: fields{"uidp.descendants_of": "{upgrade.repo}", "first": 1}}, want: resource(fields{"totalCount": 1, "rows": []fields{{
			"package": "left-pad", "ecosystem": "npm", "to": "1.3.0", "steps": []fields{{"package": "left-pad", "ecosystem": "npm", "from": "1.2.0", "to": "1.3.0", "findings": 1}},
			"gone":     fields{"total": 1, "critical": 1, "high": 0, "medium": 0, "low": 0, "none": 0, "unknown": 0, "fixable": 1, "knownExploited": 0},
			"severity": fields{"rating": "SEVERITY_RATING_CRITICAL", "score": 9.8}, "images": 1, "repos": 1, "firstSeenTime": "<time>", "reasons": []string{"UPGRADE_REASON_SEVERE"},
		}}})},
		{name: "upgrades of direct dependencies", setup: []call{getFixable}, do: call{rpc: "GetUpgrades", params: fields{"uidp.descendants_of": "{upgrade.repo}", "direct": true}}, want: having{"totalCount": 0}},
		{name: "upgrades in no UID", do: call{rpc: "GetUpgrades", params: fields{"uidp.descendants_of": "nope"}}, want: invalid("uidp.descendants_of")},
	},
})

var getFixable = call{rpc: "GetFinding", target: "{upgrade}"}

// fixableRepos counts the repos of putFixableFinding, of which a random state has several in a group.
var fixableRepos atomic.Int64

// putFixableFinding imports an SBOM with a package, and an advisory that says which version fixes it, into a new repo of a group.
func putFixableFinding(e *env, group string, _ fields) fields {
	e.Helper()
	repo := keyOf(e.mustCall(call{rpc: "CreateRepo", target: group, fields: fields{"name": fmt.Sprintf("fixable-%d", fixableRepos.Add(1))}}).resource)
	e.mustCall(call{rpc: "CreateTag", target: repo, fields: fields{"name": "latest", "digest": digest(1)}})
	_, err := e.w.p.Registry.ImportSBOMs(e.operator(), []*registry.ImportedSBOM{{Repo: core.UID(repo), Digest: digest(1), Format: "CycloneDX 1.5", Packages: []inventory.InstalledPackage{
		{Name: "left-pad", Version: "1.2.0", Ecosystem: "npm", PURL: "pkg:npm/left-pad@1.2.0"},
	}}})
	root := core.UID(group).Root()
	if err == nil {
		_, err = e.w.p.Feeds.ImportAdvisories(e.operator(), root, []*inventory.Advisory{{
			AdvisoryID: "CVE-2026-9", ArtifactName: "left-pad", ArtifactType: "npm", Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "9.8"}},
			Affected: &affected.Set{Ranges: []affected.Range{{Type: "SEMVER", Events: []affected.Event{{Introduced: "0"}, {Fixed: "1.3.0"}}}}},
		}})
	}
	if err == nil {
		err = e.w.p.Findings.SettleIn(e.operator(), root)
	}
	page, listed := e.w.p.Findings.List(e.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{ChildrenOf: core.UID(repo)}})
	if err != nil || listed != nil || len(page.Items) != 1 {
		e.Fatalf("%d findings: %v %v", len(page.Items), err, listed)
	}
	return e.mustCall(call{rpc: "GetFinding", target: string(page.Items[0].UID)}).resource
}
