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

// A victim delivers for a world, in attempts that do not end, until it is
// killed. The database is then as a killed process leaves it.
type victim struct {
	*replica
	relay    *storetest.Relay // of PostgreSQL
	released chan struct{}
}

// newVictim starts one, and waits until it makes so many attempts.
func (w *world) newVictim(attempts int64) *victim {
	w.t.Helper()
	v := &victim{released: make(chan struct{})}
	through := *w
	if !strings.HasPrefix(w.url, "sqlite:") {
		v.relay = storetest.NewRelay(w.t, w.url)
		through.url = v.relay.URL
	}
	var began atomic.Int64
	v.replica = through.deliver(func(o *events.DelivererOptions) {
		o.Send = func(context.Context, *platform.Dispatch) platform.Attempt {
			began.Add(1)
			<-v.released
			return platform.Attempt{Status: http.StatusGone}
		}
	})
	w.t.Cleanup(v.release) // before it is waited for
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

// kill gives the world without it: the same database, which it reaches no
// more, or a copy of the files that it has.
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

// quickBeats find out early who is gone. What the queue does by itself takes
// longer than any of these tests waits.
func quickBeats(o *events.DelivererOptions) { o.Beat, o.Rescue = 20*time.Millisecond, time.Hour }

func TestWhatAKilledReplicaHeldIsDeliveredByAnother(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sink := newSink(t, nil)
		s := w.subscribe(sink.url)
		uids := w.write(20)
		v := w.newVictim(8) // all the places of the subscription
		rest := v.kill(w)
		rest.deliver(quickBeats)
		await(t, "every event", func() bool { return sink.has(uids) == len(uids) })
		if v.relay != nil {
			v.relay.Cut() // it was only slow, and comes back with its answers
		}
		v.release()
		v.stop()
		for id, d := range rest.ended(s) {
			if d.State != platform.DeliveryDelivered || d.Attempts != 1 || d.LastStatus != http.StatusOK {
				t.Errorf("the delivery of %s is %s after %d attempts, the last with %d", id, d.State, d.Attempts, d.LastStatus)
			}
		}
		if len(sink.torn) > 0 {
			t.Error(sink.torn)
		}
	})
}

func TestAReplicaThatEndsGivesBackWhatItHeld(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.subscribe(newSink(t, nil).url)
		w.write(20)
		began := make(chan struct{}, 100)
		r := w.deliver(func(o *events.DelivererOptions) {
			o.Drain = time.Millisecond
			o.Send = func(ctx context.Context, _ *platform.Dispatch) platform.Attempt {
				began <- struct{}{}
				<-ctx.Done()
				return platform.Attempt{Error: "called off"}
			}
		})
		for range 8 {
			<-began
		}
		r.stop()
		ready, err := w.p.Webhooks.Ready(t.Context(), 100)
		if err != nil || len(ready) != 8 {
			t.Errorf("%d deliveries of %s are ready (%v)", len(ready), s.UID, err)
		}
		for _, ticket := range ready {
			if ticket.Number != 1 {
				t.Errorf("got %+v", ticket)
			}
		}
		other := w.p.Webhooks.Replica("other")
		for range 6 {
			if gone, err := other.Beat(t.Context()); err != nil || len(gone) > 0 {
				t.Errorf("%v are gone (%v), though it left", gone, err)
			}
		}
	})
}
