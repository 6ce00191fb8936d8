package platform_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/intake"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// An attempt is a change without the right to it.
type attempt struct {
	event   string // The change would have recorded this event.
	subject core.UID
	group   core.UID // The subject is in this group.
	call    func(ctx context.Context) error
}

// attempts returns every change that can be denied, by name: the operations of the
// ledger, and those that only GraphQL has.
func (w *world) attempts(t *testing.T, team core.UID) map[string]attempt {
	t.Helper()
	operations, all := w.operations(team), map[string]attempt{}
	for name, rpc := range wireRPCs(t) {
		if rpc.event == "" {
			continue
		}
		o := operations[name]
		uid := o.on()
		group := team
		if strings.HasSuffix(name, "Group") || strings.HasSuffix(name, "AccountAssociation") || name == "AcceptTerms" {
			group = uid
		}
		all[name] = attempt{strings.TrimSuffix(rpc.event, ".v1"), uid, group, func(ctx context.Context) error {
			_, err := o.call(ctx, uid)
			return err
		}}
	}
	sub := w.subscription(team)
	steer := func(do func(context.Context, core.UID) (*webhooks.Subscription, error)) func(context.Context) error {
		return func(ctx context.Context) error { _, err := do(ctx, sub); return err }
	}
	all["RotateSecret"] = attempt{"events.subscription.updated", sub, team, steer(w.p.Subscriptions.RotateSecret)}
	all["Enable"] = attempt{"events.subscription.updated", sub, team, steer(w.p.Subscriptions.Enable)}
	all["Test"] = attempt{"events.subscription.test", sub, team, func(ctx context.Context) error { _, err := w.p.Subscriptions.Test(ctx, sub); return err }}
	delivery := missingBelow(sub)
	all["Redeliver"] = attempt{"events.subscription.redelivered", delivery, team, func(ctx context.Context) error {
		_, err := w.p.Deliveries.Redeliver(ctx, []core.UID{delivery})
		return err
	}}
	source, err := w.p.Sources.Create(w.operator(), team, body[*intake.Source](`{"name": %q, "type": "SOURCE_TYPE_OSV"}`, w.name()))
	must(t, err)
	for name, ask := range map[string]func(context.Context, core.UID) (*intake.Source, error){"RunSource": w.p.Sources.Run, "CancelSource": w.p.Sources.Cancel} {
		all[name] = attempt{"sources.source.updated", source.UID, team, func(ctx context.Context) error { _, err := ask(ctx, source.UID); return err }}
	}
	all["CreateSource"] = attempt{"sources.source.created", team, team, func(ctx context.Context) error {
		_, err := w.p.Sources.Create(ctx, team, body[*intake.Source](`{"name": "denied", "type": "SOURCE_TYPE_OSV"}`))
		return err
	}}
	all["UpdateSource"] = attempt{"sources.source.updated", source.UID, team, func(ctx context.Context) error {
		_, err := w.p.Sources.Update(ctx, source.UID, body[*intake.Source](`{"paused": true}`))
		return err
	}}
	all["DeleteSource"] = attempt{"sources.source.deleted", source.UID, team, func(ctx context.Context) error { return w.p.Sources.Delete(ctx, source.UID) }}
	invite := w.inviteTo(team, w.role(team), `"ttl": "86400s", "email": "somebody@example.com"`)
	all["AcceptInvite"] = attempt{"iam.rolebindings.created", team, team, func(ctx context.Context) error {
		_, err := w.p.GroupInvites.Accept(ctx, invite.Code)
		return err
	}}
	return all
}

