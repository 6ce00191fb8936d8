package transport

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"atrium/internal/graphql/limit"
	"atrium/internal/graphql/refusal"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// A socketOperation is an operation on a websocket that has not ended.
type socketOperation struct {
	id     string
	next   []byte // what each of its messages with a response begins with
	cancel context.CancelFunc
}

// subscribe starts an operation of a client, which need not be a subscription.
func (s *socket) subscribe(ctx context.Context, received message) *closure {
	if received.ID == "" || len(received.ID) > maxOperationID {
		return &closure{closeInvalid, "Invalid message received"}
	}
	ctx, cancel := context.WithCancel(ctx)
	id, _ := json.Marshal(received.ID) // a string can be encoded
	op := &socketOperation{received.ID, slices.Concat([]byte(`{"id":`), id, []byte(`,"type":"next","payload":`)), cancel}
	free, err := s.register(op)
	if !free {
		cancel()
		return &closure{closeDuplicate, "Subscriber already exists"}
	}
	if s.Begin != nil {
		ctx = s.Begin(ctx)
	}
	var raw *graphql.RawParams
	if err == nil {
		raw, err = s.decodeRequest(received.Payload)
	}
	if err != nil { // in this goroutine, so that nothing more is read until the client has received it
		defer s.operationEnded(op)
		defer cancel()
		s.fail(ctx, op, gqlerror.List{s.Present(ctx, err)})
		return nil
	}
	s.work.Go(func() {
		defer s.operationEnded(op)
		defer cancel()
		s.execute(ctx, op, raw)
	})
	return nil
}

// execute sends the responses of an operation until they end or the client cancels it.
func (s *socket) execute(ctx context.Context, op *socketOperation, raw *graphql.RawParams) {
	admitted, leave, err := s.admit(ctx)
	if err != nil {
		s.fail(ctx, op, gqlerror.List{s.Present(ctx, err)})
		return
	}
	defer leave()
	ctx = admitted
	// The rights of the caller may have changed since the websocket was opened.
	if s.Authorize != nil {
		authorized, err := s.Authorize(ctx, s.authorization)
		if err != nil {
			leave() // the client may be slow to read
			s.refuse(ctx, op, err)
			return
		}
		ctx = authorized
	}
	ctx, prepared, refused := s.executor.Prepare(ctx, raw)
	if refused != nil {
		leave() // the client may be slow to read
		s.fail(ctx, op, refused.Errors)
		return
	}
	isSubscription := prepared.Operation.Operation == ast.Subscription
	if isSubscription {
		leave() // subscriptions have separate limits
		leave, err = s.Tallies.subscriptions.enter(s.Identify(ctx), limitSubscriptions, s.Subscriptions)
		if err != nil {
			s.fail(ctx, op, gqlerror.List{s.Present(ctx, err)})
			return
		}
		defer leave()
	}
	for response := range s.executor.Run(ctx, prepared) {
		if isSubscription && isInterrupted(response) {
			s.interrupt(response.Errors[0])
			return
		}
		if !isSubscription {
			leave() // the work is done, and the client may be slow to read
		}
		if !s.isRunning(op) || !s.sendNext(ctx, op, response) {
			return
		}
	}
	leave() // the client must not learn of the end, and send the next operation, before this
	if s.release(op) && ctx.Err() == nil {
		s.send(ctx, message{ID: op.id, Type: "complete"})
	}
}

// sendNext sends a response of an operation. It reports whether that succeeded.
func (s *socket) sendNext(ctx context.Context, op *socketOperation, response *graphql.Response) bool {
	before, data, after := encodeParts(response)
	return s.write(ctx, slices.Concat(op.next, before, data, after, []byte{'}'}))
}

// admit asks Options.Admit whether the operation may run.
func (s *socket) admit(ctx context.Context) (admitted context.Context, leave func(), err error) {
	if s.Admit == nil {
		return ctx, func() {}, nil
	}
	return s.Admit(ctx)
}

// refuse ends an operation whose caller is not authenticated any more, and the websocket with it.
func (s *socket) refuse(ctx context.Context, op *socketOperation, err error) {
	shown := s.Present(ctx, err)
	if codeOf(shown) == refusal.Unauthenticated {
		s.interrupt(shown)
		return
	}
	s.fail(ctx, op, gqlerror.List{shown})
}

// interrupt closes the websocket so that the client opens another one, with a new token, and
// subscribes again. Clients do not do so after `error` and `complete`.
func (s *socket) interrupt(reason *gqlerror.Error) {
	if codeOf(reason) == refusal.Unauthenticated {
		_ = s.conn.Close(closeForbidden, "Token expired")
		return
	}
	_ = s.conn.Close(websocket.StatusTryAgainLater, "Try again later")
}

// fail ends an operation that was not executed.
func (s *socket) fail(ctx context.Context, op *socketOperation, errs gqlerror.List) {
	if s.release(op) {
		s.send(ctx, message{ID: op.id, Type: "error", Payload: encodeErrors(errs)})
	}
}

// register adds an operation to the running ones, if its id is free. It returns an error
// if there are too many operations.
func (s *socket) register(op *socketOperation) (free bool, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.running[op.id] != nil {
		return false, nil
	}
	if s.count++; s.Operations > 0 && s.count > s.Operations {
		err = limit.NewExceeded(limitOperations, s.Operations, s.count)
	}
	s.running[op.id] = op
	return true, err
}

// cancel ends the operation with this id at the request of the client.
func (s *socket) cancel(id string) {
	s.lock.Lock()
	op := s.running[id]
	s.lock.Unlock()
	if op != nil && s.release(op) {
		op.cancel()
	}
}

// isRunning reports whether an operation has its id. After a client has cancelled it, no
// result of it may be sent: the id may belong to another operation.
func (s *socket) isRunning(op *socketOperation) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.running[op.id] == op
}

// release frees the id of an operation for reuse. It reports whether the operation
// still had it.
func (s *socket) release(op *socketOperation) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.running[op.id] != op {
		return false
	}
	delete(s.running, op.id)
	return true
}

// operationEnded frees the id of an operation that has ended, and its place in the count.
func (s *socket) operationEnded(op *socketOperation) {
	s.release(op)
	s.lock.Lock()
	defer s.lock.Unlock()
	s.count--
}

// A tally counts what each caller has open.
type tally struct {
	lock sync.Mutex
	open map[string]int
}

// enter increments the count of a caller. It fails with the name of the limit if the
// count has reached the limit of each person that the caller stands for. All anonymous
// callers ("") share one count.
func (t *tally) enter(by Caller, name string, limit int) (leave func(), err error) {
	caller := by.Key
	limit *= max(1, by.People)
	t.lock.Lock()
	defer t.lock.Unlock()
	if limit > 0 && t.open[caller] >= limit {
		return nil, limitError(name, limit)
	}
	if t.open == nil {
		t.open = map[string]int{}
	}
	t.open[caller]++
	return sync.OnceFunc(func() {
		t.lock.Lock()
		defer t.lock.Unlock()
		if t.open[caller]--; t.open[caller] == 0 {
			delete(t.open, caller)
		}
	}), nil
}
