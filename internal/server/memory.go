package server

import (
	"net/http"
	"runtime/debug"

	"atrium/platform/core"
)

// countMemory counts the memory of responses. It runs after the authentication.
func countMemory(limits core.MemoryLimits) layer {
	pool := core.NewMemoryPool(limits, debug.FreeOSMemory)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, end := pool.Open(r.Context())
			defer end()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}
