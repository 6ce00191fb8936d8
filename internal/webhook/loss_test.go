package webhook_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // This is the driver for plain SQL.

	"atrium/internal/webhook"
	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// Events are numbered before they are committed, so the relay must wait for those
// with lower numbers.
func TestTheRelaySkipsNoUncommittedEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t)) // SQLite has one writer at a time.
	sink := newSink(t, nil)
	w.subscribe(sink.url)
	db, err := sql.Open("pgx", w.url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w.relay(eventsOfWorld)
	late, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.ExecContext(t.Context(), lockAsWriter); err != nil {
		t.Fatal(err)
	}
	subject := w.org + "/0000000000000abc"
	_, err = late.ExecContext(t.Context(), `INSERT INTO event (id, type, root, subject, grp, actor, actor_subject, body, time, denied)
		SELECT 'late', type, root, $1, grp, actor, actor_subject, body, time, denied FROM event LIMIT 1`, string(subject))
	if err != nil {
		t.Fatal(err)
	}
	uids := w.write(5)
	if n, err := w.p.Webhooks.Relay(t.Context()); n != 0 || err != nil {
		t.Errorf("%d events were relayed beside one that is not committed (%v)", n, err)
	}
	if err := late.Commit(); err != nil {
		t.Fatal(err)
	}
	w.deliver()
	uids = append(uids, subject)
	await(t, "every event", func() bool { return sink.countArrived(uids) == len(uids) })
}

// lockAsWriter takes the lock that every transaction of the store shares which writes.
const lockAsWriter = "SELECT pg_advisory_xact_lock_shared(1635021417, hashtext(current_schema()))"

// Transactions of other programs that never end must not delay events. A transaction of
// the store that may still record an event must delay them.
func TestOnlyTransactionsOfTheStoreDelayEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t))
	w.subscribe(newSink(t, nil).url)
	w.relay(eventsOfWorld)
	begin := func(url string, statements ...string) *sql.Tx {
		t.Helper()
		db, err := sql.Open("pgx", url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			if _, err := tx.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		return tx
	}
	begin(storetest.Postgres(t), "CREATE TABLE elsewhere (n int)", "INSERT INTO elsewhere VALUES (1)")
	begin(w.url, "CREATE SCHEMA others", "CREATE TABLE others.event (n int)", "INSERT INTO others.event VALUES (1)")
	begin(w.url, "CREATE SCHEMA copies", "CREATE TABLE copies.event AS SELECT * FROM event")                           // This transaction reads what the store writes.
	begin(w.url, "SELECT pg_advisory_xact_lock_shared(1635021417, hashtext('tenant'))", "SELECT pg_current_xact_id()") // This is a transaction of Atrium in another schema.
	begin(w.url, "UPDATE relay SET seq = seq WHERE id = -1", "SELECT pg_current_xact_id()")                            // This is a transaction of an operator.
	begin(w.url, "ANALYZE event", "SELECT pg_current_xact_id()")                                                       // This transaction analyses tables, as autovacuum does.
	otherDatabase := storetest.Postgres(t)
	prepared := begin(otherDatabase, "CREATE TABLE elsewhere (n int)", "PREPARE TRANSACTION 'forgotten'")
	_ = prepared.Rollback() // The connection has no open transaction any more.
	t.Cleanup(func() { execute(t, otherDatabase, "ROLLBACK PREPARED 'forgotten'") })
	w.write(5)
	w.relay(5)
	late := begin(w.url, lockAsWriter, "SELECT pg_current_xact_id()")
	w.write(5)
	if n, err := w.p.Webhooks.Relay(t.Context()); n != 0 || err != nil {
		t.Errorf("%d events were relayed beside a writer (%v)", n, err)
	}
	if err := late.Rollback(); err != nil {
		t.Fatal(err)
	}
	w.relay(5)
}

// eventsOfWorld is the number of events that newWorld and subscribe record.
const eventsOfWorld = 4

// relay relays events until want of them were relayed. A transaction of another test
// that ends while the relay looks at it may delay events until the next call.
func (w *world) relay(want int) {
	w.t.Helper()
	relayed := 0
	await(w.t, fmt.Sprintf("%d events to be relayed", want), func() bool {
		n, err := w.p.Webhooks.Relay(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		relayed += n
		return relayed >= want
	})
	if relayed > want {
		w.t.Errorf("%d events were relayed, want %d", relayed, want)
	}
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
		t.Error(err)
	}
}

