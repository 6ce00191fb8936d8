package platform_test

import (
	"context"
	"errors"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// The attack is a token that asks for the identities of others: of other organizations, and of
// groups whose identities it may not list. It finds its own ones, whatever its rights.
func TestALookupFindsOwnAndListableIdentities(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		elsewhere, acme := w.found("elsewhere"), w.found("acme")
		team, sibling := w.group(acme.uid), w.group(acme.uid)
		ofElsewhere := w.member(elsewhere.uid, "ann") // the oldest
		inSibling, inTeam := w.member(sibling, "ann"), w.member(team, "ann")
		robot := w.member(team, "robot")
		viewer := w.memberWith(iam.ViewerRole, team, acme.uid)
		for _, c := range []struct {
			name    string
			ctx     context.Context
			subject string
			want    core.UID
		}{
			{"an owner of all", acme.owner, "ann", inSibling},
			{"a viewer of one group", viewer, "ann", inTeam},
			{"an owner of another organization", elsewhere.owner, "ann", ofElsewhere},
			{"herself, without a role", w.as("ann"), "ann", ofElsewhere},
			{"itself, without a role", w.as("robot"), "robot", robot},
			{"another, without a role", w.as("robot"), "ann", ""},
			{"another organization's identity", elsewhere.owner, "robot", ""},
			{"a token without an identity", w.as("a stranger"), "ann", ""},
			{"nobody at all", acme.owner, "nobody", ""},
		} {
			got, err := w.p.Identities.Lookup(c.ctx, issuer, c.subject)
			if got != c.want || (err == nil) != (c.want != "") || err != nil && !errors.Is(err, &core.Error{Code: core.CodeNotFound}) {
				t.Errorf("%s: got %q and %v, want %q", c.name, got, err, c.want)
			}
		}
	})
}
