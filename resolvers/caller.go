package resolvers

import (
	"context"

	"atrium/platform/core"
)

// callerOperations are the operations of a kind that tell what the caller may do
// on one resource of it.
type callerOperations[T any] interface {
	Kind() *core.Kind[T]
	CallerCan(ctx context.Context, row T, capabilities []core.Capability) bool
	CallerCapabilities(ctx context.Context, row T) []core.Capability
}

// viewerFields resolves the fields of an object with a uid that tell what the
// caller may do on it.
type viewerFields[T any] struct{ operations callerOperations[T] }

func newViewerFields[T any](operations callerOperations[T]) viewerFields[T] {
	return viewerFields[T]{operations}
}

// Etag returns the ETag of each object.
func (v viewerFields[T]) Etag(_ context.Context, all []T) ([]string, error) {
	return mapEach(all, v.operations.Kind().ETag), nil
}

func (v viewerFields[T]) ViewerCan(ctx context.Context, all []T, capabilities []core.Capability) ([]bool, error) {
	return mapEach(all, func(row T) bool { return v.operations.CallerCan(ctx, row, capabilities) }), nil
}

func (v viewerFields[T]) ViewerCapabilities(ctx context.Context, all []T) ([][]core.Capability, error) {
	return mapEach(all, func(row T) []core.Capability { return v.operations.CallerCapabilities(ctx, row) }), nil
}
