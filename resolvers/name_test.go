package resolvers

import "testing"

func TestPathsAndNamesLeadToObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish()
	w.ask(`{ group(path: "acme/team") { name repo(name: "r01") { name } none: repo(name: "nope") { name } }
		acme: group(path: "acme") { child(name: "team") { name } none: child(name: "nope") { name } }
		repo(path: "acme/team/r01") { name tag(name: "t00") { name } } }`).
		expect("group.name", "team").expect("group.repo.name", "r01").expect("group.none", nil).
		expect("acme.child.name", "team").expect("acme.none", nil).expect("repo.tag.name", "t00").expectStatements(8)
	// ann may list the repos in team, and nothing else.
	w.askAs("ann", `{ repo(path: "acme/team/r01") { name } none: repo(path: "acme/team/nope") { name } hidden: repo(path: "acme/r01") { name } group(path: "acme/team") { name } }`).
		expect("repo.name", "r01").expectErrors("NOT_FOUND none", "NOT_FOUND hidden", "PERMISSION_DENIED group")
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
