package platform_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// files has the files that issuers serve. An issuer without a file cannot be reached.
type files map[string][]core.UID

var errAway = errors.New("connection refused")

func (f files) read(_ context.Context, issuer string) ([]core.UID, error) {
	if listed, ok := f[issuer]; ok {
		return listed, nil
	}
	return nil, errAway
}

// strict makes the platform of the world require proofs.
func (w *world) strict() files {
	f := files{}
	w.p = w.replica(w.store, platform.Options{
		IssuerFile: f.read, SharedIssuers: []iam.SharedIssuer{{Issuer: shared, Tenant: regexp.MustCompile(`^repo:[^/:]+/`)}},
	})
	return f
}

const shared = "https://ci.example.com"

func (w *world) providerBy(owner context.Context, group core.UID) *iam.IdentityProvider {
	w.Helper()
	made, err := w.p.IdentityProviders.Create(owner, group, body[*iam.IdentityProvider](
		`{"name": %q, "defaultRole": %q, "oidc": {"issuer": %q, "clientId": "client", "groupsClaim": "groups"}}`, w.name(), iam.ViewerRole, workplace))
	must(w, err)
	return made
}

func TestNobodyEnrolsCallersOfAForeignIssuer(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		served := w.strict()
		acme, thief := w.found("acme"), w.found("thief")
		mine, theirs := w.providerBy(acme.owner, acme.uid), w.providerBy(thief.owner, thief.uid)
		if mine.IssuerVerified || theirs.IssuerVerified || !mine.IssuerVerifyTime.IsZero() {
			t.Errorf("unproven providers are verified: %+v, %+v", mine, theirs)
		}
		in := func(c iam.Claims) int { actor, _ := w.enter(c); return len(actor.Identities) }
		if n := in(visitor("alice", nil)); n != 0 {
			t.Errorf("before a proof she acts as %d identities", n)
		}
		_, err := w.p.IdentityProviders.Verify(acme.owner, mine.UID)
		expectRefused(t, "while the issuer is away", err, core.CodeUnavailable)

		served[workplace] = []core.UID{acme.uid}
		_, err = w.p.IdentityProviders.Verify(thief.owner, theirs.UID)
		expectRefused(t, "for an organization that the file does not list", err, core.CodeFailedPrecondition, "ISSUER_NOT_VERIFIED")
		_, err = w.p.IdentityProviders.Verify(w.memberWith(iam.ViewerRole, acme.uid, acme.uid), mine.UID)
		expectRefused(t, "for who may not change the provider", err, core.CodePermissionDenied)
		verified, err := w.p.IdentityProviders.Verify(acme.owner, mine.UID)
		must(t, err)
		got, err := w.p.IdentityProviders.Get(acme.owner, mine.UID)
		must(t, err)
		if !verified.IssuerVerified || verified.IssuerVerifyTime.IsZero() || !got.IssuerVerified {
			t.Errorf("verified: %+v, read: %+v", verified, got)
		}
		actor, _ := w.enter(visitor("alice", nil))
		if len(actor.Identities) != 1 || actor.Identities[0].Root() != acme.uid {
			t.Errorf("with a proof she acts as %v, want 1 of them", actor.Identities)
		}

		// When the issuer withdraws its file, the next check ends the proof and the
		// access.
		served[workplace] = nil
		must(t, w.p.Issuers.Recheck(t.Context()))
		if n := in(visitor("alice", nil)); n != 1 {
			t.Errorf("before the next look is due she acts as %d identities, want 1", n)
		}
		w.pass(25 * time.Hour)
		must(t, w.p.Issuers.Recheck(t.Context()))
		if n := in(visitor("alice", nil)) + in(visitor("bob", nil)); n != 0 {
			t.Errorf("after the file is gone they act as %d identities", n)
		}
	})
}

func TestAFileThatCannotBeReadProvesForAWeek(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		served := w.strict()
		acme := w.found("acme")
		provider := w.providerBy(acme.owner, acme.uid)
		served[workplace] = []core.UID{acme.uid}
		_, err := w.p.IdentityProviders.Verify(acme.owner, provider.UID)
		must(t, err)
		w.pass(25 * time.Hour)
		must(t, w.p.Issuers.Recheck(t.Context()))
		delete(served, workplace)
		w.pass(10 * 24 * time.Hour) // No server runs in this time.
		must(t, w.p.Issuers.Recheck(t.Context()))
		if got, err := w.p.IdentityProviders.Get(w.as("owner of acme"), provider.UID); err != nil || !got.IssuerVerified {
			t.Errorf("after one failed check it is not verified (%v)", err)
		}
		served[workplace] = []core.UID{acme.uid}
		w.pass(25 * time.Hour)
		must(t, w.p.Issuers.Recheck(t.Context()))
		delete(served, workplace)
		for day, want := range []bool{true, true, true, true, true, true, false} {
			w.pass(25 * time.Hour)
			must(t, w.p.Issuers.Recheck(t.Context()))
			got, err := w.p.IdentityProviders.Get(w.as("owner of acme"), provider.UID)
			must(t, err)
			if got.IssuerVerified != want {
				t.Errorf("on day %d it is verified: %t, want %t", day+1, got.IssuerVerified, want)
			}
		}
	})
}

