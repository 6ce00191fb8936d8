package platform_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
)

// accessAt reads who had access to a group at a time, in small pages.
func (w *world) accessAt(ctx context.Context, group core.UID, at core.Time, backward bool) (grants []*events.AccessGrant) {
	w.Helper()
	req := events.AccessRequest{Group: group, From: at, PageSize: 3, Backward: backward}
	for {
		page, err := w.p.AuditLog.AccessAt(ctx, req)
		must(w, err)
		more := page.HasNext
		if backward {
			grants, more = append(slices.Clone(page.Items), grants...), page.HasPrevious
		} else {
			grants = append(grants, page.Items...)
		}
		if !more || len(page.Items) == 0 {
			return grants
		}
		if req.After = page.Items[len(page.Items)-1].Cursor(); backward {
			req.After = page.Items[0].Cursor()
		}
	}
}

// changesOfAccess reads the changes of access between two times, the oldest first.
func (w *world) changesOfAccess(ctx context.Context, within core.UID, from, to core.Time) (changes []*events.AccessChange) {
	w.Helper()
	req := events.AccessRequest{Group: within, From: from, To: to, PageSize: 3}
	for {
		page, err := w.p.AuditLog.AccessChanges(ctx, req)
		must(w, err)
		changes = append(changes, page.Items...)
		if !page.HasNext {
			slices.Reverse(changes)
			return changes
		}
		req.After = changes[len(changes)-1].Cursor()
	}
}

func describeGrant(binding, identity, role core.UID, end core.Time, held []core.Capability) string {
	return fmt.Sprintln(binding, identity, role, end, held)
}

// A moment is what was bound at a time.
type moment struct {
	at       core.Time
	bindings map[core.UID]*iam.RoleBinding  // all rows, with those that have expired and are not deleted yet
	held     map[core.UID][]core.Capability // by role
}

// describe lists what counted on a group.
func (m moment) describe(group core.UID) string {
	var all strings.Builder
	for _, uid := range slices.Sorted(maps.Keys(m.bindings)) {
		if b := m.bindings[uid]; group.Within(b.Group.UID) && (b.ExpireTime.IsZero() || b.ExpireTime.After(m.at.Time)) {
			all.WriteString(describeGrant(uid, b.Identity.UID, b.Role.UID, b.ExpireTime, m.held[b.Role.UID]))
		}
	}
	return all.String()
}

// An accessWalk changes bindings and roles at random, and keeps what was bound at some moments.
type accessWalk struct {
	*world
	random     *rand.Rand
	org        org
	groups     []core.UID
	identities []core.UID
	roles      []core.UID
	moments    []moment
}

// observe keeps what is bound now.
func (a *accessWalk) observe() {
	a.Helper()
	m := moment{core.At(a.now()), map[core.UID]*iam.RoleBinding{}, map[core.UID][]core.Capability{}}
	bindings, err := a.p.RoleBindings.List(a.operator(), core.ListRequest[*iam.RoleBindingFilter]{UIDP: core.UIDFilter{DescendantsOf: a.org.uid}, PageSize: core.MaxPageSize, Parts: core.PartItems})
	must(a, err)
	for _, b := range bindings.Items {
		m.bindings[b.UID] = b
		role, err := a.p.Roles.Get(a.org.owner, b.Role.UID)
		must(a, err)
		m.held[role.UID] = append([]core.Capability{}, role.Capabilities...)
	}
	a.moments = append(a.moments, m)
}

func (a *accessWalk) pick(from []core.UID) core.UID { return from[a.random.IntN(len(from))] }

// step makes one change. Some are refused, such as a second binding of the same.
func (a *accessWalk) step() {
	end := "null"
	if a.random.IntN(3) == 0 {
		end = `"` + core.At(a.now().Add(time.Duration(50+a.random.IntN(200))*time.Millisecond)).String() + `"`
	}
	group := a.pick(a.groups)
	var bound []core.UID
	for uid := range a.moments[len(a.moments)-1].bindings {
		if uid != a.org.Binding.UID {
			bound = append(bound, uid)
		}
	}
	slices.Sort(bound)
	switch kind := a.random.IntN(8); {
	case kind < 3 || len(bound) == 0:
		_, _ = a.p.RoleBindings.Create(a.operator(), group, body[*iam.RoleBinding](`{"identityUid": %q, "roleUid": %q, "expireTime": %s}`, a.pick(a.identities), a.pick(a.roles), end))
	case kind == 3:
		_, _ = a.p.RoleBindings.Update(a.operator(), a.pick(bound), body[*iam.RoleBinding](`{"identityUid": %q, "roleUid": %q}`, a.pick(a.identities), a.pick(a.roles)))
	case kind == 4:
		_, _ = a.p.RoleBindings.Update(a.operator(), a.pick(bound), body[*iam.RoleBinding](`{"expireTime": %s}`, end))
	case kind == 5:
		_ = a.p.RoleBindings.Delete(a.operator(), a.pick(bound))
	case kind == 6:
		all := []string{`"repo.list"`, `"tag.list"`, `"groups.list"`, `"identity.list"`}
		_, _ = a.p.Roles.Update(a.operator(), a.pick(a.roles[1:]), body[*iam.Role](`{"description": %q, "capabilities": [%s]}`, a.name(), strings.Join(all[:a.random.IntN(4)], ", ")))
	default:
		_ = a.p.Identities.Delete(a.operator(), a.pick(a.identities))
		must(a, a.p.RoleBindings.DeleteExpired(a.Context()))
	}
}

