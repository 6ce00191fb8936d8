package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"atrium/auth"
	"atrium/platform"
	"atrium/resolvers"
	"atrium/rest"
	"atrium/web"
)

// routes says which handler answers which path. http.ServeMux would not do: it
// cleans paths, and those of REST hold UIDs in more than one spelling.
func (c *serveCommand) routes(p *platform.Platform, verifier *auth.Verifier, dev *development, closing <-chan struct{}, options rest.Options) http.Handler {
	limits := c.limitFlags.limits(c.Dev)
	authenticated := auth.Middleware(verifier, limits.strangers(options.WriteError))
	limited := limits.of(options.WriteError)
	endpoints := authenticated(limited(rest.New(p, options)))
	graph := c.graphqlFlags.options()
	graph.ServiceDomain, graph.Logger, graph.Closing = options.ServiceDomain, options.Logger, closing
	graph.Authorize, graph.Admit, graph.Origins = verifier.Authorize, limits.operation, socketOrigins(c.CORSOrigin)
	playground, reference := c.playground(dev, options.Logger), web.Reference("/openapi.json")
	description := rest.Description(p, options)
	alone := map[string]http.Handler{
		"/":        playground,
		"/graphql": authenticated(limited(resolvers.New(p, graph))),
		// Anyone may read what is in the source anyway.
		"/graphql/schema": text(resolvers.SDL()),
		"/openapi.json":   description,
		"/openapi.yaml":   description,
		"/docs":           reference,
		"/livez":          health(func(context.Context) error { return nil }),
		"/readyz":         health(p.Ready),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler := alone[r.URL.Path]
		switch {
		case handler != nil:
		case strings.HasPrefix(r.URL.Path, "/playground/"):
			handler = playground
		case strings.HasPrefix(r.URL.Path, "/docs/"):
			handler = reference
		default:
			handler = endpoints
		}
		handler.ServeHTTP(w, r)
	})
}

// text answers the same text to everyone.
func text(content string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "Only GET is answered here.", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, content)
	})
}

// readyTimeout is shorter than what those who ask wait.
const readyTimeout = 2 * time.Second

// health answers what a load balancer asks: 200 while check has no error.
func health(check func(context.Context) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		status, text := http.StatusOK, "ok"
		if check(ctx) != nil {
			status, text = http.StatusServiceUnavailable, "unavailable"
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"status": text})
	})
}
