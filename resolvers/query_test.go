package resolvers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/graph"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// everyQuery has a query for each root field: its arguments, the path of a value in the
// answer, and that value.
var everyQuery = []struct {
	field, query, path string
	want               any
}{
	{"ping", `{ ping }`, "ping", "pong"},
	{"node", `query($id: ID!) { node(id: $id) { id __typename } }`, "node.__typename", "Group"},
	{"nodes", `query($id: ID!) { nodes(ids: [$id]) { ... on Group { name } } }`, "nodes.*.name", "acme"},
	{"viewer", `{ viewer { identities { name } } }`, "viewer.identities.*.name", "owner"},
	{"group", `query($org: UID!) { group(uid: $org) { name description kind status verified resourceLimits { name limit } } }`, "group.name", "acme"},
	{"groups", `query($org: UID!) { groups(within: $org, directOnly: true) { nodes { name } } }`, "groups.nodes.*.name", "team"},
	{"identity", `query($owner: UID!) { identity(uid: $owner) { name claimMatch { issuer subject audience claims } staticKeys { issuer } lastSeenTime } }`, "identity.claimMatch.subject", theOwner},
	{"identities", `{ identities(where: {name: "ann"}) { nodes { name } } }`, "identities.nodes.*.name", "ann"},
	{"feedPosition", `{ viewer { identities { name } } feedPosition }`, "viewer.identities.*.name", "owner"},
	{"lookupIdentity", `{ lookupIdentity(issuer: "https://issuer.example.com", subject: "ann") }`, "lookupIdentity", nil},
	{"role", `{ role(uid: "7872e984573b3a80d1d5dcf9ac7fd799d10a760c") { name createTime group { name } } }`, "role.name", "owner"},
	{"roles", `{ roles(directOnly: true, where: {name: "editor"}) { nodes { name capabilities } } }`, "roles.nodes.*.name", "editor"},
	{"roleBinding", `query($binding: UID!) { roleBinding(uid: $binding) { role { name } } }`, "roleBinding.role.name", "owner"},
	{"roleBindings", `query($org: UID!) { roleBindings(where: {group: $org}) { nodes { identity { name } } } }`, "roleBindings.nodes.*.identity.name", "owner"},
	{"repo", `query($repo: UID!) { repo(uid: $repo) { name readme catalogTier syncConfig { source } bundles } }`, "repo.readme", "# r01"},
	{"repos", `{ repos(first: 2) { nodes { name } } }`, "repos.nodes.*.name", "r00 r01"},
	{"search", `{ search(query: "R01", kinds: [REPO, TAG]) { edges { cursor matchedField node { ... on Node { id } ... on Repo { name } } } nodes { ... on Repo { name } } pageInfo { hasNextPage endCursor } } }`, "search.edges.*.matchedField", "NAME"},
	{"tag", `query($tag: UID!) { tag(uid: $tag) { name digest image { architectures size arm: size(architecture: "arm64") sizes { architecture size } } } }`, "tag.image.size", 1000},
	{"tags", `query($repo: UID!) { tags(within: $repo, directOnly: true, where: {deprecated: true}) { nodes { name } } }`, "tags.nodes.*.name", "t01"},
	{"advisory", `query($advisory: UID!) { advisory(uid: $advisory) { advisoryId aliases events { type uid detail { ... on AdvisoryFix { fixedVersion note } ... on AdvisoryDetection { nvdapi { cpeFound } } } } } }`, "advisory.events.0.type", "FIXED"},
	{"advisorySummary", `query($org: UID!) { advisorySummary(within: $org) { open { total critical high medium low none unknown } fixed { total unknown } notAffected { total } } }`, "advisorySummary.fixed.total", 3},
	{"advisories", `{ advisories(where: {artifactNames: ["r01"], eventTypes: [FIXED]}) { nodes { advisoryId vulnerabilities { vulnerabilityId } } } }`, "advisories.nodes.0.vulnerabilities.*.vulnerabilityId", "GO-01"},
	{"vulnerabilityMetadata", `{ vulnerabilityMetadata(where: {vulnerabilityIds: ["CVE-01"]}) { nodes { vulnerabilityId summary exposure { names advisories { totalCount } } relatedVulnerabilities { summary } upstreamVulnerabilities { summary } severities { type vector } references { type url } } } }`, "vulnerabilityMetadata.nodes.*.severities.0.type", "CVSS_V3"},
	{"advisoryDocuments", `{ advisoryDocuments(where: {documentId: "r01", cves: ["CVE-01"]}) { nodes { documentId advisories { nodes { advisoryId vulnerability { name } aliases packageNamespace events { type timestamp detail { ... on DocumentFix { fixedVersion } ... on DocumentDetection { nvdapi { cpeFound } scanv1 { componentName } } } } } } } } }`, "advisoryDocuments.nodes.0.advisories.nodes.*.advisoryId", "GO-01"},
	{"resolvedVulnerabilities", `query($repo: String!, $since: DateTime!, $until: DateTime!) { resolvedVulnerabilities(images: [{repo: "r00", tags: ["t00", "t02"]}, {repo: $repo, tags: ["t01"]}], startTime: $since, endTime: $until) {
		date imageRef { repoUid repo { name } tags } resolvedVulns { advisoryId vulnerability { name metadata { summary } } aliases cvssSeverities { type vector } } } }`, "resolvedVulnerabilities.2.resolvedVulns.0.cvssSeverities.*.type", "CVSS_V3"},
	{"artifact", `query($artifact: UID!) { artifact(uid: $artifact) { name createTime updateTime versions(first: 1) { nodes { version } } } }`, "artifact.versions.nodes.*.version", "1.12"},
	{"artifacts", `{ artifacts(where: {ecosystems: [PYTHON], query: "P0"}) { nodes { name ecosystem } } }`, "artifacts.nodes.*.name", "p00 p01"},
	{"artifactCounts", `{ artifactCounts(ecosystems: [JAVA]) { ecosystem totalCount } }`, "artifactCounts.0.totalCount", 2},
	{"identityProvider", `query($provider: UID!) { identityProvider(uid: $provider) { name description defaultRoleUid defaultRole { name } group { name } createTime updateTime
		oidc { issuer clientId additionalScopes groupsClaim correlationRule pkceEnabled } mappings { nodes { externalGroupId } } } }`, "identityProvider.mappings.nodes.*.externalGroupId", "staff"},
	{"identityProviders", `{ identityProviders(where: {name: "okta"}) { nodes { defaultRole { name } } } }`, "identityProviders.nodes.*.defaultRole.name", "viewer"},
	{"accountAssociation", `query($team: UID!) { accountAssociation(uid: $team) { uid name amazon { account } google { projectId } platform { serviceBindings services { name identityUid identity { name } } } azure { tenantId } github { appInstallations { appId } } group { name } } }`, "accountAssociation.amazon.account", "123456789012"},
	{"accountAssociations", `query($team: UID!) { accountAssociations(within: $team, directOnly: true, where: {name: "accounts"}) { nodes { group { name } } } }`, "accountAssociations.nodes.*.group.name", "team"},
	{"groupInvite", `query($invite: UID!) { groupInvite(uid: $invite) { roleUid email expirationTime singleUse code keyId createTime group { name } role { name capabilities } } }`, "groupInvite.role.name", "viewer"},
	{"groupInvites", `query($team: UID!) { groupInvites(within: $team, directOnly: true, orderBy: {field: EXPIRATION_TIME}) { nodes { singleUse } } }`, "groupInvites.nodes.*.singleUse", "true"},
	{"externalGroupRoleMapping", `query($mapping: UID!) { externalGroupRoleMapping(uid: $mapping) { identityProviderUid externalGroupId roleUid scopeUid createTime identityProvider { name } role { name } scope { name } } }`, "externalGroupRoleMapping.identityProvider.name", "okta"},
	{"externalGroupRoleMappings", `query($provider: UID!) { externalGroupRoleMappings(within: $provider, directOnly: true, where: {externalGroupId: "staff", identityProvider: $provider}) { nodes { scope { name } } } }`, "externalGroupRoleMappings.nodes.*.scope.name", "acme"},
	{"termsAcceptances", `query($team: UID!) { termsAcceptances(within: $team, orderBy: {field: DOC_ID, direction: DESC}) { nodes { docId orgUid acceptedBy acceptedByIdentity { name } createTime group { name } } } }`, "termsAcceptances.nodes.*.group.name", "acme"},
	{"subscription", `query($sink: UID!) { subscription(uid: $sink) { sink types } }`, "subscription.sink", "https://hooks.example.com/a"},
	{"accessAt", `query($org: UID!, $since: DateTime!) { accessAt(within: $org, time: $since) { complete recordedSince edges { cursor node { identityName } } nodes { bindingUid binding { role { name } } groupUid groupName group { name } identityUid identity { name } roleUid roleName role { name } capabilities createTime expireTime } pageInfo { hasNextPage } } }`, "accessAt.complete", true},
	{"accessChanges", `query($org: UID!, $since: DateTime!, $until: DateTime!) { accessChanges(within: $org, from: $since, to: $until, first: 1) { complete recordedSince edges { cursor node { kind } } nodes { kind event { id time actor { subject } } before { roleName } after { roleName } roleUid roleName role { name } addedCapabilities removedCapabilities } pageInfo { hasNextPage } } }`, "accessChanges.nodes.*.kind", "GIVEN"},
	{"auditLog", `query($org: UID!, $owner: String!, $since: DateTime!, $until: DateTime!) { auditLog(within: $org, actor: $owner, kinds: [IAM_IDENTITY_PROVIDER_CREATED], since: $since, until: $until, denied: false, first: 1) {
		edges { cursor node { id } } nodes { id type subject groupUid time actor { subject act } body denied count } pageInfo { hasNextPage endCursor } } }`, "auditLog.nodes.*.denied", "<nil>"},
	{"advisoryActivity", `query($org: UID!) { advisoryActivity(within: $org, interval: WEEK) { time opened fixed } }`, "advisoryActivity.29.opened", 3},
	{"auditLogSummary", `query($org: UID!) { auditLogSummary(within: $org, since: "2020-01-01T00:00:00Z") { complete } }`, "auditLogSummary.complete", true},
	{"auditLogRuns", `query($org: UID!, $owner: String!) { auditLogRuns(within: $org, actor: $owner, kinds: [IAM_IDENTITY_PROVIDER_CREATED]) {
		edges { cursor node { count } } nodes { newest { id kind body } oldestId oldestTime count } pageInfo { hasNextPage endCursor } } }`, "auditLogRuns.nodes.*.newest.kind", "IAM_IDENTITY_PROVIDER_CREATED"},
	{"findingActivity", `query($org: UID!) { findingActivity(within: $org) { time open { total critical unknown } } }`, "findingActivity.29.open.total", 6},
	{"topVulnerabilities", `{ topVulnerabilities { totalCount nodes { findings images repos } } }`, "topVulnerabilities.totalCount", nil},
	{"topPackages", `{ topPackages(first: 1) { totalCount nodes { package findings } } }`, "topPackages.nodes.*.findings", nil},
	{"upgrades", `{ upgrades(first: 1) { totalCount nodes { package to gone { total } } } }`, "upgrades.nodes.*.gone.total", nil},
	{"acceptanceRules", `query($org: UID!) { acceptanceRules(within: $org) { uid } }`, "acceptanceRules", []any{}},
	{"duePolicy", `query($org: UID!) { duePolicy(within: $org) { withinUid } }`, "duePolicy", nil},
	{"acceptanceRulePreview", `query($org: UID!) { acceptanceRulePreview(within: $org, where: {maxSeverity: LOW}) { totalCount } }`, "acceptanceRulePreview.totalCount", 0},
	{"remediationActivity", `query($org: UID!) { remediationActivity(within: $org) { time opened { total } timeToFix { count } } }`, "remediationActivity.29.opened.total", nil},
	{"eventActivity", `query($org: UID!) { eventActivity(within: $org, from: null, kinds: [IAM_TERMS_ACCEPTED]) { time made refused } }`, "eventActivity.29.made", 1},
	{"subscriptions", `{ subscriptions(where: {sink: "https://hooks.example.com/a"}) { nodes { sink group { name } } } }`, "subscriptions.nodes.*.group.name", "acme"},
}

