package resolvers

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/inventory"
)

func TestPackagesLeadToWhatHoldsThem(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const holders = ` { totalCount nodes { name versions { totalCount nodes { version purl licenses package { name }
			images { totalCount nodes { digest repo { name } } } tags { totalCount nodes { name } } repos { totalCount nodes { name } }
			advisories { totalCount nodes { advisoryId } } } } } }`
		w.ask(`query($shop: UID!, $tools: UID!) { packages`+holders+` shop: packages(within: $shop, where: {names: ["left-pad"]})`+holders+`
			tools: packages(within: $tools, where: {query: "pad", ecosystems: ["npm"]})`+holders+` }`, "shop", w.shop, "tools", w.tools).
			expect("packages.totalCount", 3).expect("packages.nodes.*.name", "checkout express left-pad").
			expect("packages.nodes.2.versions.nodes.*.version", "1.0.0 1.0.1 1.2.0 1.3.0").expect("packages.nodes.2.versions.nodes.0.purl", "pkg:npm/left-pad@1.0.0").
			expect("packages.nodes.2.versions.nodes.0.licenses", []any{"MIT"}).expect("packages.nodes.2.versions.nodes.0.package.name", "left-pad").
			expect("packages.nodes.2.versions.nodes.*.images.totalCount", "1 1 1 1").expect("packages.nodes.2.versions.nodes.0.images.nodes.*.repo.name", "tools").
			expect("packages.nodes.2.versions.nodes.*.tags.totalCount", "2 2 1 2").expect("packages.nodes.2.versions.nodes.3.tags.nodes.*.name", "latest new").
			expect("packages.nodes.2.versions.nodes.*.repos.totalCount", "1 1 1 1").expect("packages.nodes.2.versions.nodes.2.repos.nodes.*.name", "checkout").
			expect("packages.nodes.2.versions.nodes.*.advisories.totalCount", "1 1 1 0").expect("packages.nodes.1.versions.nodes.0.advisories.nodes.*.advisoryId", "CVE-3").
			expect("packages.nodes.0.versions.nodes.0.version", nil).
			expect("shop.totalCount", 1).expect("shop.nodes.0.versions.nodes.*.version", "1.2.0 1.3.0").expect("shop.nodes.0.versions.totalCount", 2).
			expect("tools.nodes.*.name", "left-pad").expect("tools.nodes.0.versions.nodes.*.version", "1.0.0 1.0.1").
			expect("tools.nodes.0.versions.nodes.*.images.totalCount", "1 1")
	})
}

// A list below a package has what lies where the list is restricted to that has the package.
func TestListsBelowAPackageStayWithinItsScope(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		w.sbom(w.tools, 5, "", "express@4.0.0")
		w.point(w.tools, "five", 5)
		w.settle()
		const holders = ` { nodes { versions(where: {versions: ["4.0.0"]}) { nodes { images { totalCount } tags { totalCount } repos { nodes { name } } } } } }`
		w.ask(`query($shop: UID!) { packages(where: {names: ["express"]})`+holders+` shop: packages(within: $shop, where: {names: ["express"]})`+holders+` }`, "shop", w.shop).
			expect("packages.nodes.0.versions.nodes.0.images.totalCount", 2).expect("packages.nodes.0.versions.nodes.0.tags.totalCount", 2).
			expect("packages.nodes.0.versions.nodes.0.repos.nodes.*.name", "checkout tools").
			expect("shop.nodes.0.versions.nodes.0.images.totalCount", 1).expect("shop.nodes.0.versions.nodes.0.tags.totalCount", 1).
			expect("shop.nodes.0.versions.nodes.0.repos.nodes.*.name", "checkout")
	})
}

