package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"atrium/platform/core"
)

// Middleware verifies the token in the Authorization header and puts its bearer into
// the context of the request, where core.ActorOf finds it. A request without
// the header continues without a caller: each operation decides whether it needs
// one. If the token is not valid, onError answers the request. Tokens in cookies or
// query parameters are ignored.
//
// The bearer is presumed to be the one of the last request with the same token. No
// byte of an answer is sent before that is proven. If it is refuted, the request
// starts again with a bearer that the directory finds.
func Middleware(v *Verifier, onError func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		serveFound := func(w http.ResponseWriter, r *http.Request) {
			ctx, err := v.Authorize(r.Context(), r.Header.Values("Authorization"))
			if err != nil {
				onError(w, r, err)
				return
			}
			next.ServeHTTP(w, r.WithContext(ctx))
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, isPresumed, err := v.presumeRequest(r)
			switch {
			case err != nil:
				onError(w, r, err)
			case isPresumed:
				servePresumed(ctx, w, r, next, serveFound, onError)
			default:
				serveFound(w, r)
			}
		})
	}
}

// presumeRequest presumes the bearer of a request, if that can be done.
func (v *Verifier) presumeRequest(r *http.Request) (_ context.Context, isPresumed bool, err error) {
	// After an upgrade, the code that proves the bearer no longer sees the answers.
	if r.Header.Get("Upgrade") != "" {
		return nil, false, nil
	}
	header := r.Header.Values("Authorization")
	ctx, isPresumed := r.Context(), false
	if raw, malformed := bearerToken(header); malformed == nil { // else Authorize says what is wrong
		ctx, isPresumed, err = v.presume(ctx, raw)
	}
	if v.observe != nil && (isPresumed || err != nil) {
		v.observe(outcomeOf(header, err))
	}
	return ctx, isPresumed, err
}

// Authorize verifies the token in the values of an Authorization header and returns
// ctx with its bearer. Without values it returns ctx itself. It is also used for
// gRPC metadata and the first message of a websocket.
func (v *Verifier) Authorize(ctx context.Context, authorization []string) (context.Context, error) {
	authorized, err := v.authorize(ctx, authorization)
	if v.observe != nil {
		v.observe(outcomeOf(authorization, err))
	}
	return authorized, err
}

func outcomeOf(authorization []string, err error) string {
	switch {
	case err != nil:
		return strings.ToLower(core.AsError(err).Code.String())
	case len(authorization) == 0:
		return "anonymous"
	default:
		return "accepted"
	}
}

func (v *Verifier) authorize(ctx context.Context, authorization []string) (context.Context, error) {
	if len(authorization) == 0 {
		return ctx, nil
	}
	raw, err := bearerToken(authorization)
	if err != nil {
		return nil, countFailure(ctx, Claimant{}, core.Unauthenticated(err.Error()))
	}
	actor, err := v.Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	return core.WithActor(ctx, actor), nil
}

// bearerToken returns the token in the header. It does not check the characters of
// the token, because the Verifier does.
func bearerToken(authorization []string) (string, error) {
	if len(authorization) != 1 {
		return "", errors.New("there must be one Authorization header")
	}
	scheme, raw, _ := strings.Cut(authorization[0], " ")
	raw = strings.TrimLeft(raw, " ") // RFC 9110 allows several spaces
	if !strings.EqualFold(scheme, "Bearer") || raw == "" || strings.ContainsAny(raw, " \t,") {
		return "", errors.New("the Authorization header must be Bearer, a space, and a token")
	}
	return raw, nil
}
