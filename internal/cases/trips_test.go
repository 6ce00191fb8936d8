package cases

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/store/storetest"
)

// The most round trips to PostgreSQL that an operation takes: one for a read, and these for changes, by the first word of
// its name.
var tripsOfVerbs = map[string]int{"Create": 3, "Update": 2, "Delete": 4}

// tripsOfOthers has the operations that take more. What changes rights reads first who has them.
var tripsOfOthers = map[string]int{
	"AcceptTerms": 3, "BatchCreateRoleBindings": 3, "BatchDeleteExternalGroupRoleMappings": 2,
	"DeleteGroup": 4, "ListArtifactVersions": 3, "ListDocuments": 3, "ListResolvedVulnsReports": 6, "ListTermsAcceptances": 2,
	"UpdateIdentity": 4, "UpdateIdentityProvider": 4, "UpdateRepoReadme": 3, "UpdateRole": 3, "UpdateRoleBinding": 5, "VerifyIdentityProvider": 5, "TestSubscription": 4,
	"SetDuePolicy": 3, "CreateAcceptanceRule": 4, "PreviewAcceptanceRule": 2,
	"UpdateFindings": 5, "RotateSubscriptionSecret": 4, "EnableSubscription": 3,
	"BatchUpdateRepos": 2, "BatchCreateTags": 3, "BatchCreateIdentities": 2, "BatchCreateGroupInvites": 3, "BatchCreateSubscriptions": 3,
	"BatchDeleteTags": 2, "BatchDeleteIdentities": 2, "BatchDeleteGroupInvites": 2, "BatchDeleteRoleBindings": 3, "BatchDeleteSubscriptions": 2,
	"CancelSource": 2, "GetSourceRuns": 2, "RunSource": 3, "UpdateSource": 3,
}

// Each operation takes few round trips, by every protocol. A relay counts them. In GraphQL, the document also selects what
// belongs to the resource, which can take one more.
func TestEveryOperationTakesFewRoundTrips(t *testing.T) {
	t.Parallel()
	relay := storetest.NewRelay(t, storetest.Postgres(t))
	w := newWorldWith(t, relay.URL+"&pool_max_conns=1", platform.Options{AllowSignup: true, AllowIssuers: true})
	e := w.newEnv(t)
	e.mustCall(e.fillCall(createIdentity(identityToLookUp)))
	unused := maps.Clone(tripsOfOthers)
	for _, k := range kinds {
		for _, c := range k.operations(w) {
			verb := slices.IndexFunc([]byte(c.rpc[1:]), func(b byte) bool { return b < 'a' }) + 1
			limit := cmp.Or(tripsOfOthers[c.rpc], tripsOfVerbs[c.rpc[:verb]], 1)
			for _, p := range w.protocols {
				g, isGraphQL := p.(graphQL)
				if isGraphQL {
					p = graphQL{g.handler, nil, g.schema} // The other executor would count too.
				}
				least := e.countTrips(t, relay, p, c)
				if isGraphQL {
					least--
				}
				if least > limit {
					t.Errorf("%s by %s takes %d round trips, want at most %d", c.rpc, p.name(), least, limit)
				}
				if least == limit {
					delete(unused, c.rpc)
				}
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("%s take fewer round trips than the table says; lower it", strings.Join(slices.Sorted(maps.Keys(unused)), ", "))
	}
}

// countTrips returns the round trips of a call: the lowest of several, because the first ones prepare statements.
func (e *env) countTrips(t *testing.T, relay *storetest.Relay, p protocol, c call) int {
	t.Helper()
	const rounds = 4
	var trips []int
	for range rounds {
		one := e.forTest(t)
		one.made["group"], one.made["full provider"] = e.resource("group"), e.resource("full provider") // The name of the provider can exist only once.
		filled := one.fillCall(c)
		p.do(e.token, call{rpc: "ListGroups"}) // From now on, the caller is known.
		before := relay.Trips()
		if got := p.do(e.token, filled); got.failure != nil {
			t.Fatalf("%s by %s: %s", c.rpc, p.name(), got.raw)
		}
		trips = append(trips, relay.Trips()-before)
	}
	return slices.Min(trips)
}