func TestVersionsAreFoundByTheOrderOfTheirEcosystem(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		// "none" is no version of npm, so the advisory is found by the name.
		w.sbom(w.tools, 6, "", "left-pad@1.10.0", "left-pad@none")
		w.point(w.tools, "six", 6)
		w.settle()
		w.ask(`{ packages(where: {names: ["left-pad"]}) { nodes { below: versions(where: {below: "1.3.0"}) { totalCount nodes { version } }
			from: versions(where: {notBelow: "1.2.0", below: "1.10.0"}) { nodes { version } } all: versions { totalCount nodes { version } } } } }`).
			expect("packages.nodes.0.below.nodes.*.version", "1.0.0 1.0.1 1.2.0").expect("packages.nodes.0.below.totalCount", 3).
			expect("packages.nodes.0.from.nodes.*.version", "1.2.0 1.3.0").expect("packages.nodes.0.all.totalCount", 6).expect("packages.nodes.0.all.nodes.4.version", "1.10.0")
		w.askAs(theOwner, `{ packages(where: {names: ["left-pad"]}) { nodes { versions(where: {below: "none"}) { totalCount } } } }`).
			expectErrors("INVALID_ARGUMENT packages.nodes.0.versions")
		for _, c := range []struct{ condition, repos, tags string }{
			{`package: {name: "left-pad", versionBelow: "1.2.0"}`, "tools", "same t1"},
			{`package: {name: "LEFT-PAD", ecosystem: "npm", versionNotBelow: "1.2.0"}`, "checkout tools", "latest new old six"},
			{`package: {name: "express", version: "4.0.0"}`, "checkout", "old"},
			{`package: {name: "express", version: "9"}`, "", ""}, {`package: {name: "nothing"}`, "", ""},
			{`openSeverities: [CRITICAL]`, "checkout tools", "old same six t1"}, {`openSeverities: [UNKNOWN, LOW]`, "checkout", "old plain"}, {`openSeverities: []`, "", ""},
			{`packagesKnown: true`, "checkout tools", "latest new old same six t1"}, {`packagesKnown: false`, "checkout", "plain"},
			{`vulnerabilityIds: ["GHSA-1"]`, "checkout tools", "old same six t1"}, {`vulnerabilityIds: ["CVE-3", "CVE-5"]`, "checkout", "old plain"},
		} {
			list := `(where: {` + c.condition + `}) { totalCount nodes { name } }`
			w.ask(`query($org: UID!) { repos`+list+` tags`+list+` group(uid: $org) { repos`+list+` } all: repos(orderBy: {field: NAME}) { nodes { tags`+list+` } } }`, "org", w.org).
				expect("repos.nodes.*.name", c.repos).expect("repos.totalCount", len(strings.Fields(c.repos))).
				expect("tags.nodes.*.name", c.tags).expect("tags.totalCount", len(strings.Fields(c.tags))).
				expect("group.repos.nodes.*.name", c.repos).expect("group.repos.totalCount", len(strings.Fields(c.repos)))
		}
		w.askAs(theOwner, `{ repos(where: {package: {name: "left-pad", versionBelow: "none"}}) { totalCount } }`).expectErrors("INVALID_ARGUMENT repos")
		w.ask(`{ repos(orderBy: {field: OPEN_SEVERITY}) { nodes { name } } }`).expect("repos.nodes.*.name", "tools checkout")
		w.ask(`{ tags(orderBy: {field: OPEN_SEVERITY, direction: DESC}) { totalCount } below: repos(orderBy: {field: NAME}, first: 1) {
			nodes { tags(orderBy: {field: OPEN_SEVERITY, direction: DESC}, first: 2) { nodes { name } } } } }`).
			expect("tags.totalCount", 7).expect("below.nodes.0.tags.nodes.*.name", "old plain")
		const worst = `query($shop: UID!, $after: String) { tags(within: $shop, first: 1, after: $after, where: {openSeverities: [CRITICAL, UNKNOWN]}, orderBy: {field: OPEN_SEVERITY, direction: DESC}) { totalCount nodes { name } pageInfo { endCursor } } }`
		first := w.ask(worst, "shop", w.shop, "after", nil).expect("tags.totalCount", 2).expect("tags.nodes.*.name", "old")
		w.ask(worst, "shop", w.shop, "after", first.text("tags.pageInfo.endCursor")).expect("tags.nodes.*.name", "plain")
		w.member(w.shop, "blind", w.role(w.shop, "tags", core.CapTagList))
		w.askAs("blind", `query($after: String) { plain: tags { totalCount } tags(orderBy: {field: OPEN_SEVERITY}) { totalCount } next: tags(after: $after) { totalCount } second: tags(orderBy: [{field: NAME}, {field: OPEN_SEVERITY}]) { totalCount } }`, "after", w.ask(`{ tags(first: 1, orderBy: {field: OPEN_SEVERITY}) { pageInfo { endCursor } } }`).text("tags.pageInfo.endCursor")).
			expectErrors("PERMISSION_DENIED tags", "PERMISSION_DENIED next", "PERMISSION_DENIED second")
	})
}