func TestAnAttemptThatThisProcessInterruptsDoesNotCount(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		sink := newSink(t, nil)
		s := w.subscribe(sink.url)
		started := make(chan struct{}, 1000)
		r := w.deliver(func(o *webhook.DelivererOptions) {
			o.DrainTimeout = time.Millisecond
			o.Send = func(ctx context.Context, _ *webhooks.Dispatch) webhooks.Attempt {
				started <- struct{}{}
				<-ctx.Done()
				return webhooks.Attempt{Error: "interrupted"}
			}
		})
		uids := w.write(30)
		<-started
		r.stop()
		w.deliver()
		await(t, "every event", func() bool { return sink.countArrived(uids) == len(uids) })
		for id, d := range w.awaitEnd(s) {
			if d.Attempts != 1 {
				t.Errorf("the delivery of %s counts %d attempts: an attempt that was interrupted on this side must not count", id, d.Attempts)
			}
		}
	})
}

// A redelivery can be requested as soon as the result of an attempt is recorded, while the
// worker still frees its slot.
func TestARedeliveryIsMade(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		sink := newSink(t, nil)
		s := w.subscribe(sink.url)
		w.deliver()
		uid := w.write(1)[0]
		for again := 1; again <= 5; again++ {
			await(t, "the event", func() bool { return sink.arrivals(uid) >= again })
			next := w.write(1) // When it arrives, the relay has continued.
			await(t, "the next event", func() bool { return sink.countArrived(next) == 1 })
			for _, d := range w.awaitEnd(s) {
				if d.EventID != sink.ids[string(uid)] {
					continue
				}
				if _, err := w.p.Deliveries.Redeliver(w.ctx, []core.UID{d.UID}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestAnOutageOfTheDatabaseIsLoggedOnceAndLosesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t))
	sink := newSink(t, nil)
	w.subscribe(sink.url)
	relay := storetest.NewRelay(t, w.url)
	viaRelay := *w
	viaRelay.url = relay.URL
	log := new(logBuffer)
	viaRelay.deliver(func(o *webhook.DelivererOptions) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	uids := w.write(10)
	await(t, "the first events", func() bool { return sink.countArrived(uids) == len(uids) })
	relay.Refuse()
	uids = append(uids, w.write(10)...)
	await(t, "the outage to be noticed", func() bool { return log.count("events cannot be delivered") > 0 })
	relay.Cut()
	await(t, "every event", func() bool { return sink.countArrived(uids) == len(uids) })
	if n := log.count("events cannot be delivered"); n != 1 {
		t.Errorf("one outage was logged %d times, want 1", n)
	}
}

// A failure of this service is not one of the sink: the attempt does not count, and is made
// again when its lease has ended.
func TestAnAttemptWithoutSigningKeysDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.SQLite(t))
	sink := newSink(t, nil)
	s := w.subscribe(sink.url)
	w.write(1)
	var reads atomic.Int64
	keys := func(ctx context.Context) ([]core.Key, error) {
		if reads.Add(1) == 1 {
			return nil, core.Unavailable("the database does not answer", errors.New("connection refused"))
		}
		return w.p.Webhooks.Keys(ctx)
	}
	sender := webhook.NewSender(webhook.SenderOptions{Client: newSinkClient(), Keys: keys, Issuer: "https://atrium.example.com"})
	w.deliver(quickLease, func(o *webhook.DelivererOptions) { o.Send = sender.Send })
	for id, d := range w.awaitEnd(s) {
		if d.State != webhooks.DeliveryDelivered || d.Attempts != 1 {
			t.Errorf("the delivery of %s is %s after %d attempts, want it delivered with the first", id, d.State, d.Attempts)
		}
	}
	if got, err := w.p.Subscriptions.Get(w.ctx, s.UID); err != nil || !got.FailingSince.IsZero() {
		t.Errorf("the sink counts as failing since %v (%v)", got.FailingSince, err)
	}
	if reads.Load() < 2 {
		t.Error("no attempt lacked the keys")
	}
}
