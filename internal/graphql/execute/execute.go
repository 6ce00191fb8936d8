// Package execute runs operations: it prepares a request for execution, and returns
// its responses one after the other. It knows no transport and no kind.
//
// An operation is executed in three steps:
//
//	plan.go   plans the selections of each type in each position of the document;
//	          plans.go caches the plans of repeated documents
//	run.go    reads, level by level: all objects of a level are known before
//	          anything below them is read, so each field is resolved once for all
//	          of them; expect.go reads what needs only the key of an object together
//	          with the object
//	write.go  writes the response, depth first into one buffer, with the errors in
//	          the order of the document; a null in a non-null position removes what
//	          was written since the nearest nullable field
//
// engine.go combines them for queries, mutations and subscriptions; execute.go prepares
// requests and limits the time and the memory of responses. schema.go is the
// interface to generated code: how each field is read from Go values. A panic of a
// resolver becomes an error of its field. A panic while the response is written
// becomes an internal error that replaces the response.
package execute

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/internal/graphql/limit"
	"atrium/internal/graphql/refusal"
)

// An Executor runs the operations of one schema.
type Executor struct {
	engine Engine
	Options
}

// Options are the settings of an Executor.
type Options struct {
	Guard   *limit.Guard               // accepts or rejects requests
	Present graphql.ErrorPresenterFunc // converts errors into what clients see
	Budget  Budget                     // counts the memory of responses; nil counts nothing
	Timeout time.Duration              // time limit of a query or a mutation; 0 means none

	// Began returns when the request with an operation arrived, from which on its time is limited. It
	// may return the zero time, or be nil: then the limit begins with the operation.
	Began func(ctx context.Context) time.Time

	// Observe is called before each operation and returns the context of the operation.
	// If it also returns a function, that is called with the response, except that of a
	// subscription, which ends with its context. Observe may be nil.
	Observe func(ctx context.Context, operation *graphql.OperationContext) (_ context.Context, end func(*graphql.Response))
}

// New returns an Executor that uses engine.
func New(engine Engine, o Options) *Executor {
	if o.Budget == nil {
		o.Budget = unlimitedBudget{}
	}
	if o.Began == nil {
		o.Began = func(context.Context) time.Time { return time.Time{} }
	}
	if o.Observe == nil {
		o.Observe = func(ctx context.Context, _ *graphql.OperationContext) (context.Context, func(*graphql.Response)) {
			return ctx, nil
		}
	}
	return &Executor{engine, o}
}

// Prepare parses, validates and checks a request. If the request is rejected, it
// returns the response with the errors.
func (x *Executor) Prepare(ctx context.Context, raw *graphql.RawParams) (prepared context.Context, operation *graphql.OperationContext, refused *graphql.Response) {
	operation = &graphql.OperationContext{DisableIntrospection: true, RecoverFunc: PanicError}
	prepared = graphql.WithOperationContext(ctx, operation)
	defer x.recoverPanic(prepared, &refused)
	if errs := x.Guard.Accept(prepared, raw, operation); errs != nil {
		refused = x.reject(prepared, operation, withDetails(errs))
	}
	return prepared, operation, refused
}

// reject returns the response to a request that is not executed.
func (x *Executor) reject(ctx context.Context, operation *graphql.OperationContext, errs gqlerror.List) *graphql.Response {
	ctx = graphql.WithResponseContext(ctx, x.Present, PanicError)
	for _, err := range errs {
		graphql.AddError(ctx, err)
	}
	return &graphql.Response{Errors: graphql.GetErrors(ctx), Extensions: x.Guard.Extensions(operation)}
}

// Run executes an operation and returns its responses: one, or those of a
// subscription until ctx ends.
func (x *Executor) Run(ctx context.Context, operation *graphql.OperationContext) iter.Seq[*graphql.Response] {
	return func(yield func(*graphql.Response) bool) {
		if operation.Operation.Operation == ast.Subscription {
			x.runSubscription(ctx, operation, yield)
			return
		}
		response, end := x.Execute(ctx, operation)
		defer end()
		if response != nil {
			yield(response)
		}
	}
}

// Execute executes a query or a mutation. The response is nil if ctx ends before the
// operation begins. The caller must call end when the client has received the response,
// and must not use its data afterwards.
func (x *Executor) Execute(ctx context.Context, operation *graphql.OperationContext) (response *graphql.Response, end func()) {
	if x.Timeout > 0 {
		began := x.Began(ctx)
		if began.IsZero() {
			began = time.Now()
		}
		within, cancel := context.WithDeadline(ctx, began.Add(x.Timeout))
		defer cancel()
		ctx = within
	}
	ctx, finish, end, err := x.Budget.Open(ctx, operation)
	if err != nil {
		return x.errorResponse(ctx, err), end
	}
	ctx, observe := x.Observe(ctx, operation)
	if observe != nil {
		defer func() { observe(response) }()
	}
	defer x.recoverPanic(ctx, &response)
	if ctx.Err() != nil {
		return nil, end
	}
	ctx = graphql.WithResponseContext(ctx, x.Present, PanicError)
	execute := x.engine.Query
	if operation.Operation.Operation == ast.Mutation {
		execute = x.engine.Mutate
	}
	data := execute(ctx, operation)
	if err := finish(); err != nil {
		return x.errorResponse(ctx, err), end
	}
	extensions := x.Guard.Extensions(operation)
	for name, value := range graphql.GetExtensions(ctx) {
		if extensions == nil {
			extensions = map[string]any{}
		}
		extensions[name] = value
	}
	return &graphql.Response{Data: data, Errors: graphql.GetErrors(ctx), Extensions: extensions}, x.recycleAfter(end, data)
}

