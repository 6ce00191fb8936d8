package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"atrium/internal/graphql/analysis"
	"atrium/platform/core"
)

// Budget counts the memory that responses hold, against the core.MemoryPool
// that the request was opened with.
type Budget struct{}

// valueBytes estimates the memory that a scalar takes while its response is made.
const valueBytes = 64

// Open starts counting the response to an operation.
func (Budget) Open(ctx context.Context, operation *graphql.OperationContext) (_ context.Context, finish func() error, end func(), err error) {
	ctx, end = core.ResponseMemoryOf(ctx).OpenSibling(ctx)
	memory := core.ResponseMemoryOf(ctx)
	finish = func() error {
		if err := memory.WriteError(); err != nil {
			return blameQuery(err)
		}
		memory.ReleaseRead()
		return nil
	}
	if err := memory.Read(ctx, valueBytes*analysis.CountValues(operation)); err != nil {
		return ctx, finish, end, blameQuery(err)
	}
	return ctx, finish, end, nil
}

// Stream does not count what a subscription reads. It counts each response of the
// subscription separately.
func (Budget) Stream(ctx context.Context) (_ context.Context, open func(n int) (end func(), err error)) {
	return core.WithoutResponseMemory(ctx), func(n int) (end func(), err error) {
		counted, end := core.ResponseMemoryOf(ctx).OpenSibling(ctx)
		return end, core.ResponseMemoryOf(counted).Write(counted, n)
	}
}

// blameQuery replaces the field that err names by the whole query.
func blameQuery(err error) error { return renameFields(err, func(string) string { return "query" }) }

// countBytes counts n written bytes of the response of ctx. It fails when the
// response exceeds its budget (Budget).
func countBytes(ctx context.Context, n int) error {
	if memory := core.ResponseMemoryOf(ctx); memory != nil {
		return memory.Write(ctx, n)
	}
	return nil
}
