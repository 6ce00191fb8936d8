package platform_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// newIdentity creates an identity with a rule.
func (w *world) newIdentity(group core.UID, rule string) core.UID {
	w.Helper()
	made, err := w.p.Identities.Create(w.operator(), group, body[*iam.Identity](`{"name": %q, "claimMatch": %s}`, w.name(), rule))
	must(w, err)
	return made.UID
}

// The store selects candidates by issuer and subject, and the core decides which of their
// rules match. This test checks both together.
func TestATokenActsAsEveryIdentityWhoseRuleItMatches(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		rules := map[string]core.UID{
			"exact":           w.newIdentity(acme.uid, `{"issuer": "https://a.example.com", "subject": "ada"}`),
			"exact twin":      w.newIdentity(acme.uid, `{"issuer": "https://a.example.com", "subject": "ada"}`),
			"elsewhere":       w.newIdentity(other.uid, `{"issuer": "https://a.example.com", "subject": "ada"}`),
			"issuer pattern":  w.newIdentity(acme.uid, `{"issuerPattern": "https://[ab]\\.example\\.com", "subject": "ada"}`),
			"subject pattern": w.newIdentity(acme.uid, `{"issuer": "https://a.example.com", "subjectPattern": "a.*"}`),
			"patterns":        w.newIdentity(acme.uid, `{"issuerPattern": "https://.*", "subjectPattern": "ad|bob"}`),
			"claims":          w.newIdentity(acme.uid, `{"issuer": "https://a.example.com", "subject": "ada", "claims": {"team": "blue"}, "claimPatterns": {"env": "prod|test"}}`),
			"audience":        w.newIdentity(acme.uid, `{"issuer": "https://a.example.com", "subject": "ada", "audience": "runner"}`),
			"audiences":       w.newIdentity(acme.uid, `{"issuer": "https://a.example.com", "subject": "ada", "audiencePattern": "run.*"}`),
		}
		ruleless, err := w.p.Identities.Create(acme.owner, acme.uid, body[*iam.Identity](`{"name": "ruleless"}`))
		must(t, err)
		rules["no rule"] = ruleless.UID
		for _, x := range []struct {
			what   string
			claims iam.Claims
			want   []string
		}{
			{"a plain token", iam.Claims{Issuer: "https://a.example.com", Subject: "ada", ServiceAudience: true, Audience: []string{"atrium"}},
				[]string{"elsewhere", "exact", "exact twin", "issuer pattern", "subject pattern"}},
			{"of the other issuer", iam.Claims{Issuer: "https://b.example.com", Subject: "ada", ServiceAudience: true}, []string{"issuer pattern"}},
			{"of a look-alike issuer", iam.Claims{Issuer: "https://a.example.com/", Subject: "ada", ServiceAudience: true}, nil},
			{"of an issuer in another case", iam.Claims{Issuer: "https://A.example.com", Subject: "ada", ServiceAudience: true}, nil},
			{"another subject", iam.Claims{Issuer: "https://a.example.com", Subject: "adam", ServiceAudience: true}, []string{"subject pattern"}},
			{"half a pattern", iam.Claims{Issuer: "https://z.example.com", Subject: "ad", ServiceAudience: true}, []string{"patterns"}},
			{"the pattern itself", iam.Claims{Issuer: "https://z.example.com", Subject: "ad|bob", ServiceAudience: true}, nil},
			{"for another service", iam.Claims{Issuer: "https://a.example.com", Subject: "ada", Audience: []string{"x", "runner"}}, []string{"audience", "audiences"}},
			{"with claims", iam.Claims{Issuer: "https://a.example.com", Subject: "ada", ServiceAudience: true, Values: map[string]any{"team": "blue", "env": "prod"}},
				[]string{"claims", "elsewhere", "exact", "exact twin", "issuer pattern", "subject pattern"}},
			{"with half the claims", iam.Claims{Issuer: "https://a.example.com", Subject: "ada", ServiceAudience: true, Values: map[string]any{"team": "blue", "env": "production"}},
				[]string{"elsewhere", "exact", "exact twin", "issuer pattern", "subject pattern"}},
			{"with control characters", iam.Claims{Issuer: "\x01", Subject: "\x01", ServiceAudience: true}, nil},
			{"of nobody", iam.Claims{ServiceAudience: true}, nil},
		} {
			actor, err := w.p.Authenticate(t.Context(), x.claims)
			must(t, err)
			var got []string
			for name, uid := range rules {
				if slices.Contains(actor.Identities, uid) {
					got = append(got, name)
				}
			}
			if slices.Sort(got); !slices.Equal(got, x.want) || len(actor.Identities) != len(got) {
				t.Errorf("%s acts as %q, want %q", x.what, got, x.want)
			}
		}
	})
}

