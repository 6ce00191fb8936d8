package platform_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// inRealTime lets the platform of the world have the clock of the database, which decides when a
// binding expires.
func (w *world) inRealTime() {
	w.Helper()
	p, err := platform.New(w.Context(), w.store, platform.Options{AllowIssuers: true})
	must(w, err)
	w.p = p
}

// endIn returns the time after a while.
func (w *world) endIn(while time.Duration) core.Time {
	w.Helper()
	now, err := w.store.Now(w.Context())
	must(w, err)
	return core.At(now.Add(while))
}

// bindUntil creates a role binding that expires.
func (w *world) bindUntil(group, identity, role core.UID, end core.Time) core.UID {
	w.Helper()
	made, err := w.p.RoleBindings.Create(w.operator(), group, body[*iam.RoleBinding](`{"identityUid": %q, "roleUid": %q, "expireTime": %q}`, identity, role, end))
	must(w, err)
	return made.UID
}

// endBindings lets all role bindings that expire have expired.
func (w *world) endBindings() {
	w.Helper()
	must(w, storetest.ExpireBindings(w.Context(), w.url))
}

// The attack is a caller with an open feed, whose binding expires while nothing changes.
func TestAFeedSendsNothingOnceABindingHasExpired(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		team, other := w.group(acme.uid), w.group(acme.uid)
		reader := w.member(acme.uid, "reader")
		w.bind(team, reader, iam.ViewerRole)
		w.bindUntil(other, reader, iam.ViewerRole, w.endIn(time.Hour))
		runs(t, w.replica(w.store, platform.Options{})) // It only reads events: its own clock is in the past.
		f := w.followFeed(iam.Claims{Issuer: issuer, Subject: "reader", ServiceAudience: true}, acme.uid)
		f.hears(w, "before the end", other)
		w.endBindings()
		hidden := w.repo(other)
		made := w.repo(team)
		for subject := range f.heard {
			if subject == hidden {
				t.Error("an event of a group was heard after the binding there had expired")
			}
			if subject == made {
				break
			}
		}
	})
}

// Several replicas find the same bindings at the same time. Each gets one event, and what somebody
// gives another end stays.
func TestEachExpiredBindingIsDeletedOnceWithAnEvent(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		var expired []core.UID
		for range 4 {
			expired = append(expired, w.bindUntil(acme.uid, w.member(acme.uid, w.name()), iam.ViewerRole, w.endIn(time.Hour)))
		}
		w.endBindings()
		lasting := w.bind(acme.uid, w.member(acme.uid, "lasting"), iam.ViewerRole)
		later := w.bindUntil(acme.uid, w.member(acme.uid, "later"), iam.ViewerRole, w.endIn(time.Hour))
		extended := expired[3]
		_, err := w.p.RoleBindings.Update(w.operator(), extended, body[*iam.RoleBinding](`{"expireTime": null}`))
		must(t, err)
		before := len(w.events())
		var replicas sync.WaitGroup
		failed := make([]error, 3)
		for i := range failed {
			p, err := platform.New(t.Context(), w.store, platform.Options{})
			must(t, err)
			replicas.Go(func() { failed[i] = p.RoleBindings.DeleteExpired(t.Context()) })
		}
		replicas.Wait()
		must(t, errors.Join(failed...))
		var gone []core.UID
		for _, e := range w.events()[before:] {
			if e.kind != "iam.rolebindings.expired" || e.group != acme.uid || e.actor.Subject != "" {
				t.Errorf("got the event %+v, want one of a binding that expired, without an actor", e)
			}
			gone = append(gone, e.subject)
		}
		slices.Sort(gone)
		want := slices.Sorted(slices.Values(expired[:3]))
		if !slices.Equal(gone, want) {
			t.Errorf("events say that %v expired, want %v", gone, want)
		}
		page, err := w.p.RoleBindings.List(acme.owner, core.ListRequest[*iam.RoleBindingFilter]{Parts: core.PartItems | core.PartTotal})
		must(t, err)
		var left []core.UID
		for _, b := range page.Items {
			left = append(left, b.UID)
		}
		if page.TotalCount != 4 || !slices.Contains(left, lasting) || !slices.Contains(left, later) || !slices.Contains(left, extended) {
			t.Errorf("%d bindings are left, %v; want that of the owner, %s, %s and %s", page.TotalCount, left, lasting, later, extended)
		}
		w.checkCounters()
	})
}

