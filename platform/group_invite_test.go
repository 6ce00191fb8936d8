package platform_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

func TestAnInvitesCodeIsShownOnceAndStoredHashed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		made, err := w.p.GroupInvites.Create(acme.owner, acme.uid, body[*iam.GroupInvite](
			`{"roleUid": %q, "ttl": "3600s", "email": "bob@example.com"}`, iam.ViewerRole))
		must(t, err)
		if made.Code == "" || made.ExpirationTime.Sub(made.CreateTime.Time) != time.Hour || made.Role.Name != "viewer" || len(made.Role.Capabilities) == 0 || made.TTL != 0 {
			t.Errorf("made %+v, want Name 'viewer' and TTL 0", made)
		}
		got, err := w.p.GroupInvites.Get(acme.owner, made.UID)
		must(t, err)
		if got.Code != "" || got.KeyID != made.KeyID || got.Email != made.Email || got.Role.UID != iam.ViewerRole {
			t.Errorf("got %+v, want Code \"\", KeyID %v, Email %v and UID %v", got, made.KeyID, made.Email, iam.ViewerRole)
		}
		_, secret, _ := strings.Cut(made.Code, ".")
		for _, e := range w.events() {
			if strings.Contains(e.body, secret) {
				t.Errorf("event %s has the code", e.kind)
			}
			if e.kind == "iam.group_invite.created" && !strings.Contains(e.body, `"name":"viewer"`) {
				t.Errorf("the event of an invite does not name its role: %s", e.body)
			}
		}
		var found int
		must(t, w.raw().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM group_invite WHERE key_id = '"+made.KeyID+"'").Scan(&found))
		if found != 1 {
			t.Errorf("%d invites have the key, want 1", found)
		}
		page, err := w.p.GroupInvites.List(acme.owner, core.ListRequest[*iam.GroupInviteFilter]{Filter: &iam.GroupInviteFilter{KeyID: made.KeyID}})
		if err != nil || len(page.Items) != 1 || page.Items[0].Code != "" {
			t.Errorf("listed %+v, want 1 of them (%v)", page.Items, err)
		}
	})
}

func TestAcceptingAnInviteBindsItsRole(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.found("elsewhere")
		team := w.group(acme.uid)
		invite := w.inviteTo(team, iam.EditorRole, `"ttl": "60s"`)
		insider := w.member(acme.uid, "insider")

		bound, err := w.p.GroupInvites.Accept(w.as("insider"), invite.Code)
		must(t, err)
		if bound.Identity.UID != insider || bound.Group.UID != team || bound.Role.UID != iam.EditorRole {
			t.Errorf("bound %+v, want UID %v, UID %v and UID %v", bound, insider, team, iam.EditorRole)
		}
		again, err := w.p.GroupInvites.Accept(w.as("insider"), invite.Code)
		if err != nil || again.UID != bound.UID {
			t.Errorf("accepted again: %+v (%v)", again, err)
		}
		// The caller is a stranger or a member of another organization. Neither can act
		// here, and both get an identity in the group.
		for _, subject := range []string{"a stranger", "owner of elsewhere"} {
			bound, err := w.p.GroupInvites.Accept(w.as(subject), invite.Code)
			must(t, err)
			if bound.Identity.UID.Parent() != team || bound.Identity.Subject != subject {
				t.Errorf("%s: bound %+v, want Parent %v and Subject %v", subject, bound, team, subject)
			}
			if _, err := w.p.Repos.Create(w.as(subject), team, body[*inventory.Repo](`{"name": %q}`, w.name())); err != nil {
				t.Errorf("%s: %v", subject, err)
			}
		}
		last := w.events()
		if e := last[slices.IndexFunc(last, func(e event) bool { return e.kind == "iam.identity.created" && strings.Contains(e.body, "a stranger") })]; e.actor.Act["sub"] != "a stranger" {
			t.Errorf("the stranger's identity was made by %+v", e.actor)
		}
		w.checkCounters()
	})
}

