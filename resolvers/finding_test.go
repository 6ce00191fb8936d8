package resolvers

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

// A shop is a world with images whose packages are known, and advisories about them:
//
//	acme            CVE-1 (GHSA-1): left-pad before 1.3.0, critical
//	  shop          CVE-5: checkout, whose versions are not known
//	    checkout    old: image 1 with left-pad 1.2.0 and express 4.0.0; new and latest: image 2 with 1.3.0 and 4.0.1; plain: image 3
//	  lab
//	    tools       t1 and same: image 4 with left-pad 1.0.0 for amd64, and 1.0.1 for arm64
//	every group     CVE-3: express before 4.0.1, low
type shop struct {
	*world
	ctx                        context.Context
	shop, lab, checkout, tools core.UID
}

func newShop(t *testing.T, url string) *shop {
	t.Helper()
	w := &shop{world: newWorldAt(t, url), ctx: core.WithActor(t.Context(), core.NewOperator("test"))}
	w.stock()
	return w
}

// stock makes what a shop holds.
func (w *shop) stock() {
	w.t.Helper()
	w.shop, w.lab = w.group(w.org, "shop"), w.group(w.org, "lab")
	w.checkout, w.tools = w.repo(w.shop, "checkout"), w.repo(w.lab, "tools")
	w.sbom(w.checkout, 1, "", "left-pad@1.2.0", "express@4.0.0")
	w.sbom(w.checkout, 2, "", "left-pad@1.3.0", "express@4.0.1")
	w.sbom(w.tools, 4, "amd64", "left-pad@1.0.0")
	w.sbom(w.tools, 4, "arm64", "left-pad@1.0.1")
	for name, n := range map[string]int{"old": 1, "new": 2, "plain": 3} {
		w.point(w.checkout, name, n)
	}
	w.point(w.checkout, "latest", 2)
	w.point(w.tools, "t1", 4)
	w.point(w.tools, "same", 4)
	w.advise(w.org, fixedBefore("CVE-1", "left-pad", "1.3.0", "9.8", "GHSA-1"))
	w.advise("", fixedBefore("CVE-3", "express", "4.0.1", "2.0"))
	w.advise(w.shop, &inventory.Advisory{AdvisoryID: "CVE-5", ArtifactName: "checkout"})
	w.settle()
	w.member(w.shop, "shopper", iam.ViewerRole)
}

func (w *shop) repo(group core.UID, name string) core.UID {
	w.t.Helper()
	return must(w.p.Repos.Create(w.ctx, group, body[*inventory.Repo](`{"name": %q}`, name)))(w.t).UID
}

func (w *shop) sbom(repo core.UID, image int, architecture string, packages ...string) {
	w.t.Helper()
	b := &registry.ImportedSBOM{Repo: repo, Digest: digest(image), Architecture: architecture, Format: "CycloneDX 1.5"}
	for _, p := range packages {
		name, version, _ := strings.Cut(p, "@")
		b.Packages = append(b.Packages, inventory.InstalledPackage{Name: name, Version: version, Ecosystem: "npm", PURL: "pkg:npm/" + p, Licenses: []string{"MIT"}})
	}
	done := must(w.p.Registry.ImportSBOMs(w.ctx, []*registry.ImportedSBOM{b}))(w.t)
	for _, err := range done.Rejected {
		w.t.Fatal(err)
	}
}

func (w *shop) point(repo core.UID, name string, image int) core.UID {
	w.t.Helper()
	return must(w.p.Tags.Create(w.ctx, repo, body[*inventory.Tag](`{"name": %q, "digest": %q}`, name, digest(image))))(w.t).UID
}

func (w *shop) advise(group core.UID, all ...*inventory.Advisory) {
	w.t.Helper()
	done := must(w.p.Feeds.ImportAdvisories(w.ctx, group, all))(w.t)
	for _, err := range done.Rejected {
		w.t.Fatal(err)
	}
}

func fixedBefore(id, name, version, score string, aliases ...string) *inventory.Advisory {
	return &inventory.Advisory{
		AdvisoryID: id, Aliases: aliases, ArtifactName: name, ArtifactType: "npm", Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: score}},
		Affected: &inventory.AffectedVersions{Ranges: []inventory.AffectedRange{{Type: "SEMVER", Events: []inventory.AffectedEvent{{Introduced: "0"}, {Fixed: version}}}}},
	}
}