// A tag and its findings show the same image, whether an import has told of the image or only its SBOM is known.
func TestATagShowsTheImageThatItsFindingsShow(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const image = `image { digest architectures packages { totalCount nodes { name version } } }`
		got := w.ask(`{ findings { nodes { ` + image + ` tags { nodes { ` + image + ` } } } } }`)
		for _, f := range got.value("findings.nodes").([]any) {
			f := f.(map[string]any)
			for _, tag := range f["tags"].(map[string]any)["nodes"].([]any) {
				if shown := tag.(map[string]any)["image"]; f["image"] == nil || !reflect.DeepEqual(shown, f["image"]) {
					t.Errorf("a tag shows the image %v, and its finding %v", shown, f["image"])
				}
			}
		}
	})
}

func TestAnImageShowsItsPackages(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const query = `query($uid: UID!) { repo(uid: $uid) { findings { nodes { image {
			packages { totalCount nodes { name version ecosystem purl licenses architectures packageVersion { images { totalCount } } } }
			pad: packages(where: {query: "LEFT"}) { totalCount nodes { version } } none: packages(where: {ecosystems: ["PyPI"]}) { totalCount } } } } } }`
		w.ask(query, "uid", w.tools).
			expect("repo.findings.nodes.0.image.packages.nodes.*.version", "1.0.0 1.0.1").expect("repo.findings.nodes.0.image.packages.nodes.0.architectures", []any{"amd64"}).
			expect("repo.findings.nodes.0.image.packages.nodes.0.packageVersion.images.totalCount", 1).expect("repo.findings.nodes.0.image.none.totalCount", 0)
		w.ask(query, "uid", w.checkout).expect("repo.findings.nodes.*.image.packages.totalCount", "2 2 1").expect("repo.findings.nodes.*.image.pad.totalCount", "1 1 0").
			expect("repo.findings.nodes.2.image.packages.nodes.0.version", nil).expect("repo.findings.nodes.2.image.packages.nodes.0.name", "checkout")
	})
}