func TestACallerHoldsTheCapabilitiesOfAllItsIdentities(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team := w.group(acme.uid)
		w.bind(acme.uid, w.member(acme.uid, "ada"), iam.ViewerRole)
		w.bind(team, w.member(team, "ada"), iam.EditorRole)
		w.bind(other.uid, w.member(other.uid, "ada"), w.builtIn("registry.push"))
		actor := core.ActorOf(w.as("ada"))
		for _, x := range []struct {
			capability core.Capability
			on         core.UID
			want       bool
		}{
			{core.CapRepoList, acme.uid, true}, {core.CapRepoCreate, acme.uid, false}, {core.CapRepoCreate, team, true}, {core.CapRepoCreate, missingBelow(team), true},
			{core.CapTagCreate, team, false}, {core.CapTagCreate, other.uid, true}, {core.CapAdvisoriesList, other.uid, false}, {core.CapRepoList, "", false},
		} {
			if got := actor.Can(x.capability, x.on); got != x.want {
				t.Errorf("%s on %s: %t, want %t", x.capability, x.on, got, x.want)
			}
		}
		own, err := w.p.Identities.ListOwn(w.as("ada"))
		if err != nil || len(own) != 3 {
			t.Errorf("it is %d identities, want 3 (%v)", len(own), err)
		}
	})
}

func TestARevokedBindingHasNoEffectFromTheNextRequest(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		replica := w.replica(w.store, platform.Options{})
		bound := w.bind(acme.uid, w.member(acme.uid, "ada"), iam.ViewerRole)
		sees := func() bool {
			t.Helper()
			actor, err := replica.Authenticate(t.Context(), iam.Claims{Issuer: issuer, Subject: "ada", ServiceAudience: true})
			must(t, err)
			_, err = replica.Groups.Get(core.WithActor(t.Context(), actor), acme.uid)
			if err != nil {
				expectRefused(t, "reading", err, core.CodePermissionDenied)
			}
			return err == nil
		}
		if !sees() {
			t.Error("a bound role is not seen")
		}
		must(t, w.p.RoleBindings.Delete(acme.owner, bound))
		if sees() {
			t.Error("a revoked role is seen")
		}
		role := w.role(acme.uid, core.CapGroupsList)
		w.bind(acme.uid, w.memberUID("ada"), role)
		if !sees() {
			t.Error("a custom role is not seen")
		}
		_, err := w.p.Roles.Update(acme.owner, role, body[*iam.Role](`{"capabilities": ["repo.list"]}`))
		must(t, err)
		if sees() {
			t.Error("a capability taken from a role is seen")
		}
	})
}

// memberUID returns the UID of the identity with this subject.
func (w *world) memberUID(subject string) core.UID {
	w.Helper()
	uid, err := w.p.Identities.Lookup(w.as(subject), issuer, subject)
	must(w, err)
	return uid
}

func TestAuthenticationIsOneStatement(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for range 3 {
			w.bind(acme.uid, w.member(acme.uid, "ada"), iam.ViewerRole)
		}
		var trace core.Trace
		_, err := w.p.Authenticate(core.WithTrace(t.Context(), &trace), iam.Claims{Issuer: issuer, Subject: "ada", ServiceAudience: true})
		if err != nil || trace.Statements.Load() != 1 {
			t.Errorf("%d statements, want 1 (%v)", trace.Statements.Load(), err)
		}
	})
}

