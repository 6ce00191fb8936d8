package server

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// A runQueue measures how long goroutines wait until a processor runs them. If a quarter of
// them wait for longer than maxRunWait, more requests at the same time make the server no
// faster: each one only waits longer, also those of others.
type runQueue struct {
	sample []metrics.Sample
	counts []uint64 // of the previous measurement
}

const (
	maxRunWait = time.Millisecond
	minWaits   = 20 // fewer say nothing
)

func newRunQueue() *runQueue {
	return &runQueue{sample: []metrics.Sample{{Name: "/sched/latencies:seconds"}}}
}

// isLong reports whether goroutines have waited too long since the previous call. The first
// call only begins to measure.
func (q *runQueue) isLong() bool {
	metrics.Read(q.sample)
	waits := q.sample[0].Value.Float64Histogram()
	long := q.counts != nil && isQuarterAbove(waits, q.counts, maxRunWait)
	q.counts = append(q.counts[:0], waits.Counts...)
	return long
}

// isQuarterAbove reports whether at least a quarter of what a histogram has counted is above a
// limit. It leaves out what the histogram had counted before.
func isQuarterAbove(h *metrics.Float64Histogram, before []uint64, limit time.Duration) bool {
	var below, above uint64
	for i, n := range h.Counts {
		if h.Buckets[i] >= limit.Seconds() {
			above += n - before[i]
		} else {
			below += n - before[i]
		}
	}
	return above+below >= minWaits && 3*above >= below
}

// fitInterval is the interval in which a gate fits its limit to the processors. A gate for
// which no request has waited for longer than calmTime has its full limit again.
const fitInterval, calmTime = 100 * time.Millisecond, time.Second

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
