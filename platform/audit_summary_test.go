package platform_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
)

// A summary counts what the log lists by the same request.
func TestASummaryOfTheAuditLogCountsWhatItLists(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team, side := w.group(acme.uid), w.group(acme.uid)
		lead := w.memberWith(iam.OwnerRole, team, acme.uid)
		for _, g := range []core.UID{team, side, team} {
			w.repo(g)
		}
		_ = w.namedRepo(team, "last")
		for range 3 {
			expectRefused(t, "a change", w.p.Groups.Delete(lead, side), core.CodePermissionDenied)
		}
		leader := core.ActorOf(lead).Identities[0]
		yes, no := true, false
		since := core.At(w.now().AddDate(0, 0, -1))
		for name, req := range map[string]events.AuditRequest{
			"all":              {DescendantsOf: acme.uid},
			"a subtree":        {DescendantsOf: team},
			"by an actor":      {DescendantsOf: acme.uid, Actor: string(leader)},
			"refused":          {DescendantsOf: acme.uid, Denied: &yes},
			"done":             {DescendantsOf: acme.uid, Denied: &no},
			"of kinds":         {DescendantsOf: acme.uid, Types: []string{"IAM_GROUP_CREATED", "REGISTRY_REPO_CREATED"}},
			"about a resource": {DescendantsOf: acme.uid, Subject: leader},
			"of a target":      {DescendantsOf: acme.uid, Target: side},
			"nothing":          {DescendantsOf: acme.uid, Types: []string{}},
		} {
			req.Since = since
			got, err := w.p.AuditLog.Summarize(acme.owner, req)
			must(t, err)
			var made, refused int64
			actors, kinds, groups := map[string]int64{}, map[string]int64{}, map[core.UID]int64{}
			for _, e := range w.mustReadLog(acme.owner, req) {
				n := int64(e.Count)
				kind, _ := platform.AllEventTypes().KindName(e.Type)
				if actors[e.Actor.Subject], kinds[kind], groups[e.Group] = actors[e.Actor.Subject]+n, kinds[kind]+n, groups[e.Group]+n; e.Denied != "" {
					refused += n
				} else {
					made += n
				}
			}
			counted := map[string]int64{}
			for _, by := range got.Actors {
				if counted[by.Actor] = by.Count; by.Made+by.Refused != by.Count {
					t.Errorf("%s: %+v", name, by)
				}
			}
			w.expect(name, fmt.Sprint(got.Made, got.Refused, counted, got.Kinds, got.Groups, got.Complete, got.Since.Equal(since.Time)),
				fmt.Sprint(made, refused, actors, core.FacetsOf(kinds), core.FacetsOf(groups), true, true))
			if name != "nothing" && made+refused == 0 {
				t.Errorf("%s: nothing is counted", name)
			}
		}
		_, err := w.p.AuditLog.Summarize(acme.owner, events.AuditRequest{Types: []string{"NONE"}})
		w.expect("what is missing", violationFields(err), "within since kinds[0]")
		_, err = w.p.AuditLog.Summarize(lead, events.AuditRequest{DescendantsOf: side, Since: since})
		expectRefused(t, "a summary of another group", err, core.CodePermissionDenied)
	})
}

// A cappedLog shows what a summary asks of the database, and says that it found as many events as it may count.
type cappedLog struct {
	platform.Store
	asked events.AuditQuery
}

func (s *cappedLog) CountEvents(ctx context.Context, q events.AuditQuery) ([]events.AuditCount, error) {
	s.asked = q
	q.Limit = 3
	counts, err := s.Store.CountEvents(ctx, q)
	var rows int64
	for _, c := range counts {
		rows += c.Rows
	}
	if rows != 4 {
		return nil, fmt.Errorf("%d events are counted, want one more than the limit of 3", rows)
	}
	counts[0].Rows += events.MaxSummarized - rows
	return counts, err
}

// However long the log is, a summary reads a limited number of events, and tells from when on it has counted.
func TestASummaryOfTheAuditLogIsBounded(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for range 6 {
			w.repo(acme.uid)
		}
		s := &cappedLog{Store: w.store}
		p := w.replica(s, platform.Options{AllowIssuers: true})
		got, err := p.AuditLog.Summarize(acme.owner, events.AuditRequest{DescendantsOf: acme.uid, Since: core.At(w.now().AddDate(-1, 0, 0))})
		must(t, err)
		newest := w.mustReadLog(acme.owner, events.AuditRequest{DescendantsOf: acme.uid})[:4]
		oldest := slices.MinFunc(newest, func(a, b *core.Event) int { return a.Time.Compare(b.Time.Time) })
		if got.Complete || !got.Since.Equal(oldest.Time.Time) || got.Made != 4 || s.asked.Limit != events.MaxSummarized-1 {
			t.Errorf("it asks for %d, and tells %+v, want a summary since %v", s.asked.Limit, got, oldest.Time)
		}
	})
}
