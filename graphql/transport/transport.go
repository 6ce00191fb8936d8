// Package transport serves GraphQL over HTTP: POST, GET for queries, server-sent
// events and websockets, with the media types and status codes of their
// specifications. It runs operations with package execute and knows neither the schema
// nor the data.
package transport

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"atrium/graphql/execute"
	"atrium/graphql/refusal"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// An endpoint is GraphQL over HTTP: POST, GET for queries, server-sent events
// by both (graphql-sse, distinct connections), and websockets of the protocol
// graphql-transport-ws. Every one of them ends in Prepare and Run of the
// executor.
type endpoint struct {
	Options
	executor *execute.Executor

	sockets       tally // open ones, streams among them, by caller
	subscriptions tally // on sockets and streams, by caller
}

// A Caller is the sender of a request. The zero value is an anonymous caller.
type Caller struct {
	Key     string    // identifies the caller for limits
	Expires time.Time // streams and websockets end then; zero: never
}

// Options are what the transports need to know of the service.
type Options struct {
	Bounds

	// Present shows errors that the executor is not asked about.
	Present graphql.ErrorPresenterFunc
	// Budget counts what responses hold in memory; nil: nobody counts.
	Budget execute.Budget
	// CheckJSON says what is wrong with a value that decoding would change
	// without a word, such as half of a surrogate pair; nil: nothing is.
	CheckJSON func(value []byte) error
	// Identify gives the caller of a request.
	Identify func(ctx context.Context) Caller
	// Authorize gives ctx with the caller that the values of an Authorization
	// header prove. It checks the token in a websocket's first message; nil:
	// the request for a websocket must prove its caller itself.
	Authorize func(ctx context.Context, authorization []string) (context.Context, error)
	// Admit counts an operation that comes over a websocket, of which whoever
	// counts requests sees the start only. Leave ends it; nil: any may come.
	Admit func(ctx context.Context) (leave func(), err error)
	// Origins are those beside the endpoint's own that may open websockets:
	// host or scheme://host, with the wildcards of path.Match.
	Origins []string
	// Closing ends streams and websockets when it is closed, so that a server
	// that shuts down need not wait for them.
	Closing <-chan struct{}
}

// Bounds are the limits of the transports. 0 turns a limit off.
type Bounds struct {
	BodyBytes  int64         // of a request, and of a message on a websocket
	Timeout    time.Duration // of everything but a subscription
	InitWait   time.Duration // for a websocket's first message
	KeepAlive  time.Duration // between signs of life on a stream
	WriteWait  time.Duration // for the reader of a stream to take one event; who takes longer is dropped
	Operations int           // at once on a websocket
	Sockets    int           // at once of a caller, subscriptions over server-sent events among them

	Subscriptions int // at once of a caller, on all of its websockets and streams together
}

// DefaultBounds returns limits that suit browsers and proxies.
func DefaultBounds() Bounds {
	return Bounds{
		BodyBytes: 1 << 20, Timeout: 30 * time.Second, InitWait: 5 * time.Second, KeepAlive: 12 * time.Second,
		WriteWait: 10 * time.Second, Operations: 50, Sockets: 20, Subscriptions: 100,
	}
}

// New serves the operations of x.
func New(x graphql.GraphExecutor, o Options) http.Handler {
	return &endpoint{Options: o, executor: execute.New(x, execute.Options{Present: o.Present, Budget: o.Budget, Timeout: o.Timeout})}
}

// ServeHTTP answers one request, or one websocket for as long as it is open.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		e.serveSocket(w, r)
		return
	}
	accepts := negotiate(r.Header.Values("Accept"))
	if accepts.bestType == "" {
		e.refuse(w, r, mediaJSON, &statusError{http.StatusNotAcceptable, refusal.NewInvalid("Accept", "must allow "+mediaJSON+", "+mediaResponse+" or "+mediaEvents)})
		return
	}
	var raw *graphql.RawParams
	var err error
	switch r.Method {
	case http.MethodPost:
		raw, err = e.readBody(w, r)
	case http.MethodGet:
		raw, err = e.readQuery(r)
	default:
		w.Header().Set("Allow", "GET, POST")
		err = &statusError{http.StatusMethodNotAllowed, refusal.NewUnimplemented("GraphQL is asked by GET and POST")}
	}
	if err != nil {
		e.refuse(w, r, accepts.json(), err)
		return
	}
	e.answer(w, r, accepts, raw)
}

// answer executes a request and writes its response or stream.
func (e *endpoint) answer(w http.ResponseWriter, r *http.Request, accepts acceptedTypes, raw *graphql.RawParams) {
	ctx, operation, refused := e.executor.Prepare(r.Context(), raw)
	if refused != nil {
		if accepts.bestType == mediaEvents { // an EventSource accepts no other response
			ctx, end := e.lifetime(ctx)
			e.stream(ctx, end, w, slices.Values([]*graphql.Response{refused}))
			return
		}
		write(w, statusOf(refused, accepts.bestType), accepts.bestType, refused)
		return
	}
	kind := operation.Operation.Operation
	switch {
	case kind == ast.Mutation && r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		e.refuse(w, r, accepts.json(), &statusError{http.StatusMethodNotAllowed, refusal.NewUnimplemented("a mutation is sent by POST")})
	case kind == ast.Subscription && !accepts.allowsEvents:
		e.refuse(w, r, accepts.json(), &statusError{http.StatusNotAcceptable, refusal.NewInvalid("Accept", "must allow "+mediaEvents+" for a subscription")})
	case kind == ast.Subscription:
		e.streamSubscription(ctx, w, r, accepts, operation)
	case accepts.bestType == mediaEvents:
		ctx, end := e.lifetime(ctx)
		e.stream(ctx, end, w, e.executor.Run(ctx, operation))
	default:
		e.writeOnce(ctx, w, r, accepts.bestType, operation)
	}
}

// streamSubscription streams a subscription if the caller has not reached the limit.
func (e *endpoint) streamSubscription(ctx context.Context, w http.ResponseWriter, r *http.Request, accepts acceptedTypes, operation *graphql.OperationContext) {
	caller := e.Identify(ctx).Key
	leave, err := e.sockets.enter(caller, "sockets", e.Sockets)
	if err != nil {
		e.refuse(w, r, accepts.json(), err)
		return
	}
	defer leave()
	leaveAll, err := e.subscriptions.enter(caller, "subscriptions", e.Subscriptions)
	if err != nil {
		e.refuse(w, r, accepts.json(), err)
		return
	}
	defer leaveAll()
	ctx, end := e.lifetime(ctx)
	e.stream(ctx, end, w, e.executor.Run(ctx, operation))
}

// writeOnce writes the only response of a query or a mutation.
func (e *endpoint) writeOnce(ctx context.Context, w http.ResponseWriter, r *http.Request, media string, operation *graphql.OperationContext) {
	for response := range e.executor.Run(ctx, operation) {
		write(w, statusOf(response, media), media, response)
		return
	}
	e.refuse(w, r, media, context.DeadlineExceeded) // the executor returns no response after its time limit
}
