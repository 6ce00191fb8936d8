package resolvers

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/platform"
)

// An endpoint is GraphQL over HTTP: POST, GET for queries, server-sent events
// by both (graphql-sse, distinct connections), and websockets of the protocol
// graphql-transport-ws. Every one of them ends in prepare and run.
type endpoint struct {
	executor graphql.GraphExecutor
	present  graphql.ErrorPresenterFunc // also of what is refused before the executor is asked
	Transport
	authorize func(ctx context.Context, authorization []string) (context.Context, error)
	admission func(ctx context.Context) (leave func(), err error)
	origins   []string
	closing   <-chan struct{}

	sockets       tally // open ones, streams among them, by caller
	subscriptions tally // on sockets and streams, by caller
}

// Transport bounds what the transports do; 0 turns a bound off.
type Transport struct {
	BodyBytes  int64         // of a request, and of a message on a websocket
	Timeout    time.Duration // of everything but a subscription
	InitWait   time.Duration // for a websocket's first message
	KeepAlive  time.Duration // between signs of life on a stream
	WriteWait  time.Duration // for the reader of a stream to take one event; who takes longer is dropped
	Operations int           // at once on a websocket
	Sockets    int           // at once of a caller, subscriptions over server-sent events among them

	Subscriptions int // at once of a caller, on all of its websockets and streams together
}

// DefaultTransport suits browsers and proxies.
func DefaultTransport() Transport {
	return Transport{
		BodyBytes: 1 << 20, Timeout: 30 * time.Second, InitWait: 5 * time.Second, KeepAlive: 12 * time.Second,
		WriteWait: 10 * time.Second, Operations: 50, Sockets: 20, Subscriptions: 100,
	}
}

func newEndpoint(x graphql.GraphExecutor, o Options) *endpoint {
	e := &endpoint{
		executor: x, present: o.present, Transport: DefaultTransport(),
		authorize: o.Authorize, admission: o.Admit, origins: o.Origins, closing: o.Closing,
	}
	if o.Transport != nil {
		e.Transport = *o.Transport
	}
	return e
}

// ServeHTTP answers one request, or one websocket for as long as it is open.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		e.serveSocket(w, r)
		return
	}
	accepts := negotiate(r.Header.Values("Accept"))
	if accepts.best == "" {
		e.refuse(w, r, mediaJSON, &refusal{http.StatusNotAcceptable, badRequest("Accept", "must allow "+mediaJSON+", "+mediaResponse+" or "+mediaEvents)})
		return
	}
	var raw *graphql.RawParams
	var err error
	switch r.Method {
	case http.MethodPost:
		raw, err = e.readBody(w, r)
	case http.MethodGet:
		raw, err = readQuery(r)
	default:
		w.Header().Set("Allow", "GET, POST")
		err = &refusal{http.StatusMethodNotAllowed, unimplemented("GraphQL is asked by GET and POST")}
	}
	if err != nil {
		e.refuse(w, r, accepts.json(), err)
		return
	}
	e.answer(w, r, accepts, raw)
}

// answer executes what was read, as a stream where it is one.
func (e *endpoint) answer(w http.ResponseWriter, r *http.Request, accepts accepted, raw *graphql.RawParams) {
	ctx, operation, refused := e.prepare(r.Context(), raw)
	if refused != nil {
		if accepts.best == mediaEvents { // an EventSource sees no other answer
			ctx, end := e.lifetime(ctx)
			e.stream(ctx, end, w, slices.Values([]*graphql.Response{refused}))
			return
		}
		write(w, statusOf(refused, accepts.best), accepts.best, refused)
		return
	}
	kind := operation.Operation.Operation
	switch {
	case kind == ast.Mutation && r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		e.refuse(w, r, accepts.json(), &refusal{http.StatusMethodNotAllowed, unimplemented("a mutation is sent by POST")})
	case kind == ast.Subscription && !accepts.events:
		e.refuse(w, r, accepts.json(), &refusal{http.StatusNotAcceptable, badRequest("Accept", "must allow "+mediaEvents+" for a subscription")})
	case kind == ast.Subscription:
		e.streamSubscription(ctx, w, r, accepts, operation)
	case accepts.best == mediaEvents:
		ctx, end := e.lifetime(ctx)
		e.stream(ctx, end, w, e.run(ctx, operation))
	default:
		e.once(ctx, w, r, accepts.best, operation)
	}
}

