package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"atrium/platform"
)

// Middleware puts the caller that the Authorization header proves into the
// request's context, where platform.ActorOf finds it. A request without the
// header goes on without a caller: the operations say themselves whether they
// need one. One whose header proves nobody ends in onError. Tokens elsewhere,
// in cookies or query parameters, are never looked at.
func Middleware(v *Verifier, onError func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, err := v.Authorize(r.Context(), r.Header.Values("Authorization"))
			if err != nil {
				onError(w, r, err)
				return
			}
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// Authorize gives ctx with the caller that the values of a request's
// Authorization header prove; ctx itself where there are none. It serves what
// is no HTTP request: gRPC metadata, the first message of a websocket.
func (v *Verifier) Authorize(ctx context.Context, authorization []string) (context.Context, error) {
	if len(authorization) == 0 {
		return ctx, nil
	}
	raw, err := credentials(authorization)
	if err != nil {
		return nil, failed(ctx, platform.Unauthenticated(err.Error()))
	}
	actor, err := v.Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	return platform.WithActor(ctx, actor), nil
}

// credentials takes the token out of the header. Which characters it may have is
// for the Verifier, whose rule is narrower than the header's.
func credentials(authorization []string) (string, error) {
	if len(authorization) > 1 {
		return "", errors.New("there must be one Authorization header")
	}
	scheme, raw, _ := strings.Cut(authorization[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || raw == "" || strings.ContainsAny(raw, " \t,") {
		return "", errors.New("the Authorization header must be Bearer, one space, and a token")
	}
	return raw, nil
}
