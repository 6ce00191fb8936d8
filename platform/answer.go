package platform

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// AnswerLimits bound what answers hold in memory.
type AnswerLimits struct {
	One int64 // bytes that are read for one answer, and bytes of its body; each may be as many
	All int64 // bytes that all answers under way may take; one caller's take half of them
}

// DefaultAnswerLimits keep a process below 512 MB.
func DefaultAnswerLimits() AnswerLimits { return AnswerLimits{One: 16 << 20, All: 256 << 20} }

// An AnswerPool counts the memory of all answers under way.
type AnswerPool struct {
	AnswerLimits
	idle func() // is called when large answers have ended and none is left

	lock    sync.Mutex
	used    int64
	peak    int64 // since idle was called last
	callers map[string]int64
	waiting int
	freed   chan struct{} // is closed when memory is given back
}

// How the memory of answers is counted. What is read becomes messages or JSON
// beside it, a body is copied on its way, and buffers grow ahead of need.
const (
	readWeight    = 2
	writtenWeight = 3
	freeBytes     = 64 << 10  // an answer takes so much without being counted
	stepBytes     = 256 << 10 // and the rest in steps

	// An answer that waits for memory may hold a connection to the database,
	// so that few wait, and not for long.
	maxWaiting = 2
	maxWait    = time.Second

	// Answers that took so much together leave a heap that is worth returning.
	worthReturning = 32 << 20
)

// NewAnswerPool makes a pool. idle is called, in a goroutine of its own, when
// large answers have ended and none is left; it may be nil.
func NewAnswerPool(limits AnswerLimits, idle func()) *AnswerPool {
	return &AnswerPool{AnswerLimits: limits, idle: idle, callers: map[string]int64{}, freed: make(chan struct{})}
}

// An Answer counts what one answer holds in memory. Its methods are safe on
// nil, where nobody counts.
type Answer struct {
	pool   *AnswerPool
	caller string

	lock          sync.Mutex
	read, written int64
	held          int64 // of the pool
	unwritten     error
}

type answerKey struct{}

// Open starts to count an answer, for the caller of ctx. What it holds is
// given back by end.
func (p *AnswerPool) Open(ctx context.Context) (_ context.Context, end func()) {
	a := &Answer{pool: p}
	if actor := ActorOf(ctx); actor != nil {
		a.caller = actor.Key()
	}
	return context.WithValue(ctx, answerKey{}, a), a.end
}

// AnswerOf gives the answer that ctx counts, nil where nobody counts.
func AnswerOf(ctx context.Context) *Answer {
	a, _ := ctx.Value(answerKey{}).(*Answer)
	return a
}

// Uncounted is ctx for what is no part of an answer, such as a feed that goes
// on for hours.
func Uncounted(ctx context.Context) context.Context {
	return context.WithValue(ctx, answerKey{}, (*Answer)(nil))
}

// Another starts to count another answer of the same pool: one of many that a
// connection carries.
func (a *Answer) Another(ctx context.Context) (_ context.Context, end func()) {
	if a == nil {
		return ctx, func() {}
	}
	return a.pool.Open(ctx)
}

// Read counts n bytes that were read for the answer. INVALID_ARGUMENT where
// they are more than one answer may hold, UNAVAILABLE where others hold all.
func (a *Answer) Read(ctx context.Context, n int) error {
	if a == nil {
		return nil
	}
	return a.grow(ctx, int64(n), 0)
}

// Write counts n bytes of the answer's body, with the errors of Read.
func (a *Answer) Write(ctx context.Context, n int) error {
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

// Unwritten is the error of Write, nil where all of the body was written.
func (a *Answer) Unwritten() error {
	if a == nil {
		return nil
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.unwritten
}

// Rendered gives back what was read: the body is all that is left.
func (a *Answer) Rendered() {
	if a == nil {
		return
	}
	a.lock.Lock()
	defer a.lock.Unlock()
	a.read = 0
	if over := a.held - a.needed(); over > 0 && a.held > 0 {
		over = min(over, a.held)
		a.pool.give(a.caller, over)
		a.held -= over
	}
}

// needed is what the answer takes of the pool.
func (a *Answer) needed() int64 {
	return max(0, readWeight*a.read+writtenWeight*a.written-freeBytes)
}

func (a *Answer) grow(ctx context.Context, read, written int64) error {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.read, a.written = a.read+read, a.written+written
	if most := a.pool.One; most > 0 && max(a.read, a.written) > most {
		return tooLarge(most)
	}
	missing := a.needed() - a.held
	if missing <= 0 {
		return nil
	}
	step := (missing + stepBytes - 1) / stepBytes * stepBytes
	if !a.pool.take(ctx, a.caller, step) {
		return Unavailable("answers under way take all the memory that there is for them; ask again, or for less", nil)
	}
	a.held += step
	return nil
}

// tooLarge refuses an answer that is larger than one may be.
func tooLarge(most int64) error {
	err := Invalid(Violation{"page_size", fmt.Sprintf("asks for an answer of more than %d bytes: ask for fewer rows, or leave out long fields such as readme, details, body and lists of texts", most)})
	err.Reason = "LIMIT_EXCEEDED"
	err.Metadata = map[string]string{"limit": "answer-bytes", "value": fmt.Sprint(most)}
	return err
}

// end gives everything back.
func (a *Answer) end() {
	a.lock.Lock()
	defer a.lock.Unlock()
	if a.held > 0 {
		a.pool.give(a.caller, a.held)
		a.held = 0
	}
}

// take takes n bytes for a caller, and waits for them if it must.
func (p *AnswerPool) take(ctx context.Context, caller string, n int64) bool {
	if p.All <= 0 {
		return true
	}
	var late <-chan time.Time
	for {
		p.lock.Lock()
		if p.used+n <= p.All && p.callers[caller]+n <= p.All/2 {
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

// wait waits until memory may be there, and reports whether it may.
func (p *AnswerPool) wait(ctx context.Context, freed <-chan struct{}, late <-chan time.Time) (again bool) {
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

func (p *AnswerPool) give(caller string, n int64) {
	if p.All <= 0 {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	p.used -= n
	if p.callers[caller] -= n; p.callers[caller] == 0 {
		delete(p.callers, caller)
	}
	close(p.freed)
	p.freed = make(chan struct{})
	if p.used == 0 && p.peak >= worthReturning {
		p.peak = 0
		if p.idle != nil {
			go p.idle()
		}
	}
}