// Who holds something counts only bindings that still give it, also before they are deleted.
func TestAnExpiredBindingIsNoAnswerToWhoMay(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		member := w.member(acme.uid, "member")
		w.bindUntil(acme.uid, member, iam.EditorRole, w.endIn(time.Hour))
		w.endBindings()
		pages, errs := w.p.RoleBindings.ListEffective(acme.owner, []core.UID{acme.uid}, core.CapRepoCreate, core.ListRequest[*iam.RoleBindingFilter]{Parts: core.PartItems | core.PartTotal})
		must(t, errors.Join(errs...))
		if pages[0].TotalCount != 1 || len(pages[0].Items) != 1 || pages[0].Items[0].UID != acme.Binding.UID {
			t.Errorf("got %d bindings, %v; want that of the owner", pages[0].TotalCount, pages[0].Items)
		}
		held, errs := w.p.Identities.EffectiveGrants(acme.owner, []core.UID{member})
		must(t, errors.Join(errs...))
		if can := held[0].CapabilitiesOn(acme.uid); len(can) != 0 {
			t.Errorf("the member holds %v, want nothing", can)
		}
	})
}

// What has expired stands in nobody's way, though no process has deleted it yet.
func TestAnExpiredBindingCanBeMadeAgain(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		member, before := w.member(acme.uid, "member"), len(w.events())
		first := w.bindUntil(acme.uid, member, iam.ViewerRole, w.endIn(time.Hour))
		w.endBindings()
		second := w.bindUntil(acme.uid, member, iam.ViewerRole, w.endIn(time.Hour))
		if first == second {
			t.Error("the expired binding came back")
		}
		w.endBindings()
		lasting := w.bind(acme.uid, member, iam.EditorRole)
		changed, err := w.p.RoleBindings.Update(acme.owner, lasting, body[*iam.RoleBinding](`{"roleUid": %q}`, iam.ViewerRole))
		must(t, err)
		if changed.Role.UID != iam.ViewerRole {
			t.Errorf("got the role %s, want %s", changed.Role.UID, iam.ViewerRole)
		}
		var actors []string
		for _, e := range w.events()[before:] {
			if e.kind == "iam.rolebindings.expired" {
				actors = append(actors, e.actor.Subject)
			}
		}
		if !slices.Equal(actors, []string{"", ""}) {
			t.Errorf("the events of what has expired name %q, want two that name nobody", actors)
		}
		_, err = w.p.RoleBindings.Create(acme.owner, acme.uid, body[*iam.RoleBinding](`{"identityUid": %q, "roleUid": %q}`, member, iam.ViewerRole))
		expectRefused(t, "a binding that is in force", err, core.CodeAlreadyExists)
		w.checkCounters()
	})
}