func TestAnInviteIsRejectedForOtherCallers(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		accept := func(ctx context.Context, code string) error {
			_, err := w.p.GroupInvites.Accept(ctx, code)
			return err
		}
		once := w.inviteTo(acme.uid, iam.ViewerRole, `"ttl": "60s", "singleUse": true`)
		if err := accept(w.as("first"), once.Code); err != nil {
			t.Error(err)
		}
		expectRefused(t, "a second use", accept(w.as("second"), once.Code), core.CodeNotFound)

		for what, code := range map[string]string{"nothing": "", "nonsense": "x", "half": once.KeyID + "."} {
			if got := violationFields(accept(w.as("x"), code)); got != "code" {
				t.Errorf("%s: %s, want code", what, got)
			}
		}
		open := w.inviteTo(acme.uid, iam.ViewerRole, `"ttl": "60s"`)
		forged := open.Code[:len(open.Code)-1] + "0"
		if forged == open.Code {
			forged = open.Code[:len(open.Code)-1] + "1"
		}
		expectRefused(t, "a forged code", accept(w.as("x"), forged), core.CodeNotFound)
		expectRefused(t, "without a token", accept(w.Context(), open.Code), core.CodeUnauthenticated)
		expectRefused(t, "an operator", accept(w.operator(), open.Code), core.CodePermissionDenied)

		personal := w.inviteTo(acme.uid, iam.ViewerRole, `"ttl": "60s", "email": "Bob@example.com"`)
		with := func(email string, verified bool) context.Context {
			_, ctx := w.enter(iam.Claims{Issuer: issuer, Subject: "bob", ServiceAudience: true, Email: email, EmailVerified: verified})
			return ctx
		}
		e := refusal(t, "another address", accept(with("eve@example.com", true), personal.Code), core.CodePermissionDenied)
		if _, told := e.Metadata["capability"]; told || e.Metadata["resource"] != string(personal.UID) {
			t.Errorf("got %v, which names a capability that no one lacks", e.Metadata)
		}
		asked := w.inviteTo(acme.uid, iam.ViewerRole, `"ttl": "60s", "email": "mike.s@example.com"`)
		expectRefused(t, "a Kelvin sign", accept(with("mi\u212ae.s@example.com", true), asked.Code), core.CodePermissionDenied)
		expectRefused(t, "a long s", accept(with("mike.ſ@example.com", true), asked.Code), core.CodePermissionDenied)
		expectRefused(t, "an unverified address", accept(with("bob@example.com", false), personal.Code), core.CodePermissionDenied)
		if err := accept(with("bob@example.com", true), personal.Code); err != nil {
			t.Error(err)
		}

		w.pass(2 * time.Minute)
		expectRefused(t, "an expired invite", accept(w.as("x"), open.Code), core.CodeFailedPrecondition, "INVITE_EXPIRED")
		must(t, w.p.GroupInvites.Delete(acme.owner, open.UID))
		expectRefused(t, "a deleted invite", accept(w.as("x"), open.Code), core.CodeNotFound)
	})
}

func TestASingleUseInviteIsUsedOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		code := w.inviteTo(acme.uid, iam.ViewerRole, `"ttl": "600s", "singleUse": true`).Code
		var all sync.WaitGroup
		var used atomic.Int64
		for range 6 {
			ctx := w.as(w.name())
			all.Go(func() {
				if _, err := w.p.GroupInvites.Accept(ctx, code); err == nil {
					used.Add(1)
				}
			})
		}
		all.Wait()
		if used.Load() != 1 {
			t.Errorf("it was used %d times, want 1", used.Load())
		}
	})
}