func TestATokenThatNamesTheOrganizationProvesItsIssuer(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.strict()
		acme, thief := w.found("acme"), w.found("thief")
		provider, theirs := w.providerBy(acme.owner, acme.uid), w.providerBy(thief.owner, thief.uid)
		for _, org := range []org{acme, thief} {
			made, err := w.p.Identities.Create(org.owner, org.uid, body[*iam.Identity](`{"name": "admin", "claimMatch": {"issuer": %q, "subject": "admin", "audience": "client"}}`, workplace))
			must(t, err)
			w.bind(org.uid, made.UID, iam.OwnerRole)
		}
		_, plain := w.enter(visitor("admin", nil))
		_, err := w.p.IdentityProviders.Verify(plain, provider.UID)
		expectRefused(t, "without the claim", err, core.CodeUnavailable)
		// The attack is a token that an organization has signed with keys of its own identity.
		forged := visitor("robot", map[string]any{iam.OrganizationClaim: []any{string(thief.uid)}})
		robot, err := w.p.Identities.Create(thief.owner, thief.uid, body[*iam.Identity](
			`{"name": "robot", "staticKeys": {"issuer": %q, "subject": "robot", "issuerKeys": "{\"keys\": [{}]}", "audiences": ["client"]}}`, workplace))
		must(t, err)
		w.bind(thief.uid, robot.UID, iam.OwnerRole)
		forged.StaticIdentities = []core.UID{robot.UID}
		_, forger := w.enter(forged)
		_, err = w.p.IdentityProviders.Verify(forger, theirs.UID)
		expectRefused(t, "by a token of static keys", err, core.CodeUnavailable)
		_, vouched := w.enter(visitor("admin", map[string]any{iam.OrganizationClaim: []any{"other", string(acme.uid)}}))
		_, err = w.p.IdentityProviders.Verify(vouched, theirs.UID)
		expectRefused(t, "for another organization", err, core.CodeUnavailable)
		_, err = w.p.IdentityProviders.Verify(vouched, provider.UID)
		must(t, err)
		if actor, _ := w.enter(visitor("alice", nil)); len(actor.Identities) != 1 || actor.Identities[0].Root() != acme.uid {
			t.Errorf("she acts as %v, want 1 of them", actor.Identities)
		}
	})
}

