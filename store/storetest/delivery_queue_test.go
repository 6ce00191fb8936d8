package storetest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// crowd makes n deliveries of a subscription due, all before those of others. Half of them are
// retries.
func (o *outbox) crowd(n int) {
	o.t.Helper()
	o.create(epoch)
	numbers := fmt.Sprintf("generate_series(1, %d) AS g(i)", n)
	uid, root, parent := "d.parent || decode(lpad(to_hex(i), 16, '0'), 'hex')", "d.root", "d.parent"
	if o.onSQLite() {
		numbers = fmt.Sprintf("(WITH RECURSIVE g(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM g WHERE i < %d) SELECT i FROM g) g", n)
		uid = "CAST(d.parent || unhex(printf('%016x', i)) AS BLOB)"
	}
	db := o.openDirect()
	o.exec(db, fmt.Sprintf(`INSERT INTO delivery (uid, root, parent, event_id, event_type, state, stage, ticket, attempts, last_status, last_error, last_answer, last_attempt_time, next_attempt_time, create_time, update_time)
		SELECT %s, %s, %s, '0' || i, 't', 'PENDING', 1, 0, i %% 2, 0, '', '', d.create_time, d.next_attempt_time, d.create_time, d.update_time FROM %s, (SELECT * FROM delivery LIMIT 1) d`, uid, root, parent, numbers))
	if !o.onSQLite() {
		o.exec(db, "ANALYZE delivery")
	}
}

// createDue stores deliveries, due at a time, of new subscriptions of an organization.
func (o *outbox) createDue(organization core.UID, at time.Time, subscriptions int) (due []core.UID) {
	o.t.Helper()
	made := times(subscriptions, func(i int) *webhooks.Subscription {
		return &webhooks.Subscription{UID: o.d.below(organization), Sink: fmt.Sprint("https://sink.example.com/", i), EncryptedSecret: []byte("x"), CreateTime: core.At(epoch), UpdateTime: core.At(epoch)}
	})
	deliveries := times(subscriptions, func(i int) *webhooks.Delivery {
		return &webhooks.Delivery{
			UID: o.d.below(made[i].UID), EventID: o.d.eventID(), EventType: "t", State: webhooks.DeliveryPending, Stage: webhooks.StageQueued,
			NextAttemptTime: core.At(at), CreateTime: core.At(at), UpdateTime: core.At(at),
		}
	})
	o.insert(func(tx core.Tx) error {
		if err := storetest.Tables.Webhooks.Subscriptions.Insert(o.t.Context(), tx, made...); err != nil {
			return err
		}
		return storetest.Tables.Webhooks.Deliveries.Insert(o.t.Context(), tx, deliveries...)
	})
	for _, d := range deliveries {
		due = append(due, d.UID)
	}
	return due
}

// The attack is a subscription with very many deliveries that are due, beside which one of
// another organization is due later. No call may read many rows, and few calls must find it.
func TestManyDueDeliveriesOfOneSubscriptionDelayNoOther(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const many, subscriptions, perCall = 30_000, 250, 100
		o := newOutbox(w, 61)
		o.crowd(many)
		o.createDue(o.subscription.Parent(), epoch.Add(time.Hour), subscriptions)
		_, quiet := w.createOrganization("quiet")
		rare := o.createDue(quiet.Group.UID, epoch.Add(2*time.Hour), 1)[0]

		p := must[*platform.Platform](t)(platform.New(t.Context(), w.newSpy(), platform.Options{}))
		queue := p.Webhooks.Queue(time.Hour)
		listed, turns, found := map[core.UID]int{}, 0, false
		for calls := 0; turns < 2; calls++ {
			var due webhooks.DueDeliveries
			statements, err := recordStatements(t.Context(), func(ctx context.Context) (err error) {
				due, err = queue.Due(ctx)
				return err
			})
			if err != nil || !due.IsPart || calls > 2*(subscriptions/perCall+1)+1 {
				t.Fatalf("call %d: %+v, %v", calls, due, err)
			}
			for _, uid := range due.UIDs {
				listed[uid.Parent()]++
			}
			if found = found || slices.Contains(due.UIDs, rare); due.IsLastPart {
				turns++
			}
			if calls < 2 { // from the beginning, and after a subscription
				o.checkFewRows(statements)
			}
		}
		if !found || len(listed) != subscriptions+2 || listed[o.subscription] != 8 {
			t.Errorf("two rounds listed deliveries of %d subscriptions, and %d of the one with many, want %d and 8", len(listed), listed[o.subscription], subscriptions+2)
		}
		statements, err := recordStatements(recordChanges(t.Context()), func(ctx context.Context) error {
			claimed, err := queue.Claim(ctx, []core.UID{rare, o.deliveries[0].UID})
			if err == nil && len(claimed) != 2 {
				err = fmt.Errorf("%d deliveries are claimed, want 2", len(claimed))
			}
			if err != nil {
				return err
			}
			return queue.Renew(ctx, claimed)
		})
		if err != nil {
			t.Fatal(err)
		}
		o.checkFewRows(statements)
	})
}

// checkFewRows expects that statements read few deliveries, which they find by indexes.
func (o *outbox) checkFewRows(statements []dbconn.Statement) {
	o.t.Helper()
	const most = 2000
	for _, s := range statements {
		if o.onSQLite() {
			for _, step := range o.explainQueryPlan(o.t.(*testing.T), s) {
				if strings.HasPrefix(step, "SCAN d") || strings.HasPrefix(step, "SCAN t") || strings.Contains(step, "TEMP B-TREE") {
					o.t.Errorf("%s:\n%s", s.SQL, step)
				}
			}
			continue
		}
		for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
			plan := must[planNode](o.t)(o.explainer().explain(o.t.Context(), s, mode))
			read := 0.0
			plan.visitAll(func(n planNode) {
				if read += (n.Rows + n.Removed) * n.Loops; n.Type == "Seq Scan" && strings.HasPrefix(n.Relation, "delivery") {
					o.t.Errorf("%s reads a whole table:\n%s", s.SQL, plan)
				}
			})
			if read > most || plan.buffers() > most {
				o.t.Errorf("%s reads %g rows from %d buffers, want at most %d:\n%s", s.SQL, read, plan.buffers(), most, plan)
			}
		}
	}
}
