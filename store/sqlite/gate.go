package sqlite

import (
	"context"
	"slices"
	"sync"
)

// A gate lets one caller through at a time: first come, first served.
type gate struct {
	lock    sync.Mutex
	taken   bool
	waiting []chan struct{} // closed when its turn has come
}

// enter waits for the caller's turn. Who entered must leave.
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
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		g.giveUp(turn)
		return ctx.Err()
	}
}

// giveUp removes a caller who waits, or hands a turn on that came too late.
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

// leave gives the turn to who has waited longest.
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