// What the log says of each moment is what was listed then, whatever has happened since. And what has changed between
// two moments makes one of the other.
func TestTheAuditLogTellsWhoHadAccessAtAnyTime(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		a := &accessWalk{world: w, random: rand.New(rand.NewPCG(1, 2)), org: w.found("acme")}
		team := w.group(a.org.uid)
		sub, beside := w.group(team), w.group(a.org.uid)
		a.groups = []core.UID{a.org.uid, team, sub, beside}
		a.roles = []core.UID{iam.ViewerRole, w.role(a.org.uid, core.CapRepoList), w.role(a.org.uid)}
		for range 6 {
			a.identities = append(a.identities, w.member(a.org.uid, w.name()))
		}
		a.observe()
		for range 120 {
			a.step()
			a.observe()
		}
		for i, m := range a.moments {
			for _, backward := range []bool{false, true} {
				grants := w.accessAt(a.org.owner, sub, m.at, backward)
				held, err := w.p.AuditLog.AccessCapabilities(a.org.owner, grants)
				must(t, err)
				var got strings.Builder
				for n, g := range grants {
					got.WriteString(describeGrant(g.BindingUID, g.IdentityUID, g.RoleUID, g.ExpireTime, held[n]))
					if g.IdentityName == "" || g.RoleName == "" || g.GroupName == "" {
						t.Errorf("moment %d: %+v lacks a name", i, g)
					}
				}
				if want := m.describe(sub); got.String() != want {
					t.Fatalf("moment %d (backward: %t):\n%swant\n%s", i, backward, got.String(), want)
				}
			}
		}
		a.replay(t)
	})
}

// replay applies the changes between moments to what was bound at the first of them.
func (a *accessWalk) replay(t *testing.T) {
	t.Helper()
	for i := 0; i+7 < len(a.moments); i += 7 {
		first, last := a.moments[i], a.moments[i+7]
		state := map[core.UID]string{}
		for uid, b := range first.bindings {
			state[uid] = describeGrant(uid, b.Identity.UID, b.Role.UID, b.ExpireTime, nil)
		}
		held := maps.Clone(first.held)
		for _, c := range a.changesOfAccess(a.org.owner, a.org.uid, first.at, last.at) {
			if before := c.Before; before != nil {
				if was := describeGrant(before.BindingUID, before.IdentityUID, before.RoleUID, before.ExpireTime, nil); state[before.BindingUID] != was {
					t.Errorf("%s %s was %sthe change says %s", c.Kind, before.BindingUID, state[before.BindingUID], was)
				}
				delete(state, before.BindingUID)
			}
			if after := c.After; after != nil {
				state[after.BindingUID] = describeGrant(after.BindingUID, after.IdentityUID, after.RoleUID, after.ExpireTime, nil)
			}
			if set, known := held[c.RoleUID]; known && c.Kind == events.AccessRoleChanged {
				set = slices.DeleteFunc(append(slices.Clone(set), c.AddedCapabilities...), func(x core.Capability) bool { return slices.Contains(c.RemovedCapabilities, x) })
				held[c.RoleUID] = set
			}
		}
		want := map[core.UID]string{}
		for uid, b := range last.bindings {
			want[uid] = describeGrant(uid, b.Identity.UID, b.Role.UID, b.ExpireTime, nil)
		}
		if !maps.Equal(state, want) {
			t.Errorf("the changes after moment %d lead to %v, want %v", i, state, want)
		}
		for role, set := range held {
			if now, known := last.held[role]; known && !slices.Equal(slices.Sorted(slices.Values(set)), slices.Sorted(slices.Values(now))) {
				t.Errorf("role %s: the changes after moment %d lead to %v, want %v", role, i, set, now)
			}
		}
	}
}

