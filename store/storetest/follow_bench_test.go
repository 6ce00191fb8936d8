package storetest_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// benchmarkReplicas runs a benchmark with replicas that notify each other, and with
// replicas that only poll.
func benchmarkReplicas(b *testing.B, bench func(b *testing.B, w *world, open func() platform.Store)) {
	b.Run("notified", func(b *testing.B) {
		w := newWorld(b, storetest.Postgres(b))
		bench(b, w, func() platform.Store { return follow(b, w.url) })
	})
	b.Run("polling", func(b *testing.B) {
		w := newWorld(b, storetest.Postgres(b))
		bench(b, w, func() platform.Store { return storetest.Open(b, w.url) })
	})
}

// BenchmarkFeed measures the time from the commit of an event on one replica to its
// arrival on another. A p99 needs 500 events: -benchtime 500x.
func BenchmarkFeed(b *testing.B) {
	benchmarkReplicas(b, func(b *testing.B, w *world, open func() platform.Store) {
		one, other := w.replica(open()), w.replica(open())
		ctx, org := w.createOrganization("acme")
		feed, err := other.Events.Open(ctx, events.EventRequest{})
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(ctx)
		given := make(map[core.UID]time.Time, b.N)
		var following sync.WaitGroup
		following.Go(func() {
			_ = feed.Follow(ctx, func(e *core.Event) error {
				if given[e.Subject] = time.Now(); len(given) == b.N {
					cancel()
				}
				return nil
			})
		})
		committed := make(map[core.UID]time.Time, b.N)
		for i := range b.N {
			repo, err := one.Repos.Create(ctx, org.Group.UID, input[*inventory.Repo](fmt.Sprintf(`{"name": "r%d"}`, i)))
			if err != nil {
				b.Fatal(err)
			}
			committed[repo.UID] = time.Now()
			time.Sleep(13 * time.Millisecond) // This pause is not a multiple of the polling interval.
		}
		following.Wait()
		var lags []time.Duration
		for uid, at := range committed {
			lags = append(lags, given[uid].Sub(at))
		}
		slices.Sort(lags)
		b.ReportMetric(lags[len(lags)/2].Seconds()*1e3, "p50-ms")
		b.ReportMetric(lags[len(lags)*99/100].Seconds()*1e3, "p99-ms")
	})
}

// BenchmarkCommit measures transactions of one event, by sixteen callers.
func BenchmarkCommit(b *testing.B) {
	benchmarkReplicas(b, func(b *testing.B, w *world, open func() platform.Store) {
		s, ids := open(), make(chan int, 1)
		ids <- 0
		b.SetParallelism(8)
		b.ResetTimer()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				id := <-ids
				ids <- id + 1
				if err := w.record(s, fmt.Sprint(id)); err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
	})
}
