package execute

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
)

// A Budget counts what responses hold in memory, so that all of them fit into
// what there is.
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

// A boundless budget counts nothing.
type boundless struct{}

func (boundless) Open(ctx context.Context, _ *graphql.OperationContext) (_ context.Context, finish func() error, end func(), err error) {
	return ctx, func() error { return nil }, func() {}, nil
}

func (boundless) Stream(ctx context.Context) (_ context.Context, open func(n int) (end func(), err error)) {
	return ctx, func(int) (func(), error) { return func() {}, nil }
}
