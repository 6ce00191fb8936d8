package core

import "context"

// Turns decide when a request may use another connection to the database. The store asks them
// before each read and each transaction, so that connections are shared as fairly as requests are admitted. They are
// safe for concurrent use.
type Turns interface {
	// TakeTurn waits until the request may read or write. It returns nil for a request that has ended, but
	// for a stream.
	TakeTurn(ctx context.Context) (Turn, error)
}

// A Turn is the right to use one connection.
type Turn interface {
	// End must be called afterwards.
	End()
}

type turnsKey struct{}

// WithTurns returns a context whose reads take turns.
func WithTurns(ctx context.Context, t Turns) context.Context {
	return context.WithValue(ctx, turnsKey{}, t)
}

// TurnsOf returns the turns of a request, or nil.
func TurnsOf(ctx context.Context) Turns {
	t, _ := ctx.Value(turnsKey{}).(Turns)
	return t
}
