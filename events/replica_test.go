package events_test

import (
	"context"
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atrium/events"
	"atrium/platform"
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
	v.replica = viaRelay.deliver(func(o *events.DelivererOptions) {
		o.Send = func(context.Context, *platform.Dispatch) platform.Attempt {
			began.Add(1)
			<-v.released
			return platform.Attempt{Status: http.StatusGone}
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
// the victim has lost its connection, or a copy of the SQLite files.
func (v *victim) kill(w *world) *world {
	w.t.Helper()
	rest := *w
	if v.relay != nil {
		v.relay.Refuse()
		return &rest
	}
	path, folder := strings.TrimPrefix(w.url, "sqlite:"), w.t.TempDir()
	for _, file := range []string{path, strings.TrimSuffix(path, ".db") + ".queue.db"} {
		db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(5000)")
		if err != nil {
			w.t.Fatal(err)
		}
		if _, err := db.ExecContext(w.t.Context(), "VACUUM INTO ?", filepath.Join(folder, filepath.Base(file))); err != nil {
			w.t.Fatal(err)
		}
		_ = db.Close()
	}
	rest.url = "sqlite:" + filepath.Join(folder, filepath.Base(path))
	rest.p = w.platform(storetest.Open(w.t, rest.url))
	return &rest
}

// quickHeartbeats lets replicas notice soon that another has stopped. RescueAfter
// is longer than any of these tests, so the queue does not help.
func quickHeartbeats(o *events.DelivererOptions) {
	o.HeartbeatInterval, o.RescueAfter = 20*time.Millisecond, time.Hour
}

func TestAnotherReplicaTakesOverFromAKilledOne(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		sink := newSink(t, nil)
		s := w.subscribe(sink.url)
		uids := w.write(20)
		v := w.newVictim(8) // Ready returns at most 8 deliveries of one subscription.
		rest := v.kill(w)
		rest.deliver(quickHeartbeats)
		await(t, "every event", func() bool { return sink.countArrived(uids) == len(uids) })
		if v.relay != nil {
			v.relay.Cut() // The victim was only slow: it reconnects and stores its results.
		}
		v.release()
		v.stop()
		for id, d := range rest.awaitEnd(s) {
			if d.State != platform.DeliveryDelivered || d.Attempts != 1 || d.LastStatus != http.StatusOK {
				t.Errorf("the delivery of %s is %s after %d attempts, want %s and 1, the last with %d", id, d.State, d.Attempts, platform.DeliveryDelivered, d.LastStatus)
			}
		}
		if len(sink.torn) > 0 {
			t.Error(sink.torn)
		}
	})
}

func TestAReplicaThatEndsReleasesItsTickets(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		s := w.subscribe(newSink(t, nil).url)
		w.write(20)
		started := make(chan struct{}, 100)
		r := w.deliver(func(o *events.DelivererOptions) {
			o.DrainTimeout = time.Millisecond
			o.Send = func(ctx context.Context, _ *platform.Dispatch) platform.Attempt {
				started <- struct{}{}
				<-ctx.Done()
				return platform.Attempt{Error: "interrupted"}
			}
		})
		for range 8 {
			<-started
		}
		r.stop()
		ready, err := w.p.Webhooks.ListReady(t.Context(), 100)
		if err != nil || len(ready) != 8 {
			t.Errorf("%d deliveries of %s are ready, want 8 (%v)", len(ready), s.UID, err)
		}
		for _, ticket := range ready {
			if ticket.Number != 1 {
				t.Errorf("got %+v, want Number 1", ticket)
			}
		}
		other := w.p.Webhooks.Replica("other")
		for range 6 {
			if gone, err := other.Heartbeat(t.Context()); err != nil || len(gone) > 0 {
				t.Errorf("%v count as stopped (%v), although the replica left", gone, err)
			}
		}
	})
}
