package platform_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
)

// recordStretches records events in stretches of random lengths, in which kind, actor and outcome are the same. One stretch is longer
// than what is compared one by one.
func (w *world) recordStretches(group core.UID, actors []string, types []string) {
	w.Helper()
	random, start := rand.New(rand.NewPCG(5, 6)), w.now().Add(-time.Hour)
	var all []*core.Event
	for stretch := range 120 {
		length := 1 + random.IntN(4)
		if stretch == 60 {
			length = 1200
		}
		actor, kind, isDenied := actors[random.IntN(len(actors))], types[random.IntN(len(types))], random.IntN(4) == 0
		for range length {
			at := core.At(start.Add(time.Duration(len(all)) * time.Millisecond))
			e := &core.Event{ID: core.FirstEventID(at), Type: kind, Subject: group + core.UID(fmt.Sprintf("/%016x", len(all))), Group: group, Body: []byte("{}"), Time: at}
			if e.Actor.Subject = actor; isDenied {
				e.Denied = "Permission denied: " + e.ID
			}
			if !isDenied && stretch%2 == 0 && random.IntN(2) == 0 {
				e.Type = events.LikeTypes(kind)[1]
			}
			all = append(all, e)
		}
	}
	must(w, w.store.Write(w.Context(), func(tx core.Tx) error { tx.Record(all...); return nil }))
}

// The runs of the log have each of its events once, in its order, whatever the filter and the size of the pages.
func TestRunsOfTheAuditLogHaveEachOfItsEventsOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team, side := w.group(acme.uid), w.group(acme.uid)
		lead := w.memberWith(iam.OwnerRole, team, acme.uid)
		leader := string(core.ActorOf(lead).Identities[0])
		kinds := []string{"dev.atrium.api.iam.group.created.v1", "dev.atrium.api.platform.registry.tag.created.v1", "dev.atrium.api.iam.rolebindings.created.v1"}
		w.recordStretches(team, []string{leader, "import"}, kinds)
		yes, no := true, false
		var hundred []string // With so many kinds, a run is cut soon.
		for _, one := range platform.AllEventTypes().All() {
			if !slices.Contains(kinds, one) && len(hundred) < 100-len(kinds) {
				hundred = append(hundred, one)
			}
		}
		middle := core.At(w.now().Add(-time.Hour + 800*time.Millisecond))
		var long bool
		for name, req := range map[string]events.AuditRequest{
			"all":                {},
			"below":              {DescendantsOf: team},
			"by an actor":        {DescendantsOf: team, Actor: leader},
			"about an actor":     {Subject: core.UID(leader)},
			"refused":            {Denied: &yes},
			"done":               {Denied: &no},
			"of a kind":          {Types: kinds[:1]},
			"of the usual kind":  {Types: kinds[1:2]},
			"of kinds":           {Types: kinds[:2], Denied: &no},
			"of a hundred kinds": {Types: slices.Concat(hundred, kinds)},
			"since":              {Since: middle},
			"until":              {Until: middle},
			"of nothing":         {Types: []string{}},
		} {
			if req.DescendantsOf == "" {
				req.DescendantsOf = acme.uid
			}
			var log []*core.Event
			for whole, more := req, true; more; {
				whole.PageSize = 200
				page, err := w.p.AuditLog.List(acme.owner, whole)
				must(t, err)
				if log, more = append(log, page.Items...), page.HasNext; more {
					whole.After = log[len(log)-1].ID
				}
			}
			for _, size := range []int{5, 200} {
				at, req := 0, req
				req.PageSize = size
				for pages := 0; ; pages++ {
					page, err := w.p.AuditLog.ListRuns(acme.owner, req)
					must(t, err)
					for i, run := range page.Items {
						if at+int(run.Count) > len(log) || run.Count < 1 {
							t.Fatalf("%s, %d a page: a run has %d events after %d of %d", name, size, run.Count, at, len(log))
						}
						same := log[at : at+int(run.Count)]
						if newest, oldest := same[0], same[len(same)-1]; run.Newest.ID != newest.ID || string(run.Newest.Body) != string(newest.Body) || run.OldestID != oldest.ID || !run.OldestTime().Equal(oldest.Time.Time) {
							t.Fatalf("%s, %d a page: a run from %s to %s, want one from %s to %s", name, size, run.Newest.ID, run.OldestID, newest.ID, oldest.ID)
						}
						isLike := func(e *core.Event) bool {
							return e.Actor.Subject == same[0].Actor.Subject && (e.Denied == "") == (same[0].Denied == "") && events.LikeTypes(e.Type) == events.LikeTypes(same[0].Type)
						}
						if slices.ContainsFunc(same, func(e *core.Event) bool { return !isLike(e) }) {
							t.Fatalf("%s, %d a page: a run of %s has other events", name, size, run.Newest.ID)
						}
						at += len(same)
						if long = long || len(same) > 1100; at < len(log) && isLike(log[at]) && (i < len(page.Items)-1 || name != "of a hundred kinds") {
							t.Fatalf("%s, %d a page: a run ends after %d events, and the next event is like them", name, size, len(same))
						}
					}
					if size == 200 && pages > 3 || pages > len(log) || len(page.Items) > size {
						t.Fatalf("%s, %d a page: %d pages, the last of %d runs", name, size, pages, len(page.Items))
					}
					if !page.HasNext {
						break
					}
					req.After = page.Items[len(page.Items)-1].Cursor()
				}
				w.expect(fmt.Sprintf("events in runs: %s, %d a page", name, size), fmt.Sprint(at), fmt.Sprint(len(log)))
			}
			if len(log) < 50 && name != "of nothing" {
				t.Errorf("%s: the log is empty", name)
			}
		}
		if !long {
			t.Error("no run is longer than what is compared one by one")
		}
		first, err := w.p.AuditLog.ListRuns(acme.owner, events.AuditRequest{DescendantsOf: acme.uid, Empty: true})
		must(t, err)
		w.expect("a page of no runs", fmt.Sprint(len(first.Items), first.HasNext), "0 true")
		_, err = w.p.AuditLog.ListRuns(acme.owner, events.AuditRequest{Types: []string{"NONE"}, After: "x"})
		w.expect("what is wrong", violationFields(err), "within kinds[0] page_token")
		_, err = w.p.AuditLog.ListRuns(lead, events.AuditRequest{DescendantsOf: side})
		expectRefused(t, "runs of another group", err, core.CodePermissionDenied)
	})
}
