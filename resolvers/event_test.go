package resolvers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"atrium/graph"
	endpoint "atrium/internal/graphql"
	"atrium/internal/graphql/limit"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

func TestEveryEventTypeIsAValueOfTheEnum(t *testing.T) {
	t.Parallel()
	var names, values []string
	for _, full := range platform.AllEventTypes().All() {
		name, _ := platform.AllEventTypes().KindName(full)
		names = append(names, name)
	}
	for _, value := range graph.Schema().Types["EventKind"].EnumValues {
		values = append(values, value.Name)
	}
	slices.Sort(names)
	slices.Sort(values)
	if !slices.Equal(names, values) {
		t.Errorf("types and values differ:\n%v\n%v", names, values)
	}
}

func TestEventsLinkToTheirResources(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		made := w.ask(`mutation($org: UID!) { createRepo(input: {parent: $org, name: "go", description: "one"}) { repo { uid } } }`, "org", w.org)
		repo := made.uid("createRepo.repo.uid")
		w.ask(`mutation($repo: UID!) { updateRepo(input: {uid: $repo, description: "two", aliases: ["golang"]}) { repo { uid } } }`, "repo", repo)
		const query = `query($kinds: [EventKind!]) { auditLog(kinds: $kinds, first: 20) { nodes { type kind groupUid group { name } subject
			resource { __typename id ... on Repo { name } ... on Group { name } } actor { subject identity { name } } changes { field before after } } } }`
		got := w.ask(query, "kinds", []string{"REGISTRY_REPO_UPDATED"})
		one := "auditLog.nodes.0."
		got.expect(one+"kind", "REGISTRY_REPO_UPDATED").expect(one+"group.name", "acme").expect(one+"groupUid", string(w.org)).
			expect(one+"resource.__typename", "Repo").expect(one+"resource.name", "go").expect(one+"actor.identity.name", "owner").
			expect(one+"changes", []any{map[string]any{"field": "description", "before": "one", "after": "two"}, map[string]any{"field": "aliases", "before": nil, "after": []any{"golang"}}})
		// A deleted resource is null, without an error. Events that are not updates have
		// no changes.
		w.ask(`mutation($repo: UID!) { deleteRepo(input: {uid: $repo}) { deletedUid } }`, "repo", repo)
		got = w.ask(query, "kinds", []string{"REGISTRY_REPO_DELETED"})
		got.expect(one+"resource", nil).expect(one+"changes", nil).expect(one+"kind", "REGISTRY_REPO_DELETED").expect(one+"group.name", "acme")
		// An event of the operator has no identity.
		w.group(w.org, "team")
		got = w.ask(query, "kinds", []string{"IAM_GROUP_CREATED"})
		got.expect(one+"actor.subject", "test").expect(one+"actor.identity", nil).expect(one+"resource.name", "team")
	})
}

func TestTheResourceOfADeniedCreationIsItsParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.member(w.org, "ann", iam.ViewerRole)
	w.askAs("ann", `mutation($org: UID!) { createRepo(input: {parent: $org, name: "go"}) { repo { uid } } }`, "org", w.org).expectErrors("PERMISSION_DENIED createRepo")
	w.ask(`{ auditLog(denied: true) { nodes { kind resource { __typename ... on Group { name } } actor { identity { name } } } } }`).
		expect("auditLog.nodes.0.resource.__typename", "Group").expect("auditLog.nodes.0.resource.name", "acme").
		expect("auditLog.nodes.0.kind", "REGISTRY_REPO_CREATED").expect("auditLog.nodes.0.actor.identity.name", "ann")
}

// A caller who may read the log but not the resource of an event sees the event, with an
// error instead of the resource.
func TestTheResourceOfAnEventNeedsTheRightToRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repos("go")
	w.member(w.org, "dan", w.role(w.org, "auditors", core.CapGroupsUpdate))
	w.askAs("dan", `{ auditLog(kinds: [REGISTRY_REPO_CREATED]) { nodes { subject resource { id } group { name } } } }`).
		expectErrors("PERMISSION_DENIED auditLog.nodes.0.resource", "PERMISSION_DENIED auditLog.nodes.0.group").expect("auditLog.nodes.0.resource", nil)
}

// follow returns the events of a subscription that ends by itself, and the number of
// statements that it took.
func (w *world) follow(ctx context.Context, query string, variables ...any) (events []answer, statements int64) {
	w.t.Helper()
	handler := w.serveFeeds()
	r := newRequest(query, variables)
	r.Header.Set("Accept", "text/event-stream")
	var cost core.Trace
	rw := httptest.NewRecorder()
	handler.ServeHTTP(rw, r.WithContext(core.WithTrace(ctx, &cost)))
	for _, line := range strings.Split(rw.Body.String(), "\n") {
		if data, found := strings.CutPrefix(line, "data: "); found && strings.Contains(data, "{") {
			one := answer{t: w.t, query: query}
			if err := json.Unmarshal([]byte(data), &one); err != nil {
				w.t.Fatal(err)
			}
			events = append(events, one)
		}
	}
	return events, cost.Statements.Load()
}