func eachShop(t *testing.T, test func(t *testing.T, w *shop)) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) { test(t, newShop(t, url)) })
}

func TestFindingsAreListedWhereTheyAre(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const found = ` { totalCount nodes { vulnerabilityId installedVersion } }`
		w.ask(`query($shop: UID!, $checkout: UID!) {
			findings`+found+`
			below: findings(within: $shop)`+found+`
			children: findings(within: $checkout, directOnly: true, where: {basis: [VERSION]})`+found+`
			group(uid: $shop) { findings`+found+` }
			repos(orderBy: {field: NAME}) { nodes { name findings`+found+` tags { nodes { name findings`+found+` } } } }
			critical: findings(where: {severities: [CRITICAL], fixable: true})`+found+`
			low: findings(where: {query: "EXPR"})`+found+`
			alias: findings(where: {vulnerabilityIds: ["GHSA-1"]}, orderBy: {field: PACKAGE})`+found+`
			resolved: findings(where: {states: [RESOLVED]})`+found+`
			none: findings(where: {digests: []})`+found+`
		}`, "shop", w.shop, "checkout", w.checkout).
			expect("findings.nodes.*.vulnerabilityId", "CVE-1 CVE-1 CVE-1 CVE-3 CVE-5").expect("findings.totalCount", 5).
			expect("below.nodes.*.vulnerabilityId", "CVE-1 CVE-3 CVE-5").expect("below.totalCount", 3).
			expect("children.nodes.*.installedVersion", "1.2.0 4.0.0").expect("children.totalCount", 2).
			expect("group.findings.nodes.*.vulnerabilityId", "CVE-1 CVE-3 CVE-5").expect("group.findings.totalCount", 3).
			expect("repos.nodes.*.name", "checkout tools").
			expect("repos.nodes.0.findings.nodes.*.vulnerabilityId", "CVE-1 CVE-3 CVE-5").expect("repos.nodes.1.findings.totalCount", 2).
			expect("repos.nodes.0.tags.nodes.*.name", "latest new old plain").expect("repos.nodes.0.tags.nodes.*.findings.totalCount", "0 0 2 1").
			expect("repos.nodes.0.tags.nodes.2.findings.nodes.*.installedVersion", "1.2.0 4.0.0").
			expect("repos.nodes.1.tags.nodes.*.findings.totalCount", "2 2").
			expect("critical.totalCount", 3).expect("low.nodes.*.vulnerabilityId", "CVE-3").expect("alias.totalCount", 3).
			expect("resolved.totalCount", 0).expect("none.totalCount", 0)
	})
}

// Who may not list repos does not learn their labels by what is found, neither in lists nor in decisions.
func TestFindingsAreFilteredByLabelsOfTheirReposAndByAge(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		for repo, labels := range map[core.UID]string{w.checkout: `{key: "env", value: "prod"}, {key: "pci", value: ""}`, w.tools: `{key: "env", value: "test"}`} {
			w.ask(`mutation($repo: UID!) { updateRepo(input: {uid: $repo, labels: [`+labels+`]}) { repo { uid } } }`, "repo", repo)
		}
		for where, want := range map[string][2]int{ // by repo
			`labels: [{key: "env", value: "prod"}]`: {3, 0}, `labels: [{key: "env", value: "test"}]`: {0, 2}, `labels: [{key: "env"}]`: {3, 2}, `labels: [{key: "env", value: "prod"}, {key: "pci"}]`: {3, 0}, `labels: [{key: "env", value: "test"}, {key: "pci"}]`: {}, `labels: []`: {},
			`labels: [{key: "env", value: "prod"}], severities: [CRITICAL]`: {1, 0}, `firstSeenBefore: "2999-01-01T00:00:00Z"`: {3, 2}, `firstSeenBefore: "1980-01-01T00:00:00Z"`: {},
		} {
			got := w.ask(`{ findings(where: {` + where + `}) { totalCount nodes { uid } } repos { nodes { findings(where: {` + where + `}) { totalCount } } } }`)
			got.expect("findings.totalCount", want[0]+want[1]).expect("repos.nodes.*.findings.totalCount", fmt.Sprint(want[0], want[1]))
			if found := got.value("findings.nodes").([]any); len(found) != want[0]+want[1] {
				t.Errorf("%s finds %d, want %v", where, len(found), want)
			}
		}
		if got := w.askAs(theOwner, `{ findings(where: {labels: [{key: "a", value: "b=c"}]}) { totalCount } }`).expectErrors("INVALID_ARGUMENT findings").violations(); got != "labels" {
			t.Errorf("it names %q, want labels", got)
		}
		w.member(w.shop, "analyst", w.role(w.shop, "analysts", core.CapFindingsList, core.CapFindingsUpdate, core.CapTagList))
		w.askAs("analyst", `{ findings { totalCount } }`).expectSuccess().expect("findings.totalCount", 3)
		w.askAs("analyst", `{ findings(first: 1) { nodes { vulnerability { name repos { totalCount } } packageVersion { version } } } }`).
			expectErrors("PERMISSION_DENIED findings.nodes.0.vulnerability.repos", "PERMISSION_DENIED findings.nodes.0.packageVersion").expect("findings.nodes.0.vulnerability.name", "CVE-1")
		w.askAs("analyst", `{ findings(where: {labels: [{key: "env", value: "prod"}]}) { totalCount } }`).expectErrors("PERMISSION_DENIED findings")
		const accept = `mutation($shop: UID!) { updateFindings(input: {within: $shop, where: {labels: [{key: "env", value: "prod"}]}, state: ACCEPTED}) { updatedCount } }`
		w.askAs("analyst", accept, "shop", w.shop).expectErrors("PERMISSION_DENIED updateFindings")
		w.ask(accept, "shop", w.shop).expect("updateFindings.updatedCount", 3)
	})
}

