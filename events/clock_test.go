package events_test

import (
	"testing"
	"time"

	"atrium/platform"
	"atrium/store/storetest"
)

// The clock of the process that relays an event may be ahead of the clock of the one that
// sends it. The first attempt must not wait for the difference, also if it is made again.
func TestFirstAttemptsDoNotWaitForClocksThatDiffer(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		to := newSink(t, nil)
		s := w.subscribe(to.url, repoCreated)
		ahead, err := platform.New(t.Context(), storetest.Open(t, w.url), platform.Options{
			PrivateSinks: []string{sinkHost}, DeliveryTimeScale: timeScale, Clock: func() time.Time { return time.Now().Add(time.Hour) },
		})
		if err != nil {
			t.Fatal(err)
		}
		w.deliverFrom(ahead)
		uid := w.write(1)[0]
		await(t, "the first delivery", func() bool { return to.arrivals(uid) == 1 })
		for _, d := range w.awaitEnd(s) {
			if _, err := ahead.Deliveries.Redeliver(w.ctx, []platform.UID{d.UID}); err != nil {
				t.Fatal(err)
			}
		}
		await(t, "the redelivery", func() bool { return to.arrivals(uid) == 2 })
	})
}
