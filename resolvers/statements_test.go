package resolvers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	endpoint "atrium/internal/graphql"
	"atrium/platform/core"
	"atrium/store/storetest"
)

func TestNoQueryTakesMoreStatementsThanItsShapeNeeds(t *testing.T) {
	storetest.EachURL(t, countStatements)
}

func countStatements(t *testing.T, url string) {
	w := newWorldAt(t, url)
	team := w.group(w.org, "team")
	w.group(w.org, "other team")
	w.addRegistry(team, 50, 12)
	w.addFeed(w.org, 20)
	w.addLibraries(30)
	for _, name := range []string{"ann", "bob", "cid", "dan"} {
		w.member(team, name, w.role(team, "role of "+name, "repo.list"))
	}
	for i, g := range []core.UID{w.org, team} {
		for _, name := range []string{"okta", "entra"} {
			p := w.provider(g, name)
			w.mapping(p, "staff")
			w.mapping(p, "guests")
		}
		w.invite(g, true)
		w.associate(g)
		w.accept(g, "msa", fmt.Sprint("beta-", i))
	}
	var last core.UID
	for i := range 50 {
		last = w.subscription(team, fmt.Sprintf("https://hooks.example.com/%d", i), "dev.atrium.api.iam.group.created.v1")
	}
	w.group(team, "a team of the team")
	w.deliver(last)
	for _, c := range []struct {
		name, query string
		statements  int64
	}{
		{"a page", `{ repos(first: 10) { nodes { name } pageInfo { endCursor } edges { cursor } } }`, 1},
		{"a page with its total", `{ repos(first: 10) { totalCount nodes { name } } }`, 2},
		{"a total alone", `{ repos { totalCount } }`, 1},
		{"nothing selected of a page", `{ repos { skipped } }`, 1},
		{"bindings with what they bind", `{ roleBindings { nodes { identity { name } group { name } role { name } } } }`, 1},
		{"bindings with more than they show", `{ roleBindings { nodes { identity { name email } group { name verified } role { ...R } } } } fragment R on Role { name capabilities }`, 4},
		{"bindings with fragments of what they show", `query($no: Boolean = false) { roleBindings { nodes { identity { ...I ... on Identity { __typename } } role { id email: name @include(if: $no) } } } } fragment I on Identity { uid description }`, 1},
		{"five lists with totals", `{
			repos { totalCount nodes { name } } tags { totalCount nodes { name } } groups { totalCount nodes { name } }
			identities { totalCount nodes { name } } advisories { totalCount nodes { advisoryId } } }`, 10},
		{"tags of repos", `{ repos { nodes { tags(first: 10) { nodes { name } } } } }`, 2},
		{"tags of repos with totals", `{ repos { nodes { tags(first: 10) { totalCount nodes { name } } } } }`, 3},
		{"totals of tags alone", `{ repos { nodes { tags { totalCount } } } }`, 2},
		{"images of tags of repos", `{ repos { nodes { tags(first: 10) { nodes { image { digest size } } } } } }`, 3},
		{"the same edge under aliases", `{ repos { nodes {
			a: tags(first: 10) { nodes { image { digest } } } b: tags(first: 10) { nodes { image { size } } } } } }`, 3},
		{"the same list under aliases", `{ a: repos(first: 5) { totalCount nodes { name } } b: repos(first: 5) { totalCount nodes { uid } } }`, 2},
		{"one edge with different arguments", `{ repos { nodes { a: tags(first: 1) { nodes { name } } b: tags(first: 2) { nodes { name } } } } }`, 3},
		{"edges in fragments", `
			{ repos { ...A nodes { ...B } } }
			fragment A on RepoConnection { edges { node { tags(first: 2) { nodes { name } } } } totalCount }
			fragment B on Repo { tags(first: 2) { edges { cursor } } }`, 3},
		{"tags left out", `query($no: Boolean = false) { repos { nodes { name tags @include(if: $no) { nodes { name } } } totalCount @skip(if: true) } }`, 1},
		{"a named tag of each repo", `{ repos { nodes { tag(name: "t03") { name image { digest } } } } }`, 3},
		{"a group by its path", `{ group(path: "acme/team") { name } }`, 1},
		{"the paths of repos and groups", `{ repos { nodes { name path } } groups { nodes { path } } }`, 3},
		{"a repo by its path", `{ repo(path: "acme/team/r01") { name } }`, 1},
		{"named children and repos of groups", `{ groups { nodes { child(name: "team") { name } repo(name: "r01") { name } } } }`, 3},
		{"a search", `{ search(query: "r0") { edges { cursor matchedField node { ... on Node { id } ... on Repo { name tags(first: 1) { nodes { name } } } } } pageInfo { endCursor } } }`, 3},
		{"a search that finds several kinds", `{ search(query: "r", first: 100) { nodes { ... on Node { id } ... on Repo { name } ... on Role { name } } } }`, 3},
		{"a search of one kind in a group", `query($org: UID!) { search(query: "team", kinds: [GROUP], within: $org) { nodes { ... on Node { id } } } }`, 2},
		{"repos by a word with their total", `{ repos(where: {query: "r0", tiers: [BASE], bundles: ["x"], aliases: ["y"]}) { totalCount nodes { name } } }`, 2},
		{"tags of a group by a word", `query($org: UID!) { group(uid: $org) { tags(where: {query: "t01"}) { totalCount nodes { name } } } }`, 3},
		{"facets of repos", `{ repos(first: 5) { totalCount nodes { name } facets { tiers { value count } bundles { value count } } } }`, 5}, // Three statements count, in one round trip.
		{"facets of the repos of groups", `{ groups { nodes { repos(first: 1) { nodes { name } facets { tiers { count } bundles { count } } } } } }`, 5},
		{"advisories of tags", `{ tags(first: 20) { nodes { advisories(first: 5) { totalCount nodes { advisoryId } } } } }`, 3},
		{"summaries of tags", `{ tags(first: 20) { nodes { advisorySummary { open { total } fixed { total } } } } }`, 2},
		{"readmes", `{ repos { nodes { readme } } }`, 2},
		{"the group of each repo", `{ repos { nodes { group { name parent { name } } } } }`, 3},
		{"the repo of each tag", `{ tags { nodes { repo { name group { name } } } } }`, 3},
		{"advisories of repos", `{ repos { nodes { advisories { nodes { advisoryId vulnerabilities { vulnerabilityId } } } } } }`, 3},
		{"the worst advisories with their severities", `{ advisories(where: {severities: [HIGH, CRITICAL]}, orderBy: {field: SEVERITY, direction: DESC}) {
			totalCount nodes { severity { rating score vector version source } } } }`, 2},
		{"summaries of repos", `{ repos { nodes { advisorySummary { open { total critical } fixed { total } notAffected { total } } } } }`, 2},
		{"summaries of groups", `{ groups { nodes { advisorySummary { open { high medium low none unknown } } } } }`, 2},
		{"a summary of all and one of a group", `query($org: UID!) { all: advisorySummary { open { total } } advisorySummary(within: $org) { open { total } } }`, 2},
		{"bindings of identities", `{ identities { nodes { roleBindings { nodes { role { name } } } } } }`, 2},
		{"capabilities of identities", `{ identities { nodes { roleBindings { nodes { role { name capabilities } } } } } }`, 3},
		{"bindings of roles", `{ roles { nodes { roleBindings { totalCount nodes { identity { name email } } } } } }`, 4},
		{"what the caller may do on each object", `{ repos { nodes { viewerCan(capabilities: [REPO_UPDATE, TAG_CREATE]) viewerCapabilities } } }`, 1},
		{"what the caller may do on objects of objects", `{ repos { nodes { viewerCapabilities tags(first: 5) { nodes { viewerCan(capabilities: [TAG_DELETE]) viewerCapabilities } } } } }`, 2},
		{"who can do something in groups", `{ groups { nodes { whoCan(capability: REPO_LIST, first: 5) { edges { node { name } role { name } binding { uid group { name } } } nodes { name } } } } }`, 2},
		{"who can do something in groups, all of it", `{ groups { nodes { whoCan(capability: REPO_LIST) { totalCount edges { node { name email lastSeenTime } role { capabilities } } } } } }`, 5},
		{"what counts on groups", `{ groups { nodes { effectiveBindings { nodes { uid } } } } }`, 2},
		{"all counts of a group", `query($org: UID!) { group(uid: $org) { children { totalCount } descendants { totalCount } identities { totalCount }
			roles { totalCount } roleBindings { totalCount } repos { totalCount } tags { totalCount } advisories { totalCount } subscriptions { totalCount } } }`, 10},
		{"groups with what is in them", `{ groups { nodes { ancestors { name } children { nodes { name } } repos(first: 3) { totalCount nodes { tags(first: 2) { nodes { name } } } } } } }`, 6},
		{"vulnerabilities of advisories", `{ advisories { nodes { vulnerabilities { summary } } } }`, 2},
		{"documents by CVE", `{ advisoryDocuments(where: {cves: ["CVE-01", "CVE-02"]}) { nodes { documentId advisories { nodes { events { timestamp } } } } } }`, 2},
		{"every document", `{ advisoryDocuments { nodes { documentId } } }`, 1},
		{"a report of one image", `query($since: DateTime!, $until: DateTime!) {
			resolvedVulnerabilities(images: [{repo: "r01", tags: ["t00"]}], startTime: $since, endTime: $until) { date resolvedVulns { advisoryId } } }`, 6},
		{"a report of many images", `query($since: DateTime!, $until: DateTime!) {
			resolvedVulnerabilities(images: [{repo: "r01", tags: ["t00", "t01", "t02", "t03"]}, {repo: "r02", tags: ["t00", "t01"]}, {repo: "r03", tags: ["t11"]}], startTime: $since, endTime: $until) {
				date imageRef { repoUid } resolvedVulns { advisoryId cvssSeverities { vector } } } }`, 6},
		{"artifacts with their total", `{ artifacts(where: {ecosystems: [JAVA, PYTHON]}) { totalCount nodes { name latestVersion versionCount } } }`, 2},
		{"versions of artifacts", `{ artifacts(where: {ecosystems: [JAVA]}) { nodes { versions(first: 10) { nodes { version } } } } }`, 2},
		{"versions of artifacts with totals", `{ artifacts(where: {ecosystems: [JAVA]}) { nodes { versions(first: 10) { totalCount nodes { version artifact { name } } } } } }`, 4},
		{"counts of artifacts", `{ artifactCounts(ecosystems: [PYTHON, JAVA]) { ecosystem totalCount } }`, 1},
		{"identity providers of groups", `{ groups { nodes { identityProviders(first: 5) { nodes { name } } } } }`, 2},
		{"mappings of providers of groups", `{ groups { nodes { identityProviders { nodes { mappings(first: 5) { totalCount nodes { externalGroupId } } } } } } }`, 4},
		{"what mappings lead to", `{ externalGroupRoleMappings { totalCount nodes { identityProvider { name } role { name } scope { name } } } }`, 5},
		{"what providers lead to", `{ identityProviders { nodes { group { name } defaultRole { name } } } }`, 3},
		{"associations of groups", `{ groups { nodes { accountAssociation { name amazon { account } } } } }`, 2},
		{"groups of associations", `{ accountAssociations { totalCount nodes { group { name } } } }`, 3},
		{"invites of groups", `{ groups { nodes { invites { totalCount nodes { keyId role { name } group { name } } } } } }`, 5},
		{"terms of groups", `{ groups { nodes { termsAcceptances(first: 1) { nodes { docId group { name } } } } } }`, 3},
		{"terms of groups with totals", `{ groups { nodes { termsAcceptances { totalCount nodes { docId } } } } }`, 3},
		{"terms that count for a group, which must be there", `query($org: UID!) { termsAcceptances(within: $org) { totalCount nodes { docId } } }`, 3},
		{"deliveries of subscriptions", `{ subscriptions { nodes { deliveries(first: 10) { nodes { eventType state } } } } }`, 2},
		{"deliveries of subscriptions with totals", `{ subscriptions { nodes { deliveries(first: 10) { totalCount nodes { eventType state } } } } }`, 3},
		{"deliveries with what they are of", `{ subscriptions { nodes { deliveries(where: {state: PENDING}) { nodes { subscription { sink group { name } } } } } } }`, 4},
		{"the audit log with what it tells of", `{ auditLog(first: 200, kinds: [IAM_GROUP_CREATED, REGISTRY_REPO_CREATED, IAM_IDENTITY_CREATED]) {
			nodes { kind changes { field before after } group { name } actor { identity { name } } resource { ... on Repo { name } ... on Group { name } ... on Identity { name } } } } }`, 4},
		{"deliveries with their events", `{ subscriptions { nodes { deliveries(first: 10) { nodes { eventId event { id type } } } } } }`, 3},
		{"vulnerabilities of what advisories name", `{ advisories { nodes { vulnerability { name metadata { summary } } relatedVulnerabilities { summary } } } }`, 2},
		{"the activity of advisories and events", `query($org: UID!) { advisoryActivity(within: $org) { time opened fixed } eventActivity(within: $org, interval: WEEK) { time made refused } }`, 2},
		{"the audit log", `{ auditLog { nodes { type } edges { cursor } pageInfo { hasNextPage } } }`, 1},
		{"the audit log in runs", `query($org: UID!) { auditLogRuns(within: $org, first: 1) { nodes { count oldestTime newest { kind } } pageInfo { hasNextPage } } }`, 1},
		{"the audit log in runs, with the end of a long one", `query($org: UID!) { auditLogRuns(within: $org) { nodes { count } } }`, 5},
		{"the audit log in runs, with what it tells of", `query($org: UID!) { auditLogRuns(within: $org, first: 1) { nodes { count newest { kind changes { field } group { name } actor { identity { name } } } } } }`, 4},
		{"who the caller is", `{ viewer { identities { name roleBindings { nodes { role { name } } } } } }`, 2},
	} {
		got := w.ask(c.query, "org", w.org, "since", core.At(time.Now().Add(-time.Hour)), "until", core.At(time.Now().Add(time.Hour)))
		t.Logf("%s: %d statements in %d round trips", c.name, got.statements, got.roundTrips)
		if got.statements != c.statements {
			t.Errorf("%s took %d statements, want %d", c.name, got.statements, c.statements)
		}
	}
}

