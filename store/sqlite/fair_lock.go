package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"atrium/store/dbfile"
)

// A fairLock admits one caller at a time, of all processes that use a database: the callers of a process in the order of arrival,
// and the processes in turns. When its turn comes, a process admits the callers that wait then. So one with many callers keeps
// up, and one with a single caller waits for no more than those.
type fairLock struct {
	processes *dbfile.Turn

	lock     sync.Mutex
	taken    bool         // whether a caller is admitted, or the process waits for its turn
	waiting  []chan error // a channel for each waiting caller, which receives nil when it is admitted
	admitted int          // number of the waiting callers, from the first, that the turn of the process is for
	waited   waits
}

// newFairLock returns the lock of the database at path, which the caller must close.
func newFairLock(path string) (*fairLock, error) {
	processes, err := dbfile.NewTurn(path)
	if err != nil {
		return nil, err
	}
	return &fairLock{processes: processes}, nil
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
	turn, err := l.queue()
	if turn == nil || err != nil {
		return err
	}
	defer l.recordWait(time.Now())
	select {
	case err := <-turn:
		return err
	case <-ctx.Done():
		l.giveUp(turn)
		return ctx.Err()
	}
}

// queue lets a caller wait for the result of a channel, or admits it at once, without a channel.
func (l *fairLock) queue() (turn chan error, err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if !l.taken {
		if l.taken, err = l.processes.Try(); l.taken || err != nil {
			return nil, err
		}
		l.taken = true
		go l.awaitProcesses()
	}
	turn = make(chan error, 1)
	l.waiting = append(l.waiting, turn)
	return turn, nil
}

// awaitProcesses waits for the turn of the process, and then admits the callers that wait.
func (l *fairLock) awaitProcesses() {
	err := l.processes.Wait()
	l.lock.Lock()
	defer l.lock.Unlock()
	l.admit(err)
}

// admit admits the callers that wait when the turn of the process has come, or tells them why it cannot come.
func (l *fairLock) admit(err error) {
	if l.admitted = len(l.waiting); err == nil && l.admitted > 0 {
		l.next(nil)
		return
	}
	if err == nil {
		err = l.processes.Pass()
	}
	for l.taken = false; len(l.waiting) > 0; {
		l.next(err)
	}
}

// next tells the caller that has waited longest that it is admitted, or why it cannot be.
func (l *fairLock) next(err error) {
	l.waiting[0] <- err
	l.waiting = l.waiting[1:]
	l.admitted--
}

// giveUp removes a waiting caller. If it has been admitted already, giveUp passes the
// turn on.
func (l *fairLock) giveUp(turn chan error) {
	l.lock.Lock()
	at := slices.Index(l.waiting, turn)
	if at >= 0 {
		l.waiting = slices.Delete(l.waiting, at, at+1)
	}
	if at >= 0 && at < l.admitted {
		l.admitted--
	}
	l.lock.Unlock()
	if at < 0 && <-turn == nil {
		l.leave()
	}
}

// leave passes the turn to the next caller: of this process if it is admitted, or else of the process that waits longest.
func (l *fairLock) leave() {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.admitted > 0 {
		l.next(nil)
		return
	}
	err := l.processes.Pass()
	if len(l.waiting) == 0 {
		l.taken = false
		return
	}
	taken, tryErr := l.processes.Try()
	if err = errors.Join(err, tryErr); taken || err != nil {
		l.admit(err)
		return
	}
	go l.awaitProcesses()
}

// close gives up the turns that the process would have.
func (l *fairLock) close() error { return l.processes.Close() }
