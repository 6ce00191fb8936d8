// Package execute runs operations: it prepares a request for execution, and returns
// its responses one after the other. It knows no transport and no kind.
//
// An operation is executed in three steps:
//
//	plan.go   plans the selections of each type in each position of the document;
//	          plans.go caches the plans of repeated documents
//	run.go    reads, level by level: all objects of a level are known before
//	          anything below them is read, so each field is resolved once for all
//	          of them
//	write.go  writes the response, depth first into one buffer, with the errors in
//	          the order of the document; a null in a non-null position removes what
//	          was written since the nearest nullable field
//
// engine.go combines them for queries, mutations and subscriptions. schema.go is the
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

	"atrium/graphql/refusal"
)

// An Executor runs the operations of one schema.
type Executor struct {
	engine graphql.GraphExecutor
	Options
}

// Options are the settings of an Executor.
type Options struct {
	Present graphql.ErrorPresenterFunc // converts errors that do not come from the engine
	Budget  Budget                     // nil counts nothing
	Timeout time.Duration              // for a query or a mutation; 0 means none
}

// New returns an Executor that uses engine.
func New(engine graphql.GraphExecutor, o Options) *Executor {
	if o.Budget == nil {
		o.Budget = unlimitedBudget{}
	}
	return &Executor{engine, o}
}

// Prepare parses, validates and checks a request. If the request is rejected, it
// returns the response with the errors.
func (x *Executor) Prepare(ctx context.Context, raw *graphql.RawParams) (_ context.Context, operation *graphql.OperationContext, refused *graphql.Response) {
	ctx = graphql.StartOperationTrace(ctx)
	var errs gqlerror.List
	refused, _ = x.recoverPanics(ctx, func() *graphql.Response {
		operation, errs = x.engine.CreateOperationContext(ctx, raw)
		return nil
	})
	ctx = graphql.WithOperationContext(ctx, operation)
	if errs != nil {
		refused, _ = x.recoverPanics(ctx, func() *graphql.Response { return x.engine.DispatchError(ctx, withDetails(errs)) })
	}
	return ctx, operation, refused
}

// Run executes an operation and returns its responses: one, or those of a
// subscription until ctx ends.
func (x *Executor) Run(ctx context.Context, operation *graphql.OperationContext) iter.Seq[*graphql.Response] {
	return func(yield func(*graphql.Response) bool) {
		if operation.Operation.Operation == ast.Subscription {
			x.runSubscription(ctx, operation, yield)
			return
		}
		ctx, cancel := x.withTimeout(ctx)
		defer cancel()
		ctx, finish, end, err := x.Budget.Open(ctx, operation)
		defer end() // when the client has received the response
		if err != nil {
			yield(x.errorResponse(ctx, err))
			return
		}
		response, _ := x.recoverPanics(ctx, func() *graphql.Response {
			next, ctx := x.engine.DispatchOperation(ctx, operation)
			return next(ctx)
		})
		if err := finish(); err != nil && response != nil {
			response = x.errorResponse(ctx, err)
		}
		if response != nil {
			yield(response)
		}
	}
}

// runSubscription returns the responses of a subscription. Its reads are not
// counted; each response is counted until the client has received it.
func (x *Executor) runSubscription(ctx context.Context, operation *graphql.OperationContext, yield func(*graphql.Response) bool) {
	ctx, open := x.Budget.Stream(ctx)
	ctx, ending := withEnding(ctx)
	var next graphql.ResponseHandler
	for {
		response, panicked := x.recoverPanics(ctx, func() *graphql.Response {
			if next == nil {
				next, ctx = x.engine.DispatchOperation(ctx, operation)
			}
			return next(ctx)
		})
		if response == nil {
			if err := ending.reason(); err != nil {
				yield(x.errorResponse(ctx, err))
			}
			return
		}
		end, err := open(len(response.Data))
		if err != nil {
			response = x.errorResponse(ctx, err)
		}
		taken := yield(response)
		end()
		if !taken || panicked || err != nil {
			return
		}
	}
}

// errorResponse returns a response that contains only an error.
func (x *Executor) errorResponse(ctx context.Context, err error) *graphql.Response {
	return &graphql.Response{Errors: gqlerror.List{x.Present(ctx, err)}}
}

func (x *Executor) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if x.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, x.Timeout)
}

// recoverPanics calls do and converts a panic into an internal error. On a stream,
// an unrecovered panic would end the process.
func (x *Executor) recoverPanics(ctx context.Context, do func() *graphql.Response) (response *graphql.Response, panicked bool) {
	defer func() {
		if cause := recover(); cause != nil {
			response, panicked = x.errorResponse(ctx, fmt.Errorf("panic: %v\n%s", cause, debug.Stack())), true
		}
	}()
	return do(), false
}

// withDetails adds the details of INVALID_ARGUMENT to errors that gqlgen finds in a
// document. The code stays that of gqlgen, which most servers use, and is the reason
// in the details.
func withDetails(errs gqlerror.List) gqlerror.List {
	for _, err := range errs {
		if err.Err != nil {
			continue
		}
		field := "query"
		if len(err.Path) > 0 { // the path of a variable; in a response, a path has another meaning
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
