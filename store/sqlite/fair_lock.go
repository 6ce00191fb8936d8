package sqlite

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A fairLock admits one caller at a time, in the order of arrival.
type fairLock struct {
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
func (l *fairLock) waits() waits {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.waited
}

// recordWait records that a caller has waited since a time.
func (l *fairLock) recordWait(since time.Time) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.waited.count++
	l.waited.took += time.Since(since)
}

// enter waits for the caller's turn. The caller must call leave afterwards.
func (l *fairLock) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.lock.Lock()
	if !l.taken {
		l.taken = true
		l.lock.Unlock()
		return nil
	}
	turn := make(chan struct{})
	l.waiting = append(l.waiting, turn)
	l.lock.Unlock()
	defer l.recordWait(time.Now())
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		l.giveUp(turn)
		return ctx.Err()
	}
}

// giveUp removes a waiting caller. If its turn has already come, giveUp passes the
// turn on.
func (l *fairLock) giveUp(turn chan struct{}) {
	l.lock.Lock()
	at := slices.Index(l.waiting, turn)
	if at >= 0 {
		l.waiting = slices.Delete(l.waiting, at, at+1)
	}
	l.lock.Unlock()
	if at < 0 {
		l.leave()
	}
}

// leave passes the turn to the caller that has waited longest.
func (l *fairLock) leave() {
	l.lock.Lock()
	defer l.lock.Unlock()
	if len(l.waiting) == 0 {
		l.taken = false
		return
	}
	close(l.waiting[0])
	l.waiting = l.waiting[1:]
}
