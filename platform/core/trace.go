package core

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Trace collects facts about one request: what it asked for, its result and its
// cost. Each layer adds facts; logs and metrics use them. All methods can be called
// on a nil Trace, which discards them. It is safe for concurrent use.
type Trace struct {
	Statements atomic.Int64
	RoundTrips atomic.Int64
	Waited     atomic.Int64 // total nanoseconds that the store spent on statements

	Began   time.Time // when the request arrived
	ID      string    // request id, as the response and its errors show it
	TraceID string    // id of the distributed trace; "" means none
	Remote  string    // host:port of the client, with port 0 if a proxy tells only its host; "" means unknown
	Parent  string    // W3C traceparent that outgoing requests and events carry; "" means none

	// Begin, if it is not nil, is called when an operation begins, with its name and
	// its route. It returns the context that the operation runs in, and a function to
	// call at its end.
	Begin func(ctx context.Context, operation, route string) (context.Context, func())

	lock   sync.Mutex
	facts  Facts
	isOpen bool // whether the answer is a stream, whose end may be hours away

	leftFindings time.Time // when the request last left work on findings to the background; zero if it has not
}

// Facts are the facts that a Trace has collected, without its counters.
type Facts struct {
	Operation  string // name of the operation in the API, such as ListRepos
	Kind       string // kind of the resource of the first operation
	UID        UID    // UID of that resource, or of the listed group
	Identities []UID  // UIDs of the caller's identities
	Issuer     string // issuer and subject of the caller's token
	Subject    string
	// UnverifiedIssuer and UnverifiedSubject are whom a token names that was refused. Anybody can write such a token.
	UnverifiedIssuer, UnverifiedSubject string

	Codes  []Code // codes of the errors in the response, each once; empty means success
	Denial *Error // the first UNAUTHENTICATED or PERMISSION_DENIED in the response, or nil
	Limit  string // the limit that the request exceeded
	Cost   int    // cost of a GraphQL document

	// Failures are the errors whose causes the client does not see, at most maxFailures.
	Failures []Failure
}

// A Failure is an error whose cause the client does not see.
type Failure struct {
	Where string // path of a field in the response of GraphQL; "" means the whole request
	Err   *Error
}

// maxFailures limits the failures of one request that are kept.
const maxFailures = 10

type traceKey struct{}

// WithTrace returns a context with the trace of the request.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace of the request, or nil.
func TraceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// NoteStatements counts statements sent in one round trip.
func (t *Trace) NoteStatements(statements int) {
	if t != nil {
		t.Statements.Add(int64(statements))
		t.RoundTrips.Add(1)
	}
}

// NoteWait adds the duration of one round trip.
func (t *Trace) NoteWait(took time.Duration) {
	if t != nil {
		t.Waited.Add(int64(took))
	}
}

// NoteResource notes the resource of the first operation of a request.
func (t *Trace) NoteResource(kind string, uid UID) {
	t.note(func(f *Facts) {
		if f.Kind == "" {
			f.Kind, f.UID = kind, uid
		}
	})
}

// BeginOperation notes the name of the operation in the API. It returns the context
// that the operation runs in, and a function to call at its end.
func (t *Trace) BeginOperation(ctx context.Context, name, route string) (context.Context, func()) {
	t.NoteOperation(name)
	if t == nil || t.Begin == nil {
		return ctx, doNothing
	}
	return t.Begin(ctx, name, route)
}

func doNothing() {}

// traceParent returns Parent, or "" for a nil Trace.
func (t *Trace) traceParent() string {
	if t == nil {
		return ""
	}
	return t.Parent
}

// NoteOperation notes the name of the operation in the API.
func (t *Trace) NoteOperation(name string) { t.note(func(f *Facts) { f.Operation = name }) }

// Organization returns the organization of the caller, or "" if it has none or is not known. The first one
// stands for a caller of several.
func (f Facts) Organization() UID {
	first := UID("")
	for _, uid := range f.Identities {
		if root := uid.Root(); first == "" || root < first {
			first = root
		}
	}
	return first
}

// NoteCaller notes the identities of the caller, and the issuer and the subject of its token.
func (t *Trace) NoteCaller(a *Actor) {
	if a != nil {
		t.note(func(f *Facts) { f.Identities, f.Issuer, f.Subject = a.Identities, a.Issuer, a.Subject })
	}
}

// NoteRefused notes whom a token names that was refused.
func (t *Trace) NoteRefused(issuer, subject string) {
	t.note(func(f *Facts) { f.UnverifiedIssuer, f.UnverifiedSubject = issuer, subject })
}

// NoteCode notes the code of an error in the response.
func (t *Trace) NoteCode(code Code) {
	t.note(func(f *Facts) {
		if !slices.Contains(f.Codes, code) {
			f.Codes = append(f.Codes, code)
		}
	})
}

// NoteError notes an error in the response.
func (t *Trace) NoteError(e *Error) {
	t.NoteCode(e.Code)
	if e.Code == CodeUnauthenticated || e.Code == CodePermissionDenied {
		t.note(func(f *Facts) { f.Denial = cmp.Or(f.Denial, e) })
	}
}

// NoteLeftFindings notes that the request has left work on findings to the background.
func (t *Trace) NoteLeftFindings() {
	if t != nil {
		t.lock.Lock()
		defer t.lock.Unlock()
		t.leftFindings = time.Now()
	}
}

// TakeLeftFindings returns when the request last left work on findings to the background, and forgets it. It is zero if the request
// has not.
func (t *Trace) TakeLeftFindings() (left time.Time) {
	if t != nil {
		t.lock.Lock()
		defer t.lock.Unlock()
		left, t.leftFindings = t.leftFindings, time.Time{}
	}
	return left
}

// NoteStream notes that the answer is a stream.
func (t *Trace) NoteStream() {
	if t != nil {
		t.lock.Lock()
		defer t.lock.Unlock()
		t.isOpen = true
	}
}

// IsStream reports whether the answer is a stream.
func (t *Trace) IsStream() bool {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.isOpen
}

// NoteFailure notes a failure, and reports whether the log will have it when the request ends.
// It does not keep those of streams, because an operator must know of them at once.
func (t *Trace) NoteFailure(f Failure) (isKept bool) {
	t.note(func(facts *Facts) {
		if isKept = !t.isOpen; isKept && len(facts.Failures) < maxFailures {
			facts.Failures = append(facts.Failures, f)
		}
	})
	return isKept
}

// NoteRestart discards the facts, because the request is run again.
func (t *Trace) NoteRestart() { t.note(func(f *Facts) { *f = Facts{} }) }

// NoteLimit notes the limit that a request exceeded.
func (t *Trace) NoteLimit(name string) { t.note(func(f *Facts) { f.Limit = name }) }

// NoteCost notes the cost of a GraphQL document.
func (t *Trace) NoteCost(cost int) { t.note(func(f *Facts) { f.Cost = cost }) }

func (t *Trace) note(change func(*Facts)) {
	if t == nil {
		return
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	change(&t.facts)
}

// Facts returns the facts noted so far.
func (t *Trace) Facts() Facts {
	t.lock.Lock()
	defer t.lock.Unlock()
	facts := t.facts
	facts.Codes, facts.Failures = slices.Clone(facts.Codes), slices.Clone(facts.Failures)
	return facts
}
