package resolvers

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// longWorld returns a world whose advisories, vulnerabilities and events contain long
// texts. It also returns a text that is in each of them.
func longWorld(t *testing.T, url string) (w *world, note, details string) {
	w = newWorldAt(t, url)
	w.addRegistry(w.org, 4, 1)
	note, details = "noted "+strings.Repeat("n", 64<<10), "detailed "+strings.Repeat("d", 64<<10)
	ctx := core.WithActor(t.Context(), core.NewOperator("test"))
	var advisories []*inventory.Advisory
	var known []*inventory.Vulnerability
	for i := range 4 {
		id := fmt.Sprintf("GO-%02d", i)
		known = append(known, &inventory.Vulnerability{ID: id, Aliases: []string{"CVE" + id}, Summary: "bad", Details: details})
		advisories = append(advisories, &inventory.Advisory{
			AdvisoryID: id, ArtifactName: fmt.Sprintf("r%02d", i), Aliases: []string{"CVE" + id},
			Events: []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "1.2.3", Note: note}}},
		})
	}
	must(w.p.Feeds.ImportAdvisories(ctx, w.org, advisories))(t)
	must(w.p.Feeds.ImportVulnerabilities(ctx, known))(t)
	w.settle()
	return w, note, details
}

// longPaths lists all queries that lead to a long text. %s stands for the text.
var longPaths = []struct{ name, query string }{
	{"a list", `{ %s { nodes { ...L } } }`},
	{"edges", `{ %s { edges { node { ...L } } } }`},
	{"an alias", `{ a: %s { b: nodes { ...L } } }`},
	{"a list twice, with other fields", `{ %[1]s { nodes { id } } b: %[1]s { nodes { ...L } } }`},
	{"fields merged", `{ %[1]s { nodes { id } } %[1]s { nodes { ...L } } }`},
	{"a variable", `query($yes: Boolean = true) { %s { nodes { ...L @include(if: $yes) } } }`},
}

// Every field that a read may leave out is shown wherever it is selected.
func TestCostlyFieldsAreShownWhereTheyAreSelected(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		w.addRegistry(w.org, 2, 1)
		for repo := range strings.FieldsSeq(w.ask(`{ repos { nodes { uid } } }`).text("repos.nodes.*.uid")) {
			w.ask(`mutation($uid: UID!) { updateRepo(input: {uid: $uid, aliases: ["also-known"], bundles: ["bundled"], activeTags: ["active"], syncConfig: {source: "`+string(w.org)+`"}}) { repo { uid } } }`, "uid", repo)
		}
		w.ask(`mutation($uid: UID!) { updateIdentity(input: {uid: $uid, description: "described identity"}) { identity { uid } } }`, "uid", w.ask(`{ identities { nodes { uid } } }`).text("identities.nodes.*.uid"))
		w.ask(`mutation($uid: UID!) { updateGroup(input: {uid: $uid, description: "described group"}) { group { uid } } }`, "uid", w.org)
		for _, k := range []struct{ list, kind, field, want string }{
			{"repos", "Repo", "aliases", "also-known"},
			{"repos", "Repo", "bundles", "bundled"},
			{"repos", "Repo", "activeTags", "active"},
			{"repos", "Repo", "syncConfig { source }", string(w.org)},
			{"identities", "Identity", "claimMatch { subject }", "owner"},
			{"roleBindings", "RoleBinding", "identity { name }", "owner"},
			{"roleBindings", "RoleBinding", "identity { description }", "described identity"},
			{"roleBindings", "RoleBinding", "group { description }", "described group"},
			{"roleBindings", "RoleBinding", "role { description }", "Does everything."},
			{"roleBindings", "RoleBinding", "role { name }", "owner"},
			{"roleBindings", "RoleBinding", "group { name }", "acme"},
			{"roleBindings", "RoleBinding", "identity { claimMatch { subject } }", "owner"},
		} {
			id := w.ask(`{ ` + k.list + `(first: 1) { nodes { id } } }`).text(k.list + ".nodes.*.id")
			fragment := fmt.Sprintf(" fragment L on %s { ...M } fragment M on %[1]s { x: %s }", k.kind, k.field)
			ask := func(what, query string, variables ...any) {
				t.Helper()
				if shown, _ := json.Marshal(w.ask(query, variables...).Data); !strings.Contains(string(shown), k.want) {
					t.Errorf("%s of %s, %s: %q is missing in %.300s", what, k.list, k.field, k.want, shown)
				}
			}
			for _, p := range longPaths {
				ask(p.name, fmt.Sprintf(p.query, k.list)+fragment)
			}
			ask("node", "query($id: ID!) { node(id: $id) { id ...L } }"+fragment, "id", id)
			ask("nodes", "query($id: ID!) { a: nodes(ids: [$id]) { id } b: nodes(ids: [$id]) { ...L } }"+fragment, "id", id)
		}
		// Holders are made of bindings, whose own fields these documents do not select.
		for _, held := range []string{"nodes { name description }", "edges { node { name } }", "edges { role { name } }"} {
			document := `query($org: UID!) { group(uid: $org) { whoCan(capability: REPO_LIST, first: 1) { ` + held + ` } } }`
			if shown, _ := json.Marshal(w.ask(document, "org", w.org).Data); !strings.Contains(string(shown), `"owner"`) {
				t.Errorf("%s: %q is missing in %s", held, "owner", shown)
			}
		}
		// Rows that are sorted by a column of another table contain it, whatever is selected.
		page := w.ask(`{ roleBindings(orderBy: {field: IDENTITY_NAME}, first: 1) { totalCount edges { cursor } } }`)
		w.ask(`query($after: String) { roleBindings(orderBy: {field: IDENTITY_NAME}, after: $after) { edges { cursor } } }`, "after", page.text("roleBindings.edges.*.cursor"))
	})
}

