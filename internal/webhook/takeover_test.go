package webhook_test

import (
	"context"
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atrium/internal/webhook"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// A victim is a replica whose attempts do not end until kill leaves the database
// as a killed process does.
type victim struct {
	*replica
	relay    *storetest.Relay // The relay forwards to PostgreSQL; with SQLite it is nil.
	released chan struct{}
}

// newVictim starts a victim and waits until it makes that many attempts.
func (w *world) newVictim(attempts int64) *victim {
	w.t.Helper()
	v := &victim{released: make(chan struct{})}
	viaRelay := *w
	if !strings.HasPrefix(w.url, "sqlite:") {
		v.relay = storetest.NewRelay(w.t, w.url)
		viaRelay.url = v.relay.URL
	}
	var began atomic.Int64
	v.replica = viaRelay.deliver(func(o *webhook.DelivererOptions) {
		o.Send = func(context.Context, *webhooks.Dispatch) webhooks.Attempt {
			began.Add(1)
			<-v.released
			return webhooks.Attempt{Status: http.StatusGone}
		}
	})
	w.t.Cleanup(v.release) // This cleanup runs before the one that waits for the replica.
	await(w.t, "the attempts", func() bool { return began.Load() == attempts })
	return v
}

func (v *victim) release() {
	select {
	case <-v.released:
	default:
		close(v.released)
	}
}

// kill returns a world without the victim: the same PostgreSQL database, to which
// the victim has lost its connection, or a copy of the SQLite file.
func (v *victim) kill(w *world) *world {
	w.t.Helper()
	rest := *w
	if v.relay != nil {
		v.relay.Refuse()
		return &rest
	}
	path, copied := strings.TrimPrefix(w.url, "sqlite:"), filepath.Join(w.t.TempDir(), "copy.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(w.t.Context(), "VACUUM INTO ?", copied); err != nil {
		w.t.Fatal(err)
	}
	rest.url = "sqlite:" + copied
	rest.p = w.platform(storetest.Open(w.t, rest.url))
	return &rest
}

// testLease is long enough for a renewal on a very slow machine.
const testLease = 2 * time.Second

// quickLease lets others take over soon from a replica that has stopped.
func quickLease(o *webhook.DelivererOptions) { o.Lease = testLease }

func TestAnotherReplicaTakesOverFromAKilledOne(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		sink := newSink(t, nil)
		s := w.subscribe(sink.url)
		uids := w.write(20)
		v := w.newVictim(16) // These are the slots of one subscription.
		rest := v.kill(w)
		rest.deliver(quickLease)
		await(t, "every event", func() bool { return sink.countArrived(uids) == len(uids) })
		if v.relay != nil {
			v.relay.Cut() // The victim was only slow: it reconnects and stores its results.
		}
		v.release()
		v.stop()
		for id, d := range rest.awaitEnd(s) {
			if d.State != webhooks.DeliveryDelivered || d.Attempts != 1 || d.LastStatus != http.StatusOK {
				t.Errorf("the delivery of %s is %s after %d attempts, want %s and 1, the last with %d", id, d.State, d.Attempts, webhooks.DeliveryDelivered, d.LastStatus)
			}
		}
		if len(sink.torn) > 0 {
			t.Error(sink.torn)
		}
	})
}

func TestAReplicaThatEndsReleasesItsDeliveries(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.write(20)
		w.relay(eventsOfWorld - 1 + 20) // There is no subscription yet.
		s := w.subscribe(newSink(t, nil).url)
		w.write(12)
		started := make(chan struct{}, 100)
		r := w.deliver(func(o *webhook.DelivererOptions) {
			o.DrainTimeout, o.Lease = time.Millisecond, time.Hour
			o.Send = func(ctx context.Context, _ *webhooks.Dispatch) webhooks.Attempt {
				started <- struct{}{}
				<-ctx.Done()
				return webhooks.Attempt{Error: "interrupted"}
			}
		})
		for range 13 { // and the event of the subscription
			<-started
		}
		r.stop()
		due, err := w.p.Webhooks.Queue(time.Hour).Due(t.Context())
		if err != nil || len(due.UIDs) != 13 {
			t.Errorf("%d deliveries of %s are due, want 13 (%v)", len(due.UIDs), s.UID, err)
		}
		for id, d := range w.deliveries(s) {
			if d.Ticket != 1 || d.Attempts != 0 || !d.Lease.IsZero() {
				t.Errorf("the delivery of %s is %+v, want Ticket 1, no attempt and no lease", id, d)
			}
		}
	})
}
