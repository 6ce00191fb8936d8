package platform_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// ids returns the ids of events.
func ids(events []*core.Event) []string {
	found := make([]string, len(events))
	for i, e := range events {
		found[i] = e.ID
	}
	return found
}

// mustReadLog reads everything that the caller may see of the log, in small pages.
func (w *world) mustReadLog(ctx context.Context, req events.AuditRequest) []*core.Event {
	w.Helper()
	var all []*core.Event
	req.PageSize = 3
	for {
		page, err := w.p.AuditLog.List(ctx, req)
		must(w, err)
		all = append(all, page.Items...)
		if !page.HasNext {
			return all
		}
		req.After = page.Items[len(page.Items)-1].ID
	}
}

// mustExport reads the log of an export.
func (w *world) mustExport(req events.AuditRequest) (all []*core.Event) {
	w.Helper()
	must(w, w.p.AuditLog.Export(w.Context(), req, func(e *core.Event) error { all = append(all, e); return nil }))
	return all
}

func TestTheAuditLogHasEverythingTheNewestFirst(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team, side := w.group(acme.uid), w.group(acme.uid)
		lead := w.memberWith(iam.OwnerRole, team, acme.uid)
		deep := w.group(w.group(team))
		for _, g := range []core.UID{team, side, deep, w.group(deep)} {
			w.repo(g)
		}
		_, err := w.p.Repos.Create(lead, team, body[*inventory.Repo](`{"name": "of-the-lead"}`))
		must(t, err)
		expectRefused(t, "a change", w.p.Groups.Delete(lead, side), core.CodePermissionDenied)
		expectRefused(t, "a change", w.p.Groups.Delete(w.as("stranger"), team), core.CodePermissionDenied)
		w.repo(other.uid)

		recorded := w.readEvents("1 = 1")
		slices.SortFunc(recorded, func(x, y event) int { return strings.Compare(y.id, x.id) })
		want := func(keep func(event) bool) []string {
			var found []string
			for _, e := range recorded {
				if keep(e) {
					found = append(found, e.id)
				}
			}
			return found
		}
		lies := func(scopes ...core.UID) func(event) bool {
			return func(e event) bool { return slices.ContainsFunc(scopes, e.subject.Within) }
		}
		leader := core.ActorOf(lead).Identities[0]
		yes, no := true, false
		middle := recorded[len(recorded)/2]
		var at core.Time
		for _, e := range w.mustReadLog(acme.owner, events.AuditRequest{}) {
			if e.ID == middle.id {
				at = e.Time
			}
		}
		type request = events.AuditRequest
		for name, c := range map[string]struct {
			as   context.Context
			req  request
			keep func(event) bool
		}{
			"all of an owner":        {acme.owner, request{}, lies(acme.uid)},
			"all of a subtree":       {lead, request{}, lies(team)},
			"a level further down":   {acme.owner, request{DescendantsOf: deep}, lies(deep)},
			"by an actor":            {acme.owner, request{Actor: string(leader)}, func(e event) bool { return lies(acme.uid)(e) && e.actor.Subject == string(leader) }},
			"by an actor in a group": {acme.owner, request{DescendantsOf: side, Actor: string(leader)}, func(e event) bool { return lies(side)(e) && e.actor.Subject == string(leader) }},
			"refused":                {acme.owner, request{Denied: &yes}, func(e event) bool { return lies(acme.uid)(e) && e.denied != "" }},
			"done":                   {acme.owner, request{Denied: &no}, func(e event) bool { return lies(acme.uid)(e) && e.denied == "" }},
			"since, inclusive":       {acme.owner, request{Since: at}, func(e event) bool { return lies(acme.uid)(e) && e.id[:13] >= middle.id[:13] }},
			"until, exclusive":       {acme.owner, request{Until: at}, func(e event) bool { return lies(acme.uid)(e) && e.id[:13] < middle.id[:13] }},
			"of types": {acme.owner, request{Types: []string{"dev.atrium.api.iam.group.created.v1", "dev.atrium.api.iam.group.deleted.v1"}},
				func(e event) bool { return lies(acme.uid)(e) && strings.HasPrefix(e.kind, "iam.group.") }},
			"of types, one twice": {acme.owner, request{Types: []string{"iam.group.created", "iam.rolebindings.created", "dev.atrium.api.iam.group.created.v1"}},
				func(e event) bool {
					return lies(acme.uid)(e) && (e.kind == "iam.group.created" || e.kind == "iam.rolebindings.created")
				}},
			"of a type in a group": {acme.owner, request{DescendantsOf: side, Types: []string{"iam.group.created"}}, func(e event) bool { return lies(side)(e) && e.kind == "iam.group.created" }},
		} {
			got, expected := ids(w.mustReadLog(c.as, c.req)), want(c.keep)
			if fmt.Sprint(got) != fmt.Sprint(expected) || len(got) == 0 {
				t.Errorf("%s: got %d, want %d: %v, %v", name, len(got), len(expected), got, expected)
			}
		}

		// This reads backward from the oldest event, page by page.
		var back []string
		req := request{Backward: true, PageSize: 4}
		for {
			page, err := w.p.AuditLog.List(acme.owner, req)
			must(t, err)
			back = append(ids(page.Items), back...)
			if page.HasNext != (req.After != "") {
				t.Errorf("after %q there is a next page: %t", req.After, page.HasNext)
			}
			if !page.HasPrevious {
				break
			}
			req.After = page.Items[0].ID
		}
		if all := want(lies(acme.uid)); fmt.Sprint(back) != fmt.Sprint(all) {
			t.Errorf("backward %v, want %v", back, all)
		}

		// There are more grants than one statement reads.
		many := w.member(acme.uid, "many")
		var held []core.UID
		for range 40 {
			g := w.group(acme.uid)
			w.bind(g, many, iam.OwnerRole)
			held = append(held, g)
		}
		recorded = w.readEvents("1 = 1")
		slices.SortFunc(recorded, func(x, y event) int { return strings.Compare(y.id, x.id) })
		if got, expected := ids(w.mustReadLog(w.as("many"), request{})), want(lies(held...)); fmt.Sprint(got) != fmt.Sprint(expected) || len(got) != 80 {
			t.Errorf("many groups: got %d, want %d", len(got), len(expected))
		}

		viewer := w.memberWith(iam.ViewerRole, acme.uid, acme.uid)
		for name, c := range map[string]struct {
			as  context.Context
			req request
		}{
			"a viewer": {viewer, request{}}, "a viewer of a group": {viewer, request{DescendantsOf: team}}, "a sibling": {lead, request{DescendantsOf: side}},
			"what is above": {lead, request{DescendantsOf: acme.uid}}, "another organization": {acme.owner, request{DescendantsOf: other.uid}}, "a stranger": {w.as("stranger"), request{}},
		} {
			_, err := w.p.AuditLog.List(c.as, c.req)
			expectRefused(t, name, err, core.CodePermissionDenied)
		}

		gone := w.group(acme.uid)
		must(t, w.p.Groups.Delete(acme.owner, gone))
		discard := func(*core.Event) error { return nil }
		must(t, w.p.AuditLog.Export(w.Context(), request{DescendantsOf: gone}, discard))
		expectRefused(t, "a group that never was", w.p.AuditLog.Export(w.Context(), request{DescendantsOf: acme.uid + "/0123456789abcdef"}, discard), core.CodeNotFound)
		var exported []string
		must(t, w.p.AuditLog.Export(w.Context(), request{}, func(e *core.Event) error { exported = append(exported, e.ID); return nil }))
		recorded = w.readEvents("1 = 1")
		slices.SortFunc(recorded, func(x, y event) int { return strings.Compare(y.id, x.id) })
		if all := want(func(event) bool { return true }); fmt.Sprint(exported) != fmt.Sprint(all) {
			t.Errorf("exported %d, want %d", len(exported), len(all))
		}
	})
}

