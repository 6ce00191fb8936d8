package webhook_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/internal/webhook"
	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

func TestASinkReceivesTheEventOfEveryWrite(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		sink := newSink(t, nil)
		s := w.subscribe(sink.url)
		w.deliver()
		uids := w.write(200)
		await(t, "every event", func() bool { return sink.countArrived(uids) == len(uids) })
		for id, d := range w.awaitEnd(s) {
			if d.State != webhooks.DeliveryDelivered || d.Attempts != 1 || d.LastStatus != http.StatusOK {
				t.Errorf("the delivery of %s is %s after %d attempts, want %s and 1, the last with %d", id, d.State, d.Attempts, webhooks.DeliveryDelivered, d.LastStatus)
			}
		}
	})
}

func TestAFailedAttemptIsRetriedWithTheSameID(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		sink := newSink(t, func(w http.ResponseWriter, _ *http.Request, arrivals int) {
			if arrivals <= 3 {
				w.WriteHeader(http.StatusBadGateway)
				_, _ = fmt.Fprint(w, "not yet")
			}
		})
		s := w.subscribe(sink.url)
		w.deliver()
		uids := w.write(5)
		await(t, "the fourth attempts", func() bool { return sink.countArrived(uids) == len(uids) && sink.arrivals(uids[4]) == 4 })
		for id, d := range w.awaitEnd(s) {
			if d.State != webhooks.DeliveryDelivered || d.Attempts != 4 || d.LastError != "" {
				t.Errorf("the delivery of %s is %s after %d attempts, want %s and 4: %s", id, d.State, d.Attempts, webhooks.DeliveryDelivered, d.LastError)
			}
		}
		if len(sink.torn) > 0 {
			t.Error(sink.torn)
		}
	})
}

func TestRetryAfterIsObeyed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const asked = 2 * time.Hour // This is 0.72 s on the scale of these tests; the usual pause is half a millisecond.
		var lock sync.Mutex
		var at []time.Time
		sink := newSink(t, func(w http.ResponseWriter, r *http.Request, arrivals int) {
			if !strings.Contains(r.Header.Get("ce-type"), ".repo.") {
				return
			}
			lock.Lock()
			at = append(at, time.Now())
			lock.Unlock()
			if arrivals == 1 {
				w.Header().Set("Retry-After", fmt.Sprint(int(asked.Seconds())))
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
		w.subscribe(sink.url)
		w.deliver()
		w.write(1)
		await(t, "the second attempt", func() bool { lock.Lock(); defer lock.Unlock(); return len(at) == 2 })
		if waited := at[1].Sub(at[0]); waited < time.Duration(float64(asked)*timeScale)-10*time.Millisecond {
			t.Errorf("the second attempt came after %s", waited)
		}
	})
}

func TestA410DisablesTheSubscription(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		sink := newSink(t, func(w http.ResponseWriter, _ *http.Request, _ int) { w.WriteHeader(http.StatusGone) })
		s := w.subscribe(sink.url)
		w.deliver()
		w.write(1)
		await(t, "the subscription to be disabled", func() bool {
			got, err := w.p.Subscriptions.Get(w.ctx, s.UID)
			return err == nil && !got.DisableTime.IsZero()
		})
		w.awaitEnd(s)
		other := newSink(t, nil)
		w.subscribe(other.url)
		uids := w.write(20)
		await(t, "the other sink's events", func() bool { return other.countArrived(uids) == len(uids) })
		if n := sink.countArrived(uids); n != 0 {
			t.Errorf("%d events came after it was disabled", n)
		}
		for id, d := range w.deliveries(s) {
			if d.State != webhooks.DeliveryFailed || d.LastError == "" {
				t.Errorf("the delivery of %s is %s, want %s: %q", id, d.State, webhooks.DeliveryFailed, d.LastError)
			}
		}
	})
}

func TestASinkThatHangsDelaysNoOther(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		released := make(chan struct{})
		hanging := newSink(t, func(_ http.ResponseWriter, r *http.Request, _ int) {
			select {
			case <-released:
			case <-r.Context().Done():
			}
		})
		t.Cleanup(func() { close(released) }) // This cleanup runs before the server waits for its handlers.
		healthy := newSink(t, nil)
		stuck := w.subscribe(hanging.url)
		w.subscribe(healthy.url)
		w.deliver(func(o *webhook.DelivererOptions) { o.DrainTimeout = time.Millisecond })
		uids := w.write(100)
		await(t, "the healthy sink's events", func() bool { return healthy.countArrived(uids) == len(uids) })
		if n := hanging.total(); n == 0 || n > 16 {
			t.Errorf("%d attempts hang", n)
		}
		for id, d := range w.deliveries(stuck) {
			if d.State != webhooks.DeliveryPending {
				t.Errorf("the delivery of %s to the sink that hangs is %s, want %s", id, d.State, webhooks.DeliveryPending)
			}
		}
	})
}

func TestReplicasShareTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t))
	sinks := make([]*sink, 6)
	for i := range sinks {
		sinks[i] = newSink(t, func(http.ResponseWriter, *http.Request, int) { time.Sleep(time.Millisecond) })
		w.subscribe(sinks[i].url)
	}
	a, b := w.deliver(), w.deliver()
	var uids []core.UID
	arrived := func(s *sink) bool { return s.countArrived(uids) == len(uids) }
	await(t, "both to deliver", func() bool {
		if !slices.ContainsFunc(sinks, func(s *sink) bool { return !arrived(s) }) { // Without this wait, the writes would overtake a slow relay.
			uids = append(uids, w.write(20)...)
		}
		return a.sent.Load() > 20 && b.sent.Load() > 20
	})
	for _, sink := range sinks {
		await(t, "every event", func() bool { return arrived(sink) })
	}
}

func TestARestartLosesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		sink := newSink(t, nil)
		s := w.subscribe(sink.url)
		var uids []core.UID
		for range 4 {
			r := w.deliver(func(o *webhook.DelivererOptions) { o.DrainTimeout = time.Millisecond })
			uids = append(uids, w.write(25)...)
			r.stop()
		}
		uids = append(uids, w.write(25)...)
		w.deliver()
		await(t, "every event", func() bool { return sink.countArrived(uids) == len(uids) })
		w.awaitEnd(s)
	})
}

// An attempt that reacts to nothing holds its delivery as long as its process waits for it,
// and no longer.
func TestAnAttemptThatDoesNotEndIsRepeatedByAnotherProcess(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		sink := newSink(t, nil)
		w.subscribe(sink.url)
		dead := make(chan struct{})
		started := make(chan struct{}, 100)
		first := w.deliver(quickLease, func(o *webhook.DelivererOptions) {
			o.DrainTimeout = time.Millisecond
			o.Send = func(context.Context, *webhooks.Dispatch) webhooks.Attempt {
				started <- struct{}{}
				<-dead
				return webhooks.Attempt{Error: "dead"}
			}
		})
		uids := w.write(1)
		<-started
		go first.stop()
		t.Cleanup(func() { close(dead) })
		w.deliver(quickLease)
		await(t, "the attempt of another process", func() bool { return sink.countArrived(uids) == 1 })
	})
}

// A lease is much shorter than the time that a sink may take. It is renewed meanwhile.
func TestASlowSinkReceivesAnEventOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		sink := newSink(t, func(http.ResponseWriter, *http.Request, int) { time.Sleep(3 * testLease) })
		s := w.subscribe(sink.url, repoCreated)
		w.deliver(quickLease)
		w.deliver(quickLease)
		uids := w.write(20)
		await(t, "every event", func() bool { return sink.countArrived(uids) == len(uids) })
		for id, d := range w.awaitEnd(s) {
			if d.State != webhooks.DeliveryDelivered || d.Attempts != 1 || d.Ticket != 1 {
				t.Errorf("the delivery of %s is %s after %d attempts and %d claims, want it delivered with the first", id, d.State, d.Attempts, d.Ticket)
			}
		}
		if n := sink.total(); n != len(uids) {
			t.Errorf("%d events arrived, want %d", n, len(uids))
		}
	})
}

func TestADeliveryWhoseSecretCannotBeReadSaysSo(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		to := newSink(t, nil)
		s := w.subscribe(to.url)
		spoil := func(tx core.Tx) error {
			secrets, err := storetest.Tables.Secrets.Secrets(t.Context(), tx)
			if err != nil {
				return err
			}
			for i := range secrets {
				secrets[i].Encrypted = []byte("of another key")
			}
			return storetest.Tables.Secrets.PutSecrets(t.Context(), tx, secrets)
		}
		if err := storetest.Open(t, w.url).Write(t.Context(), spoil); err != nil {
			t.Fatal(err)
		}
		w.write(1)
		log := &logBuffer{}
		w.deliver(func(o *webhook.DelivererOptions) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
		await(t, "a delivery to say why it could not be prepared", func() bool {
			for _, d := range w.deliveries(s) {
				if d.Attempts > 0 {
					return strings.Contains(d.LastError, "cannot read the secret")
				}
			}
			return false
		})
		if log.count("a delivery could not be prepared") == 0 || log.count(string(s.UID)) == 0 {
			t.Error("the log does not mention the delivery")
		}
		if n := to.total(); n > 0 {
			t.Errorf("%d deliveries were sent although the secret cannot be read", n)
		}
	})
}
