package webhook_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// withClock returns a platform of a process whose clock is ahead.
func (w *world) withClock(ahead time.Duration) *platform.Platform {
	w.t.Helper()
	p, err := platform.New(w.t.Context(), storetest.Open(w.t, w.url), platform.Options{
		PrivateSinks: []string{sinkHost}, DeliveryTimeScale: timeScale, Clock: func() time.Time { return time.Now().Add(ahead) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// Processes whose clocks are wrong by an hour respect the leases and the plans of each other.
func TestClocksOfProcessesDoNotDecideWhatIsDue(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const asked = 2 * time.Hour // This is 0.72 s on the scale of these tests.
		to := newSink(t, func(w http.ResponseWriter, _ *http.Request, arrivals int) {
			if arrivals == 1 {
				w.Header().Set("Retry-After", fmt.Sprint(int(asked.Seconds())))
				w.WriteHeader(http.StatusTooManyRequests)
			} else {
				time.Sleep(2 * testLease)
			}
		})
		s := w.subscribe(to.url, repoCreated)
		w.deliverFrom(w.withClock(time.Hour), quickLease)
		w.deliverFrom(w.withClock(-time.Hour), quickLease)
		began, uids := time.Now(), w.write(8)
		for id, d := range w.awaitEnd(s) {
			if d.State != webhooks.DeliveryDelivered || d.Attempts != 2 || d.Ticket != 2 {
				t.Errorf("the delivery of %s is %s after %d attempts and %d claims, want 2 of both", id, d.State, d.Attempts, d.Ticket)
			}
			if took := d.LastAttemptTime.Sub(d.CreateTime.Time); took < 700*time.Millisecond || d.CreateTime.Sub(began).Abs() > patience {
				t.Errorf("the delivery of %s was made at %s and attempted again %s later", id, d.CreateTime, took)
			}
		}
		if n := to.total(); n != 2*len(uids) {
			t.Errorf("%d requests arrived, want %d", n, 2*len(uids))
		}
	})
}

// The clock of the process that relays an event may be ahead of the clock of the one that
// sends it. The first attempt must not wait for the difference, also if it is made again.
func TestFirstAttemptsDoNotWaitForClocksThatDiffer(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		to := newSink(t, nil)
		s := w.subscribe(to.url, repoCreated)
		ahead := w.withClock(time.Hour)
		w.deliverFrom(ahead)
		uid := w.write(1)[0]
		await(t, "the first delivery", func() bool { return to.arrivals(uid) == 1 })
		for _, d := range w.awaitEnd(s) {
			if _, err := ahead.Deliveries.Redeliver(w.ctx, []core.UID{d.UID}); err != nil {
				t.Fatal(err)
			}
		}
		await(t, "the redelivery", func() bool { return to.arrivals(uid) == 2 })
	})
}