// minRecycled is the size of the smallest data whose memory is worth using again.
const minRecycled = 1 << 10

// recycleAfter returns a function that calls end and lets the engine use the memory of data
// again.
func (x *Executor) recycleAfter(end func(), data []byte) func() {
	if cap(data) < minRecycled {
		return end
	}
	return func() { end(); x.engine.Recycle(data) }
}

// runSubscription passes the responses of a subscription to yield. Its reads are not
// counted; each response is counted until the client has received it.
func (x *Executor) runSubscription(ctx context.Context, operation *graphql.OperationContext, yield func(*graphql.Response) bool) {
	ctx, open := x.Budget.Stream(ctx)
	ctx, ending := withEnding(ctx)
	ctx, _ = x.Observe(ctx, operation)
	next, response := x.subscribe(ctx, operation)
	for goesOn := next != nil; ; {
		if goesOn {
			response, goesOn = x.nextResponse(ctx, next)
		}
		if response == nil {
			if err := ending.reason(); err != nil {
				response = x.errorResponse(ctx, err)
				response.HasNext = new(bool) // says that a subscription which was open has ended
				yield(response)
			}
			return
		}
		end, err := open(len(response.Data))
		if err != nil {
			response = x.errorResponse(ctx, err)
		}
		taken := yield(response)
		end()
		if !taken || !goesOn || err != nil {
			return
		}
	}
}

// subscribe opens the source of a subscription. If that fails, it returns the response
// with the errors instead.
func (x *Executor) subscribe(ctx context.Context, operation *graphql.OperationContext) (next Next, refused *graphql.Response) {
	defer x.recoverPanic(ctx, &refused)
	ctx = graphql.WithResponseContext(ctx, x.Present, PanicError)
	next = x.engine.Subscribe(ctx, operation)
	if errs := graphql.GetErrors(ctx); errs != nil {
		return nil, &graphql.Response{Errors: errs}
	}
	return next, nil
}

// nextResponse returns the response to the next event of a subscription, or nil at the
// end. The subscription does not go on after a panic.
func (x *Executor) nextResponse(ctx context.Context, next Next) (response *graphql.Response, goesOn bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	defer x.recoverPanic(ctx, &response)
	ctx = graphql.WithResponseContext(ctx, x.Present, PanicError)
	data, ok := next(ctx)
	if !ok {
		return nil, false
	}
	return &graphql.Response{Data: data, Errors: graphql.GetErrors(ctx)}, true
}

// errorResponse returns a response that contains only an error.
func (x *Executor) errorResponse(ctx context.Context, err error) *graphql.Response {
	return &graphql.Response{Errors: gqlerror.List{x.Present(ctx, err)}}
}

// recoverPanic is deferred. It converts a panic into a response with an internal error.
// On a stream, an unrecovered panic would end the process.
func (x *Executor) recoverPanic(ctx context.Context, response **graphql.Response) {
	if cause := recover(); cause != nil {
		*response = x.errorResponse(ctx, PanicError(ctx, cause))
	}
}

// PanicError converts the cause of a panic into an error with the stack.
func PanicError(_ context.Context, cause any) error {
	return fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
}

// withDetails adds the details of INVALID_ARGUMENT to errors of a document. The code
// stays that of gqlgen, which most servers use, and is the reason in the details.
func withDetails(errs gqlerror.List) gqlerror.List {
	for _, err := range errs {
		if err.Err != nil {
			continue
		}
		e := refusal.NewInvalid("query", err.Message)
		// The path of such an error leads to a variable. In a response, a path has another
		// meaning.
		if len(err.Path) > 0 {
			e.Violations[0].Field, e.Violations[0].Path, err.Path = nameOf(err.Path), placeOf(err.Path), nil
		}
		e.Message = err.Message
		if code, ok := err.Extensions["code"].(string); ok {
			e.Reason = code
		}
		err.Err = e
	}
	return errs
}

// nameOf returns the name of a field to which a path in the variables leads. A member of an
// input is named as operations name it, such as claimMatch.issuer, whatever the name of the
// variable is.
func nameOf(path ast.Path) string {
	if path[0] != ast.PathName("variable") {
		return path.String()
	}
	path = path[1:]
	if len(path) > 1 {
		if _, isMember := path[1].(ast.PathName); isMember {
			path = path[1:]
		}
	}
	return path.String()
}

// placeOf returns the names and indices of a path in the variables, the first of which is the name
// of the variable.
func placeOf(path ast.Path) []any {
	if path[0] == ast.PathName("variable") {
		path = path[1:]
	}
	place := make([]any, len(path))
	for i, part := range path {
		if index, isIndex := part.(ast.PathIndex); isIndex {
			place[i] = int(index)
		} else if name, isName := part.(ast.PathName); isName {
			place[i] = string(name)
		}
	}
	return place
}
