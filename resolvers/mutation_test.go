package resolvers

import (
	"strings"
	"testing"

	"atrium/graph"
	"atrium/graph/scalar"
)

// everyMutation is a sequence of mutations. A step may use the results of earlier steps,
// by the names under which they were kept.
var everyMutation = []struct {
	field, query, path string
	want               any
	keep, keepAs       string
}{
	{"createGroup", `mutation($org: UID!) { createGroup(input: {parent: $org, name: "team", description: "one"}) { group { id uid name createTime } groupEdge { cursor node { name } } } }`, "createGroup.groupEdge.node.name", "team", "createGroup.group.uid", "team"},
	{"updateGroup", `mutation($team: UID!) { updateGroup(input: {uid: $team, labels: [{key: "team", value: "red"}, {key: "env", value: "prod"}]}) { group { labels { key value } } } }`, "updateGroup.group.labels.*.key", "env team", "", ""},
	{"updateGroup", `mutation($team: UID!) { updateGroup(input: {uid: $team, description: null}) { group { name description parent { name } } } }`, "updateGroup.group.description", nil, "", ""},
	{"createIdentity", `mutation($team: UID!, $iss: String!) { createIdentity(input: {parent: $team, name: "ann", company: "acme", claimMatch: {issuer: $iss, subject: "ann", claims: {team: "red"}}}) { identity { uid claimMatch { subject claims } } identityEdge { cursor } } }`, "createIdentity.identity.claimMatch.claims", map[string]any{"team": "red"}, "createIdentity.identity.uid", "ann"},
	{"updateIdentity", `mutation($ann: UID!) { updateIdentity(input: {uid: $ann, name: "anna", company: "x", updateMask: ["name"]}) { identity { name company claimMatch { issuer } } } }`, "updateIdentity.identity.company", "acme", "", ""},
	{"createRole", `mutation($org: UID!) { createRole(input: {parent: $org, name: "lister", capabilities: [REPO_LIST, MANIFEST_METADATA_LIST]}) { role { uid capabilities group { name } } roleEdge { cursor } } }`, "createRole.role.capabilities", []any{"REPO_LIST", "MANIFEST_METADATA_LIST"}, "createRole.role.uid", "role"},
	{"updateRole", `mutation($role: UID!) { updateRole(input: {uid: $role, capabilities: [GROUP_INVITES_LIST]}) { role { name capabilities } } }`, "updateRole.role.capabilities", []any{"GROUP_INVITES_LIST"}, "", ""},
	{"createRoleBinding", `mutation($team: UID!, $ann: UID!, $role: UID!) { createRoleBinding(input: {parent: $team, identityUid: $ann, roleUid: $role}) { roleBinding { uid identity { name } group { name } role { name } } roleBindingEdge { cursor } } }`, "createRoleBinding.roleBinding.identity.name", "anna", "createRoleBinding.roleBinding.uid", "binding"},
	{"updateRoleBinding", `mutation($binding: UID!, $viewer: UID!) { updateRoleBinding(input: {uid: $binding, roleUid: $viewer}) { roleBinding { identity { name } role { name } } } }`, "updateRoleBinding.roleBinding.role.name", "viewer", "", ""},
	{"batchCreateRoleBindings", `mutation($team: UID!, $ann: UID!, $role: UID!, $owner: UID!) { batchCreateRoleBindings(input: {parent: $team, roleUid: $role, requests: [{roleBinding: {identityUid: $ann}}, {parent: $team, roleBinding: {identityUid: $owner, roleUid: $role}}]}) { roleBindings { role { name } identity { name } } roleBindingEdges { cursor node { uid } } } }`, "batchCreateRoleBindings.roleBindings.*.identity.name", "anna owner", "batchCreateRoleBindings.roleBindingEdges.0.node.uid", "binding"},
	{"deleteRoleBinding", `mutation($binding: UID!) { deleteRoleBinding(input: {uid: $binding}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"confirmRoleBindings", `mutation($second: UID!, $viewer: UID!) { confirmRoleBindings(input: {requests: [{uid: $second, roleUid: $viewer, expireTime: null}], note: "still here"}) { roleBindings { reviewTime reviewNote reviewer { name } } } }`, "confirmRoleBindings.roleBindings.*.reviewer.name", "owner", "", ""},
	{"batchDeleteRoleBindings", `mutation($second: UID!) { batchDeleteRoleBindings(input: {uids: [$second], note: "left"}) { deletedIds deletedUids } }`, "", nil, "", ""},
	{"createRepo", `mutation($team: UID!) { createRepo(input: {parent: $team, name: "go", catalogTier: BASE, bundles: ["b"], syncConfig: {source: "docker.io/go", google: "g"}}) { repo { uid catalogTier syncConfig { source google amazon } } repoEdge { cursor } } }`, "createRepo.repo.syncConfig", map[string]any{"source": "docker.io/go", "google": "g", "amazon": nil}, "createRepo.repo.uid", "repo"},
	{"updateRepo", `mutation($repo: UID!) { updateRepo(input: {uid: $repo, catalogTier: null, aliases: ["golang"], syncConfig: null}) { repo { name catalogTier aliases bundles syncConfig { source } } } }`, "updateRepo.repo", map[string]any{"name": "go", "catalogTier": nil, "aliases": []any{"golang"}, "bundles": []any{"b"}, "syncConfig": nil}, "", ""},
	{"updateRepoReadme", `mutation($repo: UID!) { updateRepoReadme(input: {uid: $repo, content: "# Go"}) { repo { name readme } } }`, "updateRepoReadme.repo.readme", "# Go", "", ""},
	{"createTag", `mutation($repo: UID!, $digest: String!) { createTag(input: {parent: $repo, name: "1.2", digest: $digest, deprecated: true}) { tag { uid deprecated repo { name } } tagEdge { cursor } } }`, "createTag.tag.deprecated", true, "createTag.tag.uid", "tag"},
	{"deleteTag", `mutation($tag: UID!) { deleteTag(input: {uid: $tag}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"batchCreateTags", `mutation($repo: UID!, $digest: String!) { batchCreateTags(input: {requests: [{parent: $repo, name: "1.3", digest: $digest}, {parent: $repo, name: "1.4", digest: $digest, bundles: ["b"]}]}) { tags { uid name bundles repo { name } } } }`, "batchCreateTags.tags.*.name", "1.3 1.4", "batchCreateTags.tags.0.uid", "tag"},
	{"batchCreateTags", `mutation($repo: UID!, $digest: String!) { batchCreateTags(input: {requests: [{parent: $repo, name: "1.4", digest: $digest, deprecated: true}]}) { tags { uid deprecated } } }`, "batchCreateTags.tags.*.deprecated", "true", "batchCreateTags.tags.0.uid", "tag2"},
	{"batchUpdateRepos", `mutation($repo: UID!) { batchUpdateRepos(input: {requests: [{uid: $repo, description: "many", catalogTier: null}]}) { repos { name description catalogTier tags { totalCount } } } }`, "batchUpdateRepos.repos.*.description", "many", "", ""},
	{"batchDeleteTags", `mutation($tag: UID!, $tag2: UID!) { batchDeleteTags(input: {uids: [$tag, $tag2]}) { deletedIds deletedUids } }`, "", nil, "", ""},
	{"deleteRepo", `mutation($repo: UID!) { deleteRepo(input: {uid: $repo}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"createSubscription", `mutation($team: UID!) { createSubscription(input: {parent: $team, sink: "https://hooks.example.com/a", types: ["dev.atrium.api.iam.group.created.v1"]}) { subscription { uid types sink } subscriptionEdge { cursor } secret } }`, "createSubscription.subscription.types", []any{"dev.atrium.api.iam.group.created.v1"}, "createSubscription.subscription.uid", "sink"},
	{"rotateSubscriptionSecret", `mutation($sink: UID!) { rotateSubscriptionSecret(input: {uid: $sink}) { subscription { sink group { name } } secret } }`, "rotateSubscriptionSecret.subscription.group.name", "team", "", ""},
	{"testSubscription", `mutation($sink: UID!) { testSubscription(input: {uid: $sink}) { eventId } }`, "", nil, "", ""},
	{"enableSubscription", `mutation($sink: UID!) { enableSubscription(input: {uid: $sink}) { subscription { sink disableTime } } }`, "enableSubscription.subscription.disableTime", nil, "", ""},
	{"redeliver", `mutation($delivery: UID!) { redeliver(input: {uids: [$delivery]}) { deliveries { state subscription { sink } } } }`, "redeliver.deliveries.*.subscription.sink", "https://hooks.example.com/early", "", ""},
	{"deleteSubscription", `mutation($sink: UID!) { deleteSubscription(input: {uid: $sink}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"createSource", `mutation($team: UID!) { createSource(input: {parent: $team, name: "vex", type: VEX, url: "https://vex.example.com/vex.json", credentials: {username: "reader", password: "hush"}}) { source { uid type state interval credentials { username hasPassword } runs { number } group { name } } sourceEdge { cursor } } }`, "createSource.source.credentials.hasPassword", true, "createSource.source.uid", "source"},
	{"updateSource", `mutation($source: UID!) { updateSource(input: {uid: $source, paused: true}) { source { nextRunTime } } }`, "updateSource.source.nextRunTime", nil, "", ""},
	{"runSource", `mutation($source: UID!) { runSource(input: {uid: $source}) { source { name state } } }`, "runSource.source.state", "WAITING", "", ""},
	{"cancelSource", `mutation($source: UID!) { cancelSource(input: {uid: $source}) { source { name lastRun { state } } } }`, "cancelSource.source.lastRun", nil, "", ""},
	{"deleteSource", `mutation($source: UID!) { deleteSource(input: {uid: $source}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"createIdentityProvider", `mutation($org: UID!, $viewer: UID!) { createIdentityProvider(input: {parent: $org, name: "okta", defaultRole: $viewer, oidc: {issuer: "https://okta.example.com", clientId: "c", clientSecret: "s", additionalScopes: ["groups"], groupsClaim: "groups", correlationRule: OID_EQUALS_EXTERNAL_ID, pkceEnabled: true}}) { identityProvider { uid defaultRole { name } oidc { clientId additionalScopes groupsClaim correlationRule pkceEnabled } } identityProviderEdge { cursor node { name } } } }`, "createIdentityProvider.identityProvider.oidc", map[string]any{"clientId": "c", "additionalScopes": []any{"groups"}, "groupsClaim": "groups", "correlationRule": "OID_EQUALS_EXTERNAL_ID", "pkceEnabled": true}, "createIdentityProvider.identityProvider.uid", "provider"},
	{"updateIdentityProvider", `mutation($provider: UID!, $role: UID!) { updateIdentityProvider(input: {uid: $provider, defaultRole: $role, description: "ours"}) { identityProvider { description defaultRole { name } oidc { clientId } } } }`, "updateIdentityProvider.identityProvider.defaultRole.name", "lister", "", ""},
	{"createExternalGroupRoleMapping", `mutation($provider: UID!, $role: UID!, $team: UID!) { createExternalGroupRoleMapping(input: {parent: $provider, externalGroupId: "staff", roleUid: $role, scope: $team}) { externalGroupRoleMapping { uid scope { name } role { name } identityProvider { name } } externalGroupRoleMappingEdge { cursor } } }`, "createExternalGroupRoleMapping.externalGroupRoleMapping.scope.name", "team", "createExternalGroupRoleMapping.externalGroupRoleMapping.uid", "mapping"},
	{"deleteExternalGroupRoleMapping", `mutation($mapping: UID!) { deleteExternalGroupRoleMapping(input: {uid: $mapping}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"createExternalGroupRoleMapping", `mutation($provider: UID!, $role: UID!) { createExternalGroupRoleMapping(input: {parent: $provider, externalGroupId: "staff", roleUid: $role}) { externalGroupRoleMapping { uid } } }`, "", nil, "createExternalGroupRoleMapping.externalGroupRoleMapping.uid", "mapping"},
	{"batchDeleteExternalGroupRoleMappings", `mutation($org: UID!, $mapping: UID!) { batchDeleteExternalGroupRoleMappings(input: {parent: $org, uids: [$mapping]}) { externalGroupRoleMappings { externalGroupId scope { name } } deletedIds deletedUids } }`, "batchDeleteExternalGroupRoleMappings.externalGroupRoleMappings.*.scope.name", "acme", "", ""},
	{"verifyIdentityProvider", `mutation($provider: UID!) { verifyIdentityProvider(input: {uid: $provider}) { identityProvider { issuerVerified } } }`, "verifyIdentityProvider.identityProvider.issuerVerified", true, "", ""},
	{"deleteIdentityProvider", `mutation($provider: UID!) { deleteIdentityProvider(input: {uid: $provider}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"createAccountAssociation", `mutation($team: UID!, $ann: String!) { createAccountAssociation(input: {parent: $team, name: "accounts", google: {projectId: "p", projectNumber: "1"}, azure: {tenantId: "t", clientIds: {pull: "c"}}, platform: {serviceBindings: {ingester: $ann}}}) { accountAssociation { uid group { name } google { projectId projectNumber } azure { tenantId clientIds } platform { serviceBindings } } accountAssociationEdge { cursor } } }`, "createAccountAssociation.accountAssociation.azure", map[string]any{"tenantId": "t", "clientIds": map[string]any{"pull": "c"}}, "createAccountAssociation.accountAssociation.uid", "association"},
	{"updateAccountAssociation", `mutation($association: UID!) { updateAccountAssociation(input: {uid: $association, google: null, amazon: {account: "123"}}) { accountAssociation { google { projectId } amazon { account } azure { tenantId } } } }`, "updateAccountAssociation.accountAssociation", map[string]any{"google": nil, "amazon": map[string]any{"account": "123"}, "azure": map[string]any{"tenantId": "t"}}, "", ""},
	{"deleteAccountAssociation", `mutation($association: UID!) { deleteAccountAssociation(input: {uid: $association}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"createGroupInvite", `mutation($team: UID!, $viewer: UID!) { createGroupInvite(input: {parent: $team, roleUid: $viewer, ttl: "3600s"}) { groupInvite { uid code keyId singleUse role { name } group { name } } groupInviteEdge { cursor } } }`, "createGroupInvite.groupInvite.role.name", "viewer", "createGroupInvite.groupInvite.code", "code"},
	{"acceptGroupInvite", `mutation($code: String!) { acceptGroupInvite(input: {code: $code}) { roleBinding { uid identity { name } role { name } group { name } } roleBindingEdge { cursor node { uid } } } }`, "acceptGroupInvite.roleBinding.group.name", "team", "", ""},
	{"createGroupInvite", `mutation($team: UID!, $viewer: UID!) { createGroupInvite(input: {parent: $team, roleUid: $viewer, ttl: "60s", email: "a@example.com", singleUse: true}) { groupInvite { uid email singleUse } } }`, "createGroupInvite.groupInvite.email", "a@example.com", "createGroupInvite.groupInvite.uid", "invite"},
	{"deleteGroupInvite", `mutation($invite: UID!) { deleteGroupInvite(input: {uid: $invite}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"batchCreateGroupInvites", `mutation($team: UID!, $viewer: UID!) { batchCreateGroupInvites(input: {requests: [{parent: $team, roleUid: $viewer, ttl: "60s"}, {parent: $team, roleUid: $viewer, ttl: "60s", email: "a@example.com"}]}) { groupInvites { uid email code role { name } } } }`, "batchCreateGroupInvites.groupInvites.*.role.name", "viewer viewer", "batchCreateGroupInvites.groupInvites.1.uid", "invite"},
	{"batchDeleteGroupInvites", `mutation($invite: UID!) { batchDeleteGroupInvites(input: {uids: [$invite]}) { deletedIds deletedUids } }`, "", nil, "", ""},
	{"batchCreateSubscriptions", `mutation($team: UID!) { batchCreateSubscriptions(input: {requests: [{parent: $team, sink: "https://hooks.example.com/one", findings: {minSeverity: HIGH}}, {parent: $team, sink: "https://hooks.example.com/two"}]}) { subscriptions { uid sink findings { minSeverity } } secrets } }`, "batchCreateSubscriptions.subscriptions.*.sink", "https://hooks.example.com/one https://hooks.example.com/two", "batchCreateSubscriptions.subscriptions.1.uid", "hook"},
	{"batchDeleteSubscriptions", `mutation($hook: UID!) { batchDeleteSubscriptions(input: {uids: [$hook]}) { deletedIds deletedUids } }`, "", nil, "", ""},
	{"batchCreateIdentities", `mutation($team: UID!, $iss: String!) { batchCreateIdentities(input: {requests: [{parent: $team, name: "bob", claimMatch: {issuer: $iss, subject: "bob"}}, {parent: $team, name: "eve"}]}) { identities { uid name } } }`, "batchCreateIdentities.identities.*.name", "bob eve", "batchCreateIdentities.identities.1.uid", "eve"},
	{"batchDeleteIdentities", `mutation($eve: UID!) { batchDeleteIdentities(input: {uids: [$eve]}) { deletedIds deletedUids } }`, "", nil, "", ""},
	{"acceptTerms", `mutation($org: UID!) { acceptTerms(input: {parent: $org, documentIds: ["msa", "privacy"]}) { groupUid group { name termsAcceptances { nodes { docId } } } documentIds } }`, "acceptTerms.group.termsAcceptances.nodes.*.docId", "msa privacy", "", ""},
	{"deleteRole", `mutation($other: UID!) { deleteRole(input: {uid: $other}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"deleteIdentity", `mutation($nobody: UID!) { deleteIdentity(input: {uid: $nobody}) { deletedId deletedUid } }`, "", nil, "", ""},
	{"deleteGroup", `mutation($empty: UID!) { deleteGroup(input: {uid: $empty}) { deletedId deletedUid } }`, "", nil, "", ""},
}

func TestEveryMutationHasItsEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := map[string]any{
		"org": w.org, "owner": w.owner, "viewer": "fd3e96b609167d999bf93771df5bc582d05ea961", "iss": testIssuer, "digest": digest(1),
		"other": w.role(w.org, "other"), "empty": w.group(w.org, "empty"),
	}
	known["nobody"] = w.ask(`mutation($org: UID!) { createIdentity(input: {parent: $org, name: "nobody"}) { identity { uid } } }`, "org", w.org).text("createIdentity.identity.uid")
	known["delivery"], _ = w.deliver(w.subscription(w.org, "https://hooks.example.com/early"))
	ann := w.ask(`mutation($org: UID!) { createIdentity(input: {parent: $org, name: "second"}) { identity { uid } } }`, "org", w.org).text("createIdentity.identity.uid")
	known["second"] = w.ask(`mutation($org: UID!, $ann: UID!, $viewer: UID!) { createRoleBinding(input: {parent: $org, identityUid: $ann, roleUid: $viewer}) { roleBinding { uid } } }`,
		"org", w.org, "ann", ann, "viewer", known["viewer"]).text("createRoleBinding.roleBinding.uid")
	asked := map[string]bool{"updateFindings": true, "createAcceptanceRule": true, "deleteAcceptanceRule": true, "setDuePolicy": true, "cancelOperation": true} // finding_triage_test.go and internal/cases test them.
	for _, step := range everyMutation {
		asked[step.field] = true
		var variables []any
		for name, value := range known {
			variables = append(variables, name, value)
		}
		got := w.ask(step.query, variables...)
		if step.path != "" {
			got.expect(step.path, step.want)
		}
		if step.keep != "" {
			known[step.keepAs] = got.text(step.keep)
		}
		if strings.HasPrefix(step.field, "delete") {
			w.expectDeleted(got, step.field)
		}
	}
	for _, field := range graph.Schema().Mutation.Fields {
		if !asked[field.Name] && !isOwn(field.Name) {
			t.Errorf("the mutation %s is made by no test", field.Name)
		}
	}
}

// expectDeleted expects that a deletion returns a global id, and that nothing has that id
// any more.
func (w *world) expectDeleted(deleted answer, field string) {
	w.t.Helper()
	id := deleted.text(field + ".deletedId")
	if _, key, ok := scalar.ParseGlobalID(id); !ok || key != deleted.text(field+".deletedUid") {
		w.t.Errorf("%s answers the id %s for %s", field, id, deleted.text(field+".deletedUid"))
	}
	w.askAs(theOwner, `query($id: ID!) { node(id: $id) { id } }`, "id", id).expectErrors("NOT_FOUND node")
}

func TestMutationsOfOneRequestSeeEarlierChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.ask(`mutation($org: UID!) { createRepo(input: {parent: $org, name: "go"}) { repo { uid } } }`, "org", w.org).uid("createRepo.repo.uid")
	w.ask(`mutation($org: UID!, $repo: UID!) {
		a: updateRepo(input: {uid: $repo, description: "one"}) { repo { description group { name } } }
		b: updateGroup(input: {uid: $org, name: "renamed"}) { group { name } }
		c: updateRepo(input: {uid: $repo, description: "two"}) { repo { description group { name } } }
	}`, "org", w.org, "repo", repo).
		expect("a.repo.group.name", "acme").expect("b.group.name", "renamed").expect("c.repo.group.name", "renamed").expect("c.repo.description", "two")
}

func TestEdgesOfPayloadsContinueTheListOfTheParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var cursor string
	for _, name := range []string{"a", "b", "c"} {
		made := w.ask(`mutation($org: UID!, $name: String!) { createRepo(input: {parent: $org, name: $name}) { repoEdge { cursor } } }`, "org", w.org, "name", name)
		if name == "b" {
			cursor = made.text("createRepo.repoEdge.cursor")
		}
	}
	w.ask(`query($org: UID!, $after: String!) { repos(within: $org, directOnly: true, after: $after) { nodes { name } } }`, "org", w.org, "after", cursor).
		expect("repos.nodes.*.name", "c")
}

func TestACallerWhoMayWriteButNotReadGetsThePayload(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.member(w.org, "writer", w.role(w.org, "writer", "repo.create", "repo.update"))
	made := w.askAs("writer", `mutation($org: UID!) { createRepo(input: {parent: $org, name: "go"}) { repo { uid group { name } } repoEdge { cursor node { name } } } }`, "org", w.org)
	made.expectErrors("PERMISSION_DENIED createRepo.repo.group").expect("createRepo.repoEdge.cursor", "").expect("createRepo.repoEdge.node.name", "go")
	got := w.askAs("writer", `mutation($repo: UID!) { updateRepoReadme(input: {uid: $repo, content: "x"}) { repo { name } } }`, "repo", made.value("createRepo.repo.uid"))
	got.expectErrors("PERMISSION_DENIED updateRepoReadme.repo").expect("updateRepoReadme", map[string]any{"repo": nil})
}

func TestEverythingWrongWithAnInputIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ mutation, want string }{
		{`createRepo(input: {parent: $org, name: "NO", description: "a\nb", syncConfig: {source: ""}}) { repo { uid } }`, "name description syncConfig.source"},
		{`createIdentity(input: {parent: $org, name: "", claimMatch: {}}) { identity { uid } }`, "name claimMatch.issuer claimMatch.subject"},
		{`createTag(input: {parent: "x", name: "-", digest: "sha1"}) { tag { uid } }`, "parent name digest"},
		{`updateRepo(input: {uid: $org, name: null, updateMask: ["uid", "nope"]}) { repo { uid } }`, "updateMask"},
		{`updateRepoReadme(input: {uid: "", content: "x"}) { repo { uid } }`, "uid"},
		{`batchCreateRoleBindings(input: {parent: $org, requests: [{roleBinding: {identityUid: $org}}, {roleBinding: {identityUid: "x", roleUid: "y"}}]}) { roleBindings { uid } }`,
			"requests[0].roleBinding.roleUid requests[1].roleBinding.identityUid requests[1].roleBinding.roleUid"},
		{`batchCreateRoleBindings(input: {parent: $org, requests: [{parent: "x", roleBinding: {identityUid: $org}}]}) { roleBindings { uid } }`, "requests[0].parent"},
		{`batchCreateRoleBindings(input: {parent: $org, requests: []}) { roleBindings { uid } }`, "requests"},
		{`createIdentity(input: {parent: $org, name: "a", staticKeys: {issuer: "", subject: "", issuerKeys: "", expirationTime: "soon"}}) { identity { uid } }`, "staticKeys.expirationTime"},
		{`deleteGroup(input: {uid: "nonsense"}) { deletedUid }`, "uid"},
		{`createIdentityProvider(input: {parent: $org, name: "NO", defaultRole: "x", oidc: {issuer: "ftp://x", clientId: "", clientSecret: "a\nb"}}) { identityProvider { uid } }`,
			"name defaultRole oidc.issuer oidc.clientId oidc.clientSecret"},
		{`createAccountAssociation(input: {parent: $org, name: "", azure: {tenantId: "", clientIds: {}}, platform: {serviceBindings: {a: ""}}}) { accountAssociation { uid } }`,
			"name platform.serviceBindings.a azure.tenantId azure.clientIds"},
		{`createAccountAssociation(input: {parent: $org, name: "a", github: {appInstallations: [{appId: 9}, {appId: "7", installations: [{installationId: 1}, {installationId: 0}]}, {appId: 7}]}}) { accountAssociation { uid } }`,
			"github.appInstallations[2].appId"},
		{`createAccountAssociation(input: {parent: $org, name: "a", github: {appInstallations: [{appId: 9}, {appId: "7", installations: [{installationId: 1}, {installationId: 0}]}]}}) { accountAssociation { uid } }`,
			"github.appInstallations[1].installations[1].installationId"},
		{`createAccountAssociation(input: {parent: $org, name: "a", github: {appInstallations: [{appId: 9}, {appId: "seven"}]}}) { accountAssociation { uid } }`, "github.appInstallations[1].appId"},
		{`createGroupInvite(input: {parent: $org, roleUid: "", email: "nobody", ttl: "0s"}) { groupInvite { uid } }`, "roleUid email ttl"},
		{`createGroupInvite(input: {parent: $org, roleUid: "", ttl: "1h"}) { groupInvite { uid } }`, "ttl"},
		{`acceptGroupInvite(input: {code: ""}) { roleBinding { uid } }`, "code"},
		{`createExternalGroupRoleMapping(input: {parent: "x", externalGroupId: "", roleUid: "", scope: "y"}) { externalGroupRoleMapping { uid } }`, "parent externalGroupId roleUid scope"},
		{`batchDeleteExternalGroupRoleMappings(input: {parent: $org, uids: ["x", $org]}) { deletedUids }`, "uids[0] uids[1]"},
		{`batchDeleteExternalGroupRoleMappings(input: {parent: $org, uids: []}) { deletedUids }`, "uids"},
		{`redeliver(input: {uids: []}) { deliveries { uid } }`, "uids"},
		{`redeliver(input: {uids: [$org, "x"]}) { deliveries { uid } }`, "uids[1]"},
		{`rotateSubscriptionSecret(input: {uid: "x"}) { secret }`, "uid"},
		{`acceptTerms(input: {parent: $org, documentIds: ["a", ""]}) { documentIds }`, "documentIds[1]"},
	} {
		got := w.askAs(theOwner, operation("mutation", "m: "+c.mutation), "org", w.org)
		if got.expectErrors("INVALID_ARGUMENT m").violations() != c.want {
			t.Errorf("%s names %q, want %q", c.mutation, got.violations(), c.want)
		}
	}
}