func TestOnlyIssuersThatARuleNamesAreKnown(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.newIdentity(acme.uid, `{"issuer": "https://a.example.com", "subjectPattern": ".*"}`)
		w.newIdentity(acme.uid, `{"issuerPattern": ".*", "subject": "x"}`)
		for name, want := range map[string]bool{
			issuer: true, "https://a.example.com": true, "https://a.example.com/": false, "https://a.example.co": false, "https://z.example.com": false, "": false, ".*": false, "\x01": false,
		} {
			if got, err := w.p.KnowsIssuer(t.Context(), name); err != nil || got != want {
				t.Errorf("%q: %t, want %t (%v)", name, got, want, err)
			}
		}
	})
}

func TestLastSeenIsNotedAtMostOnceAMinuteAndOffThePath(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		ada := w.member(acme.uid, "ada")
		w.bind(acme.uid, ada, iam.ViewerRole)
		bob, eve := w.member(acme.uid, "bob"), w.member(acme.uid, "eve")
		seenOf := func(uid core.UID) core.Time {
			t.Helper()
			row, err := w.p.Identities.Get(w.operator(), uid)
			must(t, err)
			return row.LastSeenTime
		}
		seen := func() core.Time { return seenOf(ada) }
		before, made := len(w.events()), seen()
		if !made.IsZero() {
			t.Errorf("an identity that nobody has acted as was seen at %s", made)
		}
		w.pass(time.Minute)
		for range 300 { // This is more than the platform remembers. No request waits until they are written.
			w.as("ada")
		}
		if got := seen(); got != made {
			t.Errorf("it was noted at %s, want %s, on the path", got, made)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { w.p.Run(ctx); close(done) }()
		// The times are written in order: when another one's time is stored, all of ada's are, too.
		drain := func(uid core.UID, subject string) {
			last := seenOf(uid)
			waitFor(t, func() bool {
				w.as(subject) // The queue may be full.
				return seenOf(uid) != last
			})
		}
		drain(eve, "eve")
		first := seen()
		if first == made {
			t.Error("it was not noted that ada was seen")
		}
		updated, err := w.p.Identities.Get(w.operator(), ada)
		must(t, err)
		if !updated.UpdateTime.Equal(updated.CreateTime.Time) {
			t.Error("being seen changed its update time")
		}
		w.as("ada")
		drain(bob, "bob")
		if got := seen(); got != first {
			t.Errorf("noted at %s and again at %s", first, got)
		}
		w.pass(time.Minute)
		w.as("ada")
		waitFor(t, func() bool { return seen() != first })
		cancel()
		<-done
		if got := len(w.events()); got != before {
			t.Errorf("%d events of being seen", got-before)
		}
	})
}

// waitFor waits until ok returns true.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}

// effectiveCapabilities returns what one identity holds on a UID.
func (w *world) effectiveCapabilities(ctx context.Context, identity, on core.UID) ([]core.Capability, error) {
	grants, errs := w.p.Identities.EffectiveGrants(ctx, []core.UID{identity})
	return grants[0].CapabilitiesOn(on), errs[0]
}

