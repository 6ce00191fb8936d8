package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graphql/limit"
	"atrium/platform"
)

// Budget counts what responses hold in memory as answers of the pool that the
// request was opened with (platform.AnswerPool).
type Budget struct{}

// valueBytes is about what a scalar takes while its response is made.
const valueBytes = 64

// Open starts to count the response to an operation.
func (Budget) Open(ctx context.Context, operation *graphql.OperationContext) (_ context.Context, finish func() error, end func(), err error) {
	ctx, end = platform.AnswerOf(ctx).Another(ctx)
	answer := platform.AnswerOf(ctx)
	finish = func() error {
		if err := answer.Unwritten(); err != nil {
			return blameQuery(err)
		}
		answer.Rendered()
		return nil
	}
	if err := answer.Read(ctx, valueBytes*limit.CountValues(operation)); err != nil {
		return ctx, finish, end, blameQuery(err)
	}
	return ctx, finish, end, nil
}

// Stream leaves what a subscription reads uncounted, and counts each of its
// responses by itself.
func (Budget) Stream(ctx context.Context) (_ context.Context, open func(n int) (end func(), err error)) {
	return platform.Uncounted(ctx), func(n int) (end func(), err error) {
		counted, end := platform.AnswerOf(ctx).Another(ctx)
		return end, platform.AnswerOf(counted).Write(counted, n)
	}
}

// blameQuery makes err one about the whole query, whatever field it names.
func blameQuery(err error) error { return renamed(err, func(string) string { return "query" }) }

// countBytes counts what is written of the answer of ctx, which is refused when
// it is longer than there is room for (Budget).
func countBytes(ctx context.Context, n int) error {
	if answer := platform.AnswerOf(ctx); answer != nil {
		return answer.Write(ctx, n)
	}
	return nil
}
