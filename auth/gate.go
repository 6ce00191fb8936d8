package auth

import (
	"context"
	"errors"

	"atrium/platform"
)

// A Gate limits how many invalid tokens the client of a request may send, and lets other
// requests use its place while it waits for an issuer.
type Gate interface {
	// Admit is called for a token that no cached key verifies, before the
	// database or an issuer is asked. It returns an error if the client has sent
	// too many invalid tokens.
	Admit() error

	// Failed counts an invalid token. err says why it is invalid. Failed returns
	// the error to answer.
	Failed(err error) error

	// Wait is called before the request waits for an issuer, which can take seconds
	// and is chosen by outsiders. The function that it returns is called afterwards. It
	// returns an error if the request must not go on.
	Wait() (resume func() error)
}

type gateKey struct{}

// WithGate returns a context with the gate of a request.
func WithGate(ctx context.Context, g Gate) context.Context {
	return context.WithValue(ctx, gateKey{}, g)
}

func gateFrom(ctx context.Context) Gate {
	if g, ok := ctx.Value(gateKey{}).(Gate); ok {
		return g
	}
	return openGate{}
}

// An openGate has no limit.
type openGate struct{}

func (openGate) Admit() error           { return nil }
func (openGate) Failed(err error) error { return err }
func (openGate) Wait() func() error     { return func() error { return nil } }

// countFailure passes err to the gate if the token is invalid or its issuer does
// not answer: an attacker can name any issuer, also one that is unavailable. Errors
// of this service do not count.
func countFailure(ctx context.Context, err error) error {
	var unavailable issuerUnavailableError
	if platform.AsError(err).Code == platform.CodeUnauthenticated || errors.As(err, &unavailable) {
		return gateFrom(ctx).Failed(err)
	}
	return err
}
