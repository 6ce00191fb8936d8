package resolvers

import (
	"encoding/json"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

func TestTheAuditLogIsPagedFromTheNewest(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		var made []string
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			made = append([]string{string(w.group(w.org, name))}, made...)
		}
		walk := func(arguments, info, more string) string {
			var pages []string
			for cursor := any(nil); ; {
				got := w.ask(`query($org: UID!, $cursor: String) { auditLog(within: $org, kinds: [IAM_GROUP_CREATED], actor: "test", `+arguments+`) {
					edges { cursor node { id } } nodes { id subject } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`, "org", w.org, "cursor", cursor)
				if got.text("auditLog.edges.*.cursor") != got.text("auditLog.nodes.*.id") || got.text("auditLog.edges.*.node.id") != got.text("auditLog.nodes.*.id") {
					t.Errorf("edges and nodes differ: %v", got.Data)
				}
				pages = append(pages, got.text("auditLog.nodes.*.subject"))
				if cursor = got.value("auditLog.pageInfo." + info); got.value("auditLog.pageInfo."+more) == false {
					return strings.Join(pages, "|")
				}
			}
		}
		join := func(uids ...string) string { return strings.Join(uids, " ") }
		w.expectSameSet(walk(`first: 9, after: $cursor`, "endCursor", "hasNextPage"), join(made...))
		all := strings.Fields(walk(`after: $cursor`, "endCursor", "hasNextPage"))
		if got, want := walk(`first: 2, after: $cursor`, "endCursor", "hasNextPage"), join(all[:2]...)+"|"+join(all[2:4]...)+"|"+all[4]; got != want {
			t.Errorf("forward: %s, want %s", got, want)
		}
		if got, want := walk(`last: 2, before: $cursor`, "startCursor", "hasPreviousPage"), join(all[3:]...)+"|"+join(all[1:3]...)+"|"+all[0]; got != want {
			t.Errorf("backward: %s, want %s", got, want)
		}
	})
}

// expectSameSet compares lists whose order depends on ids that were made in the same
// millisecond.
func (w *world) expectSameSet(got, want string) {
	w.t.Helper()
	for _, s := range strings.Fields(want) {
		if !strings.Contains(got, s) || len(got) != len(want) {
			w.t.Errorf("got %s, want %s", got, want)
			return
		}
	}
}

func TestTheAuditLogIsFilteredByKindsAndByResources(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		ann := w.member(w.org, "ann", iam.ViewerRole)
		bob := w.member(w.org, "bob", iam.ViewerRole)
		w.ask(`mutation($org: UID!, $ann: UID!, $bob: UID!, $role: UID!) { batchCreateRoleBindings(input: {parent: $org, roleUid: $role, requests: [{roleBinding: {identityUid: $ann}}, {roleBinding: {identityUid: $bob}}]}) { roleBindings { uid } } }`,
			"org", w.org, "ann", ann, "bob", bob, "role", iam.EditorRole)
		const query = `query($org: UID!, $kinds: [EventKind!], $subject: UID, $target: UID) {
			auditLog(kinds: $kinds, subject: $subject, target: $target) { nodes { kind } }
			eventActivity(within: $org, kinds: $kinds) { made } }`
		const created, batch, identity = "IAM_ROLE_BINDING_CREATED", "IAM_ROLE_BINDING_CREATED_BATCH", "IAM_IDENTITY_CREATED"
		kinds := func(variables ...any) string {
			return w.ask(query, append(variables, "org", w.org)...).text("auditLog.nodes.*.kind")
		}
		if got := kinds("kinds", []string{created}); strings.Count(got, batch) != 2 || strings.Count(got, created) != 5 { // One is the owner's.
			t.Errorf("new bindings are %s", got)
		}
		w.expectSameSet(kinds("kinds", []string{batch, identity}, "subject", ann), batch+" "+identity)
		w.expectSameSet(kinds("target", bob), batch+" "+created+" "+identity)
		w.ask(`query($org: UID!) { eventActivity(within: $org, kinds: [`+created+`]) { made } }`, "org", w.org).expect("eventActivity.29.made", 5)
		w.askAs(theOwner, query, "org", w.org, "kinds", []string{"IAM_ROLE_BINDING_MADE"}).expectErrors("GRAPHQL_VALIDATION_FAILED")
	})
}

