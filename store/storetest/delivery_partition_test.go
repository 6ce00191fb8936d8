package storetest_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// partitionDeliveries makes the partitions of ended deliveries from a time to another, if
// the engine has partitions. The first call must come before the first delivery.
func (w *world) partitionDeliveries(from, to time.Time, width time.Duration) {
	w.t.Helper()
	if w.onSQLite() {
		return
	}
	first := "'" + from.UTC().Format(time.RFC3339) + "'"
	if db := w.openDirect(); w.query(db, "SELECT count(*) FROM delivery_partition")[0][0] == "1" {
		for _, statement := range []string{
			"ALTER TABLE delivery DETACH PARTITION delivery_active", "ALTER TABLE delivery DETACH PARTITION delivery_future",
			"ALTER TABLE delivery ATTACH PARTITION delivery_active FOR VALUES FROM (MINVALUE, MINVALUE) TO (4, " + first + ")",
			"ALTER TABLE delivery ATTACH PARTITION delivery_future FOR VALUES FROM (4, " + first + ") TO (MAXVALUE, MAXVALUE)",
			"UPDATE delivery_partition SET first_time = " + first,
		} {
			w.exec(db, statement)
		}
	}
	for at := from; ; at = at.Add(width) {
		if at.After(to) {
			at = to
		}
		if err := w.store.PartitionDeliveries(w.t.Context(), core.At(at), width); err != nil {
			w.t.Fatal(err)
		}
		if at.Equal(to) {
			return
		}
	}
}

// An outbox has the deliveries of one subscription, and knows what must be stored.
type outbox struct {
	*world
	d            dice
	subscription core.UID
	deliveries   []*webhooks.Delivery // in the order of their creation
}

func newOutbox(w *world, seed uint64) *outbox {
	w.t.Helper()
	_, org := w.createOrganization("outbox")
	o := &outbox{world: w, d: newDice(seed)}
	s := &webhooks.Subscription{UID: o.d.below(org.Group.UID), Sink: "https://sink.example.com/", EncryptedSecret: []byte("x"), CreateTime: core.At(epoch), UpdateTime: core.At(epoch)}
	o.subscription = s.UID
	w.insert(func(tx core.Tx) error {
		return storetest.Tables.Webhooks.Subscriptions.Insert(w.t.Context(), tx, s)
	})
	return o
}

// create stores deliveries that have not ended, one for each time.
func (o *outbox) create(times ...time.Time) {
	o.t.Helper()
	for i, at := range times {
		o.deliveries = append(o.deliveries, &webhooks.Delivery{
			UID: o.d.below(o.subscription), EventID: o.d.eventID(), EventType: "t", State: webhooks.DeliveryPending, Stage: webhooks.StageQueued,
			NextAttemptTime: core.At(at), CreateTime: core.At(at.Add(time.Duration(i) * time.Millisecond)), UpdateTime: core.At(at),
		})
	}
	o.insert(func(tx core.Tx) error {
		return storetest.Tables.Webhooks.Deliveries.Insert(o.t.Context(), tx, o.deliveries[len(o.deliveries)-len(times):]...)
	})
}

// move changes the stage of a delivery at a time.
func (o *outbox) move(d *webhooks.Delivery, to webhooks.DeliveryStage, at time.Time) {
	o.t.Helper()
	d.Stage, d.UpdateTime, d.State = to, core.At(at), webhooks.DeliveryPending
	if to == webhooks.StageEnded {
		d.State = webhooks.DeliveryDelivered
	}
	changed := *d
	o.insert(func(tx core.Tx) error {
		return storetest.Tables.Webhooks.Deliveries.Update(o.t.Context(), tx, &changed, "state", "stage")
	})
}

// check reads the deliveries by uid, and in lists with filters.
func (o *outbox) check() {
	o.t.Helper()
	for _, d := range o.deliveries {
		if got := must[*webhooks.Delivery](o.t)(o.p.Deliveries.Get(o.operator(), d.UID)); got.State != d.State || !got.UpdateTime.Equal(d.UpdateTime.Time) || got.EventID != d.EventID {
			o.t.Errorf("the delivery is %+v, want %+v", got, d)
		}
		o.checkList(&webhooks.DeliveryFilter{Event: d.EventID}, func(other *webhooks.Delivery) bool { return other == d })
	}
	o.checkList(nil, func(*webhooks.Delivery) bool { return true })
	for _, state := range webhooks.DeliveryState("").Values() {
		o.checkList(&webhooks.DeliveryFilter{State: state}, func(d *webhooks.Delivery) bool { return d.State == state })
	}
}

