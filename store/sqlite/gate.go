package sqlite

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A gate is a fair lock: it admits one caller at a time, in the order of arrival.
type gate struct {
	lock    sync.Mutex
	taken   bool
	waiting []chan struct{} // a channel for each waiting caller, closed when its turn has come
	waited  waits
}

// waits counts how often callers have waited, and for how long in total.
type waits struct {
	count int64
	took  time.Duration
}

// waits returns how often callers have waited until now.
func (g *gate) waits() waits {
	g.lock.Lock()
	defer g.lock.Unlock()
	return g.waited
}

// recordWait records that a caller has waited since a time.
func (g *gate) recordWait(since time.Time) {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.waited.count++
	g.waited.took += time.Since(since)
}

// enter waits for the caller's turn. The caller must call leave afterwards.
func (g *gate) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g.lock.Lock()
	if !g.taken {
		g.taken = true
		g.lock.Unlock()
		return nil
	}
	turn := make(chan struct{})
	g.waiting = append(g.waiting, turn)
	g.lock.Unlock()
	defer g.recordWait(time.Now())
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		g.giveUp(turn)
		return ctx.Err()
	}
}

// giveUp removes a waiting caller. If its turn has already come, giveUp passes the
// turn on.
func (g *gate) giveUp(turn chan struct{}) {
	g.lock.Lock()
	at := slices.Index(g.waiting, turn)
	if at >= 0 {
		g.waiting = slices.Delete(g.waiting, at, at+1)
	}
	g.lock.Unlock()
	if at < 0 {
		g.leave()
	}
}

// leave passes the turn to the caller that has waited longest.
func (g *gate) leave() {
	g.lock.Lock()
	defer g.lock.Unlock()
	if len(g.waiting) == 0 {
		g.taken = false
		return
	}
	close(g.waiting[0])
	g.waiting = g.waiting[1:]
}