// The caller of a request goes away after its first level. Nothing below it is read.
func TestARequestThatEndsBetweenLevelsSendsNoMoreStatements(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		w.furnish()
		for _, ends := range []bool{false, true} {
			ctx, cancel := context.WithCancel(w.actor(theOwner))
			defer cancel()
			engine := NewEngine(w.p, func(ctx context.Context, object, _ string, _ int) (context.Context, func(error)) {
				return ctx, func(error) {
					if ends && object == "Query" {
						cancel()
					}
				}
			})
			var cost core.Trace
			r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"{groups(first: 9) {nodes {repos(first: 9) {nodes {tags(first: 9) {nodes {name}}}}}}}"}`))
			r.Header.Set("Content-Type", "application/json")
			presenter := newPresenter(nil)
			rw := httptest.NewRecorder()
			serveEngine(engine, presenter, endpoint.DefaultSettings(), nil).ServeHTTP(rw, r.WithContext(core.WithTrace(ctx, &cost)))
			want := int64(3)
			if ends {
				want = 1
			}
			if n := cost.Statements.Load(); n != want || strings.Contains(rw.Body.String(), `"t00"`) == ends {
				t.Errorf("a request that ends: %t takes %d statements, want %d: %s", ends, n, want, rw.Body)
			}
		}
	})
}