// A list with identities that the caller may not inspect gets the answers of single reads,
// and needs one statement at any size.
func TestEffectiveGrantsOfManyIdentitiesAreThoseOfEach(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		seer := w.memberWith(iam.ViewerRole, team, acme.uid)
		all := []core.UID{acme.Identity.UID, missingBelow(acme.uid), missingBelow(team)}
		for i, role := range []core.UID{iam.ViewerRole, iam.OwnerRole, w.builtIn("registry.pull"), ""} {
			all = append(all, w.member(team, fmt.Sprint("member ", i)), all[0])
			if role != "" {
				w.bind(team, all[len(all)-2], role)
				w.bind(w.group(team), all[len(all)-2], iam.EditorRole)
			}
		}
		for _, c := range []struct {
			name       string
			ctx        context.Context
			identities []core.UID
			denied     int
			statements int64
		}{
			{"the owner", acme.owner, all, 0, 1},
			{"the owner, of two", acme.owner, all[3:5], 0, 1},
			{"a viewer of the team", seer, all, 6, 1},
			{"a viewer of the team, of others only", seer, all[:2], 2, 0},
			{"nobody", t.Context(), all, len(all), 0},
			{"the owner, of none", acme.owner, nil, 0, 0},
		} {
			var trace core.Trace
			grants, errs := w.p.Identities.EffectiveGrants(core.WithTrace(c.ctx, &trace), c.identities)
			if n := trace.Statements.Load(); n != c.statements {
				t.Errorf("%s: %d statements, want %d", c.name, n, c.statements)
			}
			denied := 0
			for i, uid := range c.identities {
				for _, on := range []core.UID{acme.uid, team, missingBelow(team)} {
					held, err := w.effectiveCapabilities(c.ctx, uid, on)
					if got := grants[i].CapabilitiesOn(on); !slices.Equal(got, held) || fmt.Sprint(errs[i]) != fmt.Sprint(err) {
						t.Errorf("%s: identity %d holds %v (%v) on %s, want %v (%v)", c.name, i, got, errs[i], on, held, err)
					}
				}
				if errs[i] != nil {
					denied++
				}
			}
			if denied != c.denied {
				t.Errorf("%s: %d identities are refused, want %d: %v", c.name, denied, c.denied, errs)
			}
		}
	})
}

func TestEffectiveBindingsAndCapabilitiesAreThoseThatApply(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		ada := w.member(acme.uid, "ada")
		high, low := w.bind(acme.uid, ada, w.builtIn("registry.pull")), w.bind(team, ada, iam.ViewerRole)
		w.bind(w.group(acme.uid), ada, iam.OwnerRole) // This happens concurrently.
		uids := func(page core.Page[*iam.RoleBinding], err error) []core.UID {
			t.Helper()
			must(t, err)
			var all []core.UID
			for _, b := range page.Items {
				all = append(all, b.UID)
			}
			if int(page.TotalCount) != len(all) {
				t.Errorf("%d of %d", len(all), page.TotalCount)
			}
			return all
		}
		effective := func(ctx context.Context, group core.UID, capability core.Capability) (core.Page[*iam.RoleBinding], error) {
			pages, errs := w.p.RoleBindings.ListEffective(ctx, []core.UID{group}, capability, core.ListRequest[*iam.RoleBindingFilter]{})
			return pages[0], errs[0]
		}
		if got := uids(effective(acme.owner, team, "")); !slices.Equal(got, []core.UID{low, high, acme.Binding.UID}) {
			t.Errorf("on the team count %v", got)
		}
		if got := uids(effective(acme.owner, team, core.CapAdvisoriesList)); !slices.Equal(got, []core.UID{low, acme.Binding.UID}) {
			t.Errorf("with advisories.list count %v", got)
		}
		if got := uids(effective(w.as("ada"), team, "")); !slices.Equal(got, []core.UID{low}) {
			t.Errorf("ada, who may list them on the team only, sees %v", got)
		}
		_, err := effective(w.as("ada"), acme.uid, "")
		expectRefused(t, "above", err, core.CodePermissionDenied)
		held, err := w.effectiveCapabilities(acme.owner, ada, missingBelow(team))
		if err != nil || !slices.Contains(held, core.CapAdvisoriesList) || slices.Contains(held, core.CapRepoDelete) {
			t.Errorf("holds %v (%v)", held, err)
		}
		if held, err = w.effectiveCapabilities(acme.owner, ada, acme.uid); err != nil || len(held) != 5 {
			t.Errorf("at the root it holds %v, want 5 of them (%v)", held, err)
		}
		_, err = w.effectiveCapabilities(w.as("ada"), ada, team)
		expectRefused(t, "of an identity that lives above", err, core.CodePermissionDenied)
	})
}
