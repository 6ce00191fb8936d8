package resolvers

import (
	"testing"

	"atrium/platform/core"
)

func TestPathsAndNamesLeadToObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish()
	w.ask(`{ group(path: "acme/team") { name repo(name: "r01") { name } none: repo(name: "nope") { name } }
		acme: group(path: "acme") { child(name: "team") { name } none: child(name: "nope") { name } }
		repo(path: "acme/team/r01") { name tag(name: "t00") { name } } }`).
		expect("group.name", "team").expect("group.repo.name", "r01").expect("group.none", nil).
		expect("acme.child.name", "team").expect("acme.none", nil).expect("repo.tag.name", "t00").expectStatements(8)
	// ann may list the repos in team, and nothing else, so a path tells her nothing about the groups above.
	w.askAs("ann", `{ repo(path: "acme/team/r01") { name } none: repo(path: "acme/team/nope") { name } hidden: repo(path: "acme/r01") { name } group(path: "acme/team") { name } }`).
		expectErrors("NOT_FOUND repo", "NOT_FOUND none", "NOT_FOUND hidden", "PERMISSION_DENIED group")
	for asked, violation := range map[string]string{
		`{ group { name } }`: "uid", `{ repo { name } }`: "uid", `{ repo(uid: null, path: null) { name } }`: "uid", `{ repo(path: "r01") { name } }`: "path",
		`{ group(path: "") { name } }`: "path", `{ group(path: "acme/") { name } }`: "path",
		operation("query", `group(uid: $org, path: "acme") { name }`): "path", operation("query", `repo(uid: $repo, path: "acme/team/r01") { name }`): "path",
	} {
		if got := w.askAs(theOwner, asked, variables...).violations(); got != violation {
			t.Errorf("%s names %q, want %q", asked, got, violation)
		}
	}
}

func TestAPathIsShownToWhoSeesAllOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish()
	const query = `repo(uid: $repo) { path } viewer { capabilities(within: $team) }`
	w.ask(operation("query", query+` group(uid: $team) { path parent { path } }`), variables...).
		expect("repo.path", "acme/team/r01").expect("group.path", "acme/team").expect("group.parent.path", "acme")
	w.askAs("ann", operation("query", query), variables...).expectSuccess().expect("repo.path", nil) // she may list repos, and no groups
	// bob may list groups in the team only, whose path begins with the name of a hidden group.
	w.member(w.org, "bob", w.role(w.org, "repos", core.CapRepoList))
	bob := w.askAs("bob", `{ viewer { identities { uid } } }`).uid("viewer.identities.0.uid")
	w.ask(operation("mutation", `createRoleBinding(input: {parent: $team, identityUid: $bob, roleUid: $role}) { roleBinding { uid } }`),
		append(variables, "bob", bob, "role", w.role(w.org, "groups", core.CapGroupsList))...)
	w.askAs("bob", operation("query", query+` group(uid: $team) { name path }`), variables...).expectSuccess().expect("repo.path", nil).expect("group.name", "team").expect("group.path", nil)
}