func TestAVulnerabilityIsFoundByAnyOfItsNames(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		must(w.p.Feeds.ImportVulnerabilities(w.ctx, []*inventory.Vulnerability{{ID: "GHSA-1", Aliases: []string{"CVE-1", "OTHER-1"}, Summary: "bad"}}))(t)
		for _, name := range []string{"CVE-1", "GHSA-1", "OTHER-1"} {
			w.ask(`query($id: String!) { vulnerability(id: $id) { name names metadata { summary } findings { totalCount } images { totalCount nodes { digest repo { name } tags { totalCount } } }
				tags { nodes { name } } repos(orderBy: {field: NAME}) { totalCount nodes { name } } advisories { nodes { advisoryId } } } }`, "id", name).
				expect("vulnerability.name", name).expect("vulnerability.names", []any{"CVE-1", "GHSA-1", "OTHER-1"}).expect("vulnerability.metadata.summary", "bad").
				expect("vulnerability.findings.totalCount", 3).expect("vulnerability.images.totalCount", 2).expect("vulnerability.tags.nodes.*.name", "old same t1").
				expect("vulnerability.repos.nodes.*.name", "checkout tools").expect("vulnerability.advisories.nodes.*.advisoryId", "CVE-1")
		}
		w.ask(`{ vulnerability(id: "CVE-0") { names metadata { summary } images { totalCount } repos { totalCount } findings { totalCount } } }`).
			expect("vulnerability.names", []any{"CVE-0"}).expect("vulnerability.metadata", nil).expect("vulnerability.images.totalCount", 0).expect("vulnerability.repos.totalCount", 0)
		known, likely, likelier := core.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)), 0.25, 0.5
		must(w.p.Feeds.ImportExploitations(w.ctx, feeds.KnownExploited, []*inventory.Exploitation{{ID: "CVE-1", KnownDate: known}}))(t)
		must(w.p.Feeds.ImportExploitations(w.ctx, feeds.EPSS, []*inventory.Exploitation{{ID: "OTHER-1", EPSS: &likely}, {ID: "CVE-1", EPSS: &likelier}, {ID: "CVE-0", EPSS: &likely}}))(t)
		const exploitation = `exploitation { knownExploited knownExploitedTime epss }`
		exploited := w.ask(`{ a: vulnerability(id: "OTHER-1") { ` + exploitation + ` } b: vulnerability(id: "CVE-0") { ` + exploitation + ` } c: vulnerability(id: "CVE-9") { ` + exploitation + ` }
			vulnerabilityMetadata { nodes { ` + exploitation + ` } } }`)
		for at, want := range map[string][]any{"a": {true, "2026-03-01T00:00:00.000Z", 0.5}, "b": {false, nil, 0.25}, "c": {false, nil, nil}, "vulnerabilityMetadata.nodes.0": {true, "2026-03-01T00:00:00.000Z", 0.5}} {
			exploited.expect(at+".exploitation.knownExploited", want[0]).expect(at+".exploitation.knownExploitedTime", want[1]).expect(at+".exploitation.epss", want[2])
		}
		w.askAs("shopper", `{ vulnerability(id: "CVE-1") { images { totalCount } repos { totalCount } findings { totalCount } advisories { totalCount } } }`).expectSuccess().
			expect("vulnerability.images.totalCount", 1).expect("vulnerability.repos.totalCount", 1).expect("vulnerability.findings.totalCount", 1).expect("vulnerability.advisories.totalCount", 0)
		w.askAs(theOwner, `{ vulnerability(id: "") { name } }`).expectErrors("INVALID_ARGUMENT")
	})
}

func TestImagesAreCompared(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		w.sbom(w.checkout, 7, "", "left-pad@1.1.0", "lodash@4.0.0")
		seven := w.point(w.checkout, "seven", 7)
		w.settle()
		const selection = ` { from { digest } to { digest } added { name version } addedCount removed { name } removedCount changed { name package { name versions { totalCount } } from to } changedCount
			findingsGone { vulnerabilityId } findingsGoneCount findingsNew { vulnerabilityId package } findingsNewCount } }`
		w.ask(`query($repo: UID!, $digest: String!, $tag: UID!) { compareImages(from: {repo: $repo, digest: $digest}, to: {tag: $tag})`+selection, "repo", w.checkout, "digest", digest(1), "tag", seven).
			expect("compareImages.added.*.name", "lodash").expect("compareImages.removed.*.name", "express").expect("compareImages.changed.*.name", "left-pad").expect("compareImages.changed.*.package.name", "left-pad").
			expect("compareImages.changed.0.from", []any{"1.2.0"}).expect("compareImages.changed.0.to", []any{"1.1.0"}).
			expect("compareImages.findingsGone.*.vulnerabilityId", "CVE-3").expect("compareImages.findingsNewCount", 0).expect("compareImages.addedCount", 1)
		w.ask(`query($repo: UID!, $digest: String!, $tag: UID!) { compareImages(to: {repo: $repo, digest: $digest}, from: {tag: $tag})`+selection, "repo", w.checkout, "digest", digest(2), "tag", seven).
			expect("compareImages.findingsGone.*.vulnerabilityId", "CVE-1").expect("compareImages.findingsNewCount", 0)
		w.askAs(theOwner, `query($repo: UID!) { compareImages(from: {repo: $repo}, to: {repo: $repo})`+selection, "repo", w.checkout).expectErrors("INVALID_ARGUMENT compareImages")
		w.askAs("shopper", `query($repo: UID!, $digest: String!, $tag: UID!) { compareImages(from: {repo: $repo, digest: $digest}, to: {tag: $tag})`+selection, "repo", w.tools, "digest", digest(4), "tag", seven).
			expectErrors("PERMISSION_DENIED compareImages")
	})
}