func TestAFindingLeadsToAllAroundIt(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const all = `query($uid: UID!) { findings(within: $uid, directOnly: true) { nodes {
			uid id vulnerabilityId digest package ecosystem installedVersion fixedVersions fixable basis state knownExploited epss justification note dueTime expireTime resolvedTime
			severity { rating score } firstSeenTime viewerCan(capabilities: [FINDINGS_LIST])
			sources disputedBy advisories { advisoryId } advisory { advisoryId severity { rating } affected { ranges { type events { introduced fixed } } versions } }
			image { digest repo { name } tags { nodes { name } } findings { totalCount } } repo { name } tags { totalCount nodes { name } }
			vulnerability { name names metadata { summary } findings { totalCount } advisories { totalCount } repos { nodes { name } } }
			packageVersion { version package { name } images { totalCount } }
			assignee { name } fixedIn(first: 1) { totalCount nodes { name } }
		} } }`
		got := w.ask(all, "uid", w.checkout).
			expect("findings.nodes.*.package", "left-pad express checkout").expect("findings.nodes.*.basis", "VERSION VERSION NAME").
			expect("findings.nodes.*.state", "OPEN OPEN OPEN").expect("findings.nodes.*.fixable", "true true false").
			expect("findings.nodes.0.fixedVersions", []any{"1.3.0"}).expect("findings.nodes.0.ecosystem", "npm").expect("findings.nodes.2.ecosystem", nil).
			expect("findings.nodes.*.severity.rating", "CRITICAL LOW UNKNOWN").
			expect("findings.nodes.*.advisory.advisoryId", "CVE-1 CVE-3 CVE-5").expect("findings.nodes.0.sources", []any{"CVE-1"}).expect("findings.nodes.0.disputedBy", []any{}).
			expect("findings.nodes.1.advisories.*.advisoryId", "CVE-3").
			expect("findings.nodes.0.advisory.affected.ranges.0.events.1.fixed", "1.3.0").expect("findings.nodes.2.advisory.affected", nil).
			expect("findings.nodes.0.image.tags.nodes.*.name", "old").expect("findings.nodes.0.image.findings.totalCount", 2).expect("findings.nodes.0.image.repo.name", "checkout").
			expect("findings.nodes.*.vulnerability.name", "CVE-1 CVE-3 CVE-5").expect("findings.nodes.*.vulnerability.findings.totalCount", "3 1 1").
			expect("findings.nodes.0.vulnerability.repos.nodes.*.name", "checkout tools").expect("findings.nodes.*.packageVersion.package.name", "left-pad express checkout").
			expect("findings.nodes.*.tags.totalCount", "1 1 1").expect("findings.nodes.2.tags.nodes.*.name", "plain").
			expect("findings.nodes.*.fixedIn.totalCount", "2 2 3").expect("findings.nodes.0.fixedIn.nodes.*.name", "latest")
		w.ask(`query($uid: UID!) { finding(uid: $uid) { package } }`, "uid", got.uid("findings.nodes.1.uid")).expect("finding.package", "express")
		w.ask(`query($id: ID!) { node(id: $id) { ... on Finding { package } } }`, "id", got.text("findings.nodes.1.id")).expect("node.package", "express")
		w.ask(`{ advisories(orderBy: {field: ADVISORY_ID}) { nodes { advisoryId findings { totalCount nodes { repo { name } } } } } }`).
			expect("advisories.nodes.*.advisoryId", "CVE-1 CVE-5").expect("advisories.nodes.*.findings.totalCount", "3 1")
	})
}

