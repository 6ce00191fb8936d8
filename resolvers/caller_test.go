package resolvers

import (
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

func TestEveryObjectWithAUIDShowsTheRightsOfTheCaller(t *testing.T) {
	t.Parallel()
	for _, name := range nodeTypes() {
		object := graph.Schema().Types[name]
		for field, want := range map[string]string{"viewerCan": "Boolean!", "viewerCapabilities": "[Capability!]!"} {
			if f := object.Fields.ForName(field); f == nil || f.Type.String() != want {
				t.Errorf("%s.%s is not there, or no %s", name, field, want)
			}
		}
	}
}

// nodeTypes returns the types of all objects with a uid.
func nodeTypes() (names []string) {
	for name, object := range graph.Schema().Types {
		if object.Kind == ast.Object && slices.Contains(object.Interfaces, "Node") && object.Fields.ForName("uid") != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestTheRightsOfTheCallerFollowFromThePath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	team, other := w.group(w.org, "team"), w.group(w.org, "other")
	w.addRegistry(team, 1, 1)
	w.addRegistry(other, 1, 1)
	w.addLibraries(1)
	w.member(w.org, "ann", iam.ViewerRole)
	ann := w.ask(`{ identities(where: {name: "ann"}) { nodes { uid } } }`).uid("identities.nodes.0.uid")
	w.ask(`mutation($g: UID!, $ann: UID!, $role: UID!) { createRoleBinding(input: {parent: $g, identityUid: $ann, roleUid: $role}) { roleBinding { uid } } }`,
		"g", team, "ann", ann, "role", w.role(w.org, "pusher", core.CapTagCreate, core.CapTagDelete))
	const query = `{ repos(orderBy: {field: UID}) { nodes { uid both: viewerCan(capabilities: [REPO_LIST, TAG_CREATE]) none: viewerCan(capabilities: []) viewerCapabilities
			tags { nodes { viewerCan(capabilities: [TAG_DELETE]) } } } }
		roles(directOnly: true, where: {name: "owner"}) { nodes { viewerCapabilities viewerCan(capabilities: [ROLES_LIST]) more: viewerCan(capabilities: [ROLES_UPDATE]) } }
		artifacts(where: {ecosystems: [JAVA]}) { nodes { viewerCapabilities } } }`
	got := w.askAs("ann", query).expectSuccess()
	in, out := "0", "1"
	if !got.uid("repos.nodes.0.uid").Below(team) {
		in, out = out, in
	}
	got.expect("repos.nodes."+in+".both", true).expect("repos.nodes."+out+".both", false).expect("repos.nodes."+out+".none", true).
		expect("repos.nodes."+in+".tags.nodes.0.viewerCan", true).expect("repos.nodes."+out+".tags.nodes.0.viewerCan", false)
	held := strings.Trim(strings.ReplaceAll(got.text("repos.nodes."+in+".viewerCapabilities"), ",", " "), "[]")
	if !strings.Contains(held, "TAG_CREATE") || strings.Contains(got.text("repos.nodes."+out+".viewerCapabilities"), "TAG_CREATE") {
		t.Errorf("in the team ann holds %s", held)
	}
	// Whoever may read a built-in role anywhere can read it here, but nobody can change
	// it.
	got.expect("roles.nodes.0.viewerCapabilities", []any{"ROLES_LIST"}).expect("roles.nodes.0.viewerCan", true).expect("roles.nodes.0.more", false).
		expect("artifacts.nodes.0.viewerCapabilities", []any{"LIBRARIES_ARTIFACTS_LIST"})
	// This equals the answer of viewer.capabilities.
	for _, node := range []string{in, out} {
		uid := got.text("repos.nodes." + node + ".uid")
		w.askAs("ann", `query($on: UID!) { viewer { capabilities(within: $on) } repo(uid: $on) { viewerCapabilities } }`, "on", uid).expectSuccess().
			expect("viewer.capabilities", got.value("repos.nodes."+node+".viewerCapabilities")).expect("repo.viewerCapabilities", got.value("repos.nodes."+node+".viewerCapabilities"))
	}
}

func TestHoldersAreListedWithTheirBindings(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		team := w.group(w.org, "team")
		side := w.group(w.org, "side")
		w.member(team, "ann", w.role(w.org, "pusher", core.CapTagCreate))
		w.member(side, "bob", iam.OwnerRole)
		w.member(w.org, "cat", iam.ViewerRole)
		const fields = `{ totalCount pageInfo { hasNextPage endCursor } nodes { name } edges { cursor node { name } role { name } binding { group { name } } } }`
		got := w.ask(`query($team: UID!, $side: UID!) { team: group(uid: $team) { whoCan(capability: TAG_CREATE) `+fields+` } side: group(uid: $side) { whoCan(capability: TAG_CREATE) `+fields+` }
			groups(within: null) { nodes { name whoCan(capability: TAG_CREATE, first: 1) `+fields+` } } }`, "team", team, "side", side)
		got.expect("team.whoCan.edges.*.node.name", "ann owner").expect("team.whoCan.edges.*.role.name", "pusher owner").
			expect("team.whoCan.edges.*.binding.group.name", "team acme").expect("team.whoCan.nodes.*.name", "ann owner").expect("team.whoCan.totalCount", 2)
		got.expect("side.whoCan.edges.*.node.name", "bob owner").expect("side.whoCan.totalCount", 2)
		got.expect("groups.nodes.*.name", "acme side team").expect("groups.nodes.*.whoCan.totalCount", "1 2 2").expect("groups.nodes.*.whoCan.edges.*.node.name", "owner bob ann").
			expect("groups.nodes.*.whoCan.pageInfo.hasNextPage", "false true true")
		next := w.ask(`query($team: UID!, $after: String) { group(uid: $team) { whoCan(capability: TAG_CREATE, first: 1, after: $after) `+fields+` } }`, "team", team, "after", got.value("groups.nodes.2.whoCan.pageInfo.endCursor"))
		next.expect("group.whoCan.edges.*.node.name", "owner").expect("group.whoCan.pageInfo.hasNextPage", false)
	})
}

// A caller who may list the bindings of a part of the tree sees the holders in that part.
// A hidden identity is null as a holder, and is missing in nodes.
func TestHoldersContainOnlyVisibleIdentities(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	team := w.group(w.org, "team")
	w.member(team, "ann", iam.EditorRole)
	w.member(team, "dan", w.role(team, "bindings alone", core.CapRoleBindingsList))
	got := w.askAs("dan", `query($g: UID!) { roleBindings { totalCount } node: group(uid: $g) { name } }`, "g", team)
	got.expectErrors("PERMISSION_DENIED node")
	w.member(team, "eve", w.role(team, "bindings and groups", core.CapRoleBindingsList, core.CapGroupsList))
	got = w.askAs("eve", `query($g: UID!) { group(uid: $g) { whoCan(capability: REPO_CREATE) { totalCount nodes { name } edges { node { name } role { name } binding { uid } } } } }`, "g", team)
	got.expectErrors("PERMISSION_DENIED group.whoCan.edges.0.node", "PERMISSION_DENIED group.whoCan.edges.0.role")
	got.expect("group.whoCan.totalCount", 1).expect("group.whoCan.nodes", []any{}).expect("group.whoCan.edges.0.node", nil)
	w.member(team, "fay", w.role(team, "groups alone", core.CapGroupsList))
	w.askAs("fay", `query($g: UID!) { group(uid: $g) { name whoCan(capability: REPO_CREATE) { totalCount } } }`, "g", team).expectErrors("PERMISSION_DENIED group.whoCan")
}
