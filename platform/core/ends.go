package core

import (
	"context"
	"sync"
	"time"
)

// MaxEndWait is how long callers wait for the background to do what is due.
const MaxEndWait = time.Second

// Ends let callers see what ends at a time as ended from that time on, although the background ends it: whoever comes then waits until
// that is done, at most MaxEndWait. Nobody waits where no background runs.
type Ends struct {
	mu   sync.Mutex
	next Time          // the next end; zero if none is known
	done chan struct{} // closed when what ends until then has been ended
}

// Set notes that all that was due is done, and when something ends next; the zero time if nothing does.
func (e *Ends) Set(next Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done != nil {
		close(e.done)
	}
	e.next, e.done = next, make(chan struct{})
}

// Await waits if something has just ended. The function now reads the clock.
func (e *Ends) Await(ctx context.Context, now func() Time) {
	e.mu.Lock()
	next, done := e.next, e.done
	e.mu.Unlock()
	if next.IsZero() {
		return
	}
	passed := now().Sub(next.Time)
	if passed < 0 || passed >= MaxEndWait {
		return
	}
	late := time.NewTimer(MaxEndWait - passed)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	case <-ctx.Done():
	}
}