func TestOldEventsAreDeletedOnceTheyAreRelayed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscription(acme.uid)
		expectRefused(t, "a change", w.p.Groups.Delete(w.as("stranger"), acme.uid), core.CodePermissionDenied)
		w.relay()
		page, err := w.p.Deliveries.List(acme.owner, core.ListRequest[*webhooks.DeliveryFilter]{UIDP: core.UIDFilter{ChildrenOf: sub}})
		must(t, err)
		for _, d := range page.Items {
			w.end(d.UID, webhooks.Attempt{Status: 200})
		}
		left := func(after time.Duration, events, denials, deliveries int) {
			t.Helper()
			w.pass(after)
			must(t, w.p.Maintain(t.Context()))
			page, err := w.p.Deliveries.List(acme.owner, core.ListRequest[*webhooks.DeliveryFilter]{UIDP: core.UIDFilter{ChildrenOf: sub}})
			must(t, err)
			var orphans int
			must(t, w.raw().QueryRowContext(t.Context(), "SELECT count(*) FROM event_mention m WHERE NOT EXISTS (SELECT 1 FROM event e WHERE e.id = m.event_id)").Scan(&orphans))
			if orphans != 0 {
				t.Errorf("%d mentions of deleted events are left, want none", orphans)
			}
			if e, d := len(w.events()), len(w.denials()); e != events || d != denials || len(page.Items) != deliveries {
				t.Errorf("%d events, %d denials and %d deliveries are left, want %d, %d and %d", e, d, len(page.Items), events, denials, deliveries)
			}
		}
		const day = 24 * time.Hour
		left(0, 4, 1, 1) // The subscription got only the event of its creation.
		left(29*day, 4, 1, 1)
		left(8*day, 4, 1, 0) // A partition of deliveries has seven days.
		for range 3 {
			w.repo(acme.uid)
		}
		left(60*day, 3, 0, 0)
		left(90*day, 3, 0, 0) // Nobody has relayed them yet.
		w.relay()
		left(0, 0, 0, 3)
	})
}

