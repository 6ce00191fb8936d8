package resolvers

import (
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
)

// Questions of an access review, downward and upward, each in one request.
func TestQuestionsOfAnAccessReviewAreFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ask(`mutation($org: UID!) {
		idle: createIdentity(input: {parent: $org, name: "idle", claimMatch: {issuer: "https://issuer.example.org", subject: "idle"}}) { identity { uid lastSeenTime } }
	}`, "org", w.org)
	idle := made.text("idle.identity.uid")
	if made.text("idle.identity.lastSeenTime") != "<nil>" {
		t.Errorf("an identity that nobody has acted as was seen at %s", made.text("idle.identity.lastSeenTime"))
	}
	w.ask(`mutation($org: UID!, $idle: UID!, $role: UID!) {
		createRoleBinding(input: {parent: $org, identityUid: $idle, roleUid: $role, expireTime: "2999-01-01T00:00:00Z"}) { roleBinding { uid expireTime } }
	}`, "org", w.org, "idle", idle, "role", "e39bd869953ef09043c4560eed5eba4b2e482cdf").expect("createRoleBinding.roleBinding.expireTime", "2999-01-01T00:00:00.000Z")
	for where, want := range map[string]string{
		`expiring: {}`: "idle", `expiring: {before: "2999-01-02T00:00:00Z"}`: "idle", `expiring: {before: "2999-01-01T00:00:00Z"}`: "",
		`expiring: {}, capability: REPO_CREATE`: "idle", `expiring: {}, capability: GROUPS_DELETE`: "", `expiring: {}, identityKinds: [CLAIM_MATCH]`: "idle",
		`expiring: {}, identityKinds: [STATIC_KEYS, USER, NOBODY]`: "", `expiring: {}, createdSince: "2000-01-01T00:00:00Z"`: "idle", `expiring: {}, createdSince: "2999-01-01T00:00:00Z"`: "",
		`expiring: {}, identityLastSeenBefore: "2000-01-01T00:00:00Z"`: "idle", `expiring: {}, unreviewedSince: "2999-01-01T00:00:00Z"`: "idle",
		`expiring: {}, unreviewedSince: "2000-01-01T00:00:00Z"`: "", `identityKinds: []`: "",
	} {
		got := w.ask(`query($org: UID!) { group(uid: $org) { roleBindings(where: {`+where+`}) { totalCount nodes { identity { name } } }
			effectiveBindings(where: {`+where+`}) { totalCount nodes { identity { name } } } } }`, "org", w.org)
		n := 0
		if want != "" {
			n = 1
		}
		got.expect("group.roleBindings.nodes.*.identity.name", want).expect("group.effectiveBindings.nodes.*.identity.name", want)
		got.expect("group.roleBindings.totalCount", n).expect("group.effectiveBindings.totalCount", n)
	}
	w.ask(`{ identities(where: {neverSeen: true, name: "idle", withoutBindings: false}) { totalCount nodes { name } } }`).expect("identities.nodes.*.name", "idle").expect("identities.totalCount", 1)
	w.ask(`{ identities(where: {name: "idle", withoutBindings: true}) { totalCount } }`).expect("identities.totalCount", 0)
	w.ask(`{ identities(where: {name: "idle", neverSeen: false}) { totalCount } }`).expect("identities.totalCount", 0)
	// SQLite refuses an expression of a thousand conditions.
	w.ask(`query($all: [Capability!]) { roles(where: {name: "owner", capabilities: $all}) { totalCount } }`, "all", slices.Repeat([]string{"REPO_LIST"}, 1500)).expect("roles.totalCount", 1)
	w.ask(`query($all: [IdentityKind!]) { roleBindings(where: {identityKinds: $all}) { nodes { uid } } }`, "all", slices.Repeat([]string{"USER"}, 1500))
	// Whoever may not list role bindings does not learn who has none.
	w.member(w.org, "looker", w.role(w.org, "look", core.CapIdentityList))
	w.askAs("looker", `{ identities { totalCount } }`).expectSuccess()
	if got := w.askAs("looker", `{ identities(where: {withoutBindings: true}) { totalCount } }`); len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "PERMISSION_DENIED" {
		t.Errorf("without the right to list bindings: %v %+v, want PERMISSION_DENIED", got.Data, got.Errors)
	}
	w.ask(`{ roles(directOnly: true, where: {capabilities: [GROUPS_DELETE, REPO_LIST]}) { totalCount nodes { name } } }`).expect("roles.nodes.*.name", "owner").expect("roles.totalCount", 1)
	sorted := w.askAs(theOwner, `query($org: UID!) { group(uid: $org) { effectiveBindings(orderBy: {field: IDENTITY_NAME}) { nodes { identity { name } } } } }`, "org", w.org).expectSuccess()
	if names := strings.Fields(sorted.text("group.effectiveBindings.nodes.*.identity.name")); len(names) < 3 || !slices.IsSorted(names) {
		t.Errorf("sorted by name, the identities are %q", names)
	}
	for arguments, want := range map[string]string{
		`capability: REPO_LIST, where: {capability: TAG_LIST}`: "capability", `where: {uids: ["` + idle + `"]}`: "uids",
	} {
		got := w.askAs(theOwner, `query($org: UID!) { group(uid: $org) { effectiveBindings(`+arguments+`) { totalCount } } }`, "org", w.org)
		if got.expectErrors("INVALID_ARGUMENT group.effectiveBindings").violations() != want {
			t.Errorf("(%s) names %q, want %q", arguments, got.violations(), want)
		}
	}
}