func TestPatternsNeedAProofOrATenant(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		served := w.strict()
		acme := w.found("acme")
		create := func(rule string) error {
			_, err := w.p.Identities.Create(acme.owner, acme.uid, body[*iam.Identity](`{"name": "i", "claimMatch": %s}`, rule))
			return err
		}
		wildcard := fmt.Sprintf(`{"issuer": %q, "subjectPattern": ".*"}`, workplace)
		for rule, field := range map[string]string{
			wildcard: "claimMatch.subjectPattern",
			fmt.Sprintf(`{"issuer": %q, "subjectPattern": "repo:.*"}`, shared):                  "claimMatch.subjectPattern",
			fmt.Sprintf(`{"issuer": %q, "subjectPattern": "repo:[a-z]+/.*"}`, shared):           "claimMatch.subjectPattern",
			`{"issuerPattern": "https://login\\.example\\.com/.*", "subject": "ada"}`:           "claimMatch.issuerPattern",
			`{"issuerPattern": "https://.*", "subjectPattern": ".*"}`:                           "claimMatch.issuerPattern",
			`{"issuerPattern": "https://ci\\.example\\.com", "subjectPattern": "repo:acme/.*"}`: "claimMatch.issuerPattern",
		} {
			err := create(rule)
			if e := refusal(t, rule, err, core.CodeFailedPrecondition, "ISSUER_NOT_VERIFIED"); len(e.Preconditions) != 1 || e.Preconditions[0].Subject != field {
				t.Errorf("%s: %+v, want %s", rule, e.Preconditions, field)
			}
		}
		must(t, create(fmt.Sprintf(`{"issuer": %q, "subject": "ada"}`, workplace)))
		must(t, create(fmt.Sprintf(`{"issuer": %q, "subjectPattern": "repo:acme/.*"}`, shared)))
		ci := iam.Claims{Issuer: shared, Subject: "repo:acme/api:ref:refs/heads/main", ServiceAudience: true}
		if actor, _ := w.enter(ci); len(actor.Identities) != 1 {
			t.Errorf("a pipeline of the tenant acts as %v, want 1 of them", actor.Identities)
		}
		if ci.Subject = "repo:acmes/api"; true {
			if actor, _ := w.enter(ci); len(actor.Identities) != 0 {
				t.Errorf("a pipeline of another tenant acts as %v", actor.Identities)
			}
		}

		served[workplace] = []core.UID{acme.uid}
		_, err := w.p.IdentityProviders.Verify(acme.owner, w.providerBy(acme.owner, acme.uid).UID)
		must(t, err)
		must(t, create(wildcard))
		host := `{"issuerPattern": "https://login\\.example\\.com/[a-z]+", "subjectPattern": "ada|bob"}`
		must(t, w.p.Issuers.Allow(w.operator(), acme.uid, workplace+"/*"))
		must(t, create(host))
		tenant := iam.Claims{Issuer: workplace + "/tenant", Subject: "bob", ServiceAudience: true}
		if actor, _ := w.enter(tenant); len(actor.Identities) != 1 {
			t.Errorf("of an issuer of an allowed host it acts as %v, want 1 of them", actor.Identities)
		}
		must(t, w.p.Issuers.Revoke(w.operator(), acme.uid, workplace+"/*"))
		if actor, _ := w.enter(tenant); len(actor.Identities) != 0 {
			t.Errorf("after the operator took that back it acts as %v", actor.Identities)
		}
		listed, err := w.p.Issuers.List(w.operator())
		must(t, err)
		states := map[string]iam.ProofMethod{}
		for _, proof := range listed {
			states[proof.Issuer] = proof.Method
		}
		if method, ok := states[workplace+"/*"]; !ok || method != "" || states[workplace] != iam.ProofFile {
			t.Errorf("listed: %v, want \"\"", states)
		}
		_, err = w.p.Issuers.List(acme.owner)
		expectRefused(t, "listing by an owner", err, core.CodePermissionDenied)
		expectRefused(t, "allowing by an owner", w.p.Issuers.Allow(acme.owner, acme.uid, "*"), core.CodePermissionDenied)
		if got := violationFields(w.p.Issuers.Allow(w.operator(), acme.uid, "https://a/b/*")); got != "issuer" {
			t.Errorf("violated: %s, want issuer", got)
		}
	})
}

func TestAnOrganizationHasTwentyRulesOfAKey(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		rule := func(n int) string {
			return fmt.Sprintf(`{"issuer": %q, "subjectPattern": "repo:acme/.*%d"}`, issuer, n)
		}
		create := func(o org, rule string) (*iam.Identity, error) {
			return w.p.Identities.Create(o.owner, o.uid, body[*iam.Identity](`{"name": "i", "claimMatch": %s}`, rule))
		}
		var last *iam.Identity
		for n := range 20 {
			var err error
			last, err = create(acme, rule(n))
			must(t, err)
		}
		_, err := create(acme, rule(20))
		e := refusal(t, "the 21st", err, core.CodeFailedPrecondition, "TOO_MANY_RULES")
		if len(e.Preconditions) != 1 || e.Preconditions[0].Subject != "claimMatch.subjectPattern" {
			t.Errorf("it names %+v, want 1 of them", e.Preconditions)
		}
		_, err = w.p.Identities.Update(acme.owner, last.UID, body[*iam.Identity](`{"claimMatch": %s}`, rule(30)))
		must(t, err)
		_, err = create(other, rule(20))
		must(t, err)
		third, err := create(acme, fmt.Sprintf(`{"issuer": %q, "subject": "x"}`, issuer))
		must(t, err)
		_, err = w.p.Identities.Update(acme.owner, third.UID, body[*iam.Identity](`{"claimMatch": %s}`, rule(31)))
		expectRefused(t, "one that is changed to be the 21st", err, core.CodeFailedPrecondition, "TOO_MANY_RULES")
	})
}