func TestCallersOfASubgroupSeeWhatItsImagesHold(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		all := w.ask(`{ packages { nodes { name uid id versions { nodes { uid id version } } } } }`)
		got := w.askAs("shopper", `{ packages { totalCount nodes { name versions { totalCount nodes { version images { totalCount nodes { repo { name } } } tags { totalCount } repos { totalCount } advisories { nodes { advisoryId } } } } } } }`).expectSuccess().
			expect("packages.totalCount", 3).expect("packages.nodes.2.versions.nodes.*.version", "1.2.0 1.3.0").expect("packages.nodes.2.versions.nodes.*.images.totalCount", "1 1").
			expect("packages.nodes.2.versions.nodes.0.advisories.nodes.*.advisoryId", "CVE-1")
		_ = got
		w.askAs("shopper", `query($id: ID!, $uid: UID!) { node(id: $id) { ... on Package { name versions { totalCount } } } package(uid: $uid) { name } }`, "id", all.text("packages.nodes.2.id"), "uid", all.uid("packages.nodes.1.uid")).
			expectSuccess().expect("node.versions.totalCount", 2).expect("package.name", "express")
		w.askAs("shopper", `query($a: UID!, $b: UID!) { a: packageVersion(uid: $a) { version } b: packageVersion(uid: $b) { version } }`,
			"a", all.uid("packages.nodes.2.versions.nodes.0.uid"), "b", all.uid("packages.nodes.2.versions.nodes.3.uid")).
			expectErrors("NOT_FOUND a").expect("b.version", "1.3.0")
		w.askAs("shopper", `query($lab: UID!) { packages(within: $lab) { totalCount } }`, "lab", w.lab).expectErrors("PERMISSION_DENIED packages")
		w.member(w.shop, "puller", w.role(w.shop, "repos and tags", core.CapTagList, core.CapRepoList))
		w.askAs("puller", `{ packages { totalCount } plain: repos { totalCount } repos(where: {package: {name: "left-pad"}}) { totalCount } tags(where: {openSeverities: [LOW]}) { totalCount } worst: repos(orderBy: {field: OPEN_SEVERITY}) { totalCount } }`).
			expectErrors("PERMISSION_DENIED packages", "PERMISSION_DENIED repos", "PERMISSION_DENIED tags", "PERMISSION_DENIED worst").expect("plain.totalCount", 1)
	})
}

func TestListsOfPackagesPage(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		for n := 10; n < 15; n++ {
			w.sbom(w.tools, n, "", "left-pad@1.2.0", "x@1.0.0", "y@2.0.0")
			w.point(w.tools, "n"+digest(n)[69:], n)
		}
		w.settle()
		version := w.ask(`{ packages(where: {names: ["left-pad"]}) { nodes { versions(where: {versions: ["1.2.0"]}) { nodes { uid } } } } }`).uid("packages.nodes.0.versions.nodes.0.uid")
		for _, list := range []struct{ before, list, node, after, path string }{
			{"", "packages", "uid", "", "packages"}, {"package(uid: $package) {", "versions", "uid", "}", "package.versions"},
			{"packageVersion(uid: $version) {", "images", "digest", "}", "packageVersion.images"}, {"packageVersion(uid: $version) {", "tags", "uid", "}", "packageVersion.tags"},
			{"packageVersion(uid: $version) {", "repos", "uid", "}", "packageVersion.repos"}, {"packageVersion(uid: $version) {", "advisories", "uid", "}", "packageVersion.advisories"},
			{`vulnerability(id: "CVE-1") {`, "images", "digest", "}", "vulnerability.images"},
			{`vulnerability(id: "CVE-1") {`, "tags", "uid", "}", "vulnerability.tags"},
		} {
			var want []string
			for _, page := range [][3]string{{"first", "after", "end"}, {"last", "before", "start"}} {
				var seen []string
				for cursor := ""; len(seen) < 20; {
					got := w.ask(`query($cursor: String, $package: UID!, $version: UID!) {`+list.before+list.list+`(`+page[0]+`: 2, `+page[1]+`: $cursor) { totalCount nodes { `+list.node+` } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`+list.after+
						` unused: package(uid: $package) { uid } v: packageVersion(uid: $version) { uid } }`, "cursor", cursor, "package", version.Parent(), "version", version)
					shown := strings.Fields(got.text(list.path + ".nodes.*." + list.node))
					if page[0] == "first" {
						seen = append(seen, shown...)
					} else {
						seen = append(shown, seen...)
					}
					if got.value(list.path+".pageInfo."+map[string]string{"first": "hasNextPage", "last": "hasPreviousPage"}[page[0]]) == false {
						got.expect(list.path+".totalCount", len(seen))
						break
					}
					cursor = got.text(list.path + ".pageInfo." + page[2] + "Cursor")
				}
				if want == nil {
					want = seen
				}
				if strings.Join(seen, " ") != strings.Join(want, " ") || len(seen) == 0 {
					t.Errorf("%s backward shows %v, want %v", list.path, seen, want)
				}
			}
		}
	})
}

