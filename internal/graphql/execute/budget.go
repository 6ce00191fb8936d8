package execute

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// A Budget counts the memory of responses, so that all of them together stay within
// a limit.
type Budget interface {
	// Open begins to count the response to an operation. finish is called when the
	// text of the response is complete; from then on, only the text is counted. finish
	// fails if the text exceeds the budget. end is called when the client has received
	// the response.
	Open(ctx context.Context, operation *graphql.OperationContext) (_ context.Context, finish func() error, end func(), err error)
	// Stream returns a context in which the reads of a subscription are not counted,
	// and a function that counts one response of n bytes until end is called.
	Stream(ctx context.Context) (_ context.Context, open func(n int) (end func(), err error))
}

// An unlimitedBudget counts nothing.
type unlimitedBudget struct{}

func (unlimitedBudget) Open(ctx context.Context, _ *graphql.OperationContext) (_ context.Context, finish func() error, end func(), err error) {
	return ctx, func() error { return nil }, func() {}, nil
}

func (unlimitedBudget) Stream(ctx context.Context) (_ context.Context, open func(n int) (end func(), err error)) {
	return ctx, func(int) (func(), error) { return func() {}, nil }
}