func TestASubjectPatternOfASharedIssuerNamesItsTenantLiterally(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.strict()
		thief := w.found("thief")
		create := func(pattern string) error {
			text, err := json.Marshal(pattern)
			must(t, err)
			_, err = w.p.Identities.Create(thief.owner, thief.uid, body[*iam.Identity](`{"name": "i", "claimMatch": {"issuer": %q, "subjectPattern": %s}}`, shared, text))
			return err
		}
		for _, pattern := range []string{
			".*", "repo:.*", "repo:acme", "repo:acme.*", "repo:acme/*", "repo:acme/?.*", "repo:(acme|acmes)/.*", "repo:acm[e]?/.*", "repo:acme/.*|.*",
			"(repo:thief/)?repo:acme/.*", "(repo:thief/)*repo:acme/.*", "(?i)repo:acme/.*", "repo:(?i:acme)/.*", "repo:thief/x|repo:acme/.*", `repo:\w+/.*`, ".*repo:acme/.*", "xrepo:acme/.*",
		} {
			expectRefused(t, pattern, create(pattern), core.CodeFailedPrecondition, "ISSUER_NOT_VERIFIED")
		}
		for _, pattern := range []string{"repo:thief/.*", "^repo:thief/.*$", "(repo:thief/).*", "repo:thief/(a|b)", "repo:thief/.*|repo:thief/x"} {
			must(t, create(pattern))
		}
		in := func(subject string) int {
			actor, _ := w.enter(iam.Claims{Issuer: shared, Subject: subject, ServiceAudience: true})
			return len(actor.Identities)
		}
		if n := in("repo:acme/a") + in("repo:thieves/a") + in("xrepo:thief/a"); n != 0 {
			t.Errorf("pipelines of others act as %d identities", n)
		}
		if n := in("repo:thief/a"); n != 5 {
			t.Errorf("its own pipeline acts as %d identities, want 5", n)
		}
	})
}

func TestChangesOfAProofAreRecordedForItsProviders(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		served := w.strict()
		acme, other := w.found("acme"), w.found("other")
		first, second := w.providerBy(acme.owner, acme.uid), w.providerBy(acme.owner, w.group(acme.uid))
		w.providerBy(other.owner, other.uid)
		before := len(w.events())
		recorded := func(what, operator string, verified bool) {
			t.Helper()
			events := w.events()
			made := events[before:]
			before = len(events)
			if operator != "" {
				if e := made[0]; e.kind != "iam.group."+operator || e.subject != acme.uid || e.group != acme.uid || e.body != fmt.Sprintf(`{"group":%q,"issuer":%q}`, acme.uid, workplace) {
					t.Errorf("%s: recorded is %+v, want subject %v and group %v", what, e, acme.uid, acme.uid)
				}
				made = made[1:]
			}
			if len(made) != 2 {
				t.Fatalf("%s: recorded are %+v, want 2 of them", what, made)
			}
			for _, e := range made {
				var shown iam.IdentityProvider
				must(t, json.Unmarshal([]byte(e.body), &shown))
				if e.kind != "iam.identity_providers.updated" || e.subject != first.UID && e.subject != second.UID || shown.IssuerVerified != verified {
					t.Errorf("%s: recorded is %+v, want kind 'iam.identity_providers.updated' and IssuerVerified %v", what, e, verified)
				}
			}
			if made[0].subject == made[1].subject {
				t.Errorf("%s: recorded twice is %s", what, made[0].subject)
			}
		}
		must(t, w.p.Issuers.Allow(w.operator(), acme.uid, workplace))
		recorded("allowed", "issuer_allowed", true)
		must(t, w.p.Issuers.Revoke(w.operator(), acme.uid, workplace))
		recorded("revoked", "issuer_revoked", false)
		expectRefused(t, "what is not there", w.p.Issuers.Revoke(w.operator(), acme.uid, workplace), core.CodeFailedPrecondition, "ISSUER_NOT_VERIFIED")
		expectRefused(t, "of no organization", w.p.Issuers.Allow(w.operator(), "00000000000000000000000000000000000000ff", workplace), core.CodeNotFound)

		served[workplace] = []core.UID{acme.uid}
		_, err := w.p.IdentityProviders.Verify(acme.owner, first.UID)
		must(t, err)
		recorded("verified", "", true)
		served[workplace] = nil
		w.pass(25 * time.Hour)
		must(t, w.p.Issuers.Recheck(t.Context()))
		recorded("no longer in the file", "", false)

		must(t, w.p.Issuers.Allow(w.operator(), acme.uid, "*"))
		if made := w.events()[before:]; len(made) != 1 || made[0].kind != "iam.group.issuer_allowed" || !strings.Contains(made[0].body, `"issuer":"*"`) {
			t.Errorf("an allowance that no provider needs records %+v, want 1 of them", made)
		}
	})
}
