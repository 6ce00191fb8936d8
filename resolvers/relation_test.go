package resolvers

import (
	"strings"
	"testing"

	"atrium/platform/core"
)

// A list is filtered by what belongs to its rows, where the caller may see that.
func TestListsAreFilteredByRelations(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		for _, c := range []struct{ list, condition, want string }{
			{"repos", `tags: {}`, "checkout tools"}, {"repos", `tags: {name: "t1"}`, "tools"}, {"repos", `tags: {name: "old", deprecated: false}`, "checkout"},
			{"repos", `tags: {deprecated: true}`, ""}, {"repos", `tags: {digest: "` + digest(4) + `"}`, "tools"}, {"repos", `tags: {name: "t1", digest: "` + digest(1) + `"}`, ""},
			{"repos", `tags: {updatedSince: "2999-01-01T00:00:00Z"}`, ""}, {"repos", `tags: {updatedSince: "1980-01-01T00:00:00Z"}, name: "tools"`, "tools"},
			{"groups", `repos: {}`, "lab shop"}, {"groups", `repos: {name: "tools"}`, "lab"}, {"groups", `repos: {openSeverities: [LOW, UNKNOWN]}`, "shop"},
			{"groups", `repos: {openSeverities: [CRITICAL]}`, "lab shop"}, {"groups", `repos: {tiers: [AI]}`, ""}, {"groups", `repos: {tiers: []}`, ""},
			{"groups", `repos: {updatedSince: "2999-01-01T00:00:00Z"}`, ""},
		} {
			below := map[string]string{"repos": "repos", "groups": "descendants"}[c.list] + `(where: {` + c.condition + `}) { totalCount nodes { name } }`
			w.ask(`query($org: UID!) { `+c.list+`(within: $org, where: {`+c.condition+`}) { totalCount nodes { name } } group(uid: $org) { `+below+` } }`, "org", w.org).
				expect(c.list+".nodes.*.name", c.want).expect(c.list+".totalCount", len(strings.Fields(c.want))).
				expect("group."+strings.Split(below, "(")[0]+".nodes.*.name", c.want)
		}
		w.member(w.shop, "blind", w.role(w.shop, "groups and repos", core.CapGroupsList, core.CapRepoList))
		w.askAs("blind", `{ repos(where: {tags: {}}) { totalCount } plain: groups(where: {repos: {}}) { totalCount } groups(where: {repos: {openSeverities: [LOW]}}) { totalCount } }`).
			expectErrors("PERMISSION_DENIED repos", "PERMISSION_DENIED groups").expect("plain.totalCount", 1)
		w.askAs(theOwner, `{ groups(where: {repos: {name: ""}}) { totalCount } }`).expectErrors("INVALID_ARGUMENT")
	})
}
