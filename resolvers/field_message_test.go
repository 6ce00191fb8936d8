package resolvers

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/platform/fieldmask"
)

func TestAViolationReadsAsASentence(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"name":                        "Name is required.",
		"identityUid":                 "Identity uid is required.",
		"sync_config.source":          "Source is required (sync config).",
		"types[1]":                    "Types, item 2, is required.",
		"requests[2].roleBinding.uid": "Uid is required (requests, item 3, role binding).",
		"":                            "is required",
	} {
		if got := sentence(fieldmask.Violation{Field: field, Description: "is required"}); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	for _, said := range []string{`Cannot query field "nam" on type "Repo".`, `Cannot query field "nam" on type "Repo". Did you mean "name"?`} {
		if got := sentence(fieldmask.Violation{Field: "query", Description: said}); got != said {
			t.Errorf("query: %q, want %q", got, said)
		}
	}
}

func TestARejectedInputExplainsEachInvalidField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.ask(`mutation($org: UID!) { createRepo(input: {parent: $org, name: "go"}) { repo { uid } } }`, "org", w.org).text("createRepo.repo.uid")
	for query, want := range map[string]string{
		`mutation($repo: UID!) { updateRepo(input: {uid: $repo, name: "", description: "a\nb"}) { repo { uid } } }`:                                                                          "name description",
		`mutation($repo: UID!) { batchCreateTags(input: {requests: [{parent: $repo, name: "ok", digest: "` + digest(1) + `"}, {parent: $repo, name: ".", digest: "x"}]}) { tags { uid } } }`: "requests[1].name requests[1].digest",
		`mutation($repo: UID!) { batchUpdateRepos(input: {requests: [{uid: $repo, name: "A B"}]}) { repos { uid } } }`:                                                                       "requests[0].name",
		`mutation($repo: UID!) { batchDeleteTags(input: {uids: [$repo, $repo, "x"]}) { deletedUids } }`:                                                                                      "uids[1] uids[2]",
		`mutation($repo: UID!) { updateRepo(input: {uid: $repo, labels: [{key: "a", value: "b"}, {key: "a", value: "c"}]}) { repo { uid } } }`:                                               "labels",
		`mutation { batchDeleteRoleBindings(input: {uids: []}) { deletedUids } }`:                                                                                                            "uids",
	} {
		got := w.askAs(theOwner, query, "repo", repo)
		if got.violations() != want {
			t.Errorf("%s names %q, want %q", query, got.violations(), want)
		}
		fields := ""
		for _, f := range got.Errors[0].Extensions.Fields {
			fields += " " + f.Field
			if len(f.Message) < len("X is.") || f.Message[len(f.Message)-1] != '.' {
				t.Errorf("%s: %q is no sentence", query, f.Message)
			}
		}
		if fields != " "+want {
			t.Errorf("%s: the messages are of%s, want %s", query, fields, want)
		}
	}
	first := w.askAs(theOwner, `mutation($repo: UID!) { updateRepo(input: {uid: $repo, name: "A"}) { repo { uid } } }`, "repo", repo).Errors[0]
	if !strings.HasPrefix(fmt.Sprint(first.Extensions.Fields), "[{name [input name] Name must be made of lower-case letters and digits, ") {
		t.Errorf("it says %v", first.Extensions.Fields)
	}
}

