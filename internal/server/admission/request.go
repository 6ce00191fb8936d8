package admission

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"atrium/internal/auth"
	"atrium/platform/core"
)

// A request is what a Controller knows of a request, and the writer of its response. While
// the request waits for the network, because the client is slow to send or to read, others
// may use its slot.
type request struct {
	http.ResponseWriter
	*Controller
	ctx  context.Context //nolint:containedctx // It is that of the request.
	http *http.Request   // nil for an operation on a websocket
	body io.ReadCloser

	early *earlyBody // the body, if it was read before the request took a slot; else nil

	remote   string // address of the sender
	token    tokenHash
	presumed Key    // caller of an earlier request with the token; empty if there is none
	counted  string // caller for which the request was counted
	quota    *quota // nil if the request is not in flight for a quota

	// isSocket is set when the request has become a websocket, whose operations run
	// concurrently. From then on, only Admit, Failed and Wait are called until the end.
	isSocket atomic.Bool

	turns chan struct{} // holds an element for each read of the request that uses, or waits for, a connection

	isAway   atomic.Bool // whether its slot was lent while a part of the response was written
	hasEnded atomic.Bool // whether the request has given up its slot for good
	hasBegun atomic.Bool // whether the response has begun
	refused  http.Header // what is dropped from the response, as the request was refused while it waited; else nil

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
	mayRefuse  bool       // whether the request may be refused while it waits
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

// newRequest returns a request, or an operation on a websocket.
func (c *Controller) newRequest(ctx context.Context) *request {
	return &request{Controller: c, ctx: ctx, turns: make(chan struct{}, maxTurns)}
}

// begin wraps the body and the response of a request.
func (c *Controller) begin(w http.ResponseWriter, r *http.Request) *request {
	q := c.newRequest(r.Context())
	q.ResponseWriter, q.http, q.body, q.remote = w, r, r.Body, r.RemoteAddr
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
	q.hasEnded.Store(true)
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

// unblock is called when the request no longer waits for the network, and works on. If its slot
// was lent, unblock waits for one, and the request is refused if there is none in time. Once the
// response has begun, it needs a slot only to read more from the database (TakeTurn).
func (q *request) unblock() error {
	switch {
	case q.blocked.Swap(0) != hasLent:
		return nil
	case q.hasBegun.Load():
		q.isAway.Store(true)
		return nil
	}
	limit, err := q.limiter.resume(q.ctx, q, true)
	if err != nil {
		q.settings.Refuse(q.ResponseWriter, q.http, limit, err)
		q.hasBegun.Store(true)
		q.refused = http.Header{}
	}
	return err
}

// Header returns the header of the response.
func (q *request) Header() http.Header {
	if q.refused != nil {
		return q.refused
	}
	return q.ResponseWriter.Header()
}

// WriteHeader begins the response. It ends the work of a request that becomes a websocket.
func (q *request) WriteHeader(status int) {
	if q.refused != nil {
		return
	}
	q.hasBegun.Store(true)
	if status == http.StatusSwitchingProtocols {
		q.leave()
		q.isSocket.Store(true)
	}
	q.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the response.
func (q *request) Write(b []byte) (int, error) {
	if q.refused != nil {
		return len(b), nil
	}
	q.hasBegun.Store(true)
	q.block()
	n, err := q.ResponseWriter.Write(b)
	return n, cmp.Or(err, q.unblock())
}

// FlushError sends what was written.
func (q *request) FlushError() error {
	q.hasBegun.Store(true)
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
	if q.early != nil {
		return q.early.Read(to)
	}
	q.block()
	n, err := q.body.Read(to)
	return n, cmp.Or(err, q.unblock())
}

// An earlyBody is a whole body that is read before its request takes a slot. So a slow client holds none, and
// over HTTP/1 net/http notices that a client leaves while its request waits for a slot.
type earlyBody struct {
	bytes.Reader
	err error // why the rest of the body could not be read
}

// Read reads a part of the body.
func (b *earlyBody) Read(to []byte) (int, error) {
	n, err := b.Reader.Read(to)
	if err != nil {
		err = cmp.Or(b.err, err)
	}
	return n, err
}

// maxEarly is the size of the largest body that is read early, which most bodies are smaller than.
const maxEarly = 16 << 10

// readEarly reads a small body.
func (q *request) readEarly(r *http.Request) {
	if r.ContentLength <= 0 || r.ContentLength > maxEarly || r.Header.Get("Expect") != "" {
		return
	}
	body := make([]byte, r.ContentLength)
	n, err := io.ReadFull(q.body, body)
	q.early = &earlyBody{err: err}
	q.early.Reset(body[:n])
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

// LeaveWork gives up the slot of a request whose work has a limit of its own, such as an upload. It stays under way for its caller.
func LeaveWork(w http.ResponseWriter) {
	if q := findRequest(w); q != nil {
		q.hasEnded.Store(true)
		q.limiter.leave(q)
	}
}

// chargedBytes is how many bytes of an upload count as a request.
const chargedBytes = 1 << 20

// Charge counts a request with a large body as several ones, so that its caller may send fewer for a while.
func (c *Controller) Charge(w http.ResponseWriter, bytes int64) {
	if q := findRequest(w); q != nil && q.quota != nil {
		c.quotas.charge(q.quota, float64(bytes/chargedBytes))
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

// maxTurns is how many connections to the database a request may use at the same time, as long as others wait for none.
const maxTurns = 2

// TakeTurn waits until the request may use a connection to the database. Connections are given to requests as slots are.
func (q *request) TakeTurn(ctx context.Context) (core.Turn, error) {
	switch {
	case q.limiter.slots == 0 || q.connections.slots == 0:
		return unlimitedTurn{}, nil
	case q.hasEnded.Load():
		return nil, nil
	case q.isAway.Swap(false):
		if _, err := q.limiter.resume(ctx, q, false); err != nil {
			return nil, err
		}
	}
	select {
	case q.turns <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	t := &turn{of: q}
	if _, err := q.connections.acquire(ctx, &t.connection, q.key); err != nil {
		<-q.turns
		return nil, err
	}
	return t, nil
}

// An unlimitedTurn is for a Controller that limits no slots or no connections.
type unlimitedTurn struct{}

// End does nothing.
func (unlimitedTurn) End() {}

// A turn is the right of a request to use a connection.
type turn struct {
	of         *request
	connection request // what the limiter of connections knows
}

// End lets others use the connection.
func (t *turn) End() {
	t.of.connections.leave(&t.connection)
	<-t.of.turns
}