func TestChangesOfAccessNameWhatIsGone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		role := w.role(acme.uid, core.CapRepoList)
		ann, bob := w.member(acme.uid, "ann"), w.member(acme.uid, "bob")
		begin := core.At(w.now())
		bound := w.bind(team, ann, role)
		_, err := w.p.RoleBindings.Update(acme.owner, bound, body[*iam.RoleBinding](`{"identityUid": %q, "roleUid": %q}`, bob, iam.ViewerRole))
		must(t, err)
		middle := core.At(w.now())
		must(t, w.p.RoleBindings.Delete(acme.owner, bound))
		for _, gone := range []error{w.p.Roles.Delete(acme.owner, role), w.p.Identities.Delete(acme.owner, ann), w.p.Identities.Delete(acme.owner, bob), w.p.Groups.Delete(acme.owner, team)} {
			must(t, gone)
		}
		var kinds []string
		for _, c := range w.changesOfAccess(acme.owner, team, begin, core.At(w.now())) {
			kinds = append(kinds, string(c.Kind))
			for _, g := range []*events.AccessGrant{c.Before, c.After} {
				if g != nil && (g.IdentityName == "" || g.RoleName == "" || g.GroupName == "") {
					t.Errorf("%s: %+v lacks a name", c.Kind, g)
				}
			}
			if by := c.Event.Actor.Subject; c.Kind != events.AccessGiven && by != string(acme.Identity.UID) {
				t.Errorf("%s was by %s, want the owner", c.Kind, by)
			}
		}
		w.expect("changes", strings.Join(kinds, " "), "GIVEN CHANGED TAKEN")
		had := w.accessAt(acme.owner, team, middle, false)
		of := map[core.UID]core.UID{}
		for _, g := range had {
			of[g.BindingUID] = g.IdentityUID
		}
		if want := map[core.UID]core.UID{acme.Binding.UID: acme.Identity.UID, bound: bob}; !maps.Equal(of, want) {
			t.Errorf("in the deleted group there were %v, want %v", of, want)
		}
		page, err := w.p.AuditLog.AccessChanges(acme.owner, events.AccessRequest{Group: acme.uid, From: begin, To: core.At(w.now()), Identity: ann})
		must(t, err)
		if len(page.Items) != 2 {
			t.Errorf("ann has %d changes, want what she was given and lost", len(page.Items))
		}
	})
}

// Bindings that had ended, but were not deleted yet, neither shorten a page nor end the list.
func TestPagesOfPastAccessAreFull(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		end := core.At(w.now().Add(time.Minute))
		want, lasting := []core.UID{acme.Binding.UID}, core.UID("")
		for i := range 20 {
			group, until := []core.UID{acme.uid, team}[i%2], `"`+end.String()+`"`
			if i%3 == 0 {
				until = "null"
			}
			made, err := w.p.RoleBindings.Create(acme.owner, group, body[*iam.RoleBinding](`{"identityUid": %q, "roleUid": %q, "expireTime": %s}`, w.member(acme.uid, w.name()), iam.ViewerRole, until))
			must(t, err)
			if until == "null" {
				want, lasting = append(want, made.UID), made.UID
			}
		}
		slices.Sort(want)
		w.pass(2 * time.Minute)
		at := core.At(w.now())
		w.pass(time.Minute)
		must(t, w.p.RoleBindings.DeleteExpired(w.Context()))
		must(t, w.p.RoleBindings.Delete(acme.owner, lasting))
		w.member(acme.uid, "later")
		for _, backward := range []bool{false, true} {
			var got []core.UID
			for req := (events.AccessRequest{Group: team, From: at, PageSize: 2, Backward: backward}); ; {
				page, err := w.p.AuditLog.AccessAt(acme.owner, req)
				must(t, err)
				more := page.HasNext
				if backward {
					more = page.HasPrevious
					slices.Reverse(page.Items)
				}
				if more && len(page.Items) != 2 {
					t.Fatalf("a page has %d grants, and more follow", len(page.Items))
				}
				for _, g := range page.Items {
					got = append(got, g.BindingUID)
				}
				if !more {
					break
				}
				req.After = string(got[len(got)-1])
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("backward %t: got %v, want each of %v once", backward, got, want)
			}
		}
	})
}

// Who revokes the access of others has neither got nor lost any.
func TestChangesOfAccessConcernTheHolder(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		ann := w.member(acme.uid, "ann")
		begin := core.At(w.now())
		bound := w.bind(acme.uid, ann, iam.ViewerRole)
		_, err := w.p.RoleBindings.Confirm(acme.owner, unseen(bound), "Fine")
		must(t, err)
		must(t, w.p.RoleBindings.DeleteBatch(acme.owner, []core.UID{bound}, "Has left"))
		for _, x := range []struct {
			identity core.UID
			actor    string
			want     int
		}{{ann, "", 2}, {acme.Identity.UID, "", 0}, {"", string(acme.Identity.UID), 1}} {
			page, err := w.p.AuditLog.AccessChanges(acme.owner, events.AccessRequest{Group: acme.uid, From: begin, To: core.At(w.now()), Identity: x.identity, Actor: x.actor})
			must(t, err)
			if len(page.Items) != x.want {
				t.Errorf("identity %q, actor %q: got %d changes, want %d", x.identity, x.actor, len(page.Items), x.want)
			}
		}
		log, err := w.p.AuditLog.List(acme.owner, events.AuditRequest{Target: acme.Identity.UID, Since: begin})
		must(t, err)
		if len(log.Items) != 0 {
			t.Errorf("%d events happened to the reviewer, want none", len(log.Items))
		}
	})
}