// streamSubscription streams a subscription, where the caller may have one more.
func (e *endpoint) streamSubscription(ctx context.Context, w http.ResponseWriter, r *http.Request, accepts accepted, operation *graphql.OperationContext) {
	leave, err := e.sockets.enter(platform.ActorOf(ctx), "sockets", e.Sockets)
	if err != nil {
		e.refuse(w, r, accepts.json(), err)
		return
	}
	defer leave()
	leaveAll, err := e.subscriptions.enter(platform.ActorOf(ctx), "subscriptions", e.Subscriptions)
	if err != nil {
		e.refuse(w, r, accepts.json(), err)
		return
	}
	defer leaveAll()
	ctx, end := e.lifetime(ctx)
	e.stream(ctx, end, w, e.run(ctx, operation))
}

// once writes the only response of a query or a mutation.
func (e *endpoint) once(ctx context.Context, w http.ResponseWriter, r *http.Request, media string, operation *graphql.OperationContext) {
	for response := range e.run(ctx, operation) {
		write(w, statusOf(response, media), media, response)
		return
	}
	e.refuse(w, r, media, context.DeadlineExceeded) // the executor has no answer once time is up
}

// prepare takes a request up to where its execution would start. Where it ends
// before that, the response says why.
func (e *endpoint) prepare(ctx context.Context, raw *graphql.RawParams) (_ context.Context, operation *graphql.OperationContext, refused *graphql.Response) {
	ctx = graphql.StartOperationTrace(ctx)
	var errs gqlerror.List
	refused, _ = e.safely(ctx, func() *graphql.Response {
		operation, errs = e.executor.CreateOperationContext(ctx, raw)
		return nil
	})
	ctx = graphql.WithOperationContext(ctx, operation)
	if errs != nil {
		refused, _ = e.safely(ctx, func() *graphql.Response { return e.executor.DispatchError(ctx, described(errs)) })
	}
	return ctx, operation, refused
}

// run executes an operation and gives its responses: one, or those of a
// subscription until ctx ends.
func (e *endpoint) run(ctx context.Context, operation *graphql.OperationContext) iter.Seq[*graphql.Response] {
	return func(yield func(*graphql.Response) bool) {
		ctx, cancel := e.timed(ctx, operation)
		defer cancel()
		if operation.Operation.Operation == ast.Subscription {
			e.runSubscription(ctx, operation, yield)
			return
		}
		ctx, ended := platform.AnswerOf(ctx).Another(ctx)
		defer ended() // when the client has taken the response
		answer := platform.AnswerOf(ctx)
		if err := answer.Read(ctx, valueBytes*valuesOf(operation)); err != nil {
			yield(e.failed(ctx, blameQuery(err)))
			return
		}
		response, _ := e.safely(ctx, func() *graphql.Response {
			next, ctx := e.executor.DispatchOperation(ctx, operation)
			return next(ctx)
		})
		if err := answer.Unwritten(); err != nil && response != nil {
			response = e.failed(ctx, blameQuery(err))
		}
		if response != nil {
			answer.Rendered()
			yield(response)
		}
	}
}

// runSubscription gives the responses of a subscription. What it reads is not of one
// answer; each response is one while the client takes it.
func (e *endpoint) runSubscription(ctx context.Context, operation *graphql.OperationContext, yield func(*graphql.Response) bool) {
	of := platform.AnswerOf(ctx)
	ctx, end := withEnding(platform.Uncounted(ctx))
	var next graphql.ResponseHandler
	for {
		response, panicked := e.safely(ctx, func() *graphql.Response {
			if next == nil {
				next, ctx = e.executor.DispatchOperation(ctx, operation)
			}
			return next(ctx)
		})
		if response == nil {
			if err := end.reason(); err != nil {
				yield(e.failed(ctx, err))
			}
			return
		}
		counted, ended := of.Another(ctx)
		err := platform.AnswerOf(counted).Write(counted, len(response.Data))
		if err != nil {
			response = e.failed(ctx, err)
		}
		taken := yield(response)
		ended()
		if !taken || panicked || err != nil {
			return
		}
	}
}

// blameQuery makes err one about the whole query, whatever field it names.
func blameQuery(err error) error { return renamed(err, func(string) string { return "query" }) }

// failed is the response that says no more than an error.
func (e *endpoint) failed(ctx context.Context, err error) *graphql.Response {
	return &graphql.Response{Errors: gqlerror.List{e.present(ctx, err)}}
}

func (e *endpoint) timed(ctx context.Context, operation *graphql.OperationContext) (context.Context, context.CancelFunc) {
	if e.Timeout <= 0 || operation.Operation.Operation == ast.Subscription {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, e.Timeout)
}

// safely gives what do gives. A panic becomes an internal error: on a stream
// nobody else would catch it, and the process would end.
func (e *endpoint) safely(ctx context.Context, do func() *graphql.Response) (response *graphql.Response, panicked bool) {
	defer func() {
		if cause := recover(); cause != nil {
			err := e.present(ctx, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
			response, panicked = &graphql.Response{Errors: gqlerror.List{err}}, true
		}
	}()
	return do(), false
}