func TestEveryDeniedChangeIsRecordedOnceAndChangesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team, sibling := w.group(acme.uid), w.group(acme.uid)
		callers := map[string]context.Context{
			"the owner of a sibling": w.memberWith(iam.OwnerRole, sibling, sibling),
			"nobody that is known":   w.as("stranger"),
		}
		attempts := w.attempts(t, team)
		if len(attempts) < 32 {
			t.Errorf("only %d changes", len(attempts))
		}
		for _, name := range slices.Sorted(maps.Keys(attempts)) {
			a := attempts[name]
			for who, ctx := range callers {
				what := name + " by " + who
				w.pass(time.Minute) // After a minute, equal denials are not counted together.
				events, denials := w.events(), w.denials()
				err := a.call(ctx)
				e := refusal(t, what, err, core.CodePermissionDenied)
				// The operator creates what a call needs.
				if made := slices.DeleteFunc(since(w.events(), events), func(e event) bool { return e.actor.Subject == "test" }); len(made) > 0 {
					t.Errorf("%s: records %s", what, types(made))
				}
				made := w.denials()[len(denials):]
				if len(made) != 1 || made[0].count != 1 {
					t.Errorf("%s: is recorded %d times, want 1", what, len(made))
					continue
				}
				d := made[0]
				if d.kind != a.event || d.subject != a.subject || d.group != a.group || d.denied != e.Message || !strings.Contains(d.body, `"resource"`) {
					t.Errorf("%s: is recorded as %+v, want %+v", what, d, a)
				}
				actor := core.ActorOf(ctx)
				subject := actor.Subject
				if len(actor.Identities) > 0 {
					subject = string(actor.Identities[0])
				}
				if d.actor.Subject != subject || d.actor.Act["iss"] != issuer || d.actor.Act["sub"] != actor.Subject {
					t.Errorf("%s: is recorded as by %+v", what, d.actor)
				}
			}
		}
		w.checkCounters()
	})
}

func TestOtherErrorsAreNotRecordedAsDenials(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		stranger := w.as("stranger")
		operations, rpcs := w.operations(team), wireRPCs(t)
		for name, o := range operations {
			if rpcs[name].event == "" {
				_, _ = o.call(stranger, o.on()) // This call reads.
			}
		}
		nowhere := core.UID(strings.Repeat("0", 40))
		for name, a := range map[string]func() error{
			"a change in no organization": func() error { return w.p.Repos.Delete(stranger, nowhere+"/0000000000000000") },
			"a new organization": func() error {
				_, err := w.p.Groups.Create(stranger, "", body[*iam.Group](`{"name": "x"}`))
				return err
			},
			"no caller": func() error { return w.p.Groups.Delete(w.Context(), team) },
			"the operator's": func() error {
				_, err := w.p.GroupInvites.Accept(w.operator(), w.inviteTo(team, w.role(team), `"ttl": "60s"`).Code)
				return err
			},
			"what is not there": func() error { return w.p.Repos.Delete(acme.owner, missingBelow(team)) },
			"what is malformed": func() error { return w.p.Repos.Delete(stranger, "x") },
		} {
			if a() == nil {
				t.Errorf("%s is allowed", name)
			}
		}
		if made := w.denials(); len(made) > 0 {
			t.Errorf("recorded %s", types(made))
		}
	})
}

func TestGrantingWithoutHoldingIsRecordedAsADenial(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		binder := w.memberWith(w.role(acme.uid, core.CapRoleBindingsCreate), team, acme.uid)
		ins := []fieldmask.Input[*iam.RoleBinding]{binding(w.member(team, "a"), iam.ViewerRole), binding(w.member(team, "b"), iam.OwnerRole)}
		_, err := w.p.RoleBindings.CreateBatch(binder, newBatch(team, ins))
		expectRefused(t, "a batch", err, core.CodePermissionDenied)
		made := w.denials()
		if len(made) != 1 || made[0].kind != "iam.rolebindings.created.batch" || made[0].subject != team || !strings.Contains(made[0].denied, "cannot grant") {
			t.Errorf("recorded %+v, want 1 of them", made)
		}
		// The log must name the denied delivery of a batch, not one of the caller's own.
		own := w.subscription(w.group(acme.uid))
		other := w.found("other")
		foreign := missingBelow(w.subscription(other.uid))
		_, err = w.p.Deliveries.Redeliver(acme.owner, []core.UID{missingBelow(own), foreign})
		expectRefused(t, "another's delivery", err, core.CodePermissionDenied)
		if made = w.denials(); len(made) != 2 || made[1].subject != foreign || made[1].group != other.uid {
			t.Errorf("recorded %+v, want 2 of them", made)
		}
	})
}

// An unrecorded store accepts no events.
type unrecorded struct{ platform.Store }

