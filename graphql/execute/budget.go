package execute

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// A Budget counts the memory of responses, so that all of them together stay within
// a limit.
type Budget interface {
	// Open starts to count the response to an operation. finish is called when
	// its text is made, which is all that it holds from then on; it is an error
	// where the text was longer than there was room for. end is called when the
	// client has taken the response.
	Open(ctx context.Context, operation *graphql.OperationContext) (_ context.Context, finish func() error, end func(), err error)
	// Stream gives a context in which a subscription reads without being
	// counted, and a function that counts one response of n bytes until end.
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
