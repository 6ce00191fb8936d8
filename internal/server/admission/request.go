package admission

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"atrium/internal/auth"
)

// A request is what a Controller knows of a request, and the writer of its response. While
// the request waits for the network, because the client is slow to send or to read, others
// may use its slot.
type request struct {
	http.ResponseWriter
	*Controller
	ctx  context.Context //nolint:containedctx // It is that of the request.
	body io.ReadCloser

	remote   string // address of the sender
	token    tokenHash
	presumed Key    // caller of an earlier request with the token; empty if there is none
	counted  string // caller for which the request was counted
	quota    *quota // nil if the request is not in flight for a quota

	// isSocket is set when the request has become a websocket, whose operations run
	// concurrently. From then on, only Admit, Failed and Wait are called until the end.
	isSocket atomic.Bool

	// blocked is 0 while the request is worked on, the tick of the limiter when it began to
	// wait for the network, or hasLent.
	blocked atomic.Int64

	// The lock of the limiter guards the fields below.
	state      requestState
	key        Key
	share      *share     // share of the key while the request waits or works
	since      time.Time  // when the request began to wait or to work
	ready      chan error // receives the end of a wait: nil or the reason of a refusal
	isResuming bool       // whether the request has lent its slot before
}

type requestState int

const (
	isNew requestState = iota
	isWaiting
	isWorking
	isAway // its slot is lent
	isDone
)

const hasLent = -1

// begin wraps the body and the response of a request.
func (c *Controller) begin(w http.ResponseWriter, r *http.Request) *request {
	q := &request{ResponseWriter: w, Controller: c, ctx: r.Context(), body: r.Body, remote: r.RemoteAddr}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = (*requestBody)(q)
	}
	return q
}

// client returns the key of the sender.
func (q *request) client() string { return q.settings.Client(q.remote) }

// leave ends the count of the request in flight, and gives up its slot. It may be called
// several times.
func (q *request) leave() {
	if q.quota != nil {
		q.quotas.leave(q.quota)
		q.quota = nil
	}
	q.limiter.leave(q)
}

// block is called before the request waits for the network.
func (q *request) block() { q.blocked.Store(q.limiter.ticks.Load() + 1) }

// lend marks the slot of a request as lent, if the request has waited for the network since
// an earlier tick. It reports whether it has.
func (q *request) lend(tick int64) bool {
	since := q.blocked.Load()
	return since > 0 && since < tick && q.blocked.CompareAndSwap(since, hasLent)
}

// unblock is called when the request no longer waits for the network. If its slot was
// lent, unblock waits for one.
func (q *request) unblock() error {
	if q.blocked.Swap(0) != hasLent {
		return nil
	}
	return q.limiter.resume(q.ctx, q)
}

// WriteHeader ends the work of a request that becomes a websocket.
func (q *request) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols {
		q.leave()
		q.isSocket.Store(true)
	}
	q.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the response.
func (q *request) Write(b []byte) (int, error) {
	q.block()
	n, err := q.ResponseWriter.Write(b)
	return n, cmp.Or(err, q.unblock())
}

// FlushError sends what was written.
func (q *request) FlushError() error {
	q.block()
	err := http.NewResponseController(q.ResponseWriter).Flush()
	return cmp.Or(err, q.unblock())
}

// Flush sends what was written, for handlers that take any http.Flusher.
func (q *request) Flush() { _ = q.FlushError() }

// Unwrap lets http.ResponseController reach the connection.
func (q *request) Unwrap() http.ResponseWriter { return q.ResponseWriter }

// A requestBody is the body of a request.
type requestBody request

// Read reads a part of the body.
func (b *requestBody) Read(to []byte) (int, error) {
	q := (*request)(b)
	q.block()
	n, err := q.body.Read(to)
	return n, cmp.Or(err, q.unblock())
}

// Close closes the body. It may read the rest of it.
func (b *requestBody) Close() error {
	q := (*request)(b)
	q.block()
	err := q.body.Close()
	return cmp.Or(err, q.unblock())
}

// findRequest returns the request whose response w is, or nil.
func findRequest(w http.ResponseWriter) *request {
	for {
		if q, found := w.(*request); found {
			return q
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = wrapper.Unwrap()
	}
}

// Detach ends the work of a request whose response is a stream without an end. Streams have
// limits of their own.
func Detach(w http.ResponseWriter) {
	if q := findRequest(w); q != nil {
		q.leave()
	}
}

// Wait lets others use the slot of the request while it waits for an issuer. The operations
// of a websocket have no slots.
func (q *request) Wait() (resume func() error) {
	if q.isSocket.Load() {
		return func() error { return nil }
	}
	q.block()
	return q.unblock
}

var _ auth.Throttle = (*request)(nil)