func TestSummariesOfFindingsAreTheSumsOfTheirLists(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const counts = ` { open { total critical low unknown fixable knownExploited } accepted { total } notAffected { total } affectedRepos affectedImages images knownImages unknownPackages }`
		w.ask(`query($lab: UID!) { all: findingSummary`+counts+` lab: findingSummary(within: $lab)`+counts+`
			groups(orderBy: {field: NAME}) { nodes { name findingSummary`+counts+` } }
			repos { nodes { findingSummary`+counts+` tags { nodes { name findingSummary`+counts+` image { findingSummary`+counts+` } } } } } }`, "lab", w.lab).
			expect("all.open.total", 5).expect("all.open.critical", 3).expect("all.open.low", 1).expect("all.open.unknown", 1).expect("all.open.fixable", 4).
			expect("all.affectedRepos", 2).expect("all.affectedImages", 3).expect("lab.open.total", 2).expect("lab.affectedImages", 1).
			expect("all.images", 4).expect("all.knownImages", 3).expect("lab.images", 1).expect("lab.knownImages", 1).expect("all.unknownPackages", 0).
			expect("repos.nodes.0.tags.nodes.*.findingSummary.images", "1 1 1 1").expect("repos.nodes.0.tags.nodes.*.findingSummary.knownImages", "1 1 1 0").
			expect("groups.nodes.*.findingSummary.open.total", "5 2 3").
			expect("repos.nodes.*.findingSummary.open.total", "3 2").expect("repos.nodes.0.tags.nodes.*.findingSummary.open.total", "0 0 2 1")
		w.ask(`query($shop: UID!) { findings(within: $shop) { facets { ... on FindingFacets { vulnerabilities { ...counted } packages { ...counted } }
			assignees { __typename ...counted identity { name } } labels { ...counted } } } } fragment counted on Facet { value count }`, "shop", w.shop).
			expect("findings.facets.vulnerabilities.0.count", 1).expect("findings.facets.packages.*.count", "1 1 1").expect("findings.facets.assignees", []any{
			map[string]any{"__typename": "IdentityFacet", "value": nil, "count": 3.0, "identity": nil},
		}).expect("findings.facets.labels", []any{})
		const facets = ` { facets { severities { value count } states { value count } ecosystems { value count } repos { value count repo { name } } groups { value count group { name } } } }`
		w.ask(`query($shop: UID!) { findings`+facets+` below: findings(within: $shop, first: 1)`+facets+`
			repos { nodes { tags { nodes { findings(where: {basis: [VERSION]})`+facets+` } } } } none: findings(where: {states: []})`+facets+` }`, "shop", w.shop).
			expect("findings.facets.severities.*.value", "CRITICAL LOW UNKNOWN").expect("findings.facets.severities.*.count", "3 1 1").
			expect("findings.facets.ecosystems.*.value", "npm <nil>").expect("findings.facets.repos.*.repo.name", "checkout tools").
			expect("findings.facets.groups.*.group.name", "shop lab").expect("findings.facets.groups.*.count", "3 2").expect("findings.facets.states.*.value", "OPEN").
			expect("below.facets.severities.*.count", "1 1 1").expect("none.facets.states", []any{}).
			expect("repos.nodes.0.tags.nodes.0.findings.facets.repos", []any{}).expect("repos.nodes.0.tags.nodes.2.findings.facets.severities.*.value", "CRITICAL LOW").
			expect("repos.nodes.1.tags.nodes.0.findings.facets.repos.*.count", "2")
	})
}

