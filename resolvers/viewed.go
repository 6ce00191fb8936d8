package resolvers

import (
	"context"

	"atrium/platform"
)

// A decider is the operations on a kind, which tell what the caller may do on
// one resource of it.
type decider[T any] interface {
	CallerCan(ctx context.Context, row *T, capabilities []platform.Capability) bool
	CallerCapabilities(ctx context.Context, row *T) []platform.Capability
}

// viewed are the fields of every object with a uid that tell what the caller may
// do on it.
type viewed[T any] struct{ of decider[T] }

func viewedBy[T any](of decider[T]) viewed[T] { return viewed[T]{of} }

func (v viewed[T]) ViewerCan(ctx context.Context, all []*T, capabilities []platform.Capability) ([]bool, error) {
	return keysOf(all, func(row *T) bool { return v.of.CallerCan(ctx, row, capabilities) }), nil
}

func (v viewed[T]) ViewerCapabilities(ctx context.Context, all []*T) ([][]platform.Capability, error) {
	return keysOf(all, func(row *T) []platform.Capability { return v.of.CallerCapabilities(ctx, row) }), nil
}