// The statements of a request do not grow with its pages.
func TestQuestionsAboutImagesTakeFewStatements(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		for n := 20; n < 30; n++ {
			repo := w.repo(w.shop, "r"+digest(n)[69:])
			w.sbom(repo, n, "", "left-pad@1.2."+digest(n)[70:], "express@4.0.0")
			w.point(repo, "latest", n)
		}
		w.settle()
		for _, c := range []struct {
			name, query string
			statements  int64
		}{
			{"findings", `{ findings { totalCount nodes { package } } }`, 2},
			{"findings with all around them", `{ findings { nodes { advisory { advisoryId } repo { name } image { digest } tags { nodes { name } } assignee { name } fixedIn(first: 1) { nodes { name } } } } }`, 6},
			{"findings of repos", `{ repos { nodes { findings { totalCount nodes { package } } findingSummary { open { total } } } } }`, 4},
			{"findings of tags", `{ tags { nodes { findings { totalCount nodes { package } } findingSummary { open { total } } } } }`, 4},
			{"findings of images of tags", `{ findings { nodes { image { findings { totalCount nodes { package } } findingSummary { open { total } } } } } }`, 5},
			{"findings of advisories", `{ advisories { nodes { findings { totalCount nodes { package } } affected { versions } } } }`, 4},
			{"summaries of groups", `{ groups { nodes { findingSummary { open { total } affectedRepos } } } }`, 2},
			{"facets", `{ findings { facets { severities { count } repos { repo { name } } groups { group { name } } } } repos { nodes { findings { facets { states { count } } } } } }`, 9},
			{"packages with what holds them", `{ packages { totalCount nodes { versions { totalCount nodes { images { totalCount nodes { repo { name } } } tags { totalCount nodes { name } } repos { totalCount nodes { name } } advisories { totalCount nodes { advisoryId } } } } } } }`, 14},
			{"one version of each package", `{ packages { nodes { versions(where: {versions: ["4.0.0"]}) { nodes { version } } } } }`, 2},
			{"packages of images", `{ findings { nodes { image { packages { totalCount nodes { name version } } } } } }`, 6},
			{"repos by a package", `{ repos(where: {package: {name: "left-pad", versionBelow: "1.3.0"}}) { totalCount nodes { name } } }`, 4},
			{"the worst repos", `{ repos(where: {openSeverities: [CRITICAL]}, orderBy: {field: OPEN_SEVERITY, direction: DESC}) { totalCount nodes { name } } }`, 2},
			{"a vulnerability", `{ vulnerability(id: "CVE-1") { findings { totalCount nodes { package } } images { totalCount nodes { digest } } repos { totalCount nodes { name } } tags { totalCount nodes { name } } } }`, 10},
		} {
			got := w.ask(c.query)
			t.Logf("%s: %d statements, cost %d", c.name, got.statements, got.Extensions.Cost.Requested)
			if got.statements != c.statements {
				t.Errorf("%s take %d statements, want %d", c.name, got.statements, c.statements)
			}
		}
	})
}
