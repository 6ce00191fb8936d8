package platform_test

import (
	"context"
	"errors"
	"testing"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// A rightsChange is a change of rights between two requests of one caller.
type rightsChange struct {
	name   string
	claims iam.Claims
	may    [2]bool // These say whether the caller may read repos of a team before and after the change.
	change func() error
}

func (w *world) rightsChanges(acme org, team core.UID) []rightsChange {
	claims := func(subject string) iam.Claims {
		return iam.Claims{Issuer: issuer, Subject: subject, ServiceAudience: true}
	}
	reader := func() core.UID { return w.role(acme.uid, core.CapRepoList) }
	revoked := w.bind(team, w.member(acme.uid, "revoked"), reader())
	weaker := reader()
	w.bind(team, w.member(acme.uid, "weaker"), weaker)
	stronger := w.role(acme.uid)
	w.bind(team, w.member(acme.uid, "stronger"), stronger)
	rebound := w.bind(team, w.member(acme.uid, "rebound"), reader())
	deleted, renamed, granted := w.member(acme.uid, "deleted"), w.member(acme.uid, "renamed"), w.member(acme.uid, "granted")
	deletedBinding := w.bind(team, deleted, reader())
	w.bind(team, renamed, reader())
	provider := w.providerOf(team, workplace, w.role(team)).UID
	mapping := w.mappingTo(provider, "admins", iam.EditorRole, team)
	nothing := w.role(acme.uid)
	elsewhere, below := w.group(acme.uid), w.group(team)
	moving := w.mappingTo(provider, "moving", iam.EditorRole, team)
	mappedRole := reader()
	w.mappingTo(provider, "weakened", mappedRole, team)
	bound := w.bind(team, w.member(acme.uid, "moved"), reader())
	otherProvider := w.providerOf(team, workplace+"/moving", w.role(team)).UID
	w.mappingTo(otherProvider, "guests", iam.EditorRole, team)
	deletedProvider := w.providerOf(team, workplace+"/deleted", w.role(team)).UID
	deletedMapping := w.mappingTo(deletedProvider, "guests", iam.EditorRole, team)
	outside := func(issuer, group string) iam.Claims {
		values := map[string]any{"iss": issuer, "sub": "outside", "groups": []any{group}}
		return iam.Claims{Issuer: issuer, Subject: "outside", Audience: []string{"client"}, Values: values, Name: "Bob", Email: "bob@example.com", EmailVerified: true}
	}
	w.member(acme.uid, "patterned")
	return []rightsChange{
		{"a binding is revoked", claims("revoked"), [2]bool{true, false}, func() error { return w.p.RoleBindings.Delete(acme.owner, revoked) }},
		{"a role loses a capability", claims("weaker"), [2]bool{true, false}, func() error {
			_, err := w.p.Roles.Update(acme.owner, weaker, body[*iam.Role](`{"capabilities": ["tag.list"]}`))
			return err
		}},
		{"a role gains a capability", claims("stronger"), [2]bool{false, true}, func() error {
			_, err := w.p.Roles.Update(acme.owner, stronger, body[*iam.Role](`{"capabilities": ["repo.list"]}`))
			return err
		}},
		{"a binding gets another role", claims("rebound"), [2]bool{true, false}, func() error {
			_, err := w.p.RoleBindings.Update(acme.owner, rebound, body[*iam.RoleBinding](`{"roleUid": %q}`, nothing))
			return err
		}},
		{"an identity is deleted with its binding", claims("deleted"), [2]bool{true, false}, func() error {
			return errors.Join(w.p.RoleBindings.Delete(acme.owner, deletedBinding), w.p.Identities.Delete(acme.owner, deleted))
		}},
		{"an identity's rule changes", claims("renamed"), [2]bool{true, false}, func() error {
			_, err := w.p.Identities.Update(acme.owner, renamed, body[*iam.Identity](`{"claimMatch": {"issuer": %q, "subject": "somebody else"}}`, issuer))
			return err
		}},
		{"a binding is made", claims("granted"), [2]bool{false, true}, func() error { w.bind(team, granted, reader()); return nil }},
		{"a rule with a pattern is made", claims("patterned"), [2]bool{false, true}, func() error {
			made, err := w.p.Identities.Create(acme.owner, acme.uid, body[*iam.Identity](`{"name": %q, "claimMatch": {"issuer": %q, "subjectPattern": "pattern.d"}}`, w.name(), issuer))
			if err == nil {
				w.bind(team, made.UID, reader())
			}
			return err
		}},
		{"a mapping is deleted", visitor("mapped", map[string]any{"groups": []any{"admins"}}), [2]bool{true, false}, func() error {
			return w.p.ExternalGroupRoleMappings.Delete(acme.owner, mapping)
		}},
		{"a mapping moves to another group", visitor("mover", map[string]any{"groups": []any{"moving"}}), [2]bool{true, false}, func() error {
			w.mappingTo(provider, "moving", iam.EditorRole, below)
			return w.p.ExternalGroupRoleMappings.Delete(acme.owner, moving)
		}},
		{"the role of a mapping loses a capability", visitor("weakened", map[string]any{"groups": []any{"weakened"}}), [2]bool{true, false}, func() error {
			_, err := w.p.Roles.Update(acme.owner, mappedRole, body[*iam.Role](`{"capabilities": ["tag.list"]}`))
			return err
		}},
		{"a right moves to another group", claims("moved"), [2]bool{true, false}, func() error {
			w.bind(elsewhere, w.memberUID("moved"), reader())
			return w.p.RoleBindings.Delete(acme.owner, bound)
		}},
		{"a provider moves to another issuer", outside(workplace+"/moving", "guests"), [2]bool{true, false}, func() error {
			_, err := w.p.IdentityProviders.Update(acme.owner, otherProvider, body[*iam.IdentityProvider](
				`{"oidc": {"issuer": %q, "clientId": "client", "groupsClaim": "groups"}}`, workplace+"/moved"))
			return err
		}},
		{"a provider is deleted with its mapping", outside(workplace+"/deleted", "guests"), [2]bool{true, false}, func() error {
			return errors.Join(w.p.ExternalGroupRoleMappings.Delete(acme.owner, deletedMapping), w.p.IdentityProviders.Delete(acme.owner, deletedProvider))
		}},
	}
}

// A presumed caller must get no answer that the caller may not have now. A naive
// implementation would trust the last request.
func TestAPresumptionIsRefutedByEveryChangeOfRights(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		w.repo(team)
		asks := func(ctx context.Context) error {
			_, err := w.p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{ChildrenOf: team}})
			return err
		}
		for _, c := range w.rightsChanges(acme, team) {
			last, err := w.p.Authenticate(t.Context(), c.claims)
			must(t, err)
			presumed := func() context.Context { return w.p.Presume(t.Context(), c.claims, last) }
			for range 3 { // From the third request on, only versions are compared.
				if err := asks(presumed()); (err == nil) != c.may[0] {
					t.Errorf("before %s: %v", c.name, err)
				}
			}
			must(t, c.change())
			if err := asks(core.WithActor(t.Context(), last)); (err == nil) != c.may[0] {
				t.Errorf("after %s the naive request is answered %v: this test shows nothing", c.name, err)
			}
			ctx := presumed()
			for range 2 {
				if asks(ctx) == nil {
					t.Errorf("after %s a request that presumes is answered", c.name)
				}
			}
			expectRefused(t, "the proof after "+c.name, core.Prove(ctx), core.CodeUnavailable)
			fresh, err := w.p.Authenticate(t.Context(), c.claims)
			must(t, err)
			if err := asks(core.WithActor(t.Context(), fresh)); (err == nil) != c.may[1] {
				t.Errorf("after %s a request that starts over is answered %v", c.name, err)
			}
		}
	})
}

