package server

import (
	"runtime"
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

// The attack is one organisation whose requests wait all the time. If the next of them got a
// slot at once, the requests of others would only be seen when the processors have nothing else to do.
func TestASlotRestsUntilOtherRequestsWereSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newTestGate(1)
		asked := 0
		g.awaitRound = func() { asked++ }
		loud := arriveMany(t, g, 3, "loud", "ann")
		time.Sleep(time.Millisecond)
		loud[0].leave()
		synctest.Wait()
		if loud[1].isDone() || asked != 1 {
			t.Errorf("the next request has the slot: %v, before the end of the round, which was asked for %d times", loud[1].isDone(), asked)
		}
		quiet := arrive(t, g, "quiet", "bob") // It had arrived before, but was not seen.
		g.endRound()
		synctest.Wait()
		if !quiet.works() || loud[1].isDone() {
			t.Errorf("at the end of the round the quiet organisation works: %v, the loud one: %v", quiet.works(), loud[1].isDone())
		}
		g.awaitRound = func() { go g.endRound() }
		serveAll(t, append(loud, quiet), time.Millisecond)
		expectEmpty(t, g)
	})
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
		g.roundsAreLong = long.Load
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
