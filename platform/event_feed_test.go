package platform_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
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
		operator := core.WithActor(t.Context(), core.NewOperator("test"))
		org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		owner, err := p.Authenticate(t.Context(), iam.Claims{Issuer: "https://issuer.example.com", Subject: "owner", ServiceAudience: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(core.WithActor(t.Context(), owner))
		defer cancel()
		const repos = 120 // This is more than a batch.
		names := []string{}
		fromStart := ""
		err = follow(ctx, p, events.EventRequest{After: &fromStart, First: 3 + repos}, func(e *core.Event) error {
			if names = append(names, e.Type); len(names) == 3 { // These are the events of the organization; now the feed is live.
				go func() {
					for range repos {
						if _, err := p.Repos.Create(ctx, org.Group.UID, fieldmask.TypedInput(&inventory.Repo{Name: newName()}, "name")); err != nil {
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
		operator := core.WithActor(t.Context(), core.NewOperator("test"))
		org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		reader, err := p.Identities.Create(operator, org.Group.UID, fieldmask.TypedInput(&iam.Identity{
			Name: "reader", ClaimMatch: &iam.ClaimMatch{Issuer: "https://issuer.example.com", Subject: "reader"},
		}, "name", "claimMatch"))
		if err != nil {
			t.Fatal(err)
		}
		team, err := p.Groups.Create(operator, org.Group.UID, fieldmask.TypedInput(&iam.Group{Name: "team"}, "name"))
		if err != nil {
			t.Fatal(err)
		}
		bind := func(group core.UID) core.UID {
			binding, err := p.RoleBindings.Create(operator, group, fieldmask.TypedInput(&iam.RoleBinding{IdentityUID: reader.UID, RoleUID: iam.ViewerRole}, "identityUid", "roleUid"))
			if err != nil {
				t.Fatal(err)
			}
			return binding.UID
		}
		lost := bind(org.Group.UID)
		bind(team.UID)
		actor, err := p.Authenticate(t.Context(), iam.Claims{Issuer: "https://issuer.example.com", Subject: "reader", ServiceAudience: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.RoleBindings.Delete(operator, lost); err != nil {
			t.Fatal(err)
		}
		last, err := p.Repos.Create(operator, team.UID, fieldmask.TypedInput(&inventory.Repo{Name: "last"}, "name"))
		if err != nil {
			t.Fatal(err)
		}
		// The actor still has the grant from its sign-in, and the feed must not use it.
		fromStart, enough := "", errors.New("enough")
		err = follow(core.WithActor(t.Context(), actor), p, events.EventRequest{After: &fromStart}, func(e *core.Event) error {
			if !e.Subject.Within(team.UID) {
				t.Errorf("heard of %s %s, want only what is in the team", e.Type, e.Subject)
			}
			if e.Subject == last.UID {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) {
			t.Errorf("the feed ended with %v before the last event", err)
		}
	})
}

func newName() string { return strings.ToLower(rand.Text()) }

func follow(ctx context.Context, p *platform.Platform, req events.EventRequest, yield func(*core.Event) error) error {
	feed, err := p.Events.Open(ctx, req)
	if err != nil {
		return err
	}
	return feed.Follow(ctx, yield)
}

// A followedFeed is a feed that a test follows.
type followedFeed struct {
	heard chan core.UID // subjects of events
	ended chan error
}

// followFeed follows a feed until it ends or the test does.
func (w *world) followFeed(c iam.Claims, within core.UID) followedFeed {
	w.Helper()
	_, caller := w.enter(c)
	feed, err := w.p.Events.Open(caller, events.EventRequest{DescendantsOf: within})
	must(w, err)
	f := followedFeed{make(chan core.UID, 100), make(chan error, 1)}
	go func() {
		f.ended <- feed.Follow(w.Context(), func(e *core.Event) error { f.heard <- e.Subject; return nil })
	}()
	return f
}

// hears waits until the feed sends an event of a new repo of a group.
func (f followedFeed) hears(w *world, what string, group core.UID) {
	w.Helper()
	for made := w.repo(group); ; {
		select {
		case subject := <-f.heard:
			if subject == made {
				return
			}
		case err := <-f.ended:
			w.Fatalf("%s: the feed ended with %v", what, err)
		case <-time.After(time.Minute):
			w.Fatalf("%s: the feed sends nothing", what)
		}
	}
}

// ends waits until the feed ends at the event of a new repo, which it must not send.
func (f followedFeed) ends(w *world, what string, group core.UID) {
	w.Helper()
	made := w.repo(group)
	select {
	case err := <-f.ended:
		if core.AsError(err).Code != core.CodeUnauthenticated {
			w.Errorf("%s: the feed ended with %v, want UNAUTHENTICATED", what, err)
		}
	case <-time.After(time.Minute):
		w.Fatalf("%s: the feed does not end", what)
	}
	close(f.heard)
	for subject := range f.heard {
		if subject == made {
			w.Errorf("%s: an event was heard of that was recorded afterwards", what)
		}
	}
}

// The attack is a caller who keeps a feed open after its token has lost the identity: the
// bindings of the identity stay.
func TestAFeedEndsWhenItsTokenLosesItsIdentity(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		served := w.strict()
		acme := w.found("acme")
		served[workplace] = []core.UID{acme.uid}
		provider := w.providerBy(acme.owner, acme.uid)
		_, err := w.p.IdentityProviders.Verify(acme.owner, provider.UID)
		must(t, err)
		byRule := w.member(acme.uid, "reader")
		w.bind(acme.uid, byRule, iam.ViewerRole)
		const keys = `{"name": "robot", "staticKeys": {"issuer": %q, "subject": %q, "issuerKeys": "{\"keys\": [{%s}]}"}}`
		robot := func(subject string) (core.UID, iam.Claims) {
			made, err := w.p.Identities.Create(acme.owner, acme.uid, body[*iam.Identity](keys, issuer, subject, ""))
			must(t, err)
			w.bind(acme.uid, made.UID, iam.ViewerRole)
			return made.UID, iam.Claims{Issuer: issuer, Subject: subject, ServiceAudience: true, StaticIdentities: []core.UID{made.UID}}
		}
		first, ofFirst := robot("robot")
		second, ofSecond := robot("other robot")
		update := func(identity core.UID, format string, values ...any) func() error {
			return func() error {
				_, err := w.p.Identities.Update(acme.owner, identity, body[*iam.Identity](format, values...))
				return err
			}
		}
		runs(t, w.p)
		for what, c := range map[string]struct {
			claims iam.Claims
			lose   func() error
		}{
			"its rule changes":             {iam.Claims{Issuer: issuer, Subject: "reader", ServiceAudience: true}, update(byRule, `{"claimMatch": {"issuer": %q, "subject": "somebody else"}}`, issuer)},
			"its keys are removed":         {ofFirst, update(first, `{"staticKeys": null}`)},
			"its keys are replaced":        {ofSecond, update(second, keys, issuer, "other robot", `\"kid\": \"new\"`)},
			"the proof of its issuer ends": {visitor("alice", nil), func() error { return w.p.Issuers.Revoke(w.operator(), acme.uid, workplace) }},
		} {
			f := w.followFeed(c.claims, acme.uid)
			f.hears(w, "before "+what, acme.uid)
			must(t, c.lose())
			f.ends(w, what, acme.uid)
		}
	})
}

// A feed that sends nothing does not end by itself. It must not prevent other feeds of the
// token once that has its identity again.
func TestATokenThatGetsItsIdentityBackOpensFeeds(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		reader := w.member(acme.uid, "reader")
		w.bind(acme.uid, reader, iam.ViewerRole)
		claims := iam.Claims{Issuer: issuer, Subject: "reader", ServiceAudience: true}
		setSubject := func(subject string) {
			_, err := w.p.Identities.Update(acme.owner, reader, body[*iam.Identity](`{"claimMatch": {"issuer": %q, "subject": %q}}`, issuer, subject))
			must(t, err)
		}
		quiet := w.group(acme.uid)
		runs(t, w.p)
		idle, busy := w.followFeed(claims, quiet), w.followFeed(claims, acme.uid)
		busy.hears(w, "at first", acme.uid)
		setSubject("somebody else")
		busy.ends(w, "without the identity", acme.uid)
		setSubject("reader")
		w.followFeed(claims, acme.uid).hears(w, "with the identity again", acme.uid)
		idle.ends(w, "of the time before", quiet)
	})
}

// The attack is a caller who keeps a feed open beyond an expiry of its keys that was set while
// the feed was open. A later expiry ends no feed.
func TestAFeedEndsWhenItsKeysGetAnEarlierExpiry(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		const keys = `{"name": "robot", "staticKeys": {"issuer": %q, "subject": "robot", "issuerKeys": "{\"keys\": [{}]}", "expirationTime": %s}}`
		after := func(days int) string {
			return strconv.Quote(core.At(time.Now().Add(time.Duration(days) * 24 * time.Hour)).String())
		}
		made, err := w.p.Identities.Create(acme.owner, acme.uid, body[*iam.Identity](keys, issuer, "null"))
		must(t, err)
		w.bind(acme.uid, made.UID, iam.ViewerRole)
		setExpiry := func(expiry string) {
			t.Helper()
			_, err := w.p.Identities.Update(acme.owner, made.UID, body[*iam.Identity](keys, issuer, expiry))
			must(t, err)
		}
		claims := iam.Claims{Issuer: issuer, Subject: "robot", ServiceAudience: true, StaticIdentities: []core.UID{made.UID}}
		runs(t, w.p)
		unlimited := w.followFeed(claims, acme.uid)
		unlimited.hears(w, "without an expiry", acme.uid)
		setExpiry(after(1000))
		unlimited.ends(w, "with an expiry", acme.uid)
		first := w.followFeed(claims, acme.uid)
		first.hears(w, "before the expiry", acme.uid)
		setExpiry(after(3000))
		first.hears(w, "with a later expiry", acme.uid)
		second := w.followFeed(claims, acme.uid)
		second.hears(w, "with the same expiry", acme.uid)
		setExpiry(after(2000))
		first.hears(w, "with an expiry that is still later than at first", acme.uid)
		second.ends(w, "with an earlier expiry", acme.uid)
		setExpiry(after(500))
		first.ends(w, "with an expiry that is earlier than at first", acme.uid)
	})
}

// External groups without a mapping take grants away, not the identity.
func TestAFeedGoesOnWithoutAMappingOfItsGroups(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		provider := w.providerOf(acme.uid, workplace, iam.ViewerRole)
		mapping := w.mappingTo(provider.UID, "eng", iam.ViewerRole, "")
		runs(t, w.p)
		f := w.followFeed(visitor("alice", map[string]any{"groups": []any{"eng"}}), acme.uid)
		f.hears(w, "with the mapping", acme.uid)
		must(t, w.p.ExternalGroupRoleMappings.Delete(acme.owner, mapping))
		w.member(acme.uid, "somebody") // the identities of the token are read again
		f.hears(w, "without it", acme.uid)
	})
}

// A page reads the position and then a list. What changes after the position is in the feed, whatever the list had of it.
func TestAFeedContinuesAtAPosition(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, s *sqlstore.Store) {
		p, err := platform.New(t.Context(), s, platform.Options{})
		if err != nil {
			t.Fatal(err)
		}
		operator := core.WithActor(t.Context(), core.NewOperator("test"))
		org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		actors := map[string]*core.Actor{}
		for subject, role := range map[string]core.UID{"reader": iam.ViewerRole, "stranger": ""} {
			identity, err := p.Identities.Create(operator, org.Group.UID, fieldmask.TypedInput(&iam.Identity{
				Name: subject, ClaimMatch: &iam.ClaimMatch{Issuer: "https://issuer.example.com", Subject: subject},
			}, "name", "claimMatch"))
			if err == nil && role != "" {
				_, err = p.RoleBindings.Create(operator, org.Group.UID, fieldmask.TypedInput(&iam.RoleBinding{IdentityUID: identity.UID, RoleUID: role}, "identityUid", "roleUid"))
			}
			if err != nil {
				t.Fatal(err)
			}
			actor, err := p.Authenticate(t.Context(), iam.Claims{Issuer: "https://issuer.example.com", Subject: subject, ServiceAudience: true})
			if err != nil {
				t.Fatal(err)
			}
			actors[subject] = actor
		}
		reader := core.WithActor(t.Context(), actors["reader"])
		var refused *core.Error
		if _, err := p.Events.Position(core.WithActor(t.Context(), actors["stranger"])); !errors.As(err, &refused) || refused.Code != core.CodePermissionDenied {
			t.Errorf("a caller without a role gets %v, want PERMISSION_DENIED", err)
		}
		position, err := p.Events.Position(reader)
		if err != nil || core.IsEventID(position) {
			t.Fatalf("the position is %q, %v; want a sealed one, which tells nothing of other organizations", position, err)
		}
		made, err := p.Groups.Create(operator, org.Group.UID, fieldmask.TypedInput(&iam.Group{Name: "team"}, "name"))
		if err != nil {
			t.Fatal(err)
		}
		err = follow(reader, p, events.EventRequest{After: &position, First: 1}, func(e *core.Event) error {
			if e.Subject != made.UID {
				t.Errorf("the first event is %s of %s, want that of the group", e.Type, e.Subject)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		forged := strings.ToLower(position)
		if _, err := p.Events.Open(reader, events.EventRequest{After: &forged}); !errors.As(err, &refused) || len(refused.Violations) != 1 || refused.Violations[0].Field != "after" {
			t.Errorf("a forged position gives %v, want a violation of after", err)
		}
	})
}