// Somebody whose role will expire, or has expired, accepts an invite to the same role.
func TestAnInviteMakesABindingLast(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		invite, err := w.p.GroupInvites.Create(acme.owner, acme.uid, body[*iam.GroupInvite](`{"roleUid": %q, "ttl": "3600s"}`, iam.ViewerRole))
		must(t, err)
		for subject, end := range map[string]func(){"early": func() {}, "late": w.endBindings} {
			bound := w.bindUntil(acme.uid, w.member(acme.uid, subject), iam.ViewerRole, w.endIn(time.Hour))
			end()
			accepted, err := w.p.GroupInvites.Accept(w.as(subject), invite.Code)
			must(t, err)
			if accepted.UID != bound || !accepted.ExpireTime.IsZero() {
				t.Errorf("%s: got %+v, want the binding %s without an end", subject, accepted, bound)
			}
			w.endBindings()
			_, err = w.p.Repos.Get(w.as(subject), repo)
			must(t, err)
			if last := w.events()[len(w.events())-1]; last.kind != "iam.rolebindings.updated" {
				t.Errorf("%s: the last event is %s, want that the binding was updated", subject, last.kind)
			}
		}
		// An invite for one person is used by that, too.
		single, err := w.p.GroupInvites.Create(acme.owner, acme.uid, body[*iam.GroupInvite](`{"roleUid": %q, "ttl": "3600s", "singleUse": true}`, iam.ViewerRole))
		must(t, err)
		w.bindUntil(acme.uid, w.member(acme.uid, "first"), iam.ViewerRole, w.endIn(time.Hour))
		_, err = w.p.GroupInvites.Accept(w.as("first"), single.Code)
		must(t, err)
		if _, err := w.p.GroupInvites.Accept(w.as("second"), single.Code); err == nil {
			t.Error("an invite for one person was accepted twice")
		}
	})
}

// An end in the past would be a binding that never was.
func TestABindingEndsInTheFuture(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		member := w.member(acme.uid, "member")
		const in = `{"identityUid": %q, "roleUid": %q, "expireTime": %q}`
		_, err := w.p.RoleBindings.Create(acme.owner, acme.uid, body[*iam.RoleBinding](in, member, iam.ViewerRole, w.endIn(0)))
		expectRefused(t, "an end that has come", err, core.CodeInvalidArgument)
		if got := violationFields(err); got != "expireTime" {
			t.Errorf("got %s, want expireTime", got)
		}
		_, err = w.p.RoleBindings.CreateBatch(acme.owner, iam.BindingBatch{Parent: acme.uid, Requests: []core.BatchRequest[*iam.RoleBinding]{
			{Input: body[*iam.RoleBinding](in, member, iam.ViewerRole, w.endIn(time.Hour))}, {Input: body[*iam.RoleBinding](in, member, iam.EditorRole, w.endIn(-time.Hour))},
		}})
		if got := violationFields(err); got != "requests[1].roleBinding.expireTime" {
			t.Errorf("got %s, want requests[1].roleBinding.expireTime", got)
		}
		bound := w.bind(acme.uid, member, iam.ViewerRole)
		_, err = w.p.RoleBindings.Update(acme.owner, bound, body[*iam.RoleBinding](`{"expireTime": %q}`, w.endIn(-time.Second)))
		if got := violationFields(err); got != "expireTime" {
			t.Errorf("got %s, want expireTime", got)
		}
	})
}

// The attack is an organization that loses its last owner when a binding expires, where nobody
// could refuse it.
func TestAnOwnerWhoseBindingExpiresIsNotTheLastOne(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		setEnd := func(binding core.UID, end string) error {
			_, err := w.p.RoleBindings.Update(acme.owner, binding, body[*iam.RoleBinding](`{"expireTime": %s}`, end))
			return err
		}
		soon := `"` + w.endIn(time.Hour).String() + `"`
		expectRefused(t, "an end of the only owner", setEnd(acme.Binding.UID, soon), core.CodeFailedPrecondition, "LAST_OWNER")
		second := w.bindUntil(acme.uid, w.member(acme.uid, "second"), iam.OwnerRole, w.endIn(time.Hour))
		expectRefused(t, "an end beside an owner for an hour", setEnd(acme.Binding.UID, soon), core.CodeFailedPrecondition, "LAST_OWNER")
		expectRefused(t, "a deletion beside an owner for an hour", w.p.RoleBindings.Delete(acme.owner, acme.Binding.UID), core.CodeFailedPrecondition, "LAST_OWNER")
		must(t, setEnd(second, "null"))
		must(t, setEnd(second, soon))
		must(t, setEnd(second, "null"))
		must(t, setEnd(acme.Binding.UID, soon))
		must(t, w.p.RoleBindings.Delete(acme.owner, acme.Binding.UID))
	})
}