// The first statements of a request prove its caller, whatever their result is. Nothing
// is written or sent before.
func TestARequestProvesItsCallerOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		claims := iam.Claims{Issuer: issuer, Subject: "owner of acme", ServiceAudience: true}
		last, err := w.p.Authenticate(t.Context(), claims)
		must(t, err)
		spend := func(what string, trips int64, act func(context.Context) error) {
			t.Helper()
			var cost core.Trace
			ctx := w.p.Presume(core.WithTrace(t.Context(), &cost), claims, last)
			must(t, act(ctx))
			must(t, core.Prove(ctx))
			if n := cost.RoundTrips.Load(); n != trips {
				t.Errorf("%s takes %d round trips, want %d", what, n, trips)
			}
		}
		get := func(ctx context.Context) error { _, err := w.p.Repos.Get(ctx, repo); return err }
		spend("one read", 1, get)
		spend("two reads", 2, func(ctx context.Context) error { return errors.Join(get(ctx), get(ctx)) })
		spend("nothing", 1, func(context.Context) error { return nil })

		ctx := w.p.Presume(t.Context(), claims, last)
		over, end := context.WithCancel(ctx)
		end()
		if get(over) == nil {
			t.Error("a request that has ended was answered")
		}
		must(t, core.Prove(ctx)) // Its statements have not run, so they prove nothing.
	})
}

