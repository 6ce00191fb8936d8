package platform_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

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