// More time is more rights: nobody extends a binding that gives more than they hold.
func TestNobodyExtendsABindingThatGivesMoreThanTheyHold(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		binder := w.memberWith(w.role(acme.uid, core.CapRoleBindingsUpdate, core.CapRoleBindingsList), acme.uid, acme.uid)
		bound := w.bindUntil(acme.uid, w.member(acme.uid, "member"), iam.EditorRole, w.endIn(time.Hour))
		for _, end := range []string{"null", `"` + w.endIn(2*time.Hour).String() + `"`} {
			_, err := w.p.RoleBindings.Update(binder, bound, body[*iam.RoleBinding](`{"expireTime": %s}`, end))
			expectRefused(t, "another end", err, core.CodePermissionDenied)
		}
	})
}

// Nobody who holds a role for a while makes it last, for themselves or for others.
func TestNobodyGrantsForLongerThanTheyHold(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.inRealTime()
		acme := w.found("acme")
		end, later := w.endIn(time.Hour), w.endIn(2*time.Hour)
		own := w.bindUntil(acme.uid, w.member(acme.uid, "guest"), iam.OwnerRole, end)
		friend := w.member(acme.uid, "friend")
		guest := func() context.Context { return w.as("guest") }
		bind := func(fields string) error {
			_, err := w.p.RoleBindings.Create(guest(), acme.uid, body[*iam.RoleBinding](`{"identityUid": %q, "roleUid": %q%s}`, friend, iam.ViewerRole, fields))
			return err
		}
		change := func(end string) error {
			_, err := w.p.RoleBindings.Update(guest(), own, body[*iam.RoleBinding](`{"expireTime": %s}`, end))
			return err
		}
		for what, try := range map[string]func() error{
			"a lasting binding":  func() error { return bind("") },
			"a longer binding":   func() error { return bind(`, "expireTime": "` + later.String() + `"`) },
			"an own lasting one": func() error { return change("null") },
			"an own longer one":  func() error { return change(`"` + later.String() + `"`) },
			"an invite": func() error {
				_, err := w.p.GroupInvites.Create(guest(), acme.uid, body[*iam.GroupInvite](`{"roleUid": %q, "ttl": "3600s"}`, iam.ViewerRole))
				return err
			},
			"a role": func() error {
				_, err := w.p.Roles.Create(guest(), acme.uid, body[*iam.Role](`{"name": "all", "capabilities": ["repo.list"]}`))
				return err
			},
		} {
			expectRefused(t, what, try(), core.CodePermissionDenied)
		}
		must(t, bind(`, "expireTime": "`+end.String()+`"`))
		must(t, change(`"`+end.String()+`"`))
	})
}

// The clock of the tests goes on with each look at it. What the binding tells of when somebody got access is what the
// audit log tells.
func TestTheEventOfABindingHasItsTime(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		member := w.member(acme.uid, "ann")
		invite := w.inviteTo(w.group(acme.uid), iam.ViewerRole, `"ttl": "60s", "singleUse": true`)
		_, err := w.p.GroupInvites.Accept(w.as("guest"), invite.Code)
		must(t, err)
		again := w.bindUntil(acme.uid, member, iam.ViewerRole, w.endIn(time.Hour))
		must(t, w.p.RoleBindings.Delete(acme.owner, again))
		w.bind(acme.uid, member, iam.ViewerRole)
		_, err = w.p.RoleBindings.CreateBatch(acme.owner, newBatch(acme.uid, []fieldmask.Input[*iam.RoleBinding]{binding(member, iam.EditorRole)}))
		must(t, err)
		made := 0
		for _, e := range w.events() {
			if !strings.HasPrefix(e.kind, "iam.rolebindings.created") {
				continue
			}
			made++
			var b iam.RoleBinding
			must(t, json.Unmarshal([]byte(e.body), &b))
			if at := core.EventTime(e.id); !at.Equal(b.CreateTime.Time) {
				t.Errorf("the binding %s was made at %v, and its event is of %v", e.subject, b.CreateTime, at)
			}
		}
		if made != 5 {
			t.Errorf("%d bindings were made, want 5", made)
		}
	})
}
