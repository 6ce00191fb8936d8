package server

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheLimitFollowsTheProcessors(t *testing.T) {
	t.Parallel()
	least := runtime.GOMAXPROCS(0)
	for _, c := range []struct {
		limit, slots int
		long         bool
		want         int
	}{
		{100, 100, false, 100},
		{100, 100, true, 75},
		{least + 3, 100, true, least + 2},
		{least, 100, true, least},
		{least, 100, false, least + max(1, least/8)},
		{40, 100, false, 45},
		{1, 1, true, 1}, // fewer slots than processors
		{1, 1, false, 1},
	} {
		if got := fitLimit(c.limit, c.slots, c.long); got != min(c.want, c.slots) {
			t.Errorf("%+v: the limit is %d", c, got)
		}
	}
}

func TestAQuarterOfTheWaitsIsLong(t *testing.T) {
	t.Parallel()
	h := &metrics.Float64Histogram{Buckets: []float64{math.Inf(-1), 0, 0.0005, 0.001, 0.002, math.Inf(1)}}
	before := []uint64{10, 10, 10, 10, 10}
	for _, c := range []struct {
		counts []uint64
		want   bool
	}{
		{[]uint64{10, 10, 10, 10, 10}, false}, // nothing was measured
		{[]uint64{10, 10, 40, 20, 10}, true},
		{[]uint64{10, 11, 40, 20, 10}, false},
		{[]uint64{10, 10, 10, 10, 30}, true},
		{[]uint64{10, 10, 10, 10, 29}, false}, // too little was measured
		{[]uint64{90, 10, 10, 10, 30}, false},
	} {
		h.Counts = c.counts
		if got := isQuarterAbove(h, before, time.Millisecond); got != c.want {
			t.Errorf("%v: %v, want %v", c.counts, got, c.want)
		}
	}
}

// More goroutines than the processors can run wait for long.
func TestTheRunQueueIsMeasured(t *testing.T) { //nolint:paralleltest // It would disturb the tests beside it.
	q := newRunQueue()
	if q.isLong() {
		t.Error("waits were long before anything was measured")
	}
	var stop atomic.Bool
	defer stop.Store(true)
	for range 8 * runtime.GOMAXPROCS(0) {
		go func() {
			for !stop.Load() {
				for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
				}
				runtime.Gosched()
			}
		}()
	}
	for deadline := time.Now().Add(time.Minute); !q.isLong(); {
		for range minWaits { // The others run meanwhile.
			runtime.Gosched()
		}
		if time.Now().After(deadline) {
			t.Fatal("goroutines that wait for others are not noticed")
		}
	}
}

// While the processors cannot keep up, fewer requests work at the same time. All slots are
// free again for the first requests after a calm time.
func TestFewerRequestsWorkIfTheProcessorsCannotKeepUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slots := 8 * runtime.GOMAXPROCS(0)
		g := newTestGate(slots)
		var long atomic.Bool
		long.Store(true)
		g.isLong = long.Load
		countWorking := func() int { return g.state().Working }
		var all []*waiter
		for i := range 2 * slots {
			all = append(all, arriveMany(t, g, 1, string(rune('a'+i)), "x")...)
		}
		if n := countWorking(); n != slots {
			t.Fatalf("%d requests work, want %d", n, slots)
		}
		time.Sleep(900 * time.Millisecond) // less than requests wait at most
		synctest.Wait()
		limit := g.state().Slots
		if limit >= slots/2 || limit < runtime.GOMAXPROCS(0) {
			t.Errorf("the limit is %d of %d slots", limit, slots)
		}
		for _, w := range all {
			if w.works() {
				w.leave()
				synctest.Wait()
			}
			if n := countWorking(); n > slots {
				t.Errorf("%d requests work, want at most %d", n, slots)
			}
		}
		if n := countWorking(); n > limit {
			t.Errorf("%d requests work, want at most %d", n, limit)
		}
		serveAll(t, all, time.Millisecond)
		time.Sleep(2 * calmTime)
		long.Store(false)
		again := arriveMany(t, g, 1, "b", "x")
		if !again[0].works() {
			t.Error("after a calm time the first request waits")
		}
		for i := range 2 * slots {
			again = append(again, arriveMany(t, g, 1, string(rune('A'+i)), "x")...)
		}
		if n := countWorking(); n != slots {
			t.Errorf("after a calm time %d requests work, want %d", n, slots)
		}
		serveAll(t, again, time.Millisecond)
	})
}