// Somebody who has identities in several organizations acts in each of them as the identity of
// that organization. Otherwise its audit log would not find its own identity, and would show
// those of others.
func TestTheActorIsAnIdentityOfTheOrganization(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		orgs := map[core.UID]core.UID{} // the identity in each organization
		for _, name := range []string{"a", "b", "c"} {
			made := w.found(name)
			orgs[made.uid] = w.member(made.uid, "ann")
			w.bind(made.uid, orgs[made.uid], iam.EditorRole)
		}
		ann := w.as("ann")
		for org, identity := range orgs {
			_, err := w.p.Repos.Create(ann, org, body[*inventory.Repo](`{"name": "app"}`))
			must(t, err)
			expectRefused(t, "a change without the right", w.p.Groups.Delete(ann, org), core.CodePermissionDenied)
			found := w.mustReadLog(w.operator(), events.AuditRequest{DescendantsOf: org, Actor: string(identity)})
			if len(found) != 2 {
				t.Errorf("the log of %s has %d entries of its identity %s, want 2", org, len(found), identity)
			}
			w.bind(org, identity, iam.OwnerRole)
			_, err = w.p.Terms.Accept(w.as("ann"), org, []string{"terms"})
			must(t, err)
			accepted, err := w.p.Terms.ListOf(w.as("ann"), org, core.ListRequest[*iam.TermsFilter]{})
			must(t, err)
			if len(accepted.Items) != 1 || accepted.Items[0].AcceptedBy != string(identity) {
				t.Errorf("the terms of %s are accepted by %+v, want %s", org, accepted.Items[0], identity)
			}
		}
	})
}

// A logReader is a store that keeps the queries of the audit log that do not name ids.
type logReader struct {
	platform.Store
	scans []events.AuditQuery
}

func (s *logReader) EventLog(ctx context.Context, q events.AuditQuery) ([]*core.Event, error) {
	if q.IDs == nil {
		s.scans = append(s.scans, q)
	}
	return s.Store.EventLog(ctx, q)
}

