package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"atrium/platform/core"
)

// beganAt returns when a request arrived, or the zero time if that is not known.
func beganAt(t *core.Trace) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Began
}

// limitTime limits the time of a request from its arrival, so that it also limits the time for which the
// request has waited. Files of exports and imports have limits of their own, and so has GraphQL.
func limitTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := beganAt(core.TraceOf(r.Context()))
		if began.IsZero() || strings.HasPrefix(r.URL.Path, "/export/") || strings.HasPrefix(r.URL.Path, "/import/") || strings.HasPrefix(r.URL.Path, "/check/") {
			next.ServeHTTP(w, r)
			return
		}
		ctx, cancel := context.WithDeadline(r.Context(), began.Add(requestTimeout))
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
