package auth

import (
	"context"
	"errors"

	"atrium/platform"
)

// A Gate limits tokens that prove nobody, for where a request comes from.
type Gate interface {
	// Admit is asked about a token that no key at hand verifies, before anything
	// else is. It refuses where too many tokens proved nobody.
	Admit() error

	// Failed counts a token that proved nobody because of err. It gives what to
	// answer.
	Failed(err error) error
}

type gateKey struct{}

// WithGate puts the gate of a request into its context.
func WithGate(ctx context.Context, g Gate) context.Context {
	return context.WithValue(ctx, gateKey{}, g)
}

func gateOf(ctx context.Context) Gate {
	if g, ok := ctx.Value(gateKey{}).(Gate); ok {
		return g
	}
	return openGate{}
}

// An openGate limits nothing.
type openGate struct{}

func (openGate) Admit() error           { return nil }
func (openGate) Failed(err error) error { return err }

// failed counts what is wrong with a token, or with its issuer: whoever forges
// tokens can name any issuer, one that is away too. What is wrong with this
// service does not count.
func failed(ctx context.Context, err error) error {
	var away awayError
	if platform.AsError(err).Code == platform.CodeUnauthenticated || errors.As(err, &away) {
		return gateOf(ctx).Failed(err)
	}
	return err
}