// No index has the rare events of all groups. A statement that asks for them reads every event
// until it has found enough, and exceeds the time limit of statements in a large log.
func TestAnExportOfRareEventsReadsALimitedNumberOfThemAtOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		for i, other := range []core.UID{acme.uid, team, acme.uid} {
			w.namedRepo(other, fmt.Sprint("of-", i))
			expectRefused(t, "a change", w.p.Groups.Delete(w.as(fmt.Sprint("stranger-", i)), team), core.CodePermissionDenied)
		}
		// There are more events than one statement of an export reads.
		_, err := w.raw().ExecContext(w.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
			INSERT INTO event (id, type, root, subject, grp, actor, actor_subject, body, time, denied, changes)
			SELECT '`+core.FirstEventID(core.At(epoch))[:24]+`' || CAST(100000000000 + n.i AS text), 'dev.atrium.api.iam.group.updated.v1',
				e.root, e.subject, e.grp, e.actor, e.actor_subject, e.body, e.time, '', '' FROM n, event e WHERE e.id = '`+w.events()[0].id+`'`)
		must(t, err)
		all := w.readEvents("1 = 1")
		slices.SortFunc(all, func(x, y event) int { return strings.Compare(y.id, x.id) })
		s := &logReader{Store: w.store}
		p := w.replica(s, platform.Options{AllowIssuers: true})
		yes, no := true, false
		const created, updated = "platform.registry.repo.created", "iam.group.updated"
		for name, c := range map[string]struct {
			req  events.AuditRequest
			want func(event) bool
			n    int
		}{
			"a rare type":              {events.AuditRequest{Types: []string{created}}, func(e event) bool { return e.kind == created }, 3},
			"a frequent type":          {events.AuditRequest{Types: []string{updated}}, func(e event) bool { return e.kind == updated }, 2500},
			"no type":                  {events.AuditRequest{Types: []string{}}, func(event) bool { return false }, 0},
			"denials of a group":       {events.AuditRequest{Denied: &yes, DescendantsOf: acme.uid}, func(e event) bool { return e.denied != "" }, 3},
			"denials":                  {events.AuditRequest{Denied: &yes}, func(e event) bool { return e.denied != "" }, 3},
			"a rare type that is made": {events.AuditRequest{Types: []string{created}, Denied: &no}, func(e event) bool { return e.kind == created && e.denied == "" }, 3},
		} {
			var exported, want []string
			s.scans = nil
			must(t, p.AuditLog.Export(w.operator(), c.req, func(e *core.Event) error {
				if exported = append(exported, e.ID); len(e.Body) == 0 && e.Denied == "" {
					t.Errorf("%s: the event %s has no body", name, e.ID)
				}
				return nil
			}))
			for _, e := range all {
				if c.want(e) {
					want = append(want, e.id)
				}
			}
			if !slices.Equal(exported, want) || len(want) != c.n {
				t.Errorf("%s: exported %d events, want %d, which are %d", name, len(exported), c.n, len(want))
			}
			for _, q := range s.scans {
				if q.Types != nil || q.Denied != nil && c.req.DescendantsOf == "" || q.Limit > 2000 {
					t.Errorf("%s: a statement looks for types %q and denied %v, and for at most %d events", name, q.Types, q.Denied, q.Limit)
				}
			}
		}
	})
}

// The attack: an identity is bound, bound together with others, rebound and invited, and does
// something itself. Its uid stands in the events of others, and must be found there.
func TestTheAuditLogFindsAResourceWhereverItStands(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		team := w.group(acme.uid)
		ann, role := w.member(acme.uid, "ann"), w.role(acme.uid, core.CapRepoList)
		lead := w.memberWith(iam.OwnerRole, team, acme.uid)
		bound := w.bind(acme.uid, ann, role)
		w.bind(team, ann, iam.EditorRole)
		w.bind(other.uid, w.member(other.uid, "bob"), iam.EditorRole)
		_, err := w.p.RoleBindings.CreateBatch(acme.owner, newBatch(team, []fieldmask.Input[*iam.RoleBinding]{binding(ann, role), binding(w.member(acme.uid, "eve"), role)}))
		must(t, err)
		_, err = w.p.RoleBindings.Update(acme.owner, bound, body[*iam.RoleBinding](`{"roleUid": %q}`, iam.EditorRole))
		must(t, err)
		repo := w.repo(acme.uid)
		_, err = w.p.Repos.Update(acme.owner, repo, body[*inventory.Repo](`{"description": "new"}`))
		must(t, err)
		_, err = w.p.Repos.Create(w.as("ann"), acme.uid, body[*inventory.Repo](`{"name": "of-ann"}`))
		must(t, err)
		expectRefused(t, "a change", w.p.Groups.Delete(w.as("ann"), acme.uid), core.CodePermissionDenied)
		expectRefused(t, "a change", w.p.Groups.Delete(w.as("ann"), acme.uid), core.CodePermissionDenied) // It is counted with the first one.
		must(t, w.p.RoleBindings.Delete(acme.owner, bound))
		invite := w.inviteTo(acme.uid, role, `"ttl": "60s", "email": "bob@example.com"`)
		for range 2 { // The second refusal is counted with the first one, which names the invite.
			_, err = w.p.GroupInvites.Accept(w.as("ann"), invite.Code)
			expectRefused(t, "an invite for somebody else", err, core.CodePermissionDenied)
		}

		recorded := w.mustExport(events.AuditRequest{})
		found := map[string]int{}
		for _, caller := range []struct {
			name   string
			ctx    context.Context
			scopes []core.UID
		}{{"owner", acme.owner, []core.UID{acme.uid}}, {"lead", lead, []core.UID{team}}, {"other", other.owner, []core.UID{other.uid}}} {
			for name, uid := range map[string]core.UID{
				"ann": ann, "role": role, "editor": iam.EditorRole, "bound": bound, "repo": repo, "invite": invite.UID, "team": team, "acme": acme.uid, "lead": core.ActorOf(lead).Identities[0], "nobody": acme.uid + "/0123456789abcdef",
			} {
				var want, wantTarget []string
				for _, e := range recorded {
					text := string(e.Body)
					for _, c := range e.Changes {
						text += string(c.Before) + string(c.After)
					}
					within := slices.ContainsFunc(caller.scopes, e.Subject.Within)
					isTarget := e.Subject == uid || strings.Contains(text, `"`+string(uid)+`"`)
					if within && isTarget {
						wantTarget = append(wantTarget, e.ID)
					}
					if within && (isTarget || e.Actor.Subject == string(uid)) {
						want = append(want, e.ID)
					}
				}
				if got := ids(w.mustReadLog(caller.ctx, events.AuditRequest{Subject: uid})); !slices.Equal(got, want) {
					t.Errorf("%s finds %d events of %s, want %d", caller.name, len(got), name, len(want))
				}
				if got := ids(w.mustReadLog(caller.ctx, events.AuditRequest{Target: uid})); !slices.Equal(got, wantTarget) {
					t.Errorf("%s finds %d events that happened to %s, want %d", caller.name, len(got), name, len(wantTarget))
				}
				last, err := w.p.AuditLog.List(caller.ctx, events.AuditRequest{Subject: uid, Backward: true, PageSize: 2})
				must(t, err)
				if got := ids(last.Items); !slices.Equal(got, want[max(0, len(want)-2):]) || last.HasPrevious != (len(want) > 2) {
					t.Errorf("%s finds %v as the oldest of %s, want the end of %v", caller.name, got, name, want)
				}
				found[caller.name+" "+name] = len(want)
				if got := ids(w.mustExport(events.AuditRequest{DescendantsOf: caller.scopes[0], Subject: uid})); !slices.Equal(got, want) {
					t.Errorf("the export of %s has %d events of %s, want %d", caller.name, len(got), name, len(want))
				}
			}
		}
		if n := len(w.mustExport(events.AuditRequest{Subject: iam.EditorRole})); n != found["owner editor"]+found["other editor"] {
			t.Errorf("the export of all organizations has %d events of a built-in role, want %d", n, found["owner editor"]+found["other editor"])
		}
		// ann was made, bound twice one by one and once with others, rebound, unbound, and made a repo.
		// Her refusals of each kind are one event.
		for name, want := range map[string]int{"owner ann": 9, "owner role": 6, "owner invite": 2, "lead ann": 2, "owner repo": 2, "other editor": 1, "other ann": 0, "owner nobody": 0} {
			if found[name] != want {
				t.Errorf("%s: %d events, want %d", name, found[name], want)
			}
		}
		type request = events.AuditRequest
		for _, c := range []struct {
			req  request
			want int
		}{
			{request{Subject: ann, Types: []string{"iam.rolebindings.created"}}, 4}, {request{Subject: ann, Actor: string(ann)}, 3},
			{request{Target: role, DescendantsOf: team, Types: []string{"iam.rolebindings.created.batch"}, Actor: string(acme.Identity.UID), Until: core.At(epoch.Add(24 * time.Hour))}, 2},
		} {
			if got := w.mustReadLog(acme.owner, c.req); len(got) != c.want {
				t.Errorf("%+v finds %d, want %d", c.req, len(got), c.want)
			}
		}
		for req, want := range map[*request]string{{Subject: "x"}: "subject", {Target: "x"}: "target", {Subject: ann, Target: ann}: "target"} {
			_, err := w.p.AuditLog.List(acme.owner, *req)
			if got := violationFields(err); got != want {
				t.Errorf("%+v names %q, want %q", req, got, want)
			}
		}
	})
}