// serveFeeds returns a handler of operations without limits.
func (w *world) serveFeeds() http.Handler {
	settings := endpoint.DefaultSettings()
	settings.Limits = limit.Limits{}
	return serveEngine(NewEngine(w.p, nil), newPresenter(slog.New(slog.DiscardHandler)), settings, func(context.Context) error { return nil })
}

func (w *world) actor(subject string) context.Context {
	w.t.Helper()
	return core.WithActor(w.t.Context(), must(w.p.Authenticate(w.t.Context(), iam.Claims{Issuer: testIssuer, Subject: subject, ServiceAudience: true}))(w.t))
}

func TestConditionsOfSubscriptionsAndFeeds(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		team, ann := w.group(w.org, "team"), w.member(w.org, "ann", w.role(w.org, "readers", core.CapGroupsList))
		const create = `mutation($input: CreateSubscriptionInput!) { createSubscription(input: $input) { subscription { uid conditions { withinUids actors includeDenied } } } }`
		input := map[string]any{"parent": w.org, "sink": "https://siem.example.com/", "conditions": map[string]any{"within": []any{team}, "actors": []any{ann, "test"}, "includeDenied": true}}
		uid := w.ask(create, "input", input).value("createSubscription.subscription.uid")
		w.ask(`query($uid: UID!) { subscription(uid: $uid) { conditions { withinUids within { ... on Group { name } } actors actorIdentities { name } includeDenied } } }`, "uid", uid).
			expect("subscription.conditions.withinUids", []any{string(team)}).expect("subscription.conditions.within.*.name", "team").
			expect("subscription.conditions.actors", []any{string(ann), "test"}).expect("subscription.conditions.actorIdentities.*.name", "ann").expect("subscription.conditions.includeDenied", true)
		input["sink"], input["conditions"] = "https://b.example.com/", nil
		w.ask(create, "input", input).expect("createSubscription.subscription.conditions", nil)
		input["sink"], input["conditions"] = "https://c.example.com/", map[string]any{"within": []any{"x"}}
		if got := w.askAs(theOwner, create, "input", input).expectErrors("INVALID_ARGUMENT createSubscription").violations(); got != "conditions.within[0]" {
			t.Errorf("it names %q, want conditions.within[0]", got)
		}
		for within, want := range map[core.UID]string{"x": "findings.within[0]", w.org: "findings.within[0]"} {
			_, err := w.p.Events.Open(w.actor(theOwner), events.EventRequest{DescendantsOf: team, Findings: &inventory.FindingConditions{Within: []core.UID{within}}})
			if invalid := core.AsError(err); invalid == nil || len(invalid.Violations) != 1 || invalid.Violations[0].Field != want {
				t.Errorf("a feed of findings within %s: %v, want a violation of %s", within, err, want)
			}
		}
		w.repos("go")
		w.ask(`mutation($org: UID!) { createRepo(input: {parent: $org, name: "own"}) { repo { uid } } }`, "org", w.org)
		for actor, name := range map[string]string{"test": "go", w.ask(`{ viewer { identities { uid } } }`).text("viewer.identities.0.uid"): "own"} {
			events, _ := w.follow(w.actor(theOwner), `subscription { events(after: "", first: 1, kinds: [REGISTRY_REPO_CREATED], actor: "`+actor+`") { body } }`)
			if len(events) == 0 || !strings.Contains(fmt.Sprint(events[0].Data), "name:"+name) {
				t.Errorf("the events of %s are %v, want that of %s", actor, events, name)
			}
		}
	})
}

const followQuery = `{ events(after: "", first: %d, kinds: [REGISTRY_REPO_CREATED]) { kind subject group { name } actor { identity { name } } resource { ... on Repo { name } } } }`

func TestTheResourcesOfABurstOfEventsAreReadOnce(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		for i := range 40 {
			w.ask(`mutation($org: UID!, $name: String!) { createRepo(input: {parent: $org, name: $name}) { repo { uid } } }`, "org", w.org, "name", fmt.Sprintf("r%02d", i))
		}
		firstEvents, one := w.follow(w.actor(theOwner), "subscription "+fmt.Sprintf(followQuery, 1))
		many, all := w.follow(w.actor(theOwner), "subscription "+fmt.Sprintf(followQuery, 40))
		if len(firstEvents) != 1 || len(many) != 40 || one != all {
			t.Errorf("%d events took %d statements, and %d took %d; want 1 and 40 events, and equal numbers of statements", len(firstEvents), one, len(many), all)
		}
		for i, e := range many {
			e.expectSuccess().expect("events.resource.name", fmt.Sprintf("r%02d", i)).expect("events.group.name", "acme").expect("events.actor.identity.name", "owner")
		}
	})
}

