// Package execute runs operations: it takes a request to the point where its
// execution would start, and gives its responses one after the other. It knows
// no transport and no kind.
//
// An operation is executed in three steps:
//
//	plan.go   what is selected of each type in each place of the document, with
//	          what stands before each value; plans.go keeps the plans of
//	          documents that come again and again
//	run.go    what must be read: all objects of a level are known before anything
//	          below them is read, so each field is read once for all of them
//	write.go  the answer, depth first into one buffer, with the errors in the
//	          order of the document; a null where none may be takes back what
//	          was written from the nearest field on that may be null
//
// engine.go puts them together for queries, mutations and subscriptions.
// schema.go is what generated code tells of a schema: how each field is read from
// Go values. A panic of a resolver is an error of its field; one while the answer
// is written is an internal error in the place of the whole answer.
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

	"atrium/graphql/refusal"
)

// An Executor runs the operations of one schema.
type Executor struct {
	engine graphql.GraphExecutor
	Options
}

// Options are the settings of an Executor.
type Options struct {
	Present graphql.ErrorPresenterFunc // shows errors that the engine is not asked about
	Budget  Budget                     // nil: nobody counts
	Timeout time.Duration              // of everything but a subscription; 0: none
}

// New makes an Executor over engine.
func New(engine graphql.GraphExecutor, o Options) *Executor {
	if o.Budget == nil {
		o.Budget = boundless{}
	}
	return &Executor{engine, o}
}

// Prepare takes a request up to where its execution would start. Where it ends
// before that, the response says why.
func (x *Executor) Prepare(ctx context.Context, raw *graphql.RawParams) (_ context.Context, operation *graphql.OperationContext, refused *graphql.Response) {
	ctx = graphql.StartOperationTrace(ctx)
	var errs gqlerror.List
	refused, _ = x.safely(ctx, func() *graphql.Response {
		operation, errs = x.engine.CreateOperationContext(ctx, raw)
		return nil
	})
	ctx = graphql.WithOperationContext(ctx, operation)
	if errs != nil {
		refused, _ = x.safely(ctx, func() *graphql.Response { return x.engine.DispatchError(ctx, described(errs)) })
	}
	return ctx, operation, refused
}

// Run executes an operation and gives its responses: one, or those of a
// subscription until ctx ends.
func (x *Executor) Run(ctx context.Context, operation *graphql.OperationContext) iter.Seq[*graphql.Response] {
	return func(yield func(*graphql.Response) bool) {
		if operation.Operation.Operation == ast.Subscription {
			x.runSubscription(ctx, operation, yield)
			return
		}
		ctx, cancel := x.timed(ctx)
		defer cancel()
		ctx, finish, end, err := x.Budget.Open(ctx, operation)
		defer end() // when the client has taken the response
		if err != nil {
			yield(x.failed(ctx, err))
			return
		}
		response, _ := x.safely(ctx, func() *graphql.Response {
			next, ctx := x.engine.DispatchOperation(ctx, operation)
			return next(ctx)
		})
		if err := finish(); err != nil && response != nil {
			response = x.failed(ctx, err)
		}
		if response != nil {
			yield(response)
		}
	}
}

// runSubscription gives the responses of a subscription. What it reads is not of
// one response; each one counts while the client takes it.
func (x *Executor) runSubscription(ctx context.Context, operation *graphql.OperationContext, yield func(*graphql.Response) bool) {
	ctx, open := x.Budget.Stream(ctx)
	ctx, ending := withEnding(ctx)
	var next graphql.ResponseHandler
	for {
		response, panicked := x.safely(ctx, func() *graphql.Response {
			if next == nil {
				next, ctx = x.engine.DispatchOperation(ctx, operation)
			}
			return next(ctx)
		})
		if response == nil {
			if err := ending.reason(); err != nil {
				yield(x.failed(ctx, err))
			}
			return
		}
		end, err := open(len(response.Data))
		if err != nil {
			response = x.failed(ctx, err)
		}
		taken := yield(response)
		end()
		if !taken || panicked || err != nil {
			return
		}
	}
}

// failed is the response that says no more than an error.
func (x *Executor) failed(ctx context.Context, err error) *graphql.Response {
	return &graphql.Response{Errors: gqlerror.List{x.Present(ctx, err)}}
}

func (x *Executor) timed(ctx context.Context) (context.Context, context.CancelFunc) {
	if x.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, x.Timeout)
}

// safely gives what do gives. A panic becomes an internal error: on a stream
// nobody else would catch it, and the process would end.
func (x *Executor) safely(ctx context.Context, do func() *graphql.Response) (response *graphql.Response, panicked bool) {
	defer func() {
		if cause := recover(); cause != nil {
			response, panicked = x.failed(ctx, fmt.Errorf("panic: %v\n%s", cause, debug.Stack())), true
		}
	}()
	return do(), false
}

// described gives what gqlgen finds wrong with a document the details that all
// errors have: those of INVALID_ARGUMENT. The code stays gqlgen's, which is that
// of most servers, and is the reason in the details.
func described(errs gqlerror.List) gqlerror.List {
	for _, err := range errs {
		if err.Err != nil {
			continue
		}
		field := "query"
		if len(err.Path) > 0 { // of a variable: a path in an answer is something else
			field, err.Path = err.Path.String(), nil
		}
		e := refusal.NewInvalid(field, err.Message)
		e.Message = err.Message
		if code, ok := err.Extensions["code"].(string); ok {
			e.Reason = code
		}
		err.Err = e
	}
	return errs
}
