package auth

import (
	"context"
	"errors"

	"atrium/platform/core"
)

// A Claimant is whose token a token claims to be, whether or not it is valid. Tokens that
// cannot be read have the zero Claimant.
type Claimant struct{ Issuer, Subject string }

// A Throttle limits how many invalid tokens the client of a request may send, and lets other
// requests use its place while it waits for an issuer. It counts them for each claimant, so
// that nobody pays for tokens that others at the same address have forged.
type Throttle interface {
	// Admit is called for a token that no cached key verifies, before the
	// database or an issuer is asked. It returns an error if the client has sent
	// too many invalid tokens of the claimant, unless isKnown reports that a key that
	// has verified tokens of the claimant verifies this one too.
	Admit(of Claimant, isKnown func() bool) error

	// Failed counts an invalid token of a claimant. err says why it is invalid. Failed
	// returns the error to answer.
	Failed(of Claimant, err error) error

	// Wait is called before the request waits for an issuer, which can take seconds
	// and is chosen by outsiders. The function that it returns is called afterwards. It
	// returns an error if the request must not go on.
	Wait() (resume func() error)
}

type throttleKey struct{}

// WithThrottle returns a context with the throttle of a request.
func WithThrottle(ctx context.Context, t Throttle) context.Context {
	return context.WithValue(ctx, throttleKey{}, t)
}

func throttleFrom(ctx context.Context) Throttle {
	if t, ok := ctx.Value(throttleKey{}).(Throttle); ok {
		return t
	}
	return noThrottle{}
}

// A noThrottle has no limit.
type noThrottle struct{}

func (noThrottle) Admit(Claimant, func() bool) error  { return nil }
func (noThrottle) Failed(_ Claimant, err error) error { return err }
func (noThrottle) Wait() func() error                 { return func() error { return nil } }

// countFailure passes err to the throttle if the token is invalid or its issuer does
// not answer: an attacker can name any issuer, also one that is unavailable. Errors
// of this service do not count.
func countFailure(ctx context.Context, of Claimant, err error) error {
	var unavailable issuerUnavailableError
	if core.AsError(err).Code == core.CodeUnauthenticated || errors.As(err, &unavailable) {
		return throttleFrom(ctx).Failed(of, err)
	}
	return err
}
