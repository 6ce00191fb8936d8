package resolvers

import (
	"fmt"
	"strings"
	"testing"

	"atrium/graph"
	"atrium/platform/core"
)

func TestSecretsAreInNoAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range graph.Schema().Types {
		if kind.IsCompositeType() && (kind.Fields.ForName("clientSecret") != nil || kind.Fields.ForName("ttl") != nil) {
			t.Errorf("%s shows what is input only", kind.Name)
		}
	}
	provider := w.provider(w.org, "okta")
	uid, code := w.invite(w.org, false)
	if len(code) < 40 {
		t.Fatalf("the code is %q", code)
	}
	for _, c := range []struct{ kind, selection string }{
		{"mutation", `updateIdentityProvider(input: {uid: $provider, oidc: {issuer: "https://okta.example.com", clientId: "c-2", clientSecret: "hush-hush"}}) { identityProvider { name oidc { issuer clientId } } }`},
		{"query", `identityProvider(uid: $provider) { name oidc { issuer clientId groupsClaim additionalScopes } }`},
		{"query", `groupInvite(uid: $invite) { code keyId role { name } }`},
		{"query", `groupInvites { nodes { code keyId } } groups { nodes { invites { edges { node { code } } } } }`},
		{"query", `_entities(representations: [{__typename: "GroupInvite", uid: $invite}]) { ... on GroupInvite { code } }`},
	} {
		got := w.ask(operation(c.kind, c.selection), "provider", provider, "invite", uid)
		if shown := fmt.Sprint(got.Data); strings.Contains(shown, "hush") || strings.Contains(shown, code) || strings.Contains(shown, code[17:]) {
			t.Errorf("%s shows a secret: %s, want it without 'hush'", c.selection, shown)
		}
	}
}

func TestTheCodeOfAnInviteBindsItsRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	team := w.group(w.org, "team")
	invite, code := w.invite(team, true)
	const accept = `mutation($code: String!) { acceptGroupInvite(input: {code: $code}) { roleBinding { uid createTime group { name } } roleBindingEdge { cursor node { uid } } } }`
	got := w.askAs("guest", accept, "code", code) // The guest has the role only from the next request on.
	got.expectErrors("PERMISSION_DENIED acceptGroupInvite.roleBinding.group").expect("acceptGroupInvite.roleBindingEdge.cursor", "")
	if uid := got.uid("acceptGroupInvite.roleBinding.uid"); !uid.Below(team) || got.uid("acceptGroupInvite.roleBindingEdge.node.uid") != uid {
		t.Errorf("the binding is %s", uid)
	}
	w.askAs("guest", `query($team: UID!) { group(uid: $team) { name } viewer { roleBindings { nodes { role { name } } } } }`, "team", team).expectSuccess().
		expect("group.name", "team").expect("viewer.roleBindings.nodes.*.role.name", "viewer")
	w.askAs("another", accept, "code", code).expectErrors("NOT_FOUND acceptGroupInvite").expect("acceptGroupInvite", nil)
	w.askAs(theOwner, `query($i: UID!) { groupInvite(uid: $i) { code } }`, "i", invite).expectErrors("NOT_FOUND groupInvite")
	w.askAs(nobody, accept, "code", code).expectErrors("UNAUTHENTICATED acceptGroupInvite")
}

func TestAnAssociationAndItsGroupAreTwoNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.associate(w.org)
	found := w.ask(`query($org: UID!) { group(uid: $org) { id uid accountAssociation { id uid name } } }`, "org", w.org)
	group, association := found.text("group.id"), found.text("group.accountAssociation.id")
	if group == association || found.uid("group.accountAssociation.uid") != w.org {
		t.Errorf("the group is %s, its association %s", group, association)
	}
	w.ask(`query($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on Group { name } ... on AccountAssociation { name } } }`, "ids", []string{association, group}).
		expect("nodes.*.__typename", "AccountAssociation Group").expect("nodes.*.name", "accounts acme").expectStatements(2)
	gone := w.ask(`mutation($org: UID!) { deleteAccountAssociation(input: {uid: $org}) { deletedId } }`, "org", w.org)
	if gone.text("deleteAccountAssociation.deletedId") != association {
		t.Errorf("%s is deleted, want %s", gone.text("deleteAccountAssociation.deletedId"), association)
	}
	w.ask(`query($org: UID!) { group(uid: $org) { name accountAssociation { name } } }`, "org", w.org).
		expect("group.name", "acme").expect("group.accountAssociation", nil)
}

func TestGitHubAppsAreListedInTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const selected = `accountAssociation { github { appInstallations { appId installations { installationId name } } } }`
	made := w.ask(`mutation($org: UID!) { createAccountAssociation(input: {parent: $org, name: "a", github: {appInstallations: [
		{appId: "9007199254740993", installations: [{installationId: 12, name: "acme"}, {installationId: "9007199254740995"}]}, {appId: 7}]}}) { `+selected+` } }`, "org", w.org)
	want := []any{
		map[string]any{"appId": "7", "installations": []any{}},
		map[string]any{"appId": "9007199254740993", "installations": []any{
			map[string]any{"installationId": "12", "name": "acme"}, map[string]any{"installationId": "9007199254740995", "name": nil},
		}},
	}
	made.expect("createAccountAssociation.accountAssociation.github.appInstallations", want)
	w.ask(`query($org: UID!) { accountAssociation(uid: $org) { github { appInstallations { appId installations { installationId name } } } } }`, "org", w.org).
		expect("accountAssociation.github.appInstallations", want)
	// A value that was read can be written again. It replaces the old one.
	w.ask(`mutation($org: UID!, $apps: [GitHubAppInstallationsInput!]) { updateAccountAssociation(input: {uid: $org, github: {appInstallations: $apps}}) { `+selected+` } }`, "org", w.org, "apps", want).
		expect("updateAccountAssociation.accountAssociation.github.appInstallations", want)
	w.ask(`mutation($org: UID!) { updateAccountAssociation(input: {uid: $org, github: {appInstallations: [{appId: 5, installations: [{installationId: 1}]}]}}) { `+selected+` } }`, "org", w.org).
		expect("updateAccountAssociation.accountAssociation.github.appInstallations.*.appId", "5")
	update := func(github string) answer {
		return w.askAs(theOwner, `mutation($org: UID!) { updateAccountAssociation(input: {uid: $org, github: `+github+`}) { `+selected+` } }`, "org", w.org)
	}
	for _, without := range []string{`{}`, `{appInstallations: null}`, `{appInstallations: []}`} {
		if got := update(without); got.expectErrors("INVALID_ARGUMENT updateAccountAssociation").violations() != "github.appInstallations" {
			t.Errorf("%s names %q, want github.appInstallations", without, got.violations())
		}
	}
	update(`null`).expect("updateAccountAssociation.accountAssociation.github", nil)
}

func TestABatchOfMappingsIsDeletedWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	provider := w.provider(w.org, "okta")
	one, two := w.mapping(provider, "one"), w.mapping(provider, "two")
	const remove = `mutation($p: UID!, $uids: [UID!]!) { batchDeleteExternalGroupRoleMappings(input: {parent: $p, uids: $uids}) {
		externalGroupRoleMappings { id externalGroupId identityProvider { name } } deletedIds deletedUids } }`
	const left = `query($p: UID!) { identityProvider(uid: $p) { mappings { totalCount } } }`
	w.askAs(theOwner, remove, "p", provider, "uids", []core.UID{one, provider + "/0123456789abcdef"}).expectErrors("NOT_FOUND batchDeleteExternalGroupRoleMappings")
	w.ask(left, "p", provider).expect("identityProvider.mappings.totalCount", 2)
	got := w.ask(remove, "p", provider, "uids", []core.UID{two, one})
	got.expect("batchDeleteExternalGroupRoleMappings.externalGroupRoleMappings.*.externalGroupId", "two one").
		expect("batchDeleteExternalGroupRoleMappings.externalGroupRoleMappings.*.identityProvider.name", "okta okta").
		expect("batchDeleteExternalGroupRoleMappings.deletedUids", []any{string(two), string(one)})
	if ids := got.text("batchDeleteExternalGroupRoleMappings.externalGroupRoleMappings.*.id"); ids != strings.Trim(got.text("batchDeleteExternalGroupRoleMappings.deletedIds"), "[]") {
		t.Errorf("deletedIds are not those of %s", ids)
	}
	w.ask(left, "p", provider).expect("identityProvider.mappings.totalCount", 0)
}

