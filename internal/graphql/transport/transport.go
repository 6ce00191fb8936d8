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

	"atrium/internal/graphql/execute"
	"atrium/internal/graphql/refusal"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// An endpoint serves GraphQL over HTTP: POST, GET for queries, server-sent events for both
// (graphql-sse, distinct connections mode), and websockets with the protocol
// graphql-transport-ws. All of them call Prepare, and then Execute or Run, of the executor.
type endpoint struct {
	Options
	executor *execute.Executor
}

// Tallies count what each caller has open. Endpoints that share them share the limits.
type Tallies struct {
	sockets       tally // websockets and streams
	subscriptions tally // subscriptions on websockets and streams
}

// A Caller is the sender of a request. The zero value is an anonymous caller.
type Caller struct {
	Key     string    // identifies the caller for limits
	People  int       // how many people it stands for, so that its limits are as many times as high; 0 means one
	Expires time.Time // when streams and websockets of the caller end; zero means never
}

// Options configures an endpoint.
type Options struct {
	Bounds

	// Tallies are shared with other endpoints; nil means none are.
	Tallies *Tallies

	// Present converts errors that do not come from the executor.
	Present graphql.ErrorPresenterFunc
	// CheckJSON returns an error for a value that decoding would change silently,
	// such as half of a surrogate pair. nil accepts every value.
	CheckJSON func(value []byte) error
	// Identify returns the caller of a request.
	Identify func(ctx context.Context) Caller
	// Authorize returns ctx with the caller whom the values of an Authorization
	// header prove. It is called with the token in the first message of a websocket, and
	// again before each operation on a websocket, whose caller may have lost rights since. If
	// it is nil, the token must be in the request for the websocket, and is not checked again.
	Authorize func(ctx context.Context, authorization []string) (context.Context, error)
	// Begin is called for each operation on a websocket, and returns the context of the operation,
	// which ends with it. It may be nil.
	Begin func(ctx context.Context) context.Context
	// Admit is called before each operation on a websocket, because layers before the
	// endpoint see only the first request. It returns the context of the operation, and fails if
	// the caller has reached a limit. leave is called at the end of the operation. nil admits
	// every operation.
	Admit func(ctx context.Context) (admitted context.Context, leave func(), err error)
	// Detach is called when the answer w becomes a stream without an end, which has limits
	// of its own. From then on, the request does not count for those of Admit. It may be nil.
	Detach func(w http.ResponseWriter)
	// Origins may open websockets, in addition to the endpoint's own origin. Each is
	// host or scheme://host, with the wildcards of path.Match.
	Origins []string
	// When Closing is closed, streams and websockets end, so that the shutdown of the
	// server need not wait for them.
	Closing <-chan struct{}
}

// Bounds holds the limits of the transports. 0 turns a limit off.
type Bounds struct {
	BodyBytes  int64         // size of a request body, and of a message on a websocket
	Timeout    time.Duration // time limit of a query or a mutation
	InitWait   time.Duration // time until the first message on a websocket must have come
	KeepAlive  time.Duration // time between signs of life on a stream
	WriteWait  time.Duration // time in which a client must receive one event; a slower client is disconnected
	Operations int           // number of concurrent operations on a websocket
	Sockets    int           // number of open websockets and streams of a caller

	Subscriptions int // number of subscriptions of a caller on all websockets and streams
}

// DefaultBounds returns limits that suit browsers and proxies.
func DefaultBounds() Bounds {
	return Bounds{
		BodyBytes: 1 << 20, Timeout: 30 * time.Second, InitWait: 5 * time.Second, KeepAlive: 12 * time.Second,
		WriteWait: 10 * time.Second, Operations: 50, Sockets: 20, Subscriptions: 100,
	}
}

// New returns the handler of an endpoint that executes operations with x.
func New(x *execute.Executor, o Options) http.Handler {
	if o.Tallies == nil {
		o.Tallies = &Tallies{}
	}
	return &endpoint{Options: o, executor: x}
}

// ServeHTTP answers one request, or one websocket for as long as it is open.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		e.serveSocket(w, r)
		return
	}
	accepts := negotiate(r.Header.Values("Accept"))
	raw, err := e.read(w, r, accepts)
	if err != nil {
		e.refuse(w, r, accepts.json(), err)
		return
	}
	ctx, operation, refused := e.executor.Prepare(r.Context(), raw)
	switch {
	case refused != nil && accepts.bestType == mediaEvents: // an EventSource accepts no other response
		ctx, end := e.lifetime(ctx)
		e.stream(ctx, end, w, slices.Values([]*graphql.Response{refused}))
	case refused != nil:
		write(w, statusOf(refused, accepts.bestType), accepts.bestType, refused)
	case operation.Operation.Operation == ast.Mutation && r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		e.refuse(w, r, accepts.json(), &statusError{http.StatusMethodNotAllowed, refusal.NewUnimplemented("a mutation must be sent by POST")})
	case operation.Operation.Operation == ast.Subscription:
		e.streamSubscription(ctx, w, r, accepts, operation)
	case accepts.bestType == mediaEvents:
		ctx, end := e.lifetime(ctx)
		e.stream(ctx, end, w, e.executor.Run(ctx, operation))
	default:
		response, end := e.executor.Execute(ctx, operation)
		defer end()
		if response == nil { // the time limit has passed
			e.refuse(w, r, accepts.bestType, context.DeadlineExceeded)
			return
		}
		write(w, statusOf(response, accepts.bestType), accepts.bestType, response)
	}
}

// read reads the GraphQL request in an HTTP request.
func (e *endpoint) read(w http.ResponseWriter, r *http.Request, accepts acceptedTypes) (*graphql.RawParams, error) {
	switch {
	case accepts.bestType == "":
		return nil, &statusError{http.StatusNotAcceptable, refusal.NewInvalid("Accept", "must allow "+mediaJSON+", "+mediaResponse+" or "+mediaEvents)}
	case r.Method == http.MethodPost:
		return e.readBody(w, r)
	case r.Method == http.MethodGet:
		return e.readQuery(r)
	default:
		w.Header().Set("Allow", "GET, POST")
		return nil, &statusError{http.StatusMethodNotAllowed, refusal.NewUnimplemented("GraphQL supports only GET and POST")}
	}
}

// streamSubscription streams a subscription if the caller has not reached the limit.
func (e *endpoint) streamSubscription(ctx context.Context, w http.ResponseWriter, r *http.Request, accepts acceptedTypes, operation *graphql.OperationContext) {
	if !accepts.allowsEvents {
		e.refuse(w, r, accepts.json(), &statusError{http.StatusNotAcceptable, refusal.NewInvalid("Accept", "must allow "+mediaEvents+" for a subscription")})
		return
	}
	caller := e.Identify(ctx)
	leave, err := e.Tallies.sockets.enter(caller, LimitSockets, e.Sockets)
	if err != nil {
		e.refuse(w, r, accepts.json(), err)
		return
	}
	defer leave()
	leaveAll, err := e.Tallies.subscriptions.enter(caller, limitSubscriptions, e.Subscriptions)
	if err != nil {
		e.refuse(w, r, accepts.json(), err)
		return
	}
	defer leaveAll()
	if e.Detach != nil {
		e.Detach(w)
	}
	ctx, end := e.lifetime(ctx)
	e.stream(ctx, end, w, e.executor.Run(ctx, operation))
}