// Clients know the names of the graph, and not those of the other protocols.
func TestErrorsNameTheValuesOfTheGraph(t *testing.T) {
	source, err := os.ReadFile("../graph/scalar/enum.go")
	if err != nil {
		t.Fatal(err)
	}
	prefixes := regexp.MustCompile(`appendEnum\(b, "([A-Z_]+)", v\)`).FindAllSubmatch(source, -1)
	if len(prefixes) == 0 {
		t.Fatal("the source has no enums")
	}
	for _, found := range prefixes {
		prefix := string(found[1])
		isValue := func(s string) bool { return strings.HasPrefix(s, prefix) }
		if prefix != "TYPE_" && !slices.ContainsFunc(enumSpellings(), isValue) { // no input of the graph has such a type
			t.Errorf("values with the prefix %s are in errors as they are", prefix)
		}
	}
	eachShop(t, func(t *testing.T, w *shop) {
		one := w.ask(`{ findings { nodes { uid } } }`).value("findings.nodes.0.uid")
		const update = `mutation($input: UpdateFindingsInput!) { updateFindings(input: $input) { updatedCount } }`
		for want, change := range map[string]map[string]any{
			"Expire time cannot be given with OPEN.":                                                                        {"state": "OPEN", "expireTime": "2030-01-01T00:00:00Z"},
			"Justification can be given only with NOT_AFFECTED.":                                                            {"state": "OPEN", "justification": "COMPONENT_NOT_PRESENT"},
			"Justification is required with NOT_AFFECTED: give one of COMPONENT_NOT_PRESENT, VULNERABLE_CODE_NOT_PRESENT, ": {"state": "NOT_AFFECTED"},
		} {
			change["uids"] = []any{one}
			if got := fmt.Sprint(w.askAs(theOwner, update, "input", change).Errors); !strings.Contains(got, want) || strings.Contains(got, "FINDING_STATE_") {
				t.Errorf("%v gives %s, want %q", change, got, want)
			}
		}
		got := fmt.Sprint(w.askAs(theOwner, `{ findings(after: "x") { totalCount } }`).Errors)
		if !strings.Contains(got, "After is not a cursor of this list.") {
			t.Errorf("a wrong cursor gives %s", got)
		}
	})
}

// Where an object is named, its global id is as good as its uid. That of another type is no uid, and the error says what it is.
func TestAGlobalIDNamesAnObjectAsItsUIDDoes(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		named := w.ask(`query($uid: UID!) { group(uid: $uid) { id repos(first: 1) { nodes { id uid name tags(first: 1) { nodes { id name } } } } } roles(first: 1) { nodes { id uid name } } }`, "uid", w.org)
		group, repo, tag, role := named.text("group.id"), named.text("group.repos.nodes.0.id"), named.text("group.repos.nodes.0.tags.nodes.0.id"), named.text("roles.nodes.0.id")
		for _, c := range []struct{ id, query, path, want string }{
			{group, `query($id: UID!) { group(uid: $id) { id } }`, "group.id", group},
			{repo, `query($id: UID!) { repo(uid: $id) { id } }`, "repo.id", repo},
			{repo, `query($id: UID!) { repos(where: {uids: [$id]}) { nodes { id } } }`, "repos.nodes.0.id", repo},
			{role, `query($id: UID!) { roles(where: {uids: [$id]}) { nodes { id } } }`, "roles.nodes.0.id", role},
			{group, `query($id: UID!) { findingSummary(within: $id) { open { total } } node(id: "` + group + `") { id } }`, "node.id", group},
			{repo, `mutation($id: UID!) { updateRepo(input: {uid: $id, description: "by its id"}) { repo { id } } }`, "updateRepo.repo.id", repo},
			{repo, `mutation($id: UID!) { batchUpdateRepos(input: {requests: [{uid: $id, description: "in a batch"}]}) { repos { id } } }`, "batchUpdateRepos.repos.0.id", repo},
			{tag, `mutation($id: UID!) { deleteTag(input: {uid: $id}) { deletedId } }`, "deleteTag.deletedId", tag},
		} {
			w.ask(c.query, "id", c.id).expect(c.path, c.want)
		}
		for query, want := range map[string]string{
			`query($id: UID!) { repo(uid: $id) { name } }`:                           "Uid must be a UID, and this is the global id of a Group: give its uid, not its id; or give its path.",
			`query($id: UID!) { identity(uid: $id) { name } }`:                       "Uid must be a UID, and this is the global id of a Group: give its uid, not its id.",
			`query($id: UID!) { groupInvite(uid: $id) { uid } }`:                     "Uid must be a UID, and this is the global id of a Group: give its uid, not its id.",
			`mutation($id: UID!) { deleteRepo(input: {uid: $id}) { deletedUid } }`:   "Uid must be a UID, and this is the global id of a Group: give its uid, not its id.",
			`query($id: UID!) { findings(where: {assignee: $id}) { totalCount } }`:   "Assignee must be a UID, and this is the global id of a Group: give its uid, not its id.",
			`query($id: UID!) { group(uid: "acme") { name } repo(uid: $id) { id } }`: "Uid must be a UID: 40 lower-case hex digits, then /-separated segments of 16; or give its path.",
		} {
			if got := fmt.Sprint(w.askAs(theOwner, query, "id", group).Errors); !strings.Contains(got, want) {
				t.Errorf("%s gives %s, want %q", query, got, want)
			}
		}
	})
}

