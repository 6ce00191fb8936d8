package server

import (
	"os"
	"sync"
	"time"
)

// rounds calls a function at the end of rounds of Go's scheduler. In a round, the scheduler
// runs every goroutine that is ready. Only then does it ask the system which connections
// have received something. So while a server works all the time, requests that have arrived
// are not seen until a round ends.
type rounds struct {
	end   func() // called at the end of each round for which await was called
	start sync.Once
	pipe  *os.File // nil if the system has none left

	lock   sync.Mutex
	began  time.Time     // when await was called
	took   time.Duration // duration of the rounds since areLong was called
	number int           // of these rounds
}

// maxRoundTime is how long rounds may take on average. If they take longer, more requests at
// the same time make the server no faster: each one only waits longer, also those of others.
const maxRoundTime = time.Millisecond

// await lets end be called at the end of the current round. It sends a byte through a pipe:
// the scheduler sees it together with the requests that have arrived.
func (r *rounds) await() {
	r.start.Do(r.open)
	r.lock.Lock()
	r.began = time.Now()
	r.lock.Unlock()
	if r.pipe != nil {
		if _, err := r.pipe.Write([]byte{0}); err == nil {
			return
		}
	}
	go r.finish()
}

// open opens the pipe, and finishes a round for each byte in it.
func (r *rounds) open() {
	from, to, err := os.Pipe()
	if err != nil {
		return
	}
	r.pipe = to
	go func() {
		defer func() { _ = from.Close() }()
		for one := make([]byte, 1); ; {
			if _, err := from.Read(one); err != nil {
				return
			}
			r.finish()
		}
	}()
}

func (r *rounds) finish() {
	r.lock.Lock()
	r.took += time.Since(r.began)
	r.number++
	r.lock.Unlock()
	r.end()
}

// areLong reports whether the rounds since the previous call were too long on average.
func (r *rounds) areLong() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	long := r.took > time.Duration(r.number)*maxRoundTime
	r.took, r.number = 0, 0
	return long
}
