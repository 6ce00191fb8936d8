package resolvers

import (
	"context"

	"atrium/platform"
)

// callerOperations are the operations of a kind that tell what the caller may do
// on one resource of it.
type callerOperations[T any] interface {
	CallerCan(ctx context.Context, row T, capabilities []platform.Capability) bool
	CallerCapabilities(ctx context.Context, row T) []platform.Capability
}

// viewerFields resolves the fields of an object with a uid that tell what the
// caller may do on it.
type viewerFields[T any] struct{ operations callerOperations[T] }

func newViewerFields[T any](operations callerOperations[T]) viewerFields[T] {
	return viewerFields[T]{operations}
}

func (v viewerFields[T]) ViewerCan(ctx context.Context, all []T, capabilities []platform.Capability) ([]bool, error) {
	return mapEach(all, func(row T) bool { return v.operations.CallerCan(ctx, row, capabilities) }), nil
}

func (v viewerFields[T]) ViewerCapabilities(ctx context.Context, all []T) ([][]platform.Capability, error) {
	return mapEach(all, func(row T) []platform.Capability { return v.operations.CallerCapabilities(ctx, row) }), nil
}
