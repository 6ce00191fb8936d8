package server

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"sync/atomic"
	"time"

	"atrium/auth"
	"atrium/platform"
)

// A ticket is a request at a gate, and the writer of its answer. While the ticket waits
// for the network, because the client is slow to send or to read, others may use its slot.
type ticket struct {
	http.ResponseWriter
	gate  *gate
	ctx   context.Context //nolint:containedctx // of the request, which the ticket is a part of
	body  io.ReadCloser
	ready chan error // receives the end of a wait: nil or the reason of a refusal

	remote     string // address of the sender
	token      tokenHash
	presumed   shareKey // caller of an earlier request with the token; none if caller is ""
	counted    string   // caller for which the request was counted
	quota      *quota   // nil if the request is not in flight for a quota
	isAdmitted bool     // whether the request has got a slot and has not left

	// isSocket is set when the request has become a websocket, whose operations run
	// concurrently. From then on, only Admit, Failed and Wait are called until the end.
	isSocket atomic.Bool

	// blocked is 0 while the request is worked on, the tick of the gate when it began to
	// wait for the network, or hasLent.
	blocked atomic.Int64

	// The lock of the gate guards the fields below.
	state   ticketState
	key     shareKey
	share   *share        // share of the key while the request waits or works
	since   time.Time     // when the request began to wait or to work
	charged time.Duration // estimated time of the work
	index   int           // place among the working requests of the gate
}

type ticketState int

const (
	isNew ticketState = iota
	isWaiting
	isWorking
	isAway      // its slot is lent
	isReturning // it waits for a slot after its slot was lent
	isDone
)

const hasLent = -1

// begin prepares a ticket for a request.
func (g *gate) begin(w http.ResponseWriter, r *http.Request) *ticket {
	t, _ := g.tickets.Get().(*ticket)
	t.ResponseWriter, t.ctx, t.body, t.remote = w, r.Context(), r.Body, r.RemoteAddr
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = (*ticketBody)(t)
	}
	return t
}

// end ends a request, and keeps its ticket for another one.
func (t *ticket) end() {
	t.leave()
	select {
	case <-t.ready:
	default:
	}
	ready, g := t.ready, t.gate
	*t = ticket{gate: g, ready: ready}
	g.tickets.Put(t)
}

// leave ends the count of the request in flight, and then gives up its slot. It may be called
// several times. Requests that have arrived meanwhile run first, so that they find the slot
// taken. Otherwise, each of them would run to its end before the next one, and the queue of the
// scheduler would take the place of the queue of the gate.
func (t *ticket) leave() {
	if t.quota != nil {
		t.gate.quotas.leave(t.quota)
		t.quota = nil
	}
	if t.isAdmitted {
		t.isAdmitted = false
		runtime.Gosched()
	}
	t.gate.leave(t)
}

// isBlocked reports whether the request has waited for the network since an earlier tick,
// and marks its slot as lent. The gate calls it.
func (t *ticket) isBlocked(tick int64) bool {
	since := t.blocked.Load()
	return since > 0 && since < tick && t.blocked.CompareAndSwap(since, hasLent)
}

// block is called before the request waits for the network.
func (t *ticket) block() { t.blocked.Store(t.gate.tick.Load() + 1) }

// unblock is called when the request no longer waits for the network. If its slot was
// lent, unblock waits for one.
func (t *ticket) unblock() error {
	if t.blocked.Swap(0) != hasLent {
		return nil
	}
	return t.gate.resume(t.ctx, t)
}

// WriteHeader ends the work of a request that becomes a websocket.
func (t *ticket) WriteHeader(status int) {
	if status == http.StatusSwitchingProtocols {
		t.leave()
		t.isSocket.Store(true)
	}
	t.ResponseWriter.WriteHeader(status)
}

// Write sends a part of the answer.
func (t *ticket) Write(b []byte) (int, error) {
	t.block()
	n, err := t.ResponseWriter.Write(b)
	return n, firstError(err, t.unblock())
}

// FlushError sends what was written.
func (t *ticket) FlushError() error {
	t.block()
	err := http.NewResponseController(t.ResponseWriter).Flush()
	return firstError(err, t.unblock())
}

// Flush sends what was written, for handlers that take any http.Flusher.
func (t *ticket) Flush() { _ = t.FlushError() }

// Unwrap lets http.ResponseController reach the connection.
func (t *ticket) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// A ticketBody is the body of the request of a ticket.
type ticketBody ticket

// Read reads a part of the body.
func (b *ticketBody) Read(to []byte) (int, error) {
	t := (*ticket)(b)
	t.block()
	n, err := t.body.Read(to)
	return n, firstError(err, t.unblock())
}

// Close closes the body. It may read the rest of it.
func (b *ticketBody) Close() error {
	t := (*ticket)(b)
	t.block()
	err := t.body.Close()
	return firstError(err, t.unblock())
}

func firstError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// findTicket returns the ticket of a request whose answer w is, or nil.
func findTicket(w http.ResponseWriter) *ticket {
	for {
		if t, found := w.(*ticket); found {
			return t
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = wrapper.Unwrap()
	}
}

// detach ends the work of a request whose answer is a stream without an end. Streams have
// limits of their own.
func detach(w http.ResponseWriter) {
	if t := findTicket(w); t != nil {
		t.leave()
	}
}

// Admit fails if the address of the request, whose token is not known, has no quota left.
func (t *ticket) Admit() error {
	left, err := t.gate.check(peer(t.remote), time.Now())
	if err != nil {
		if !t.isSocket.Load() {
			t.gate.writeHeaders(t.Header(), left)
		}
		platform.TraceOf(t.ctx).NoteLimit(limitRate)
	}
	return err
}

// Failed counts a request with an invalid token for its address.
func (t *ticket) Failed(err error) error {
	if platform.AsError(err).Code == platform.CodeResourceExhausted {
		return err // Admit has returned this error
	}
	t.gate.forget(t.token)
	count := t.count
	if t.isSocket.Load() {
		count = t.countOnce
	}
	if limit, exhausted := count(peer(t.remote)); exhausted != nil {
		platform.TraceOf(t.ctx).NoteLimit(limit)
		return exhausted
	}
	return err
}

// countOnce counts an operation on a websocket for the quota of a caller. It changes nothing
// of the ticket, which all operations share.
func (t *ticket) countOnce(caller string) (limit string, err error) {
	if t.gate.isOff() {
		return "", nil
	}
	q, _, limit, err := t.gate.enter(caller, time.Now())
	if err == nil {
		t.gate.quotas.leave(q)
	}
	return limit, err
}

// Wait lets others use the slot of the request while it waits for an issuer. The operations
// of a websocket have no slots.
func (t *ticket) Wait() (resume func() error) {
	if t.isSocket.Load() {
		return func() error { return nil }
	}
	t.block()
	return t.unblock
}

// count counts the request for the quota of a caller, and for no other one.
func (t *ticket) count(caller string) (limit string, err error) {
	if t.gate.isOff() || t.counted == caller {
		return "", nil
	}
	if t.quota != nil {
		t.gate.quotas.leave(t.quota)
		t.quota = nil
	}
	q, left, limit, err := t.gate.enter(caller, time.Now())
	t.gate.writeHeaders(t.Header(), left)
	if err == nil {
		t.quota, t.counted = q, caller
	}
	return limit, err
}

var _ auth.Gate = (*ticket)(nil)
