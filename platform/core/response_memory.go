package core

import (
	"context"
	"fmt"
	"sync"
	"time"

	"atrium/platform/fieldmask"
)

// MemoryLimits limit the memory of responses.
type MemoryLimits struct {
	PerResponse int64 // maximum bytes read for one response, and maximum bytes of its body
	Total       int64 // maximum bytes of all responses in progress; one caller may use half of them
}

// DefaultMemoryLimits keep a process below 512 MB.
func DefaultMemoryLimits() MemoryLimits { return MemoryLimits{PerResponse: 16 << 20, Total: 256 << 20} }

// A MemoryPool counts the memory of all responses in progress.
type MemoryPool struct {
	MemoryLimits
	idle func() // called when large responses have ended and no response is in progress

	lock    sync.Mutex
	used    int64
	peak    int64 // since the last call of idle
	callers map[string]int64
	waiting int
	freed   chan struct{} // closed when memory is released
}

// These weights estimate the memory of a response. Rows are converted into
// messages or JSON, bodies are copied, and buffers grow in advance.
const (
	readWeight    = 2
	writtenWeight = 3
	freeBytes     = 64 << 10  // memory of each response that is not counted
	stepBytes     = 256 << 10 // the pool grants memory in steps of this size

	// A response that waits for memory can hold a database connection.
	// Therefore only a few may wait, and not for long.
	maxWaiting = 2
	maxWait    = time.Second

	// When responses used this much memory together, idle is called so that the
	// process can return memory to the operating system.
	idleThreshold = 32 << 20
)

// NewMemoryPool makes a pool. The pool calls idle in a separate goroutine when
// large responses have ended and no response is in progress. idle may be nil.
func NewMemoryPool(limits MemoryLimits, idle func()) *MemoryPool {
	return &MemoryPool{MemoryLimits: limits, idle: idle, callers: map[string]int64{}, freed: make(chan struct{})}
}

// A ResponseMemory counts the memory of one response. A nil ResponseMemory counts nothing; all
// methods can be called on nil.
type ResponseMemory struct {
	pool   *MemoryPool
	caller string

	lock          sync.Mutex
	read, written int64
	held          int64 // bytes taken from the pool
	unwritten     error
}

type responseMemoryKey struct{}

// Open starts counting a response to the caller of ctx. The function end releases
// its memory.
func (p *MemoryPool) Open(ctx context.Context) (_ context.Context, end func()) {
	a := &ResponseMemory{pool: p}
	if actor := ActorOf(ctx); actor != nil {
		a.caller = actor.Key()
	}
	return context.WithValue(ctx, responseMemoryKey{}, a), a.end
}

// ResponseMemoryOf returns the ResponseMemory of ctx, or nil if nothing is counted.
func ResponseMemoryOf(ctx context.Context) *ResponseMemory {
	a, _ := ctx.Value(responseMemoryKey{}).(*ResponseMemory)
	return a
}

// WithoutResponseMemory returns a context in which nothing is counted, for work that is
// not part of a response, such as a live feed.
func WithoutResponseMemory(ctx context.Context) context.Context {
	return context.WithValue(ctx, responseMemoryKey{}, (*ResponseMemory)(nil))
}

// OpenSibling starts counting another response in the same pool. It is for
// connections that carry many responses.
func (a *ResponseMemory) OpenSibling(ctx context.Context) (_ context.Context, end func()) {
	if a == nil {
		return ctx, func() {}
	}
	return a.pool.Open(ctx)
}

// Read counts n bytes that were read for the response. It returns
// INVALID_ARGUMENT if the response exceeds its limit, and UNAVAILABLE if other
// responses use all the memory.
func (a *ResponseMemory) Read(ctx context.Context, n int) error {
	if a == nil {
		return nil
	}
	return a.grow(ctx, int64(n), 0)
}