// A form shows what is wrong with an input beside the field, which it finds without reading the text.
func TestAViolationHasItsPlaceInTheArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.ask(`mutation($org: UID!) { createRepo(input: {parent: $org, name: "go"}) { repo { uid } } }`, "org", w.org).text("createRepo.repo.uid")
	for _, c := range []struct {
		query string
		want  []any
		given []any
	}{
		{`mutation($repo: UID!) { batchCreateTags(input: {requests: [{parent: $repo, name: "ok", digest: "` + digest(1) + `"}, {parent: $repo, name: "ok2", digest: "x"}]}) { tags { uid } } }`, []any{"input", "requests", 1.0, "digest"}, []any{"repo", repo}},
		{`mutation($repo: UID!) { updateRepo(input: {uid: $repo, syncConfig: {source: "a\nb"}}) { repo { uid } } }`, []any{"input", "syncConfig", "source"}, []any{"repo", repo}},
		{`mutation($org: UID!) { createIdentity(input: {parent: $org, name: "x", claimMatch: {issuer: "https://a.example", subject: "s", claimPatterns: {a: "["}}}) { identity { uid } } }`, []any{"input", "claimMatch", "claimPatterns", "a"}, []any{"org", w.org}},
		{`mutation { batchDeleteRoleBindings(input: {uids: []}) { deletedUids } }`, []any{"input", "uids"}, nil},
		{`mutation($org: UID!) { createRepo(input: {parent: $org, name: ""}) { repo { uid } } }`, []any{"input", "name"}, []any{"org", w.org}},
		{`mutation($all: CreateRepoInput!) { createRepo(input: $all) { repo { uid } } }`, []any{"all", "syncConfig", "source"}, []any{"all", map[string]any{"parent": w.org, "name": "x", "syncConfig": map[string]any{"source": 1}}}},
		{`mutation($all: BatchCreateTagsInput!) { batchCreateTags(input: $all) { tags { uid } } }`, []any{"all", "requests", 0.0, "digest"}, []any{"all", map[string]any{"requests": []any{map[string]any{"parent": repo, "name": "x", "digest": 1}}}}},
		{`{ repos(first: -1) { totalCount } }`, []any{"first"}, nil},
		{`{ findings(where: {minScore: 11}) { totalCount } }`, []any{"where", "minScore"}, nil},
		{`{ findings(where: {packages: ["a", ""]}) { totalCount } }`, []any{"where", "packages", 1.0}, nil},
		{`{ findings { nowhere } }`, []any{}, nil},
	} {
		got := w.askAs(theOwner, c.query, c.given...)
		if len(got.Errors) == 0 || len(got.Errors[0].Extensions.Fields) == 0 || !slices.Equal(got.Errors[0].Extensions.Fields[0].Path, c.want) {
			t.Errorf("%s: %+v, want the place %v", c.query, got.Errors, c.want)
		}
	}
}

func TestANameIsSplitIntoItsParts(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]any{
		"name": {"name"}, "requests[2].digest": {"requests", 2, "digest"}, "": {""},
		"claimMatch.claims.`a.b`": {"claimMatch", "claims", "a.b"}, "claims.`a.b`.c": {"claims", "a.b", "c"}, "`a": {"a"},
	} {
		if got := splitName(name); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
