package core

import (
	"context"
	"sync"
	"time"
)

// Rounds let callers wait until the background of this process has done what they have left to it. A round does all that there is to do when it
// begins, or fails.
type Rounds struct {
	mu      sync.Mutex
	follows int           // that run rounds
	done    time.Time     // when the last round began that has done all
	changed chan struct{} // closed when a round ends
}

// Follow notes that the background runs, until stop is called.
func (r *Rounds) Follow() (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follows++
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.follows--
	}
}

// Run runs a round. work reports whether it has done all.
func (r *Rounds) Run(work func() bool) {
	began := time.Now()
	isDone := work()
	r.mu.Lock()
	defer r.mu.Unlock()
	if isDone {
		r.done = began
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// Await waits until a round has done all that there was at a time, but not for long. It reports whether one has.
func (r *Rounds) Await(ctx context.Context, since time.Time, most time.Duration) bool {
	var late *time.Timer
	for {
		r.mu.Lock()
		isDone, runs, changed := r.done.After(since), r.follows > 0, r.changed
		r.mu.Unlock()
		if isDone || !runs {
			return isDone
		}
		if late == nil {
			late = time.NewTimer(most)
			defer late.Stop()
		}
		select {
		case <-changed:
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}
