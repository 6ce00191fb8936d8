package storetest_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
)

// pastBindings is the number of bindings of which the past is read, each with an event before the time and one after it.
const pastBindings = 10_000

// pastBuffers limits the buffers of a page: for each of its rows it looks for an earlier change, in each partition since
// the time. Of the partition of that time, it reads the index, and the bindings that were made after it.
const pastBuffers = 2_500

// recordPast stores what happened to role bindings on a group before and after a time: each was changed, ended, or made
// and deleted later. It returns those that were there at the time.
func (w *world) recordPast(d dice, group, identity core.UID, at time.Time) (there []core.UID) {
	w.t.Helper()
	const perTransaction = 1000
	for first := 0; first < pastBindings; first += perTransaction {
		w.insert(func(tx core.Tx) error {
			for i := first; i < first+perTransaction; i++ {
				b := &iam.RoleBinding{UID: d.below(group), Identity: iam.BoundIdentity{UID: identity, Name: "ann"}, Group: iam.BoundGroup{UID: group, Name: "team"}, Role: iam.BoundRole{UID: iam.ViewerRole, Name: "viewer"}}
				body, _ := json.Marshal(b)
				kinds, times := []string{"created", "deleted"}, []time.Duration{-time.Hour, time.Hour}
				switch i % 10 {
				case 0:
					times[0] = time.Minute // It was made later.
				case 1:
					kinds = []string{"updated", "updated"}
					there = append(there, b.UID)
				default:
					there = append(there, b.UID)
				}
				for n, kind := range kinds {
					time := core.At(at.Add(times[n] + time.Duration(i)*time.Millisecond))
					tx.Record(&core.Event{ID: core.FirstEventID(time)[:14] + d.eventID()[14:], Type: "dev.atrium.api.iam.rolebindings." + kind + ".v1", Subject: b.UID, Group: group, Body: body, Time: time})
				}
			}
			return nil
		})
	}
	slices.Sort(there)
	return there
}

// A page of past access reads what lies in it, however much has happened since, and wherever it is in the list. It passes over
// what happened before.
func TestAPageOfPastAccessReadsWhatItHas(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		// Nearly all that lies in the partition of this time happened before it.
		const width = 13 * time.Hour
		team, at := w.group(ctx, org.Group.UID, "team"), w.now().Add(-24*time.Hour).Truncate(width).Add(-30*time.Minute)
		w.partitionEvents(at.Add(-width), at.Add(4*width), width)
		there := w.recordPast(newDice(3), team, w.identity(ctx, org.Group.UID, "ann"), at)
		if !w.onSQLite() {
			w.exec(w.openDirect(), "VACUUM ANALYZE")
		}
		spy := w.newSpy()
		p := w.replica(spy)
		for name, after := range map[string]core.UID{"the first page": "", "a page in the middle": there[len(there)/2], "the last page": there[len(there)-30]} {
			for _, backward := range []bool{false, true} {
				req := events.AccessRequest{Group: team, From: core.At(at), After: string(after), Backward: backward}
				var page events.AccessPage[*events.AccessGrant]
				statements, err := recordStatements(w.contextOn(p, "owner of acme"), func(ctx context.Context) (err error) {
					page, err = p.AuditLog.AccessAt(ctx, req)
					return err
				})
				if err != nil || len(page.Items) == 0 {
					t.Fatalf("%s, backward %t: %d grants, %v", name, backward, len(page.Items), err)
				}
				for _, s := range statements {
					if !strings.Contains(s.SQL, " event ") {
						continue
					}
					if w.onSQLite() {
						steps := w.explainQueryPlan(t, s)
						if plan := strings.Join(steps, "\n"); strings.Count(plan, "event_log_binding (grp=?") != 2 || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN") {
							t.Errorf("%s, backward %t: the plan of\n%s\nis\n%s", name, backward, s.SQL, plan)
						}
						continue
					}
					plan, err := w.explainer().explain(t.Context(), s, "force_generic_plan")
					if err != nil {
						t.Fatal(err)
					}
					t.Logf("%s, backward %t: %d buffers", name, backward, plan.buffers())
					if plan.buffers() > pastBuffers {
						t.Errorf("%s, backward %t touches %d buffers, the bar is %d:\n%s\n%s", name, backward, plan.buffers(), pastBuffers, s.SQL, plan)
					}
				}
			}
		}
	})
}