func TestCostlyFieldsAreReadOnlyWhereTheyAreSelected(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w, note, details := longWorld(t, url)
		ids := map[string]string{
			"advisories":            w.ask(`{ advisories(first: 1) { nodes { id } } }`).text("advisories.nodes.*.id"),
			"vulnerabilityMetadata": w.ask(`{ vulnerabilityMetadata(first: 1) { nodes { id } } }`).text("vulnerabilityMetadata.nodes.*.id"),
		}
		advisory := w.ask(`{ advisories(first: 1) { nodes { uid } } }`).uid("advisories.nodes.*.uid")
		w.limitMemory(core.MemoryLimits{PerResponse: 100 << 10, Total: 64 << 20})

		// These queries select no long text, so their answers are within the limit.
		for _, query := range []string{
			`{ advisories { totalCount nodes { advisoryId aliases severities { vector } } } }`,
			`{ advisories(skip: 1) { nodes { advisoryId } } }`,
			`{ vulnerabilityMetadata { nodes { summary references { url } } } }`,
			`{ repos(first: 5) { nodes { advisories(first: 5) { nodes { advisoryId vulnerabilities { summary } } } } } }`,
			`{ advisories { nodes { advisoryId ... on Advisory @skip(if: true) { events { author } } } } }`,
			`query($uid: UID!) { advisory(uid: $uid) { advisoryId } }`,
			`{ auditLog { nodes { type } } }`,
		} {
			w.ask(query, "uid", advisory)
		}

		// An omitted field must never be shown as empty.
		w.limitMemory(core.DefaultMemoryLimits())
		check := func(what, want, query string, variables ...any) {
			t.Helper()
			got := w.ask(query, variables...)
			shown, _ := json.Marshal(got.Data)
			if !strings.Contains(string(shown), want) {
				t.Errorf("%s: the text is missing in %.200s", what, shown)
			}
		}
		for _, k := range []struct{ list, kind, field, want string }{
			{"advisories", "Advisory", "events { detail { ... on AdvisoryFix { note } } }", note},
			{"vulnerabilityMetadata", "VulnerabilityMetadata", "details", details},
		} {
			fragment := fmt.Sprintf(" fragment L on %s { ...M } fragment M on %[1]s { x: %s }", k.kind, k.field)
			for _, p := range longPaths {
				check(p.name+" of "+k.list, k.want, fmt.Sprintf(p.query, k.list)+fragment)
			}
			check("node of "+k.list, k.want, "query($id: ID!) { node(id: $id) { id ...L } }"+fragment, "id", ids[k.list])
			check("nodes of "+k.list, k.want, "query($id: ID!) { a: nodes(ids: [$id]) { id } b: nodes(ids: [$id]) { ...L } }"+fragment, "id", ids[k.list])
		}
		check("an entity", note, `query($uid: UID!) { _entities(representations: [{__typename: "Advisory", uid: $uid}]) { ... on Advisory { events { detail { ... on AdvisoryFix { note } } } } } }`, "uid", advisory)
		check("an entity by name", details, `{ _entities(representations: [{__typename: "VulnerabilityMetadata", vulnerabilityId: "GO-00"}]) { ... on VulnerabilityMetadata { details } } }`)
		check("an object alone", note, `query($uid: UID!) { advisory(uid: $uid) { events { detail { ... on AdvisoryFix { note } } } } }`, "uid", advisory)
		check("a nested list", note, `{ repos(first: 5) { nodes { a: advisories { nodes { id } } b: advisories { nodes { events { detail { ... on AdvisoryFix { note } } } } } } } }`)
		check("what advisories lead to", details, `{ advisories { nodes { vulnerabilities { details } } } }`)
		check("the log", `"name":"r00"`, `{ a: auditLog { nodes { type } } auditLog { nodes { body } } }`)
	})
}

func TestAPayloadShowsCostlyFields(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w, note, details := longWorld(t, url)
		repo := w.ask(`{ repos(first: 1) { nodes { uid } } }`).uid("repos.nodes.*.uid")
		got := w.ask(`mutation($uid: UID!, $text: String!) {
			updateRepoReadme(input: {uid: $uid, content: $text}) { repo { name readme advisories(first: 5) { nodes { ...A } } } }
		} fragment A on Advisory { events { detail { ... on AdvisoryFix { note } } } vulnerabilities { details } }`, "uid", repo, "text", "# read me")
		shown, _ := json.Marshal(got.Data)
		for _, want := range []string{note, details, "# read me"} {
			if !strings.Contains(string(shown), want) {
				t.Errorf("%.20s is missing in %.200s", want, shown)
			}
		}
		// The recorded change of a resource is complete, whatever is selected of it.
		w.ask(`mutation($uid: UID!) { updateRepo(input: {uid: $uid, description: "new"}) { repo { uid } } }`, "uid", repo)
		if body := w.ask(`{ auditLog(first: 1) { nodes { body } } }`); !strings.Contains(fmt.Sprint(body.Data), "new") {
			t.Errorf("the change is recorded as %v", body.Data)
		}
	})
}