// Note counts n bytes that were read, like Read, but leaves it to the next Read to wait for
// their memory and to return an error.
func (a *ResponseMemory) Note(n int) {
	if a == nil {
		return
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.read += int64(n)
}

// Write counts n bytes of the body of the response. Its errors are those of Read.
func (a *ResponseMemory) Write(ctx context.Context, n int) error {
	if a == nil {
		return nil
	}
	err := a.grow(ctx, 0, int64(n))
	if err != nil {
		a.lock.Lock()
		defer a.lock.Unlock()
		a.unwritten = err
	}
	return err
}

// WriteError returns the error of an earlier Write, or nil if all writes
// succeeded.
func (a *ResponseMemory) WriteError() error {
	if a == nil {
		return nil
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.unwritten
}

// ReleaseRead releases the memory counted by Read, after the body has been made.
func (a *ResponseMemory) ReleaseRead() {
	if a == nil {
		return
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.read = 0
	if over := a.held - a.neededBytes(); over > 0 && a.held > 0 {
		over = min(over, a.held)
		a.pool.release(a.caller, over)
		a.held -= over
	}
}

// neededBytes estimates how many bytes the response needs from the pool.
func (a *ResponseMemory) neededBytes() int64 {
	return max(0, readWeight*a.read+writtenWeight*a.written-freeBytes)
}

func (a *ResponseMemory) grow(ctx context.Context, read, written int64) error {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.read, a.written = a.read+read, a.written+written
	if most := a.pool.PerResponse; most > 0 && max(a.read, a.written) > most {
		return tooLarge(most)
	}
	missing := a.neededBytes() - a.held
	if missing <= 0 {
		return nil
	}
	step := (missing + stepBytes - 1) / stepBytes * stepBytes
	if !a.pool.acquire(ctx, a.caller, step) {
		return Unavailable("other responses use all of the memory for responses; try again, or ask for less", nil)
	}
	a.held += step
	return nil
}

// tooLarge returns the error for a response that exceeds its limit.
func tooLarge(most int64) error {
	err := Invalid(fieldmask.Violation{Field: "page_size", Description: fmt.Sprintf("asks for a response of more than %d bytes; ask for fewer rows, or leave out long fields such as readme, details, body and lists of texts", most)})
	err.Reason = "LIMIT_EXCEEDED"
	err.Metadata = map[string]string{"limit": "answer-bytes", "value": fmt.Sprint(most)}
	return err
}

// end releases all memory of the response.
func (a *ResponseMemory) end() {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.held > 0 {
		a.pool.release(a.caller, a.held)
		a.held = 0
	}
}

// acquire takes n bytes for a caller and waits for them if necessary. It reports
// whether it got them.
func (p *MemoryPool) acquire(ctx context.Context, caller string, n int64) bool {
	if p.Total <= 0 {
		return true
	}
	var late <-chan time.Time
	for {
		p.lock.Lock()
		if p.used+n <= p.Total && p.callers[caller]+n <= p.Total/2 {
			p.used += n
			p.callers[caller] += n
			p.peak = max(p.peak, p.used)
			p.lock.Unlock()
			return true
		}
		if late == nil && p.waiting >= maxWaiting {
			p.lock.Unlock()
			return false
		}
		p.waiting++
		freed := p.freed
		p.lock.Unlock()
		if late == nil {
			timer := time.NewTimer(maxWait)
			defer timer.Stop()
			late = timer.C
		}
		if !p.wait(ctx, freed, late) {
			return false
		}
	}
}

// wait waits until memory has been released. It returns false on timeout or when
// ctx ends.
func (p *MemoryPool) wait(ctx context.Context, freed <-chan struct{}, late <-chan time.Time) (again bool) {
	select {
	case <-freed:
		again = true
	case <-late:
	case <-ctx.Done():
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.waiting--
	return again
}

// release returns n bytes of a caller to the pool.
func (p *MemoryPool) release(caller string, n int64) {
	if p.Total <= 0 {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.used -= n
	if p.callers[caller] -= n; p.callers[caller] == 0 {
		delete(p.callers, caller)
	}
	if p.waiting > 0 {
		close(p.freed)
		p.freed = make(chan struct{})
	}
	if p.used == 0 && p.peak >= idleThreshold {
		p.peak = 0
		if p.idle != nil {
			go p.idle()
		}
	}
}
