package resolvers

import (
	"fmt"
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
	repo := w.ask(`mutation($org: ID!) { createRepo(input: {parent: $org, name: "go"}) { repo { uid } } }`, "org", w.org).text("createRepo.repo.uid")
	for query, want := range map[string]string{
		`mutation($repo: ID!) { updateRepo(input: {uid: $repo, name: "", description: "a\nb"}) { repo { uid } } }`:                                                                          "name description",
		`mutation($repo: ID!) { batchCreateTags(input: {requests: [{parent: $repo, name: "ok", digest: "` + digest(1) + `"}, {parent: $repo, name: ".", digest: "x"}]}) { tags { uid } } }`: "requests[1].name requests[1].digest",
		`mutation($repo: ID!) { batchUpdateRepos(input: {requests: [{uid: $repo, name: "A B"}]}) { repos { uid } } }`:                                                                       "requests[0].name",
		`mutation($repo: ID!) { batchDeleteTags(input: {uids: [$repo, $repo, "x"]}) { deletedUids } }`:                                                                                      "uids[1] uids[2]",
		`mutation($repo: ID!) { updateRepo(input: {uid: $repo, labels: [{key: "a", value: "b"}, {key: "a", value: "c"}]}) { repo { uid } } }`:                                               "labels",
		`mutation { batchDeleteRoleBindings(input: {uids: []}) { deletedUids } }`:                                                                                                           "uids",
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
	first := w.askAs(theOwner, `mutation($repo: ID!) { updateRepo(input: {uid: $repo, name: "A"}) { repo { uid } } }`, "repo", repo).Errors[0]
	if !strings.HasPrefix(fmt.Sprint(first.Extensions.Fields), "[{name Name must be made of lower-case letters and digits, ") {
		t.Errorf("it says %v", first.Extensions.Fields)
	}
}