// An invite is for one person. Whoever shares an identity with this person must not get the role.
func TestAnInviteGivesNothingToThoseWhoShareAnIdentity(t *testing.T) {
	for _, c := range []struct {
		name        string
		provisioned bool // whether the one who accepts has an identity of a provider
		shared      bool // whether that identity has a rule, which others match
	}{{"with a shared identity only", false, false}, {"with an identity of a provider", true, false}, {"with an identity of a provider that is shared", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			onEachEngine(t, func(t *testing.T, w *world) {
				acme := w.found("acme")
				staff, err := w.p.Identities.Create(w.operator(), acme.uid, body[*iam.Identity](`{"name": "staff", "claimMatch": {"issuer": %q, "subjectPattern": "staff-.*"}}`, workplace))
				must(t, err)
				w.bind(acme.uid, staff.UID, iam.ViewerRole)
				as := func(name string) context.Context {
					c := visitor("staff-"+name, nil)
					c.Audience, c.ServiceAudience, c.Email, c.EmailVerified = []string{"atrium", "client"}, true, name+"@example.com", true
					_, ctx := w.enter(c)
					return ctx
				}
				if c.provisioned {
					w.providerOf(acme.uid, workplace, iam.ViewerRole)
				}
				bob := as("bob")
				if c.shared {
					for _, uid := range core.ActorOf(bob).Identities {
						if uid != staff.UID {
							_, err := w.p.Identities.Update(w.operator(), uid, body[*iam.Identity](`{"claimMatch": {"issuer": %q, "subjectPattern": "staff-carol.*"}}`, workplace))
							must(t, err)
						}
					}
					bob = as("bob")
				}
				invite := w.inviteTo(acme.uid, iam.OwnerRole, `"ttl": "60s", "email": "bob@example.com"`)
				made, err := w.p.GroupInvites.Accept(bob, invite.Code)
				must(t, err)
				if made.Identity.UID == staff.UID {
					t.Error("the role is bound to the identity that all staff share")
				}
				again, err := w.p.GroupInvites.Accept(as("bob"), invite.Code)
				must(t, err)
				if again.UID != made.UID {
					t.Error("the second time, the invite gives another binding")
				}
				carol := as("carol")
				_, err = w.p.Repos.Create(carol, acme.uid, body[*inventory.Repo](`{"name": "x"}`))
				expectRefused(t, "somebody who shares an identity with bob", err, core.CodePermissionDenied)
				if _, err := w.p.Repos.Create(as("bob"), acme.uid, body[*inventory.Repo](`{"name": "y"}`)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A request presumes that the caller is the one of an earlier request. Since then, the identity of
// the caller may have become one that others share, although the grants are the same.
func TestAnInviteGivesNothingToThoseWhoShareAnIdentitySinceALittleWhile(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		staff := w.member(acme.uid, "staff-bob")
		w.bind(acme.uid, staff, iam.ViewerRole)
		bob := iam.Claims{Issuer: issuer, Subject: "staff-bob", ServiceAudience: true}
		last, err := w.p.Authenticate(t.Context(), bob)
		must(t, err)
		before := core.WithActor(t.Context(), last)
		_, err = w.p.Identities.Update(acme.owner, staff, body[*iam.Identity](`{"claimMatch": {"issuer": %q, "subjectPattern": "staff-.*"}}`, issuer))
		must(t, err)
		if err := core.Prove(w.p.Presume(t.Context(), bob, last)); err == nil {
			t.Error("the presumption that the identity is personal is proven")
		}
		invite := w.inviteTo(acme.uid, iam.OwnerRole, `"ttl": "60s"`)
		made, err := w.p.GroupInvites.Accept(before, invite.Code)
		must(t, err)
		if made.Identity.UID == staff {
			t.Error("the role is bound to the identity that all staff share")
		}
		_, err = w.p.Repos.Create(w.as("staff-carol"), acme.uid, body[*inventory.Repo](`{"name": "x"}`))
		expectRefused(t, "somebody who shares an identity with bob", err, core.CodePermissionDenied)
	})
}

func TestTwoRequestsOfOnePersonThatAcceptAnInviteMakeOneIdentity(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		invite := w.inviteTo(acme.uid, iam.ViewerRole, `"ttl": "60s"`)
		one, other := w.as("newcomer"), w.as("newcomer")
		first, err := w.p.GroupInvites.Accept(one, invite.Code)
		must(t, err)
		second, err := w.p.GroupInvites.Accept(other, invite.Code)
		must(t, err)
		if first.UID != second.UID {
			t.Errorf("they made the bindings %s and %s, want one", first.UID, second.UID)
		}
	})
}

// The subject of a token goes into the rule of a new identity. A rule that no API accepts must not
// be stored this way: one that begins with the mark of patterns matches nobody, and uses the invite
// up for nothing.
func TestNobodyGetsARuleThatCannotBeCreated(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		_, err := w.p.Identities.Create(acme.owner, acme.uid, body[*iam.Identity](`{"name": "all", "claimMatch": {"issuer": %q, "subjectPattern": "(?s).*"}}`, issuer))
		must(t, err)
		open := w.replica(w.store, platform.Options{AllowSignup: true, AllowIssuers: true})
		invite := w.inviteTo(acme.uid, iam.ViewerRole, `"ttl": "60s", "singleUse": true`)
		before := len(w.events())
		for _, subject := range []string{"\x01abc", "a\nb", strings.Repeat("x", 2000)} {
			caller := w.as(subject)
			_, err := w.p.GroupInvites.Accept(caller, invite.Code)
			e := refusal(t, "an invite", err, core.CodeFailedPrecondition, "TOKEN_UNSUITABLE")
			if len(e.Preconditions) != 1 || e.Preconditions[0].Subject != "claimMatch.subject" || len(e.Message) > 500 {
				t.Errorf("got %+v, want the subject claimMatch.subject", e)
			}
			if len(core.ActorOf(caller).Identities) == 0 {
				continue // No pattern matches such a long subject.
			}
			_, err = open.Groups.Create(caller, "", body[*iam.Group](`{"name": %q}`, w.name()))
			expectRefused(t, "a new organization", err, core.CodeFailedPrecondition, "TOKEN_UNSUITABLE")
		}
		if made := w.events()[before:]; len(made) != 0 {
			t.Errorf("the refusals recorded %s, want nothing", types(made))
		}
		if _, err := w.p.GroupInvites.Accept(w.as("bob"), invite.Code); err != nil {
			t.Errorf("after the refusals, the invite is used up: %v", err)
		}
	})
}

