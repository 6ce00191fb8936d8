package webhook_test

import (
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"atrium/internal/webhook"
	"atrium/platform/core"
	"atrium/store/storetest"
)

func benchmarkEachEngine(b *testing.B, run func(b *testing.B, w *world)) {
	b.Helper()
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) { run(b, newWorld(b, url(b))) })
	}
}

func quiet(o *webhook.DelivererOptions) {
	o.Logger, o.PollInterval = slog.New(slog.NewTextHandler(io.Discard, nil)), 0
}

// BenchmarkDeliver measures how many deliveries arrive per second, from a backlog
// of events for 20 subscriptions.
func BenchmarkDeliver(b *testing.B) {
	benchmarkEachEngine(b, func(b *testing.B, w *world) {
		const subscriptions = 20
		sink := newSink(b, nil)
		for i := range subscriptions {
			w.subscribe(sink.url + "/" + string(rune('a'+i)))
		}
		w.write(max(b.N/subscriptions, 1))
		b.ResetTimer()
		w.deliverFrom(w.p, quiet)
		await(b, "every delivery", func() bool { return sink.total() >= max(b.N/subscriptions, 1)*subscriptions })
		b.ReportMetric(float64(sink.total())/b.Elapsed().Seconds(), "deliveries/s")
	})
}

// BenchmarkLag measures how long after its commit an event arrives, at 50 writes
// per second.
func BenchmarkLag(b *testing.B) {
	benchmarkEachEngine(b, func(b *testing.B, w *world) {
		var lock sync.Mutex
		arrived := map[string]time.Time{}
		sink := newSink(b, func(_ http.ResponseWriter, r *http.Request, _ int) {
			lock.Lock()
			defer lock.Unlock()
			arrived[r.Header.Get("ce-subject")] = time.Now()
		})
		w.subscribe(sink.url)
		w.deliverFrom(w.p, quiet)
		w.warm(b, sink)
		committed := map[core.UID]time.Time{}
		var uids []core.UID
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		b.ResetTimer()
		for range b.N {
			<-tick.C
			uid := w.write(1)[0]
			committed[uid] = time.Now()
			uids = append(uids, uid)
		}
		await(b, "every event", func() bool { return sink.countArrived(uids) == len(uids) })
		lock.Lock()
		defer lock.Unlock()
		lags := make([]float64, len(uids))
		for i, uid := range uids {
			lags[i] = float64(arrived[string(uid)].Sub(committed[uid]).Microseconds()) / 1000
		}
		slices.Sort(lags)
		b.ReportMetric(lags[len(lags)/2], "ms-p50")
		b.ReportMetric(lags[len(lags)*99/100], "ms-p99")
	})
}

func (w *world) warm(b *testing.B, sink *sink) {
	b.Helper()
	first := w.write(1)
	await(b, "the first event", func() bool { return sink.countArrived(first) == 1 })
}
