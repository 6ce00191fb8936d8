package server

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"atrium/auth"
	"atrium/platform"
	"atrium/resolvers"
	"atrium/rest"
	"atrium/rpc"
	"atrium/web"
)

// routes says which handler answers which path. http.ServeMux would not do: it
// cleans paths, and those of REST hold UIDs in more than one spelling.
func (c *Config) routes(p *platform.Platform, verifier *auth.Verifier, dev *development, issuer string, closing <-chan struct{}, options rest.Options) http.Handler {
	ready := c.ready(p)
	limits, refuse := newLimits(c.RateLimit, c.RateBurst, c.MaxInFlight), refusing(options)
	authenticated := func(next http.Handler) http.Handler {
		return limits.strangers(auth.Middleware(verifier, refuse)(next))
	}
	within, measured := limits.of(refuse), counted(c.Answers)
	limited := func(next http.Handler) http.Handler { return within(measured(next)) }
	endpoints := authenticated(limited(rest.New(p, options)))
	remote := procedural(options)
	remote.Ready = ready
	procedures := authenticated(limited(rpc.New(p, remote)))
	playground, reference, pages := c.playground(dev), web.Reference("/openapi.json"), guide()
	description := rest.Description(options)
	alone := map[string]http.Handler{
		"/":               playground,
		"/graphql":        authenticated(limited(c.graphql(p, verifier, limits.operation, closing))),
		"/graphql/schema": readOnly(authenticated(limited(c.sdl(refuse)))),
		"/openapi.json":   description,
		"/openapi.yaml":   description,
		"/docs":           reference,
		"/guide":          pages,
		"/livez":          health(func(context.Context) error { return nil }),
		"/readyz":         health(ready),
	}
	maps.Copy(alone, wellKnown(p, issuer, options))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler := alone[r.URL.Path]
		switch {
		case handler != nil:
		case strings.HasPrefix(r.URL.Path, "/playground/"):
			handler = playground
		case strings.HasPrefix(r.URL.Path, "/docs/"):
			handler = reference
		case strings.HasPrefix(r.URL.Path, "/guide/"):
			handler = pages
		case rpc.Serves(r.URL.Path):
			handler = procedures
		default:
			handler = endpoints
		}
		handler.ServeHTTP(w, r)
	})
}

// refusing answers errors in the protocol that a path belongs to.
func refusing(o rest.Options) errorWriter {
	remote := procedural(o).WriteError
	return func(w http.ResponseWriter, r *http.Request, err error) {
		if rpc.Serves(r.URL.Path) {
			remote(w, r, err)
			return
		}
		o.WriteError(w, r, err)
	}
}

// procedural are the settings of gRPC, which are those of REST.
func procedural(o rest.Options) rpc.Options {
	return rpc.Options{ServiceDomain: o.ServiceDomain, Logger: o.Logger}
}

// readOnly lets through what reads.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "Only GET is answered here.", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sdl answers the schema as text to who may read it.
func (c *Config) sdl(refuse errorWriter) http.Handler {
	content := resolvers.SDL()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.mayReadSDL(r.Context()); err != nil {
			refuse(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, content)
	})
}

// readyTimeout is shorter than what those who ask wait.
const readyTimeout = 2 * time.Second

// health answers what a load balancer asks: 200 while check has no error, and
// 503 with what is wrong otherwise.
func health(check func(context.Context) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		status, answer := http.StatusOK, map[string]string{"status": "ok"}
		if err := check(ctx); err != nil {
			status, answer = http.StatusServiceUnavailable, map[string]string{"status": "unavailable", "message": platform.AsError(err).Message}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	})
}
