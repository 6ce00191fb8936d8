package resolvers

import (
	"fmt"
	"strings"
	"testing"

	"atrium/graph"
	"atrium/platform/core"
	"atrium/platform/iam"
)

func TestOneForbiddenFieldDoesNotBlankThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish() // ann may list the repos in team, and nothing else.
	got := w.askAs("ann", operation("query", `
		repos { totalCount nodes { name group { name } readme tags { nodes { name } } advisories { totalCount } } }
		tags { totalCount } roles { nodes { name } } group(uid: $team) { name } ping
		repo(uid: $repo) { name tag(name: "t00") { name } }
		viewer { identities { name group { name } } roleBindings { totalCount } can(capability: REPO_LIST, within: $repo) capabilities(within: $team) }`), variables...)
	want := []string{"PERMISSION_DENIED tags", "PERMISSION_DENIED roles", "PERMISSION_DENIED group", "PERMISSION_DENIED repo.tag",
		"PERMISSION_DENIED viewer.identities.0.group"}
	for _, i := range []string{"0", "1", "2"} {
		for _, field := range []string{"group", "tags", "advisories"} {
			want = append(want, "PERMISSION_DENIED repos.nodes."+i+"."+field)
		}
	}
	got.expectErrors(want...)
	got.expect("repos.totalCount", 3).expect("repos.nodes.*.name", "r00 r01 r02").expect("repos.nodes.*.readme", "# r00 # r01 # r02").
		expect("repos.nodes.1.tags", nil).expect("tags", nil).expect("group", nil).expect("ping", "pong").expect("repo.name", "r01").expect("repo.tag", nil).
		expect("viewer.identities.*.name", "ann").expect("viewer.can", true).expect("viewer.capabilities", []any{"REPO_LIST"})
	for _, e := range got.Errors {
		info := e.Extensions.Details[0]
		metadata, _ := info["metadata"].(map[string]any)
		if e.Extensions.Status != 7 || info["reason"] != "PERMISSION_DENIED" || metadata["capability"] == nil || !strings.Contains(e.Message, "capability") || len(e.Locations) == 0 {
			t.Errorf("a refusal is shown as %+v", e)
		}
	}
}

func TestEachSiblingIsJudgedByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.group(w.org, "one"), w.group(w.org, "two")
	w.addRegistry(one, 1, 2)
	w.addRegistry(two, 1, 2)
	// bob may list repos everywhere, but groups and tags only in group one.
	w.member(w.org, "bob", w.role(w.org, "repos", core.CapRepoList))
	bob := w.askAs("bob", `{ viewer { identities { uid } } }`).expectSuccess().uid("viewer.identities.0.uid")
	w.ask(`mutation($g: UID!, $bob: UID!, $role: UID!) { createRoleBinding(input: {parent: $g, identityUid: $bob, roleUid: $role}) { roleBinding { uid } } }`,
		"g", one, "bob", bob, "role", w.role(w.org, "tags", core.CapTagList, core.CapGroupsList))
	got := w.askAs("bob", `{ repos(orderBy: {field: UID}) { nodes { uid group { name } tags { totalCount nodes { name } } } } }`)
	allowed, denied := "0", "1"
	if !got.uid("repos.nodes.0.uid").Below(one) {
		allowed, denied = denied, allowed
	}
	got.expectErrors("PERMISSION_DENIED repos.nodes."+denied+".group", "PERMISSION_DENIED repos.nodes."+denied+".tags")
	got.expect("repos.nodes."+allowed+".group.name", "one").expect("repos.nodes."+allowed+".tags.nodes.*.name", "t00 t01").expect("repos.nodes."+denied+".tags", nil)
	if got.statements != 4 {
		t.Errorf("the page with edges took %d statements, want 4", got.statements)
	}
}

func TestFiltersOfEdgesNeverExtendAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.group(w.org, "one"), w.group(w.org, "two")
	cat := w.member(w.org, "cat", iam.ViewerRole)
	for _, g := range []core.UID{one, two} {
		w.ask(`mutation($g: UID!, $cat: UID!, $role: UID!) { createRoleBinding(input: {parent: $g, identityUid: $cat, roleUid: $role}) { roleBinding { uid } } }`, "g", g, "cat", cat, "role", iam.ViewerRole)
	}
	// dan may list identities everywhere, but bindings only in one group.
	dan := w.member(w.org, "dan", w.role(w.org, "people", core.CapIdentityList))
	w.ask(`mutation($g: UID!, $dan: UID!, $role: UID!) { createRoleBinding(input: {parent: $g, identityUid: $dan, roleUid: $role}) { roleBinding { uid } } }`,
		"g", one, "dan", dan, "role", w.role(w.org, "binders", core.CapRoleBindingsList))
	all := w.ask(`query($cat: UID!) { identity(uid: $cat) { roleBindings { nodes { uid } } } }`, "cat", cat)
	uids := strings.Fields(all.text("identity.roleBindings.nodes.*.uid"))
	if len(uids) != 3 {
		t.Fatalf("the owner sees %v, want 3 of them", uids)
	}
	for _, filter := range []string{``, `(where: {uids: $uids})`, `(orderBy: {field: UID})`} {
		query := `query($cat: UID!, $uids: [UID!]) { identity(uid: $cat) { roleBindings` + filter + ` { nodes { uid } } } skip: identities(where: {uids: $uids}) { skipped } }`
		seen := strings.Fields(w.askAs("dan", query, "cat", cat, "uids", uids).expectSuccess().text("identity.roleBindings.nodes.*.uid"))
		for _, uid := range seen {
			if !core.UID(uid).Below(one) {
				t.Errorf("roleBindings%s shows %s, which dan may not see", filter, uid)
			}
		}
		if strings.Contains(filter, "uids") && len(seen) != 1 {
			t.Errorf("roleBindings%s shows %d, want the one in the group", filter, len(seen))
		}
	}
}

func TestWithoutATokenOnlyPingAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish()
	for _, c := range everyQuery {
		got := w.askAs(nobody, c.query, variables...)
		switch c.field {
		case "ping":
			got.expectSuccess()
		case "nodes":
			got.expectErrors("UNAUTHENTICATED nodes.0")
		case "feedPosition": // asked together with the viewer
			got.expectErrors("UNAUTHENTICATED viewer", "UNAUTHENTICATED feedPosition")
		default:
			got.expectErrors("UNAUTHENTICATED " + c.field)
		}
	}
	schema := graph.Schema()
	for _, field := range schema.Mutation.Fields {
		if strings.HasPrefix(field.Name, "delete") {
			w.askAs(nobody, `mutation { `+field.Name+`(input: {uid: "x"}) { deletedUid } }`).expectErrors("UNAUTHENTICATED " + field.Name)
		}
	}
	w.askAs("stranger", `{ repos { totalCount } viewer { identities { name } } vulnerabilityMetadata { totalCount } }`).
		expectErrors("PERMISSION_DENIED repos", "PERMISSION_DENIED vulnerabilityMetadata").expect("viewer.identities", []any{})
}

func TestACallerSeesTheBindingsOfAllItsIdentities(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.member(w.org, "eve", iam.ViewerRole)
	w.askAs("eve", `{ viewer { roleBindings { nodes { role { name } } } } }`).expectSuccess().expect("viewer.roleBindings.nodes.*.role.name", "viewer")
	w.member(w.group(w.org, "team"), "eve", iam.EditorRole)
	w.askAs("eve", `{ viewer { roleBindings(orderBy: {field: CREATE_TIME, direction: ASC}) { totalCount nodes { role { name } } } } }`).expectSuccess().
		expect("viewer.roleBindings.totalCount", 2).expect("viewer.roleBindings.nodes.*.role.name", "viewer editor")
	w.askAs("eve", `query($id: UID!) { viewer { roleBindings(where: {identity: $id}) { nodes { role { name } } } } }`, "id", first).expectSuccess().
		expect("viewer.roleBindings.nodes.*.role.name", "viewer")
	w.askAs("eve", `query($id: UID!) { viewer { roleBindings(where: {identity: $id}) { totalCount } } }`, "id", w.owner).expectSuccess().
		expect("viewer.roleBindings.totalCount", 0)
	got := w.askAs("eve", `query($id: UID!) { viewer { roleBindings(where: {uids: [$id]}) { totalCount } } }`, "id", w.org)
	if got.expectErrors("INVALID_ARGUMENT viewer.roleBindings").violations() != "uids" {
		t.Errorf("it names %q, want violations of 'uids'", got.violations())
	}
}

// A binding shows its identity, group and role only to callers who may read them. The
// error is the same as that of a read.
func TestFieldsOfABindingNeedTheRightToRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	team := w.group(w.org, "team")
	w.member(team, "sue", w.role(team, "bindings alone", core.CapRoleBindingsList, core.CapRolesList))
	got := w.askAs("sue", `{ roleBindings { nodes {
		identity { uid name description } identityRead: identity { uid name description email }
		group { id name } groupRead: group { id name createTime }
		role { __typename id uid name description } roleRead: role { __typename id uid name description createTime } } } }`)
	got.expectErrors("PERMISSION_DENIED roleBindings.nodes.0.identity", "PERMISSION_DENIED roleBindings.nodes.0.identityRead",
		"PERMISSION_DENIED roleBindings.nodes.0.group", "PERMISSION_DENIED roleBindings.nodes.0.groupRead")
	messages := map[string]string{}
	for _, e := range got.Errors {
		edge := strings.TrimSuffix(fmt.Sprint(e.Path[len(e.Path)-1]), "Read")
		text := fmt.Sprint(e.Message, e.Extensions.Details)
		if known, ok := messages[edge]; ok && known != text {
			t.Errorf("%s is refused as %s, and as %s", edge, known, text)
		}
		messages[edge] = text
	}
	for _, field := range []string{"__typename", "id", "uid", "name", "description"} {
		shown, read := got.value("roleBindings.nodes.0.role."+field), got.value("roleBindings.nodes.0.roleRead."+field)
		if shown != read || field != "description" && shown == nil {
			t.Errorf("the %s of a role is shown as %v, and read as %v", field, shown, read)
		}
	}
}