func (s unrecorded) Write(context.Context, func(core.Tx) error) error {
	return errors.New("the disk is full")
}

func TestADenialThatCannotBeRecordedIsNotAnswered(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		var log strings.Builder
		p := w.replica(unrecorded{w.store}, platform.Options{NoSecrets: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		uid := w.repo(acme.uid)
		stranger := w.as("stranger")
		_, err := p.Repos.Update(stranger, uid, body[*inventory.Repo](`{"description": "x"}`))
		if e := refusal(t, "a change", err, core.CodeUnavailable); e.RetryAfter == 0 || strings.Contains(e.Message, "disk") {
			t.Errorf("got %+v", e)
		}
		if !strings.Contains(log.String(), "the disk is full") || len(w.denials()) != 0 {
			t.Errorf("%d denials, and the log says %q", len(w.denials()), log.String())
		}
		// A denial is recorded even if the caller hangs up.
		gone, hangUp := context.WithCancel(stranger)
		hangUp()
		expectRefused(t, "a change", w.p.Repos.Delete(gone, uid), core.CodePermissionDenied)
		if len(w.denials()) != 1 {
			t.Error("who hung up is not recorded")
		}
	})
}

// Equal denials within a minute must not make the log longer.
func TestEqualDenialsWithinAMinuteAreCounted(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		now := epoch.Add(time.Duration(w.clock.Load()) * time.Millisecond)
		w.pass(now.Truncate(time.Minute).Add(time.Minute).Sub(now)) // Almost a full minute is left.
		uid, stranger := w.repo(acme.uid), w.as("stranger")
		again := func() { expectRefused(t, "a change", w.p.Repos.Delete(stranger, uid), core.CodePermissionDenied) }
		for range 5 {
			again()
		}
		expectRefused(t, "another", w.p.Repos.Delete(w.as("another"), uid), core.CodePermissionDenied)
		w.pass(time.Minute)
		again()
		page, err := w.p.AuditLog.List(acme.owner, events.AuditRequest{Denied: new(true)})
		must(t, err)
		var counts []int32
		for _, e := range page.Items {
			counts = append(counts, e.Count)
		}
		if !slices.Equal(counts, []int32{1, 1, 5}) {
			t.Errorf("got the counts %v, the newest first", counts)
		}
		changes, err := w.p.AuditLog.List(acme.owner, events.AuditRequest{Denied: new(false)})
		must(t, err)
		for _, e := range changes.Items {
			if e.Count != 1 {
				t.Errorf("%s has the count %d, want 1", e.Type, e.Count)
			}
		}
	})
}

// watchedWrites counts the concurrent writes of denials.
type watchedWrites struct {
	platform.Store
	now, most *atomic.Int64
}

func (s watchedWrites) Write(ctx context.Context, unit func(core.Tx) error) error {
	now := s.now.Add(1)
	defer s.now.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	return s.Store.Write(ctx, unit)
}

func TestNoDenialIsLostUnderTheLoadOfWriters(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const writers, denials = 200, 841
		acme := w.found("acme")
		watched := watchedWrites{w.store, new(atomic.Int64), new(atomic.Int64)}
		p := w.replica(watched, platform.Options{})
		uid := w.repo(acme.uid)
		var strangers []context.Context
		for i := range 7 {
			strangers = append(strangers, w.as(fmt.Sprintf("stranger-%d", i)))
		}
		var writing, refusing sync.WaitGroup
		done := make(chan struct{})
		for n := range writers {
			writing.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-done:
						return
					default:
						_, _ = w.p.Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](`{"name": %q}`, fmt.Sprintf("r%d-%d", n, i)))
					}
				}
			})
		}
		var answered, unavailable atomic.Int64
		for n := range denials {
			refusing.Go(func() {
				err := p.Repos.Delete(strangers[n%len(strangers)], uid)
				switch code := core.AsError(err).Code; code {
				case core.CodePermissionDenied:
					answered.Add(1)
				case core.CodeUnavailable: // The writer was not free in time, and the caller is told.
					unavailable.Add(1)
				default:
					t.Errorf("answered %v", err)
				}
			})
		}
		refusing.Wait()
		close(done)
		writing.Wait()
		recorded := 0
		for _, d := range w.denials() {
			recorded += d.count
		}
		if n := int(answered.Load()); recorded < n || n == 0 || unavailable.Load() == 0 && recorded != denials {
			t.Errorf("of %d refusals %d were answered and %d recorded; %d were unavailable", denials, n, recorded, unavailable.Load())
		}
		if most := watched.most.Load(); most != 1 {
			t.Errorf("who is refused had %d writes under way at once, want 1", most)
		}
	})
}