// checkList reads all pages of a list in both directions.
func (o *outbox) checkList(filter *webhooks.DeliveryFilter, keeps func(*webhooks.Delivery) bool) {
	o.t.Helper()
	for _, order := range []string{"create_time", "create_time desc"} {
		var want, got []core.UID
		for _, d := range o.deliveries {
			if keeps(d) {
				want = append(want, d.UID)
			}
		}
		if order != "create_time" {
			slices.Reverse(want)
		}
		req := core.ListRequest[*webhooks.DeliveryFilter]{UIDP: childrenOf(o.subscription), OrderBy: order, PageSize: 3, Filter: filter}
		for {
			page := must[core.Page[*webhooks.Delivery]](o.t)(o.p.Deliveries.List(o.operator(), req))
			for _, d := range page.Items {
				got = append(got, d.UID)
			}
			if page.TotalCount != int64(len(want)) {
				o.t.Errorf("the total of %+v is %d, want %d", filter, page.TotalCount, len(want))
			}
			if req.PageToken = page.NextPageToken(); req.PageToken == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			o.t.Errorf("the list of %+v by %s has %v, want %v", filter, order, got, want)
		}
	}
}

// count returns the number of rows of a table.
func (o *outbox) count(table string) string {
	o.t.Helper()
	return o.query(o.openDirect(), "SELECT count(*) FROM "+table)[0][0]
}

// Lists do not notice where deliveries are stored, and every clock can end one. Retention
// drops whole partitions, and removes what wrong clocks have stored elsewhere.
func TestDeliveriesMoveToThePartitionOfTheirEnd(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		hour := func(n int) time.Time { return epoch.Add(time.Duration(n) * time.Hour) }
		w.partitionDeliveries(epoch, epoch, time.Hour)
		o := newOutbox(w, 31)
		o.create(times(24, func(i int) time.Time { return hour(i) })...)
		w.partitionDeliveries(epoch, hour(24), time.Hour)
		for i, d := range o.deliveries[:20] { // four of them remain active
			o.move(d, webhooks.StageEnded, hour(i).Add(time.Minute))
		}
		o.check()
		o.move(o.deliveries[7], webhooks.StageQueued, hour(30)) // is sent again
		o.move(o.deliveries[8], webhooks.StageQueued, hour(30))
		o.move(o.deliveries[8], webhooks.StageEnded, hour(23))
		o.move(o.deliveries[9], webhooks.StageEnded, epoch.AddDate(-30, 0, 0)) // clocks are wrong
		o.move(o.deliveries[10], webhooks.StageEnded, epoch.AddDate(70, 0, 0))
		o.check()
		if !w.onSQLite() {
			if names := o.query(o.openDirect(), "SELECT count(*) FROM delivery_partition")[0][0]; names != "26" || o.count("delivery_active") != "6" || o.count("delivery_future") != "1" || o.count("delivery_20260101_050000") != "1" {
				t.Errorf("there are %s partitions; %s deliveries are active", names, o.count("delivery_active"))
			}
		}

		purge := func(before time.Time) {
			t.Helper()
			for must[int64](t)(w.store.PurgeDeliveries(t.Context(), core.At(before), 2)) == 2 {
			}
			o.deliveries = slices.DeleteFunc(o.deliveries, func(d *webhooks.Delivery) bool {
				return d.Stage == webhooks.StageEnded && d.UpdateTime.Before(before)
			})
			o.check()
		}
		purge(hour(6))
		purge(hour(6))
		o.move(o.deliveries[0], webhooks.StageQueued, hour(30))
		o.move(o.deliveries[0], webhooks.StageEnded, hour(2)) // its partition was dropped
		o.check()
		purge(hour(12))
		if !w.onSQLite() {
			if o.count("delivery_past") != "0" || o.query(o.openDirect(), "SELECT name FROM delivery_partition ORDER BY first_time LIMIT 1 OFFSET 1")[0][0] != "delivery_20260101_120000" {
				t.Errorf("the partitions are %v", o.query(o.openDirect(), "SELECT name FROM delivery_partition ORDER BY first_time"))
			}
		}
		purge(hour(24))
		if len(o.deliveries) != 6 {
			t.Errorf("%d deliveries are left, want 6: five are active, and one ended in the future", len(o.deliveries))
		}
	})
}

