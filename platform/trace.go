package platform

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Trace notes what one request asked for, how that ended and what it cost.
// Each layer adds what it knows; logs and metrics are made of it. A nil Trace
// takes notes that nobody reads. It is safe for concurrent use.
type Trace struct {
	Statements atomic.Int64
	RoundTrips atomic.Int64
	Waited     atomic.Int64 // nanoseconds in which the store ran statements, added up

	ID      string // of the request, as its answer and its errors show it
	TraceID string // of the distributed trace that it is part of; "": of none
	Parent  string // what the request causes elsewhere names as its cause, as a W3C traceparent; "": nothing
	Shared  bool   // by all operations on one connection, which have traces of their own

	// Begin is told that an operation begins, and by which route of its protocol.
	// It gives the context that the operation runs in and what is to be called at
	// its end; nil: nobody is told.
	Begin func(ctx context.Context, operation, route string) (context.Context, func())

	lock  sync.Mutex
	facts Facts
}

// Facts are what a Trace tells of a request beside its counters.
type Facts struct {
	Operation  string // as the contract names it, such as ListRepos
	Kind       string // of the resource that the first operation was about
	UID        UID    // of that resource, or of the group that was listed
	Identities []UID  // of the caller
	Codes      []Code // of the errors that were shown, each once; none: the request succeeded
	Limit      string // the limit that refused the request
	Cost       int    // of a GraphQL document
}

type traceKey struct{}

// WithTrace makes all layers note in t.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf gives the trace of the request, nil where nobody takes notes.
func TraceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// Note counts statements sent in one round trip.
func (t *Trace) Note(statements int) {
	if t != nil {
		t.Statements.Add(int64(statements))
		t.RoundTrips.Add(1)
	}
}

// NoteWait adds the time that one round trip took.
func (t *Trace) NoteWait(took time.Duration) {
	if t != nil {
		t.Waited.Add(int64(took))
	}
}

// NoteResource notes what the first operation of a request is about.
func (t *Trace) NoteResource(kind string, uid UID) {
	t.note(func(f *Facts) {
		if f.Kind == "" {
			f.Kind, f.UID = kind, uid
		}
	})
}

// BeginOperation notes what the contract calls the request, and gives the
// context that the operation runs in and what is to be called at its end.
func (t *Trace) BeginOperation(ctx context.Context, name, route string) (context.Context, func()) {
	t.NoteOperation(name)
	if t == nil || t.Begin == nil {
		return ctx, ended
	}
	return t.Begin(ctx, name, route)
}

func ended() {}

// parent is what the request causes elsewhere names as its cause; "": nothing.
func (t *Trace) parent() string {
	if t == nil {
		return ""
	}
	return t.Parent
}

// NoteOperation notes what the contract calls the request.
func (t *Trace) NoteOperation(name string) { t.note(func(f *Facts) { f.Operation = name }) }

// NoteCaller notes who asks.
func (t *Trace) NoteCaller(a *Actor) {
	if a != nil {
		t.note(func(f *Facts) { f.Identities = a.Identities })
	}
}

// NoteCode notes an error that the client is shown.
func (t *Trace) NoteCode(code Code) {
	t.note(func(f *Facts) {
		if !slices.Contains(f.Codes, code) {
			f.Codes = append(f.Codes, code)
		}
	})
}

// NoteRestart forgets how the request has ended and what it asked for: it starts
// over.
func (t *Trace) NoteRestart() { t.note(func(f *Facts) { *f = Facts{} }) }

// NoteLimit notes which limit refused a request.
func (t *Trace) NoteLimit(name string) { t.note(func(f *Facts) { f.Limit = name }) }

// NoteCost notes what a GraphQL document costs.
func (t *Trace) NoteCost(cost int) { t.note(func(f *Facts) { f.Cost = cost }) }

func (t *Trace) note(change func(*Facts)) {
	if t == nil {
		return
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	change(&t.facts)
}

// Facts gives what was noted so far.
func (t *Trace) Facts() Facts {
	t.lock.Lock()
	defer t.lock.Unlock()
	facts := t.facts
	facts.Codes = slices.Clone(facts.Codes)
	return facts
}
