package platform_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

func TestTheFeedSendsEachEventInOrderAndThenNewOnes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *sqlstore.Store) {
		p, err := platform.New(t.Context(), s, platform.Options{})
		if err != nil {
			t.Fatal(err)
		}
		operator := platform.WithActor(t.Context(), platform.NewOperator("test"))
		org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		owner, err := p.Authenticate(t.Context(), platform.Claims{Issuer: "https://issuer.example.com", Subject: "owner", ServiceAudience: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(platform.WithActor(t.Context(), owner))
		defer cancel()
		const repos = 120 // This is more than a batch.
		names := []string{}
		fromStart := ""
		err = follow(ctx, p, platform.EventRequest{After: &fromStart, First: 3 + repos}, func(e *platform.Event) error {
			if names = append(names, e.Type); len(names) == 3 { // These are the events of the organisation; now the feed is live.
				go func() {
					for range repos {
						if _, err := p.Repos.Create(ctx, org.Group.UID, platform.TypedInput(&platform.Repo{Name: newName()}, "name")); err != nil {
							t.Error(err)
							cancel()
						}
					}
				}()
			}
			return nil
		})
		if err != nil || len(names) != 3+repos {
			t.Fatalf("got %d events, %v", len(names), err)
		}
		want := []string{"dev.atrium.api.iam.group.created.v1", "dev.atrium.api.iam.identity.created.v1", "dev.atrium.api.iam.rolebindings.created.v1", "dev.atrium.api.platform.registry.repo.created.v1"}
		for i, w := range want {
			if names[i] != w {
				t.Errorf("event %d is %s, want %s", i, names[i], w)
			}
		}
	})
}

func TestTheFeedStopsForACallerWhoLostTheRight(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *sqlstore.Store) {
		p, err := platform.New(t.Context(), s, platform.Options{})
		if err != nil {
			t.Fatal(err)
		}
		operator := platform.WithActor(t.Context(), platform.NewOperator("test"))
		org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		reader, err := p.Identities.Create(operator, org.Group.UID, platform.TypedInput(&platform.Identity{
			Name: "reader", ClaimMatch: &platform.ClaimMatch{Issuer: "https://issuer.example.com", Subject: "reader"},
		}, "name", "claimMatch"))
		if err != nil {
			t.Fatal(err)
		}
		binding, err := p.RoleBindings.Create(operator, org.Group.UID, platform.TypedInput(&platform.RoleBinding{IdentityUID: reader.UID, RoleUID: platform.ViewerRole}, "identityUid", "roleUid"))
		if err != nil {
			t.Fatal(err)
		}
		actor, err := p.Authenticate(t.Context(), platform.Claims{Issuer: "https://issuer.example.com", Subject: "reader", ServiceAudience: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.RoleBindings.Delete(operator, binding.UID); err != nil {
			t.Fatal(err)
		}
		// The actor still has the grant from its sign-in, and the feed must not use it.
		ctx, cancel := context.WithTimeout(platform.WithActor(t.Context(), actor), 1500*1e6)
		defer cancel()
		fromStart, heard := "", 0
		err = follow(ctx, p, platform.EventRequest{After: &fromStart}, func(*platform.Event) error { heard++; return nil })
		if heard != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("heard %d events, then %v; want none", heard, err)
		}
	})
}

func newName() string { return strings.ToLower(rand.Text()) }

func follow(ctx context.Context, p *platform.Platform, req platform.EventRequest, yield func(*platform.Event) error) error {
	feed, err := p.Events.Open(ctx, req)
	if err != nil {
		return err
	}
	return feed.Follow(ctx, yield)
}

// The attack is a caller who keeps a feed open after its token has lost the identity: the
// bindings of the identity stay.
func TestAFeedEndsWhenItsTokenLosesItsIdentity(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		served := w.strict()
		acme := w.found("acme")
		served[workplace] = []platform.UID{acme.uid}
		provider := w.providerBy(acme.owner, acme.uid)
		_, err := w.p.IdentityProviders.Verify(acme.owner, provider.UID)
		must(t, err)
		byRule := w.member(acme.uid, "reader")
		w.bind(acme.uid, byRule, platform.ViewerRole)
		robot, err := w.p.Identities.Create(acme.owner, acme.uid, body[*platform.Identity](
			`{"name": "robot", "staticKeys": {"issuer": %q, "subject": "robot", "issuerKeys": "{\"keys\": [{}]}"}}`, issuer))
		must(t, err)
		w.bind(acme.uid, robot.UID, platform.ViewerRole)
		runs(t, w.p)
		for name, c := range map[string]struct {
			claims platform.Claims
			lose   func() error
		}{
			"its rule changes": {platform.Claims{Issuer: issuer, Subject: "reader", ServiceAudience: true}, func() error {
				_, err := w.p.Identities.Update(acme.owner, byRule, body[*platform.Identity](`{"claimMatch": {"issuer": %q, "subject": "somebody else"}}`, issuer))
				return err
			}},
			"its keys are removed": {platform.Claims{Issuer: issuer, Subject: "robot", ServiceAudience: true, StaticIdentities: []platform.UID{robot.UID}}, func() error {
				_, err := w.p.Identities.Update(acme.owner, robot.UID, body[*platform.Identity](`{"staticKeys": null}`))
				return err
			}},
			"the proof of its issuer ends": {visitor("alice", nil), func() error {
				return w.p.Issuers.Revoke(w.operator(), acme.uid, workplace)
			}},
		} {
			_, caller := w.enter(c.claims)
			feed, err := w.p.Events.Open(caller, platform.EventRequest{DescendantsOf: acme.uid})
			must(t, err)
			heard, ended := make(chan platform.UID, 100), make(chan error, 1)
			go func() {
				ended <- feed.Follow(t.Context(), func(e *platform.Event) error { heard <- e.Subject; return nil })
			}()
			for before := w.repo(acme.uid); <-heard != before; {
			}
			must(t, c.lose())
			after := w.repo(acme.uid)
			select {
			case err := <-ended:
				if platform.AsError(err).Code != platform.CodeUnauthenticated {
					t.Errorf("%s: the feed ended with %v, want UNAUTHENTICATED", name, err)
				}
			case <-time.After(time.Minute):
				t.Fatalf("%s: the feed does not end", name)
			}
			close(heard)
			for subject := range heard {
				if subject == after {
					t.Errorf("%s: an event was heard of that was recorded afterwards", name)
				}
			}
		}
	})
}