// If no server made partitions for long, deliveries end in delivery_future. They are moved,
// not too many at once, or deleted one by one.
func TestDeliveriesThatEndedBeforeTheirPartition(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.PostgresOrPooled(t))
	w.partitionDeliveries(epoch, epoch, time.Hour)
	o := newOutbox(w, 32)
	o.create(times(3, func(int) time.Time { return epoch })...)
	const many = 45_000
	w.exec(w.openDirect(), fmt.Sprintf(`INSERT INTO delivery (uid, root, parent, event_id, event_type, state, stage, attempts, last_status, last_error, last_answer, last_attempt_time, next_attempt_time, create_time, update_time)
		SELECT d.parent || decode(lpad(to_hex(i), 16, '0'), 'hex'), d.root, d.parent, i::text, 't', 'DELIVERED', 4, 1, 200, '', '', now(), now(), now(), $1::timestamptz + i / 30 * interval '1 second'
		FROM generate_series(1, %d) i, (SELECT * FROM delivery LIMIT 1) d`, many), epoch.Add(12*time.Hour))
	if removed := must[int64](t)(w.store.PurgeDeliveries(t.Context(), core.At(epoch.Add(12*time.Hour+time.Second)), 1000)); removed != 29 {
		t.Errorf("%d deliveries were removed, want 29", removed)
	}
	if err := w.store.PartitionDeliveries(t.Context(), core.At(epoch.Add(30*time.Hour)), time.Hour); err != nil {
		t.Fatal(err)
	}
	if o.count("delivery_future") != "0" || o.count("delivery") != fmt.Sprint(many-29+3) {
		t.Errorf("%s deliveries are in delivery_future, and %s in all", o.count("delivery_future"), o.count("delivery"))
	}
	must[int64](t)(w.store.PurgeDeliveries(t.Context(), core.At(epoch.Add(30*time.Hour)), 1))
	if o.count("delivery") != "3" {
		t.Fatalf("%s deliveries are left, want 3; the partitions are %v", o.count("delivery"), o.query(o.openDirect(), "SELECT name FROM delivery_partition ORDER BY first_time"))
	}
	o.check()
}

// A process claims a delivery, or renews its lease, while that ends and so moves to another
// partition. It does not wait for that, and takes the other deliveries.
func TestAClaimSkipsADeliveryThatMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t)) // SQLite has one writer at a time.
	w.partitionDeliveries(epoch, epoch.Add(5*time.Hour), time.Hour)
	o := newOutbox(w, 33)
	o.create(epoch, epoch, epoch)
	queue := w.p.Webhooks.Queue(time.Hour)
	moved, due := o.deliveries[0], must[webhooks.DueDeliveries](t)(queue.Due(t.Context())).UIDs
	var claimed []webhooks.Ticket
	o.insert(func(tx core.Tx) error {
		changed := *moved
		changed.Stage, changed.State, changed.UpdateTime = webhooks.StageEnded, webhooks.DeliveryDelivered, core.At(epoch.Add(time.Hour))
		if err := storetest.Tables.Webhooks.Deliveries.Update(t.Context(), tx, &changed, "state", "stage"); err != nil {
			return err
		}
		claimed = must[[]webhooks.Ticket](t)(queue.Claim(context.WithoutCancel(t.Context()), due))
		return queue.Renew(context.WithoutCancel(t.Context()), append(claimed, webhooks.Ticket{Delivery: moved.UID}))
	})
	moved.Stage, moved.State, moved.UpdateTime = webhooks.StageEnded, webhooks.DeliveryDelivered, core.At(epoch.Add(time.Hour))
	o.check()
	if len(due) != 3 || len(claimed) != 2 || slices.ContainsFunc(claimed, func(c webhooks.Ticket) bool { return c.Delivery == moved.UID }) {
		t.Errorf("%d deliveries were due and %v are claimed, want 3 and the two that have not moved", len(due), claimed)
	}
}

// Other changes of deliveries wait for attempts, which lock the subscription, and not for the
// rows that they move. Otherwise these calls would fail again and again beside fast sinks, and
// a deletion would wait for an attempt that waits for it.
func TestWhoeverChangesDeliveriesWaitsForAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t))
	o := newOutbox(w, 35)
	db := w.openDirect()
	o.checkWaits(db, "Redeliver", func(ctx context.Context, ended core.UID) error {
		_, err := w.p.Deliveries.Redeliver(ctx, []core.UID{ended})
		return err
	})
	o.checkWaits(db, "Delete", func(ctx context.Context, _ core.UID) error {
		return w.p.Subscriptions.Delete(ctx, o.subscription)
	})
}