func TestGroupsAreVisibleWithoutTheRightToSeeSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish()
	w.member(w.org, "bob", w.role(w.org, "groups", core.CapGroupsList))
	got := w.askAs("bob", operation("query", `
		groups(orderBy: {field: UID}) { nodes { name identityProviders { totalCount } accountAssociation { name } invites { totalCount } termsAcceptances { totalCount } } }
		identityProvider(uid: $provider) { name } accountAssociation(uid: $team) { name } groupInvite(uid: $invite) { keyId }
		externalGroupRoleMapping(uid: $mapping) { uid } termsAcceptances(within: $org) { totalCount }`), variables...)
	want := []string{
		"PERMISSION_DENIED identityProvider", "PERMISSION_DENIED accountAssociation", "PERMISSION_DENIED groupInvite",
		"PERMISSION_DENIED externalGroupRoleMapping", "PERMISSION_DENIED termsAcceptances",
	}
	for i := range 2 {
		for _, field := range []string{"identityProviders", "accountAssociation", "invites", "termsAcceptances"} {
			want = append(want, fmt.Sprintf("PERMISSION_DENIED groups.nodes.%d.%s", i, field))
		}
	}
	got.expectErrors(want...).expect("groups.nodes.*.name", "acme team").expect("groups.nodes.0.invites", nil).expect("termsAcceptances", nil)
	for _, mutation := range []string{
		`updateIdentityProvider(input: {uid: $provider, name: "x"}) { identityProvider { uid } }`,
		`updateAccountAssociation(input: {uid: $team, name: "x"}) { accountAssociation { uid } }`,
		`createGroupInvite(input: {parent: $team, roleUid: $owner, ttl: "60s"}) { groupInvite { code } }`,
		`batchDeleteExternalGroupRoleMappings(input: {parent: $provider, uids: [$mapping]}) { deletedUids }`,
		`acceptTerms(input: {parent: $team, documentIds: ["x"]}) { documentIds }`,
	} {
		w.askAs("bob", operation("mutation", "m: "+mutation), variables...).expectErrors("PERMISSION_DENIED m").expect("m", nil)
	}
}

func TestTermsOfAGroupArePagedOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	team := w.group(w.org, "team")
	w.accept(w.org, "msa", "privacy")
	w.accept(team, "beta")
	query := `query($team: UID!, $cursor: String) { group(uid: $team) { termsAcceptances(first: 1, after: $cursor) { totalCount nodes { docId } pageInfo { hasNextPage endCursor } } } }`
	var seen []string
	for cursor := any(nil); ; {
		got := w.ask(query, "team", team, "cursor", cursor).expect("group.termsAcceptances.totalCount", 3)
		seen = append(seen, got.text("group.termsAcceptances.nodes.*.docId"))
		if cursor = got.value("group.termsAcceptances.pageInfo.endCursor"); got.value("group.termsAcceptances.pageInfo.hasNextPage") == false {
			break
		}
	}
	if strings.Join(seen, " ") != "beta msa privacy" {
		t.Errorf("the pages hold %v", seen)
	}
	// The root field accepts the cursor of the edge.
	first := w.ask(query, "team", team, "cursor", nil).value("group.termsAcceptances.pageInfo.endCursor")
	w.ask(`query($team: UID!, $cursor: String) { termsAcceptances(within: $team, after: $cursor) { nodes { docId } } }`, "team", team, "cursor", first).
		expect("termsAcceptances.nodes.*.docId", "msa privacy")
	w.askAs(theOwner, `query($id: UID!) { termsAcceptances(within: $id) { totalCount } }`, "id", "x").expectErrors("INVALID_ARGUMENT termsAcceptances")
	w.askAs(theOwner, `query($id: UID!) { termsAcceptances(within: $id) { totalCount } }`, "id", w.org+"/0123456789abcdef").expectErrors("NOT_FOUND termsAcceptances")
}