// isOwn reports whether a root field reads or changes a kind that is not in the
// reference. internal/cases tests these kinds in every protocol.
func isOwn(field string) bool {
	return slices.ContainsFunc(platform.Kinds(), func(k core.KindInfo) bool {
		isOperation := field == k.Plural || slices.ContainsFunc([]string{"", "create", "update", "delete"}, func(verb string) bool {
			return strings.EqualFold(field, verb+k.Name)
		})
		return isOperation && k.Own
	})
}

func TestEveryQueryAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish()
	// node_test.go, finding_test.go, package_test.go and internal/cases test these.
	asked := map[string]bool{"operation": true, "_service": true, "_entities": true, "findingSummary": true, "vulnerability": true, "compareImages": true, "checkImage": true}
	for _, c := range everyQuery {
		asked[c.field] = true
		got := w.ask(c.query, variables...)
		if c.want == nil {
			continue
		}
		got.expect(c.path, c.want)
	}
	for _, field := range graph.Schema().Query.Fields {
		if !asked[field.Name] && !isOwn(field.Name) && field.Name[:2] != "__" {
			t.Errorf("the query %s is not asked by any test", field.Name)
		}
	}
}

func TestEveryVariantOfAnEventIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	note := &inventory.Note{Note: "n"}
	at := core.At(time.Date(2024, 1, 5, 0, 0, 0, 0, time.UTC))
	events := []inventory.AdvisoryEvent{
		{Findings: []byte{0, 255}, Author: "a", Reviewer: "r", ReviewState: inventory.ReviewStateRequestChanges, Issue: "i", Detection: &inventory.Detection{Manual: &struct{}{}}},
		{Detection: &inventory.Detection{ScanV1: &inventory.ScanV1{Scanner: "s", Subpackage: "p", Component: "c"}}},
		{FalsePositiveDetermination: &inventory.FalsePositiveDetermination{Type: "TYPE_INLINE_MITIGATIONS_EXIST", Note: "n"}},
		{AnalysisNotPlanned: note}, {FixNotPlanned: note}, {PendingUpstreamFix: note}, {TruePositiveDetermination: note},
		{Fixed: &inventory.Fixed{FixedVersion: "1", Note: "n"}},
		{Patched: &inventory.Patched{PatchedVersions: []string{"1"}, Note: "n"}},
	}
	for i := range events {
		events[i].CreateTime = at
	}
	ctx := core.WithActor(t.Context(), core.NewOperator("test"))
	must(w.p.Feeds.ImportAdvisories(ctx, w.org, []*inventory.Advisory{{AdvisoryID: "GO-1", ArtifactName: "a", ArtifactType: "Debian:12", Events: events,
		Severities: []inventory.Severity{{Type: "TYPE_CVSS_V2", Score: "1"}, {Type: "TYPE_CVSS_V4", Score: "2"}, {Type: "TYPE_UNSPECIFIED", Score: "high"}}}}))(t)
	const shared = `... on AdvisoryFalsePositive { type note } ... on AdvisoryAnalysisNotPlanned { note } ... on AdvisoryFixNotPlanned { note }
		... on AdvisoryPendingUpstreamFix { note } ... on AdvisoryTruePositive { note }`
	got := w.ask(`{ advisories { nodes { severities { type vector } events { type raw author reviewer reviewState issue detail { __typename ` + shared + `
			... on AdvisoryFix { fixedVersion note } ... on AdvisoryDetection { nvdapi { cpeFound } scanv1 { subpackage component } } ... on AdvisoryPatch { patchedVersions note } } } } }
		advisoryDocuments { nodes { advisories { nodes { packageNamespace events { type timestamp detail { __typename ` + shared + `
			... on DocumentFix { fixedVersion } ... on DocumentDetection { nvdapi { cpeFound } scanv1 { subpackageName componentName } } } } } } } } }`)
	types := "DETECTION DETECTION FALSE_POSITIVE_DETERMINATION ANALYSIS_NOT_PLANNED FIX_NOT_PLANNED PENDING_UPSTREAM_FIX TRUE_POSITIVE_DETERMINATION FIXED"
	one := "advisories.nodes.0."
	got.expect(one+"severities.0.type", "CVSS_V2").expect(one+"severities.1.type", "CVSS_V4").expect(one+"severities.2.type", nil).expect(one+"events.*.type", types+" PATCHED").
		expect(one+"events.0.raw", "AP8=").expect(one+"events.1.raw", nil).expect(one+"events.0.reviewState", "REQUEST_CHANGES").expect(one+"events.0.issue", "i").
		expect(one+"events.0.detail.scanv1", nil).expect(one+"events.1.detail.scanv1.subpackage", "p").expect(one+"events.8.detail.patchedVersions", []any{"1"}).expect(one+"events.7.detail.note", "n").
		expect(one+"events.*.detail.__typename", "AdvisoryDetection AdvisoryDetection AdvisoryFalsePositive AdvisoryAnalysisNotPlanned AdvisoryFixNotPlanned AdvisoryPendingUpstreamFix AdvisoryTruePositive AdvisoryFix AdvisoryPatch")
	one = "advisoryDocuments.nodes.0.advisories.nodes.0."
	got.expect(one+"packageNamespace", "Debian:12").expect(one+"events.*.type", types).expect(one+"events.0.timestamp", at.String()).expect(one+"events.1.detail.scanv1.componentName", "c").
		expect(one+"events.2.detail.type", "INLINE_MITIGATIONS_EXIST").expect(one+"events.7.detail.fixedVersion", "1")
	w.ask(`{ advisoryDocuments(where: {cves: []}) { nodes { documentId } } }`).expect("advisoryDocuments.nodes", []any{})
	const reports = `query($images: [ImageRef!]!, $from: DateTime!, $until: DateTime!) { resolvedVulnerabilities(images: $images, startTime: $from, endTime: $until) { date } }`
	const day, next = "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"
	for want, given := range map[string][]any{
		"images":  {"images", []any{}, "from", day, "until", next},
		"endTime": {"images", []any{map[string]any{"repo": "r00"}}, "from", next, "until", day},
	} {
		got := w.askAs(theOwner, reports, given...).expectErrors("INVALID_ARGUMENT resolvedVulnerabilities")
		if got.violations() != want {
			t.Errorf("the error names %q, want %q", got.violations(), want)
		}
	}
	w.askAs(nobody, `{ advisoryDocuments { nodes { documentId } } }`).expectErrors("UNAUTHENTICATED advisoryDocuments")
}

func TestConnectionsReturnTheRequestedPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.furnish()
	got := w.ask(`{ repos(first: 1, skip: 1) { totalCount skipped edges { cursor node { name } } nodes { name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`)
	got.expect("repos.totalCount", 3).expect("repos.skipped", 1).expect("repos.edges.*.node.name", "r01").expect("repos.nodes.*.name", "r01").
		expect("repos.pageInfo.hasNextPage", true).expect("repos.pageInfo.hasPreviousPage", true)
	empty := w.ask(`{ repos(skip: 9) { totalCount skipped edges { cursor } nodes { name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`)
	empty.expect("repos.totalCount", 3).expect("repos.skipped", 9).expect("repos.edges", []any{}).expect("repos.nodes", []any{}).
		expect("repos.pageInfo.hasNextPage", false).expect("repos.pageInfo.startCursor", nil).expect("repos.pageInfo.endCursor", nil)
}

func TestEdgesLeadToOtherKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish()
	got := w.ask(`query($org: UID!, $team: UID!, $repo: UID!, $ann: UID!) {
		org: group(uid: $org) {
			parent { name } ancestors { name } children { nodes { name } } descendants { nodes { name } }
			here: identities(directOnly: true) { nodes { name } } all: identities { nodes { name } }
			roles { nodes { name } } roleBindings { totalCount } repos { totalCount } direct: repos(directOnly: true) { totalCount }
			tags { totalCount } advisories { totalCount } subscriptions { nodes { sink } }
			identityProviders(directOnly: true) { nodes { name } } accountAssociation { name } invites { totalCount } own: invites(directOnly: true) { totalCount }
			termsAcceptances { nodes { docId } }
		}
		team: group(uid: $team) {
			parent { name } ancestors { name } accountAssociation { name group { name } } termsAcceptances { totalCount nodes { docId } }
			effectiveBindings { nodes { group { name } identity { name } } }
			mayDelete: effectiveBindings(capability: GROUPS_DELETE) { nodes { identity { name } } }
		}
		repo(uid: $repo) {
			group { name } tag(name: "t01") { name repo { name } } none: tag(name: "none") { name }
			advisories { nodes { advisoryId group { name } } } tags(where: {deprecated: false}) { nodes { name image { architectures } } }
		}
		identity(uid: $ann) {
			group { name } roleBindings { nodes { role { name } } } effectiveCapabilities(within: $repo)
			list: can(capability: REPO_LIST, within: $repo) delete: can(capability: REPO_DELETE, within: $repo)
		}
		viewer { roleBindings { nodes { group { name } } } capabilities(within: $repo) can(capability: TAG_DELETE, within: $repo) }
	}`, variables...)
	got.expect("org.parent", nil).expect("org.ancestors", []any{}).expect("org.children.nodes.*.name", "team").expect("org.descendants.nodes.*.name", "team").
		expect("org.here.nodes.*.name", "owner").expect("org.all.nodes.*.name", "ann owner").expect("org.roles.nodes.*.name", "lister").
		expect("org.roleBindings.totalCount", 2).expect("org.repos.totalCount", 3).expect("org.direct.totalCount", 0).
		expect("org.tags.totalCount", 9).expect("org.advisories.totalCount", 3).expect("org.subscriptions.nodes.*.sink", "https://hooks.example.com/a")
	got.expect("org.identityProviders.nodes.*.name", "okta").expect("org.accountAssociation", nil).expect("org.invites.totalCount", 1).
		expect("org.own.totalCount", 0).expect("org.termsAcceptances.nodes.*.docId", "msa")
	got.expect("team.accountAssociation.group.name", "team").expect("team.termsAcceptances.totalCount", 1).expect("team.termsAcceptances.nodes.*.docId", "msa")
	got.expect("team.parent.name", "acme").expect("team.ancestors.*.name", "acme").
		expect("team.effectiveBindings.nodes.*.group.name", "team acme").expect("team.mayDelete.nodes.*.identity.name", "owner")
	got.expect("repo.group.name", "team").expect("repo.tag.repo.name", "r01").expect("repo.none", nil).
		expect("repo.advisories.nodes.*.advisoryId", "GO-01").expect("repo.advisories.nodes.*.group.name", "acme").
		expect("repo.tags.nodes.*.name", "t00 t02").expect("repo.tags.nodes.1.image.architectures", []any{})
	got.expect("identity.group.name", "team").expect("identity.roleBindings.nodes.*.role.name", "lister").
		expect("identity.effectiveCapabilities", []any{"REPO_LIST"}).expect("identity.list", true).expect("identity.delete", false)
	got.expect("viewer.roleBindings.nodes.*.group.name", "acme").expect("viewer.can", true)
	if n := len(got.value("viewer.capabilities").([]any)); n != len(core.Capabilities()) {
		t.Errorf("an owner has %d capabilities, want all %d", n, len(core.Capabilities()))
	}
}