// The advisory of a finding is shown, wherever it lies, and nothing else of its group.
func TestCallersOfASubgroupSeeItsFindingsAndTheirAdvisories(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const query = `{ findings { totalCount nodes { vulnerabilityId uid advisory { advisoryId id affected { ranges { type } } findings { totalCount } } fixedIn { totalCount } } }
			findingSummary { open { total } affectedImages } advisories { totalCount } repos { nodes { name findings { totalCount } } } }`
		got := w.askAs("shopper", query).expectSuccess().
			expect("findings.nodes.*.vulnerabilityId", "CVE-1 CVE-3 CVE-5").expect("findings.totalCount", 3).expect("findings.nodes.*.advisory.advisoryId", "CVE-1 CVE-3 CVE-5").
			expect("findings.nodes.*.advisory.findings.totalCount", "1 1 1").expect("findingSummary.open.total", 3).expect("findingSummary.affectedImages", 2).
			expect("advisories.totalCount", 1).expect("repos.nodes.*.findings.totalCount", "3")
		w.askAs("shopper", `{ findings { nodes { advisory { group { name } } } } }`).expectErrors("PERMISSION_DENIED findings.nodes.0.advisory.group").
			expect("findings.nodes.1.advisory.group", nil).expect("findings.nodes.2.advisory.group.name", "shop")
		w.askAs("shopper", `query($id: ID!) { node(id: $id) { id } }`, "id", got.text("findings.nodes.0.advisory.id")).expectErrors("PERMISSION_DENIED node")
		w.askAs("shopper", `query($lab: UID!) { findings(within: $lab) { totalCount } findingSummary(within: $lab) { affectedRepos } }`, "lab", w.lab).
			expectErrors("PERMISSION_DENIED findings", "PERMISSION_DENIED findingSummary")
		w.member(w.shop, "puller", w.role(w.shop, "tags alone", core.CapTagList, core.CapRepoList))
		w.askAs("puller", `{ findings { totalCount } repos { nodes { findings { totalCount } findingSummary { affectedRepos } } } }`).
			expectErrors("PERMISSION_DENIED findings", "PERMISSION_DENIED repos.nodes.0.findings", "PERMISSION_DENIED repos.nodes.0.findingSummary")
	})
}

func TestListsOfFindingsPage(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		for _, list := range []string{
			`findings(first: 2, after: $cursor, orderBy: [{field: %s}])`, `repo(uid: $checkout) { findings(first: 1, after: $cursor, orderBy: [{field: %s}])`,
			`tag(uid: $old) { findings(first: 1, after: $cursor, orderBy: [{field: %s}])`, `advisory(uid: $advisory) { findings(first: 1, after: $cursor, orderBy: [{field: %s}])`,
		} {
			for _, order := range []string{"SEVERITY", "FIRST_SEEN", "EPSS", "PACKAGE", "DUE", "UPDATE_TIME", "UID", "SEVERITY, direction: ASC", "SEVERITY}, {field: PACKAGE, direction: DESC}, {field: EPSS"} {
				w.expectPages(strings.ReplaceAll(list, "%s", order))
			}
		}
	})
}

// expectPages checks that the pages of a list have all of its rows, each once.
func (w *shop) expectPages(list string) {
	w.t.Helper()
	variables := []any{
		"checkout", w.checkout, "old", w.ask(`query($uid: UID!) { repo(uid: $uid) { tag(name: "old") { uid } } }`, "uid", w.checkout).uid("repo.tag.uid"),
		"advisory", w.ask(`{ advisories(where: {advisoryIds: ["CVE-1"]}) { nodes { uid } } }`).uid("advisories.nodes.0.uid"),
	}
	seen, cursor, path := map[string]bool{}, "", strings.Split(strings.NewReplacer("(", " ", "{ ", "").Replace(list), " ")[0]+"."
	if !strings.Contains(list, "{ ") || strings.HasPrefix(list, "findings") {
		path = ""
	}
	for range 10 {
		selection := list + ` { totalCount nodes { uid } pageInfo { hasNextPage endCursor } }`
		if path != "" {
			selection += " }"
		}
		got := w.ask(operation("query", selection), append(variables, "cursor", cursor)...)
		for uid := range strings.FieldsSeq(got.text(path + "findings.nodes.*.uid")) {
			if seen[uid] {
				w.t.Errorf("%s shows %s twice", list, uid)
			}
			seen[uid] = true
		}
		if got.value(path+"findings.pageInfo.hasNextPage") == false {
			if total := got.text(path + "findings.totalCount"); total != strconv.Itoa(len(seen)) || len(seen) == 0 {
				w.t.Errorf("%s shows %d rows, and the total is %s", list, len(seen), total)
			}
			return
		}
		cursor = got.text(path + "findings.pageInfo.endCursor")
	}
	w.t.Errorf("%s does not end", list)
}