// A caller who has just lost a right must change nothing with it, must not see what
// changed, and must leave no denial.
func TestNothingIsChangedForARefutedPresumption(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		binding := w.bind(acme.uid, w.member(acme.uid, "alice"), iam.EditorRole)
		stranger := w.member(acme.uid, "bob")
		repo := w.repo(acme.uid)
		claims := func(subject string) iam.Claims {
			return iam.Claims{Issuer: issuer, Subject: subject, ServiceAudience: true}
		}
		alice, err := w.p.Authenticate(t.Context(), claims("alice"))
		must(t, err)
		bob, err := w.p.Authenticate(t.Context(), claims("bob"))
		must(t, err)
		must(t, w.p.RoleBindings.Delete(acme.owner, binding))
		w.bind(acme.uid, stranger, iam.EditorRole)
		before := w.events()

		rename := func(ctx context.Context) error {
			_, err := w.p.Repos.Update(ctx, repo, body[*inventory.Repo](`{"description": "changed"}`))
			return err
		}
		expectRefused(t, "a change by right that is gone", rename(w.p.Presume(t.Context(), claims("alice"), alice)), core.CodeUnavailable)
		expectRefused(t, "a change by a right that has just come", rename(w.p.Presume(t.Context(), claims("bob"), bob)), core.CodeUnavailable)
		_, err = w.p.Events.Open(w.p.Presume(t.Context(), claims("alice"), alice), events.EventRequest{})
		expectRefused(t, "a feed", err, core.CodeUnavailable)
		if after := w.events(); len(after) != len(before) {
			t.Errorf("%d events were recorded", len(after)-len(before))
		}
	})
}

// Authority costs a write one statement, which reads its caller as every request does.
// There is no version of the rights that a write would have to raise, so a change of a
// repo pays nothing for it, and a change of rights only for the checks of its own rules.
func TestAWriteReadsItsCallerAndNothingElseForItsAuthority(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo, role := w.repo(acme.uid), w.role(acme.uid, core.CapRepoList)
		member := w.member(acme.uid, "writer")
		claims := iam.Claims{Issuer: issuer, Subject: "owner of acme", ServiceAudience: true}
		last, err := w.p.Authenticate(t.Context(), claims)
		must(t, err)
		var bound core.UID
		for _, c := range []struct {
			name       string
			statements int64
			locks      int64 // statements of PostgreSQL only
			write      func(ctx context.Context) error
		}{
			{"a change of a repo", 4, 0, func(ctx context.Context) error {
				_, err := w.p.Repos.Update(ctx, repo, body[*inventory.Repo](`{"description": %q}`, w.name()))
				return err
			}},
			// Searches find what a statement of its own writes. One reads what the role gave: if that changes, reviews of it end.
			{"a change of a role", 6, 1, func(ctx context.Context) error {
				_, err := w.p.Roles.Update(ctx, role, body[*iam.Role](`{"description": %q, "capabilities": ["repo.list"]}`, w.name()))
				return err
			}},
			// One statement is for the resources that the event of a binding mentions, and one reads the
			// rights of the caller anew, because the request before has changed rights.
			{"a new binding", 10, 1, func(ctx context.Context) error {
				made, err := w.p.RoleBindings.Create(ctx, acme.uid, binding(member, role))
				if err == nil {
					bound = made.UID
				}
				return err
			}},
			{"the end of a binding", 8, 1, func(ctx context.Context) error { return w.p.RoleBindings.Delete(ctx, bound) }},
		} {
			if !w.isSQLite() {
				c.statements += c.locks
			}
			var presumed, known core.Trace
			must(t, c.write(w.p.Presume(core.WithTrace(t.Context(), &presumed), claims, last)))
			if n := presumed.Statements.Load(); n != c.statements+1 {
				t.Errorf("%s takes %d statements, want %d and one for its caller", c.name, n, c.statements)
			}
			if bound != "" {
				continue // A binding can be made and ended once.
			}
			must(t, c.write(core.WithActor(core.WithTrace(t.Context(), &known), last)))
			if n := known.Statements.Load(); n != c.statements {
				t.Errorf("%s by a known caller takes %d statements, want %d", c.name, n, c.statements)
			}
		}
	})
}
