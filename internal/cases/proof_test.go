package cases

import (
	"testing"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/store/storetest"
)

// The attack: an organization creates an identity provider for the issuer of others, and
// tries to verify it and to write rules with patterns. The callers of that issuer must
// neither join that organization nor see its groups, in any protocol, until the operator
// allows the organization to use the issuer.
func TestAnUnprovenIdentityProviderEnrolsNobody(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldWith(t, url, platform.Options{})
		operator := core.WithActor(t.Context(), core.NewOperator("test"))
		for _, p := range w.protocols {
			t.Run(p.name(), func(t *testing.T) {
				thief := w.newEnv(t)
				org, stranger := thief.text("{org}"), w.token(t, "stranger by "+p.name())
				made := p.do(thief.token, call{rpc: "CreateIdentityProvider", target: org, fields: fields{
					"name": "theirs", "defaultRole": viewer, "oidc": fields{"issuer": auth.DevelopmentIssuer, "clientId": audience},
				}})
				if made.failure != nil || made.resource["issuerVerified"] != false {
					t.Fatalf("the provider: %s, want no failure and issuerVerified false", made.raw)
				}
				provider := keyOf(made.resource)
				for _, c := range []call{
					verify(provider),
					{rpc: "CreateIdentity", target: org, fields: fields{"name": "all", "claimMatch": fields{"issuer": auth.DevelopmentIssuer, "subjectPattern": ".*"}}},
					{rpc: "CreateIdentity", target: org, fields: fields{"name": "all", "claimMatch": identityRule}},
				} {
					if got := p.do(thief.token, c); got.failure == nil || got.failure.blocked != "ISSUER_NOT_VERIFIED" {
						t.Errorf("%s by the thief: %s, want blocked 'ISSUER_NOT_VERIFIED'", c.rpc, got.raw)
					}
				}
				groups := call{rpc: "ListGroups"}
				if got := p.do(stranger, groups); got.failure == nil || got.failure.reason != "IDENTITY_NOT_FOUND" {
					t.Errorf("the stranger lists groups: %s", got.raw)
				}
				people := thief.mustCall(call{rpc: "ListIdentities", params: fields{"uidp.descendants_of": org}})
				if len(people.items) != 1 {
					t.Errorf("the thief sees %s, want 1 items", people.raw)
				}
				if err := w.p.Issuers.Allow(operator, core.UID(org), auth.DevelopmentIssuer); err != nil {
					t.Fatal(err)
				}
				if got := p.do(stranger, groups); got.failure != nil || len(got.items) != 1 || keyOf(got.items[0]) != org {
					t.Errorf("once the operator allowed it the stranger lists %s", got.raw)
				}
				if err := w.p.Issuers.Revoke(operator, core.UID(org), auth.DevelopmentIssuer); err != nil {
					t.Fatal(err)
				}
				if got := p.do(stranger, groups); got.failure == nil || got.failure.reason != "IDENTITY_NOT_FOUND" {
					t.Errorf("once the operator took that back the stranger lists %s", got.raw)
				}
			})
		}
	})
}