// A token may have a subject that no index accepts. It must not prevent that a denial is
// stored.
func TestAStrangerOfALongNameIsRecorded(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for _, subject := range []string{strings.Repeat("ü7", 4000), "a\x00b"} {
			expectRefused(t, "a change", w.p.Groups.Delete(w.as(subject), acme.uid), core.CodePermissionDenied)
		}
		if made := w.denials(); len(made) != 2 || len(made[0].actor.Subject) > 1024 || len(made[0].actor.Act["sub"]) > 1024 || made[1].actor.Subject != "a\uFFFDb" {
			t.Errorf("%d are recorded, want 2", len(made))
		}
	})
}

// Whoever holds nothing in an organization needs no rights to be refused there. Such a caller must
// not be able to fill its audit log.
func TestAnOutsiderMakesOneRowForEachTypeOfDenial(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team := w.group(acme.uid)
		refuse := func(caller context.Context) {
			for n := range 5 {
				uid := core.UID(fmt.Sprintf("%s/%016x", team, n))
				expectRefused(t, "a deletion", w.p.Repos.Delete(caller, uid), core.CodePermissionDenied)
				_, err := w.p.Repos.Update(caller, uid, body[*inventory.Repo](`{"description": "x"}`))
				expectRefused(t, "a change", err, core.CodePermissionDenied)
			}
		}
		for what, caller := range map[string]context.Context{"a stranger": w.as("stranger"), "an owner of another organization": other.owner} {
			w.pass(time.Minute) // All that follows is within one minute.
			before := len(w.denials())
			refuse(caller)
			made := w.denials()[before:]
			if len(made) != 2 || made[0].count != 5 || made[1].count != 5 || made[0].kind == made[1].kind {
				t.Errorf("%s made the %d rows %s, want 2 with a count of 5", what, len(made), types(made))
			}
			w.pass(time.Minute)
			expectRefused(t, "in another organization", w.p.Repos.Delete(w.as("stranger"), missingBelow(other.uid)), core.CodePermissionDenied)
			refuse(caller)
			if made := w.denials()[before:]; len(made) != 5 {
				t.Errorf("%s made %d rows in two minutes and organizations, want 5", what, len(made))
			}
		}
		// The denials of somebody with rights tell what was tried.
		w.pass(time.Minute)
		before := len(w.denials())
		refuse(w.memberWith(iam.ViewerRole, team, team))
		if made := w.denials()[before:]; len(made) != 10 {
			t.Errorf("a viewer made %d rows, want 10", len(made))
		}
	})
}

func TestTheKnownEventTypesAreThoseOfTheLedgerAndAtriumsOwn(t *testing.T) {
	t.Parallel()
	want := []string{"iam.group.issuer_allowed.v1", "iam.group.issuer_revoked.v1", "iam.rolebindings.confirmed.v1", "iam.rolebindings.expired.v1", "events.subscription.updated.v1", "events.subscription.test.v1", "events.subscription.disabled.v1", "events.subscription.redelivered.v1", "vulnerabilities.finding.triaged.v1", "vulnerabilities.finding.due_policy_set.v1"}
	for _, rpc := range wireRPCs(t) {
		if rpc.event != "" && !slices.Contains(want, rpc.event) {
			want = append(want, rpc.event)
		}
	}
	for _, k := range platform.Kinds() {
		if k.Own {
			for _, verb := range k.Verbs {
				want = append(want, k.Event+"."+verb+".v1")
			}
		}
	}
	known := platform.AllEventTypes().All()
	for i, name := range known {
		known[i] = strings.TrimPrefix(name, "dev.atrium.api.")
	}
	slices.Sort(want)
	slices.Sort(known)
	if !slices.Equal(known, want) {
		t.Errorf("got %q, want %q", known, want)
	}
}