func TestPastAccessNeedsTheRightsToListBindingsAndToReadTheAuditLog(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		w.bind(acme.uid, w.member(acme.uid, "everywhere"), iam.ViewerRole)
		now := core.At(w.now())
		lists := w.memberWith(w.role(acme.uid, core.CapRoleBindingsList), team, acme.uid)
		audits := w.memberWith(w.role(acme.uid, core.CapGroupsUpdate), team, acme.uid)
		req := events.AccessRequest{Group: team, From: now, To: now}
		for what, ctx := range map[string]context.Context{"who lists bindings": lists, "who reads the log": audits, "nobody": w.Context()} {
			code := core.CodePermissionDenied
			if ctx == w.Context() {
				code = core.CodeUnauthenticated
			}
			_, err := w.p.AuditLog.AccessAt(ctx, req)
			expectRefused(t, what, err, code)
			_, err = w.p.AuditLog.AccessChanges(ctx, req)
			expectRefused(t, what, err, code)
		}
		both := w.memberWith(w.role(acme.uid, core.CapGroupsUpdate, core.CapRoleBindingsList), team, acme.uid)
		now = core.At(w.now())
		grants := w.accessAt(both, team, now, false)
		for _, g := range grants {
			if g.GroupUID != team {
				t.Errorf("who may audit only the team sees %+v of the group above", g)
			}
		}
		if len(grants) != 3 {
			t.Errorf("the team had %d bindings of its own, want 3", len(grants))
		}
		held, err := w.p.AuditLog.AccessCapabilities(both, grants)
		must(t, err)
		for i := range held {
			if held[i] != nil {
				t.Errorf("who may not read roles sees that one holds %v", held[i])
			}
		}
		for what, bad := range map[string]events.AccessRequest{
			"within": {Group: "x", From: now}, "time": {Group: team, From: core.At(w.now().Add(time.Hour))}, "page_token": {Group: team, From: now, After: "x"}, "page_size": {Group: team, From: now, PageSize: -1},
		} {
			_, err := w.p.AuditLog.AccessAt(acme.owner, bad)
			if e := refusal(t, what, err, core.CodeInvalidArgument); len(e.Violations) != 1 || e.Violations[0].Field != what {
				t.Errorf("%s: %v", what, e.Violations)
			}
		}
		_, err = w.p.AuditLog.AccessChanges(acme.owner, events.AccessRequest{Group: team, From: now, To: core.At(now.Add(-time.Second))})
		if e := refusal(t, "to", err, core.CodeInvalidArgument); len(e.Violations) != 1 || e.Violations[0].Field != "to" {
			t.Errorf("to: %v", e.Violations)
		}
	})
}

func TestPastAccessSaysWhereTheLogDoesNotReach(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		before := core.At(w.now())
		taken := w.bind(acme.uid, w.member(acme.uid, "ann"), iam.ViewerRole)
		must(t, w.p.RoleBindings.Delete(acme.owner, taken))
		read := func(at core.Time) events.AccessPage[*events.AccessGrant] {
			page, err := w.p.AuditLog.AccessAt(acme.owner, events.AccessRequest{Group: acme.uid, From: at})
			must(t, err)
			return page
		}
		if page := read(before); !page.Complete || !page.RecordedSince.IsZero() {
			t.Errorf("before anything was deleted: complete is %t, since %s", page.Complete, page.RecordedSince)
		}
		w.pass(10 * 24 * time.Hour)
		w.p = w.replica(w.store, platform.Options{AuditRetention: 5 * 24 * time.Hour})
		must(t, w.p.Maintain(t.Context()))
		after := core.At(w.now())
		if page := read(before); page.Complete || page.RecordedSince.IsZero() || !page.RecordedSince.After(before.Time) {
			t.Errorf("before the log: complete is %t, since %s", page.Complete, page.RecordedSince)
		}
		if page := read(after); !page.Complete || len(page.Items) != 1 {
			t.Errorf("where the log reaches: complete is %t with %d grants, want only the owner", page.Complete, len(page.Items))
		}
		changes, err := w.p.AuditLog.AccessChanges(acme.owner, events.AccessRequest{Group: acme.uid, From: before, To: after})
		must(t, err)
		if changes.Complete {
			t.Error("changes from before the log are said to be complete")
		}
	})
}