func TestTagsAreListedUnlessTheirClassIsLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.ask(`mutation($org: UID!) { createRepo(input: {parent: $org, name: "go"}) { repo { uid } } }`, "org", w.org).uid("createRepo.repo.uid")
	signature := "sha256-" + digest(1)[7:] + ".sig"
	for _, name := range []string{"1.2.3", "1.2.3-r4", "latest-20260327", signature} {
		w.ask(`mutation($repo: UID!, $name: String!, $digest: String!) { createTag(input: {parent: $repo, name: $name, digest: $digest}) { tag { name } } }`,
			"repo", repo, "name", name, "digest", digest(1))
	}
	got := w.ask(`{
		all: tags { nodes { name } } yes: tags(where: {excludeClasses: []}) { nodes { name } }
		plain: tags(where: {excludeClasses: [REFERRER, DATE, EPOCH]}) { totalCount nodes { name } }
		dates: tags(where: {excludeClasses: [REFERRER, EPOCH]}) { nodes { name } }
	}`)
	all := "1.2.3 1.2.3-r4 latest-20260327 " + signature
	got.expect("all.nodes.*.name", all).expect("yes.nodes.*.name", all).
		expect("plain.nodes.*.name", "1.2.3").expect("plain.totalCount", 1).expect("dates.nodes.*.name", "1.2.3 latest-20260327")
}

func TestEveryVulnerabilityOfALargePageIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := core.WithActor(t.Context(), core.NewOperator("test"))
	advisories := make([]*inventory.Advisory, 200)
	var known []*inventory.Vulnerability
	for i := range advisories {
		advisories[i] = &inventory.Advisory{AdvisoryID: fmt.Sprintf("A-%d", i), ArtifactName: "x"}
		for n := range 6 {
			name := fmt.Sprintf("V-%d-%d", i, n)
			advisories[i].Aliases = append(advisories[i].Aliases, name, name+"-too")
			known = append(known, &inventory.Vulnerability{ID: name, Aliases: []string{name + "-too"}})
		}
	}
	must(w.p.Feeds.ImportAdvisories(ctx, w.org, advisories))(t)
	must(w.p.Feeds.ImportVulnerabilities(ctx, known))(t)
	got := w.ask(`{ advisories(first: 200) { nodes { vulnerabilities { vulnerabilityId } } } }`).expectStatements(2)
	for i := range advisories {
		if n := len(got.value(fmt.Sprintf("advisories.nodes.%d.vulnerabilities", i)).([]any)); n != 6 {
			t.Fatalf("advisory %d of the page has %d vulnerabilities, want 6", i, n)
		}
	}
}