// Of the identities of an organization with one rule, only some are read for a token. A further one
// would give nothing, and its owner could not change it.
func TestAnInviteObeysTheLimitOfRules(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		var last *iam.RoleBinding
		for range 20 {
			var err error
			last, err = w.p.GroupInvites.Accept(w.as("bob"), w.inviteTo(w.group(acme.uid), iam.EditorRole, `"ttl": "60s"`).Code)
			must(t, err)
		}
		invite := w.inviteTo(w.group(acme.uid), iam.EditorRole, `"ttl": "60s", "singleUse": true`)
		before := len(w.events())
		_, err := w.p.GroupInvites.Accept(w.as("bob"), invite.Code)
		expectRefused(t, "an invite to the 21st group", err, core.CodeFailedPrecondition, "TOO_MANY_RULES")
		if made := w.events()[before:]; len(made) != 0 {
			t.Errorf("the refusal recorded %s, want nothing", types(made))
		}
		_, err = w.p.Identities.Update(acme.owner, last.Identity.UID, body[*iam.Identity](`{"claimMatch": {"issuer": %q, "subject": "bob"}}`, issuer))
		must(t, err)
		if _, err = w.p.GroupInvites.Accept(w.as("alice"), invite.Code); err != nil {
			t.Errorf("after the refusal, the invite is used up: %v", err)
		}
	})
}
