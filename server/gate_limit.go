package server

import (
	"runtime"
	"time"
)

const (
	// fitInterval is the interval in which a gate fits its limit to the processors.
	fitInterval = 100 * time.Millisecond
	// calmTime is the time after which an overload is over. After calmTime in which no request has waited, the gate has
	// its full limit again. After calmTime without an overload, a surge may wait again.
	calmTime = time.Second
)

// fit fits the limit to the processors from time to time.
func (g *gate) fit(now time.Time) {
	if now.Sub(g.fitted) >= fitInterval {
		g.limit, g.fitted = fitLimit(g.limit, g.slots, g.roundsAreLong()), now
	}
}

// fitLimit returns the number of requests that may work in the next interval: a quarter less
// if the processors cannot keep up, and otherwise an eighth more. It is at least one for each
// processor, and at most slots.
func fitLimit(limit, slots int, long bool) int {
	if long {
		limit -= max(1, limit/4)
	} else {
		limit += max(1, limit/8)
	}
	return min(max(limit, runtime.GOMAXPROCS(0)), slots)
}

// relax frees all slots if no request has waited for a while, and begins to measure anew.
func (g *gate) relax(now time.Time) {
	if g.root.waiting == 0 && now.Sub(g.fitted) > calmTime {
		g.roundsAreLong()
		g.limit, g.fitted = g.slots, now
	}
}

// rest lets a slot rest until the current round ends, and reports whether the round must be
// awaited. Requests may have arrived that have not been seen yet. If one of those that wait
// had the slot at once, and then the next one, they would take all the time of the
// processors, and nobody would look for the others.
func (g *gate) rest() (isFirst bool) {
	g.restingSlots++
	return g.restingSlots == 1
}

// endRound gives the slots that have rested to the requests that are next.
func (g *gate) endRound() {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.restingSlots = 0
	g.dispatch(time.Now())
}
