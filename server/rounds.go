package server

import (
	"os"
	"runtime"
	"sync"
	"time"
)

// rounds calls a function at the end of rounds of Go's scheduler. In a round, each processor
// runs the goroutines that are ready. Only then does it ask the system which connections
// have received something, unless nobody has asked for ten milliseconds. So while a server
// works all the time, requests that have arrived are not seen until a round ends.
type rounds struct {
	end  func()                                // called at the end of each round for which await was called
	open func() (from, to *os.File, err error) // opens a pipe

	lock    sync.Mutex
	pipe    *os.File      // nil if none is open
	timer   *time.Timer   // ends a round that takes too long
	running bool          // whether a round is awaited
	start   time.Time     // when it was awaited
	total   time.Duration // duration of the rounds since areLong was called
	number  int           // of these rounds
}

const (
	// longRound is how long rounds may take on average. If they take longer, more requests
	// at the same time make the server no faster: each one only waits longer, also those of
	// others.
	longRound = time.Millisecond
	// maxRound is the time after which a timer ends a round. Work that is not for requests,
	// such as live feeds, can keep all processors busy for longer.
	maxRound = 2 * time.Millisecond
)

// await lets end be called at the end of the current round. It sends a byte through a pipe:
// the scheduler sees it together with the requests that have arrived.
func (r *rounds) await() {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.running, r.start = true, time.Now()
	if r.timer == nil {
		r.timer = time.AfterFunc(maxRound, r.finish)
	} else {
		r.timer.Reset(maxRound)
	}
	if r.pipe == nil {
		r.pipe = r.listen()
	}
	if r.pipe == nil {
		return // the timer ends the round
	}
	if _, err := r.pipe.Write([]byte{0}); err != nil {
		_ = r.pipe.Close()
		r.pipe = nil // the next round opens another one
	}
}

// listen opens a pipe, and ends a round when something arrives through it. It returns nil if
// the system has no pipe left; the next round tries again.
func (r *rounds) listen() *os.File {
	from, to, err := r.open()
	if err != nil {
		return nil
	}
	go func() {
		defer func() { _ = from.Close() }()
		for bytes := make([]byte, 16); ; {
			if _, err := from.Read(bytes); err != nil {
				return
			}
			runtime.Gosched() // the requests that were seen with the byte run first
			r.finish()
		}
	}()
	return to
}

// finish ends the round, unless it has ended.
func (r *rounds) finish() {
	r.lock.Lock()
	running := r.running
	if running {
		r.running = false
		r.timer.Stop()
		r.total += time.Since(r.start)
		r.number++
	}
	r.lock.Unlock()
	if running {
		r.end()
	}
}

// areLong reports whether the rounds since the previous call were too long on average.
func (r *rounds) areLong() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	long := r.total > time.Duration(r.number)*longRound
	r.total, r.number = 0, 0
	return long
}
