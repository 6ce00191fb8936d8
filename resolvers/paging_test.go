package resolvers

import (
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

func TestPagesForwardAndBackwardShowTheSameRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addRegistry(w.org, 7, 1)
	const page = `{ nodes { name } edges { cursor node { name } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`
	var forward, backward []string
	var cursor any
	for {
		got := w.ask(`query($after: String) { repos(first: 3, after: $after, last: null, before: null) `+page+` }`, "after", cursor)
		forward = append(forward, got.text("repos.nodes.*.name"))
		if cursor = got.value("repos.pageInfo.endCursor"); got.value("repos.pageInfo.hasNextPage") == false {
			break
		}
	}
	cursor = nil
	for {
		got := w.ask(`query($before: String) { repos(last: 3, before: $before) `+page+` }`, "before", cursor)
		backward = append([]string{got.text("repos.nodes.*.name")}, backward...)
		if cursor = got.value("repos.pageInfo.startCursor"); got.value("repos.pageInfo.hasPreviousPage") == false {
			break
		}
	}
	if got := strings.Join(forward, "|"); got != "r00 r01 r02|r03 r04 r05|r06" {
		t.Errorf("forward: %s, want r00 r01 r02|r03 r04 r05|r06", got)
	}
	if got := strings.Join(backward, "|"); got != "r00|r01 r02 r03|r04 r05 r06" {
		t.Errorf("backward: %s, want r00|r01 r02 r03|r04 r05 r06", got)
	}
}

func TestCursorsAreTheTokensOfTheCore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addRegistry(w.org, 5, 1)
	actor, err := w.p.Authenticate(t.Context(), iam.Claims{Issuer: testIssuer, Subject: theOwner, ServiceAudience: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx := core.WithActor(t.Context(), actor)
	request := core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{DescendantsOf: w.org}, PageSize: 2}
	const query = `query($org: UID!, $after: String) { repos(within: $org, first: 2, after: $after) { nodes { name } edges { cursor } pageInfo { endCursor } } }`

	first := w.ask(query, "org", w.org)
	for _, cursor := range []string{first.text("repos.pageInfo.endCursor"), first.text("repos.edges.1.cursor")} {
		request.PageToken = cursor
		page, err := w.p.Repos.List(ctx, request)
		if err != nil || len(page.Items) != 2 || page.Items[0].Name != "r02" {
			t.Errorf("the core continues after GraphQL's cursor with %v, want 2 of them, %v", page.Items, err)
		}
		w.ask(query, "org", w.org, "after", page.NextPageToken()).expect("repos.nodes.*.name", "r04")
	}
	// A token contains its order, and no other list accepts it.
	w.ask(`query($org: UID!, $after: String) { repos(within: $org, first: 2, after: $after, orderBy: {field: NAME}) { nodes { name } } }`,
		"org", w.org, "after", request.PageToken).expect("repos.nodes.*.name", "r02 r03")
	for _, other := range []string{
		`query($a: String, $org: UID!) { list: repos(within: $org, directOnly: true, after: $a) { skipped } }`,
		`query($a: String, $org: UID!) { list: repos(within: $org, where: {name: "r01"}, after: $a) { skipped } }`,
		`query($a: String, $org: UID!) { list: repos(within: $org, orderBy: {field: NAME, direction: DESC}, after: $a) { skipped } }`,
		`query($a: String, $org: UID!) { list: tags(within: $org, after: $a) { skipped } }`,
	} {
		got := w.askAs(theOwner, other, "a", request.PageToken, "org", w.org)
		if got.expectErrors("INVALID_ARGUMENT list").violations() != "after" {
			t.Errorf("%s names %q, want violations of 'after'", other, got.violations())
		}
	}
}

func TestCursorsOfNestedListsContinueThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish()
	for _, c := range []struct{ object, list, next, name, rest string }{
		{`repo(uid: $repo)`, `tags(first: 1)`, `tags(first: 1, after: $cursor)`, "name", "t01"},
		{`repo(uid: $repo)`, `tags(last: 1)`, `tags(last: 1, before: $cursor)`, "name", "t01"},
		{`group(uid: $org)`, `repos(first: 2)`, `repos(after: $cursor)`, "name", "r02"},
		{`group(uid: $team)`, `effectiveBindings(first: 1)`, `effectiveBindings(after: $cursor)`, "role { name }", "owner"},
	} {
		got := w.ask(operation("query", `object: `+c.object+` { list: `+c.list+` { pageInfo { endCursor } } }`), variables...)
		more := w.ask(operation("query", `object: `+c.object+` { list: `+c.next+` { nodes { name: `+c.name+` } } }`),
			append(variables, "cursor", got.value("object.list.pageInfo.endCursor"))...)
		if !strings.Contains(more.text("object.list.nodes.*.name"), c.rest) {
			t.Errorf("%s of %s continues with %s, want %s", c.list, c.object, more.text("object.list.nodes.*.name"), c.rest)
		}
	}
}