// checkWaits calls change while an attempt of a delivery ends.
func (o *outbox) checkWaits(db *sql.DB, name string, change func(context.Context, core.UID) error) {
	o.t.Helper()
	o.create(time.Now())
	ended, changed := *o.deliveries[len(o.deliveries)-1], make(chan error, 1)
	o.insert(func(tx core.Tx) error {
		tx.Lock(o.subscription)
		ended.Stage, ended.State = webhooks.StageEnded, webhooks.DeliveryDelivered
		if err := storetest.Tables.Webhooks.Deliveries.Update(o.t.Context(), tx, &ended, "stage", "state"); err != nil {
			return err
		}
		go func() { changed <- change(o.operator(), ended.UID) }()
		waitFor(o.t, name+" does not wait for the attempt", func() bool {
			return o.query(db, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'")[0][0] == "1"
		})
		return nil
	})
	if err := <-changed; err != nil {
		o.t.Errorf("%s: %v", name, err)
	}
}

// While partitions are made and dropped, deliveries are created and end, and their
// subscriptions change. Partitions refer to the subscriptions, so these are locked too.
func TestDeliveriesEndWhileTheirPartitionsChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.PostgresOrPooled(t))
	w.partitionDeliveries(epoch, epoch, time.Hour)
	o := newOutbox(w, 34)
	s := must[*webhooks.Subscription](t)(w.p.Subscriptions.Get(w.operator(), o.subscription))
	var clock, ended atomic.Int64 // minutes since epoch; deliveries
	stop, done := make(chan struct{}), make(chan []error, 1)
	go func() {
		done <- runAtOnce(4, func(writer int) error {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return nil
				default:
				}
				at := core.At(epoch.Add(time.Duration(clock.Load()-int64(writer)*20) * time.Minute)) // Their clocks differ.
				err := w.store.Write(context.WithoutCancel(t.Context()), func(tx core.Tx) error {
					d := &webhooks.Delivery{UID: o.subscription + core.UID(fmt.Sprintf("/%08x%08x", writer, n)), EventID: fmt.Sprint(writer, " ", n), Stage: webhooks.StageQueued, CreateTime: at, UpdateTime: at}
					if err := storetest.Tables.Webhooks.Deliveries.Insert(t.Context(), tx, d); err != nil {
						return err
					}
					d.Stage, d.State = webhooks.StageEnded, webhooks.DeliveryDelivered
					if err := storetest.Tables.Webhooks.Deliveries.Update(t.Context(), tx, d, "stage", "state"); err != nil {
						return err
					}
					changed := *s
					changed.FailingSince = at
					return storetest.Tables.Webhooks.Subscriptions.Update(t.Context(), tx, &changed, "failingSince")
				})
				if err != nil {
					return err
				}
				ended.Add(1)
			}
		})
	}()
	for hour := range 24 {
		clock.Store(int64(hour) * 60)
		now := epoch.Add(time.Duration(hour) * time.Hour)
		if err := w.store.PartitionDeliveries(t.Context(), core.At(now), time.Hour); err != nil {
			t.Error(err)
		}
		if _, err := w.store.PurgeDeliveries(t.Context(), core.At(now.Add(-6*time.Hour)), 1000); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	for _, err := range <-done {
		if err != nil {
			t.Error(err)
		}
	}
	names := o.query(o.openDirect(), "SELECT name FROM delivery_partition ORDER BY first_time")
	if want := []string{"delivery_past", "delivery_20260101_170000"}; ended.Load() == 0 || len(names) != 9 || names[0][0] != want[0] || names[1][0] != want[1] {
		t.Errorf("%d deliveries ended, and the partitions are %v, want nine that begin with %v", ended.Load(), names, want)
	}
	kept := o.query(o.openDirect(), "SELECT count(*), count(DISTINCT uid), count(*) FILTER (WHERE stage = 4) FROM delivery")[0]
	if kept[0] != kept[1] || kept[0] != kept[2] {
		t.Errorf("there are %s deliveries with %s uids, and %s have ended", kept[0], kept[1], kept[2])
	}
}

// The lease of a process has ended, and another one claims the delivery while the first still
// records its result. The claim stays, and the result is ignored.
func TestALateResultDoesNotReplaceAClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t)) // SQLite has one writer at a time.
	w.partitionDeliveries(epoch, epoch.Add(5*time.Hour), time.Hour)
	o := newOutbox(w, 36)
	o.create(epoch)
	uid, until, recorded := o.deliveries[0].UID, core.At(time.Now().Add(time.Hour)), make(chan error, 1)
	late := &webhooks.Dispatch{Delivery: must[*webhooks.Delivery](t)(w.p.Deliveries.Get(w.operator(), uid))}
	o.insert(func(tx core.Tx) error {
		claimed, err := storetest.Tables.Webhooks.ClaimDeliveries(t.Context(), tx, []core.UID{uid}, core.At(time.Now()), until)
		if err != nil || len(claimed) != 1 {
			t.Errorf("%d deliveries are claimed, want 1", len(claimed))
			return err
		}
		go func() {
			_, err := w.p.Webhooks.EndAttempt(context.WithoutCancel(t.Context()), late, webhooks.Attempt{Status: 500})
			recorded <- err
		}()
		waitFor(t, "the late result does not wait for the claim", func() bool {
			return w.query(w.openDirect(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")[0][0] == "1"
		})
		return nil
	})
	if err := <-recorded; err != nil {
		t.Error(err)
	}
	if got := must[*webhooks.Delivery](t)(w.p.Deliveries.Get(w.operator(), uid)); got.Ticket != 1 || got.Attempts != 0 || !got.Lease.Equal(until.Time) {
		t.Errorf("got %+v, want the claim with Ticket 1, no attempt and a lease until %s", got, until)
	}
}
