package resolvers

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/store/storetest"
)

// canFields selects can for n different resources, each with an alias.
func canFields(n int) string {
	var fields strings.Builder
	for i := range n {
		fmt.Fprintf(&fields, "a%d: can(capability: REPO_LIST, within: \"%040x\") ", i, i)
	}
	return fields.String()
}

// The grants of all identities of a level are read once, for all fields that ask about
// them.
func TestWhatIdentitiesHoldIsOneStatement(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		role := w.role(w.org, "lister", core.CapRepoList)
		count := func(size int) {
			t.Helper()
			for _, c := range []struct {
				selection  string
				statements int64
			}{
				{`identities(first: 200) { nodes { can(capability: REPO_LIST, within: $org) } }`, 2},
				{`identities(first: 200) { nodes { effectiveCapabilities(within: $org) } }`, 2},
				{`identities(first: 200) { nodes { effectiveCapabilities(within: $org) can(capability: REPO_LIST, within: $org) } }`, 2},
				{`identities(first: 200) { nodes { ` + canFields(41) + `} }`, 2},
				{`groups { nodes { identities(first: 200) { nodes { ` + canFields(41) + `} } } }`, 3},
				{`groups { nodes { identities { nodes { can(capability: REPO_LIST, within: $org) } } } } identities { nodes { ` + canFields(2) + `} }`, 4},
			} {
				got := w.ask(operation("query", c.selection), "org", w.org)
				if shown := strings.Count(fmt.Sprint(got.Data), "map["); shown < size || got.statements != c.statements {
					t.Errorf("%.90s: %d statements for %d identities, want %d: %.200v", c.selection, got.statements, size, c.statements, got.Data)
				}
			}
		}
		for i := range 20 {
			w.member(w.group(w.org, fmt.Sprint("team ", i)), fmt.Sprint("member ", i), role)
			if i == 1 || i == 19 {
				count(i + 1)
			}
		}
	})
}

func TestAnOperationThatAsksMuchAboutIdentitiesIsRejected(t *testing.T) {
	t.Parallel()
	w := limitedWorld(t)
	got := w.askAs(theOwner, `{ groups(first: 24) { nodes { identities(first: 200) { nodes { `+canFields(41)+`} } } } }`)
	if got.expectErrors("INVALID_ARGUMENT"); got.statements != 0 {
		t.Errorf("it took %d statements, want none", got.statements)
	}
}

// What a list says of an identity is what a query of it alone says, with identities in it
// that the caller may not inspect.
func TestEachIdentityOfAListIsAnsweredAsIfAlone(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		team := w.group(w.org, "team")
		w.member(team, "ann", w.role(w.org, "lister", core.CapRepoList))
		bob := w.member(w.org, "bob", w.role(w.org, "identities", core.CapIdentityList))
		w.ask(`mutation($team: UID!, $bob: UID!, $role: UID!) { createRoleBinding(input: {parent: $team, identityUid: $bob, roleUid: $role}) { roleBinding { uid } } }`,
			"team", team, "bob", bob, "role", w.role(w.org, "bindings", core.CapRoleBindingsList))
		const fields = `effectiveCapabilities(within: $on) list: can(capability: REPO_LIST, within: $on) bind: can(capability: ROLE_BINDINGS_LIST, within: $on)`
		for _, c := range []struct {
			subject string
			on      core.UID
			errors  int
		}{
			{theOwner, w.org, 0}, {theOwner, team, 0}, {"bob", team, 2 * 3}, {"bob", w.org, 2 * 3},
			{"bob", "not-a-uid", 3 * 3}, {theOwner, "not-a-uid", 3 * 3},
		} {
			list := w.askAs(c.subject, `query($on: UID!) { identities { nodes { uid `+fields+` } } }`, "on", c.on)
			if len(list.Errors) != c.errors {
				t.Errorf("%s asks about %s: %d errors, want %d: %+v", c.subject, c.on, len(list.Errors), c.errors, list.Errors)
			}
			for i, uid := range strings.Fields(list.text("identities.nodes.*.uid")) {
				alone := w.askAs(c.subject, `query($uid: UID!, $on: UID!) { identity(uid: $uid) { uid `+fields+` } }`, "uid", uid, "on", c.on)
				at := fmt.Sprint(i)
				if got, want := list.value("identities.nodes."+at), alone.value("identity"); !reflect.DeepEqual(got, want) {
					t.Errorf("%s asks about %s: the list says %v, want %v", c.subject, c.on, got, want)
				}
				if got, want := errorsAt(list, "identities nodes "+at+" "), errorsAt(alone, "identity "); !reflect.DeepEqual(got, want) {
					t.Errorf("%s asks about %s: the list fails with %+v, want %+v", c.subject, c.on, got, want)
				}
			}
		}
	})
}

// errorsAt returns the errors below a path by the rest of their paths.
func errorsAt(a answer, path string) map[string]failure {
	found := map[string]failure{}
	for _, e := range a.Errors {
		if field, ok := strings.CutPrefix(strings.Trim(fmt.Sprint(e.Path), "[]"), path); ok {
			e.Path, e.Locations = nil, nil
			found[field] = e
		}
	}
	return found
}