// The attack: the list of all types is in each text of an error, of which a response has three.
func TestAnErrorListsTheTypesOfEventsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.askAs(theOwner, `mutation($org: UID!) { createSubscription(input: {parent: $org, sink: "https://hooks.example.com/a", types: ["none", "neither"]}) { secret } }`, "org", w.org)
	if got.expectErrors("INVALID_ARGUMENT createSubscription").violations() != "types[0] types[1]" {
		t.Errorf("it names %q", got.violations())
	}
	encoded, _ := json.Marshal(got.Errors)
	if n := strings.Count(string(encoded), "iam.external_group_role_mappings.deleted.batch"); n != 1 {
		t.Errorf("the response has the types %d times: %s", n, encoded)
	}
}

func TestDenialsAreInTheAuditLogAndNotInTheFeed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.member(w.org, "ann", iam.ViewerRole)
	w.askAs("ann", `mutation($org: UID!) { createRepo(input: {parent: $org, name: "go"}) { repo { uid } } }`, "org", w.org).expectErrors("PERMISSION_DENIED createRepo")
	const query = `query($denied: Boolean, $actor: String) { auditLog(denied: $denied, actor: $actor) { nodes { type subject actor { subject } body denied count } } }`
	got := w.ask(query, "denied", true)
	one := "auditLog.nodes.0."
	got.expect("auditLog.nodes.*.type", "dev.atrium.api.platform.registry.repo.created.v1").expect(one+"subject", string(w.org)).expect(one+"actor.subject", string(ann)).expect(one+"count", 1)
	if denied := got.text(one + "denied"); !strings.Contains(denied, "repo.create") {
		t.Errorf("it was denied for %q", denied)
	}
	if w.ask(query, "actor", ann).text("auditLog.nodes.*.denied") != got.text(one+"denied") {
		t.Error("it is not what ann did")
	}
	if all := w.ask(query, "denied", false).text("auditLog.nodes.*.denied"); strings.Trim(all, "<nil> ") != "" {
		t.Errorf("of what was done %q is denied", all)
	}
	// A viewer may not read the audit log.
	w.askAs("ann", query).expectErrors("PERMISSION_DENIED auditLog").expect("auditLog", nil)
	w.askAs("ann", `query($org: UID!) { auditLog(within: $org) { nodes { id } } }`, "org", w.org).expectErrors("PERMISSION_DENIED auditLog")
}

func TestTheAuditLogNeedsTheRightToChangeGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two := w.group(w.org, "one"), w.group(w.org, "two")
	w.member(one, "bob", iam.OwnerRole)
	w.addRegistry(one, 1, 1)
	w.addRegistry(two, 1, 1)
	for _, subject := range strings.Fields(w.askAs("bob", `{ auditLog { nodes { subject } } }`).expectSuccess().text("auditLog.nodes.*.subject")) {
		if !core.UID(subject).Within(one) {
			t.Errorf("bob sees what happened to %s", subject)
		}
	}
	w.askAs("bob", `query($g: UID!) { auditLog(within: $g) { nodes { id } } }`, "g", two).expectErrors("PERMISSION_DENIED auditLog")
}

func TestArgumentsOfTheAuditLogAreCheckedUnderTheirOwnNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for arguments, want := range map[string]string{
		`kinds: [` + strings.Repeat("IAM_GROUP_CREATED ", 101) + `]`: "kinds",
		`first: -1`:         "first",
		`last: -1`:          "last",
		`first: 1, last: 1`: "first",
		`after: "x"`:        "after",
		`before: "x"`:       "before",
		`within: "x"`:       "within",
		`since: "2026-01-02T00:00:00Z", until: "2026-01-01T00:00:00Z"`: "until",
		`since: "yesterday"`: "since",
	} {
		got := w.askAs(theOwner, `{ auditLog(`+arguments+`) { nodes { id } } }`)
		if got.expectErrors("INVALID_ARGUMENT auditLog").violations() != want {
			t.Errorf("(%s) names %q, want %q", arguments, got.violations(), want)
		}
	}
	w.ask(`{ auditLog(first: null, after: null, last: null, before: null, kinds: null, denied: null, since: null, until: null, actor: null, within: null) { nodes { id } } }`)
	w.ask(`{ auditLog(first: 200, after: "", kinds: []) { pageInfo { hasNextPage endCursor } } }`)
	w.askAs(theOwner, `{ auditLog(first: 200) { nodes { id type actor { subject } } edges { node { actor { subject } } } } }`).expectSuccess()
}