func TestArgumentsOfListsAreCheckedUnderTheirOwnNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for arguments, want := range map[string]string{
		`first: -1`:                         "first",
		`last: -1`:                          "last",
		`first: 1, last: 1`:                 "first",
		`after: "x", last: 1`:               "after",
		`first: 1, before: "x"`:             "first",
		`after: "x"`:                        "after",
		`before: "x"`:                       "before",
		`skip: -1, first: -2`:               "first skip",
		`first: 201`:                        "first",
		`last: 201`:                         "last",
		`skip: -1, last: 9999`:              "last skip",
		`within: "X", where: {uids: ["Z"]}`: "within uids",
		`within: "X", directOnly: true, where: {uids: ["Z"]}`: "within uids",
		`directOnly: true, first: -1`:                         "directOnly first",
		`within: null, directOnly: true`:                      "directOnly",
	} {
		got := w.askAs(theOwner, `{ repos(`+arguments+`) { nodes { name } } }`)
		if got.expectErrors("INVALID_ARGUMENT repos").violations() != want {
			t.Errorf("(%s) names %q, want %q: %s", arguments, got.violations(), want, got.Errors[0].Message)
		}
		if d := got.Errors[0].Extensions.Details[0]; d["domain"] != "registry.example.org" {
			t.Errorf("(%s) is an error of %v, want registry.example.org", arguments, d["domain"])
		}
	}
	w.ask(`{ repos(first: null, after: null, last: null, before: null, skip: null, where: null, orderBy: null, within: null, directOnly: null) { nodes { name } } }`)
	w.ask(`{ repos(first: 0, where: {name: null, uids: null}) { nodes { name } } }`)
	w.ask(`{ repos(first: 200, after: "") { nodes { name } } }`)
	w.ask(`{ repos(where: {uids: []}) { totalCount nodes { name } } }`).expect("repos.totalCount", 0)
	for _, list := range []string{`repos`, `auditLog`, `search`, `accessAt`, `accessChanges`} {
		arguments := map[string]string{"search": `query: "x", `, "accessAt": `within: $org, time: "2026-01-01T00:00:00Z", `, "accessChanges": `within: $org, from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z", `}[list]
		refused := w.askAs(theOwner, `query($org: UID!) { group(uid: $org) { name } `+list+`(`+arguments+`first: 201) { pageInfo { hasNextPage } } }`, "org", w.org).expectErrors("INVALID_ARGUMENT " + list)
		if refused.violations() != "first" || !strings.Contains(refused.Errors[0].Message, "200") {
			t.Errorf("a page of %s that is too large: %q %s", list, refused.violations(), refused.Errors[0].Message)
		}
	}
	got := w.askAs(theOwner, `{ identities(where: {lastSeenBefore: "yesterday"}) { nodes { name } } }`)
	if got.expectErrors("INVALID_ARGUMENT identities").violations() != "lastSeenBefore" {
		t.Errorf("a malformed time is called %q", got.violations())
	}
}

// A page of no rows is for who wants only the total.
func TestAPageOfNoRowsHasTheTotal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addRegistry(w.org, 3, 2)
	const page = ` { totalCount nodes { name } edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`
	cursor := w.ask(`{ repos(first: 2) { pageInfo { endCursor } } }`).text("repos.pageInfo.endCursor")
	for arguments, more := range map[string]string{
		"(first: 0)": "true false", "(last: 0)": "false true", "(first: 0, skip: 2)": "true false", "(first: 0, skip: 3)": "false false", "(first: 0, after: $cursor)": "true true",
		"(last: 0, before: $cursor)": "true true", `(first: 0, where: {name: "none"})`: "false false", "(first: 0, skip: 2000)": "false false",
	} {
		got := w.ask("query($cursor: String, $zero: Int = 0) { repos"+arguments+page+" groups(first: $zero) { nodes { name } } now: repos(before: null, after: null) { skipped } unused: repos(first: 1, after: $cursor) { skipped } }", "cursor", cursor)
		total := "3"
		if strings.Contains(arguments, "none") {
			total = "0"
		}
		if got.text("repos.totalCount") != total || got.text("repos.nodes.*.name") != "" || len(got.value("repos.edges").([]any)) > 0 || len(got.value("groups.nodes").([]any)) > 0 {
			t.Errorf("%s: %s", arguments, got.Data)
		}
		if shown := got.text("repos.pageInfo.hasNextPage") + " " + got.text("repos.pageInfo.hasPreviousPage"); shown != more || got.value("repos.pageInfo.endCursor") != nil {
			t.Errorf("%s: before and after it there is %s, want %s: %s", arguments, shown, more, got.Data)
		}
	}
	got := w.ask(`{ repos { nodes { tags(first: 0) { totalCount nodes { name } pageInfo { hasNextPage } } } } auditLog(first: 0) { nodes { id } pageInfo { hasNextPage } } search(query: "r0", first: 0) { edges { cursor } pageInfo { hasNextPage } } }`)
	got.expect("repos.nodes.0.tags.totalCount", 2).expect("repos.nodes.*.tags.pageInfo.hasNextPage", "true true true").
		expect("auditLog.nodes", []any{}).expect("auditLog.pageInfo.hasNextPage", true).expect("search.edges", []any{}).expect("search.pageInfo.hasNextPage", true)
	if tags := strings.TrimSpace(got.text("repos.nodes.*.tags.nodes.*.name")); tags != "" {
		t.Errorf("pages of no tags have %s", tags)
	}
}