// Live feeds share answers. They get the first event after they have opened, or before, and all get the second
// one together. Each must get what its own document selects, and its caller only what they may see.
func TestLiveFeedsGetWhatTheySelect(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		w.member(w.org, "ann", w.role(w.org, "groups", core.CapGroupsList, core.CapRepoList))
		w.member(w.org, "dan", w.role(w.org, "repos", core.CapRepoList))
		handler, newest := w.serveFeeds(), w.ask(`{ auditLog(first: 1) { nodes { id } } }`).text("auditLog.nodes.0.id")
		var feeds []func() string
		for _, c := range []struct{ subject, selected string }{
			{theOwner, "resource { ... on Repo { name } }"},
			{theOwner, "resource { ... on Repo { name } }"},
			{theOwner, "resource { ... on Repo { name aliases } }"},
			{theOwner, "actor { identity { name } }"},
			{"ann", "actor { identity { name } }"},
			{"ann", "resource { ... on Repo { name } }"},
			{"dan", "resource { ... on Repo { name } }"},
			{theOwner, "group { name }"},
			{"ann", "group { name }"},
			{"dan", "group { name }"},
			{theOwner, "resource { ... on Repo { viewerCan(capabilities: [REPO_DELETE]) } }"},
			{"ann", "resource { ... on Repo { viewerCan(capabilities: [REPO_DELETE]) } }"},
			{theOwner, "group { repos(where: {name: \"a\"}) { totalCount } identities { totalCount } }"},
			{"ann", "group { repos(where: {name: \"a\"}) { totalCount } identities { totalCount } }"},
		} {
			feeds = append(feeds, w.listen(handler, c.subject, `subscription { events(after: "`+newest+`", kinds: [REGISTRY_REPO_CREATED]) { `+c.selected+` } }`))
		}
		const create = `mutation($org: UID!, $name: String!) { createRepo(input: {parent: $org, name: $name, aliases: ["x"]}) { repo { uid } } }`
		for _, name := range []string{"a", "b"} {
			w.ask(create, "org", w.org, "name", name)
			for i, want := range []string{
				`{"resource":{"name":"` + name + `"}}`, `{"resource":{"name":"` + name + `"}}`, `{"resource":{"name":"` + name + `","aliases":["x"]}}`,
				`{"actor":{"identity":{"name":"owner"}}}`, `{"actor":{"identity":null}}`,
				`{"resource":{"name":"` + name + `"}}`, `{"resource":{"name":"` + name + `"}}`,
				`{"group":{"name":"acme"}}`, `{"group":{"name":"acme"}}`, `{"group":null}`,
				`{"resource":{"viewerCan":true}}`, `{"resource":{"viewerCan":false}}`,
				`{"group":{"repos":{"totalCount":1},"identities":{"totalCount":3}}}`, `{"group":{"repos":{"totalCount":1},"identities":null}}`,
			} {
				if got := feeds[i](); !strings.Contains(got, `"data":{"events":`+want+`}`) {
					t.Errorf("feed %d got %s, want %s", i, got, want)
				}
			}
		}
	})
}

// listen opens a subscription of a caller, and returns a function that returns its next event.
func (w *world) listen(handler http.Handler, subject, query string) (next func() string) {
	w.t.Helper()
	caller := core.ActorOf(w.actor(subject))
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(rw, r.WithContext(core.WithActor(r.Context(), caller)))
	}))
	w.t.Cleanup(server.Close)
	body, _ := json.Marshal(map[string]any{"query": query})
	r, _ := http.NewRequestWithContext(w.t.Context(), http.MethodPost, server.URL, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	response := must(server.Client().Do(r))(w.t)
	w.t.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	return func() string {
		for lines.Scan() {
			if data, found := strings.CutPrefix(lines.Text(), "data: "); found {
				return data
			}
		}
		w.t.Fatalf("%s ended: %v", query, lines.Err())
		return ""
	}
}

// A caller who lost a grant after opening a feed must not see the resources of its
// events.
func TestTheResourceOfAnEventIsReadWithTheCurrentGrants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.repos("go")
	w.member(w.org, "ann", w.role(w.org, "repos", core.CapRepoList))
	ann := w.ask(`{ identities(where: {name: "ann"}) { nodes { uid } } }`).text("identities.nodes.0.uid")
	bound := w.ask(`mutation($org: UID!, $ann: UID!, $role: UID!) { createRoleBinding(input: {parent: $org, identityUid: $ann, roleUid: $role}) { roleBinding { uid } } }`,
		"org", w.org, "ann", ann, "role", w.role(w.org, "groups", core.CapGroupsList)).text("createRoleBinding.roleBinding.uid")
	before := w.actor("ann")
	query := "subscription " + strings.ReplaceAll(fmt.Sprintf(followQuery, 1), "actor { identity { name } }", "")
	events, _ := w.follow(before, query)
	events[0].expectSuccess().expect("events.group.name", "acme").expect("events.resource.name", "go")
	w.ask(`mutation($b: UID!) { deleteRoleBinding(input: {uid: $b}) { deletedUid } }`, "b", bound)
	events, _ = w.follow(before, query)
	events[0].expectErrors("PERMISSION_DENIED events.group").expect("events.resource.name", "go")
}
