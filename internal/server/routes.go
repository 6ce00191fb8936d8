package server

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"atrium/internal/apierror"
	"atrium/internal/auth"
	"atrium/internal/graphql/transport"
	"atrium/internal/rest"
	"atrium/internal/rpc"
	"atrium/internal/server/admission"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/resolvers"
	"atrium/store"
)

const (
	graphPath  = "/graphql"
	schemaPath = graphPath + "/schema"
)

// isGraph reports whether GraphQL answers at a path.
func isGraph(path string) bool {
	domain, found := strings.CutPrefix(path, graphPath+"/")
	return path == graphPath || found && slices.Contains(graphDomains, domain)
}

var graphDomains = resolvers.Domains()

// routes maps paths to handlers. It does not use http.ServeMux, which cleans paths: paths
// of REST contain UIDs in several spellings.
func (c *Config) routes(p *platform.Platform, verifier *auth.Verifier, admitting *admission.Controller, dev *development, issuer string, closing <-chan struct{}, options rest.Options) http.Handler {
	ready := shareCheck(c.readyCheck(p), c.draining)
	c.ready.use(ready)
	refuse := newErrorWriter(options)
	measured := countMemory(c.Memory) // one limit for all protocols
	// A request is admitted before more of it is read than a small body. Then it is authenticated.
	admitted := func(next http.Handler) http.Handler {
		return wrapHandler(next, measured, compressResponses, admitting.IdentifyCallers, auth.Middleware(verifier, refuse), admitting.AdmitRequests)
	}
	options.ConsoleURL = c.consoleURL(issuer)
	options.Uploads = rest.Uploads{MaxBytes: c.MaxUpload, Folder: store.TemporaryFolder(c.DatabaseURL), LeaveWork: admission.LeaveWork, Charge: admitting.Charge}
	endpoints := c.V2beta1.announce(admitted(limitTime(rest.New(p, options))))
	remote := rpcOptions(options)
	remote.Ready, remote.Aliases = ready, c.PackageAliases
	services := rpc.New(p, remote)
	procedures := c.V2beta1.announce(admitted(limitTime(services)))
	// Making the pages costs more than all the rest, and most servers are asked for few of them.
	home, pages := lazyHandler(func() http.Handler { return c.home(dev) }), lazyHandler(func() http.Handler { return guide(c.links()) })
	playground, reference := lazyHandler(func() http.Handler { return c.playground(dev) }), lazyHandler(func() http.Handler { return c.reference(dev) })
	console := http.NotFoundHandler()
	if !c.NoConsole {
		console = lazyHandler(func() http.Handler { return c.console(dev) })
	}
	description := compressResponses(rest.Description(options))
	byPath := map[string]http.Handler{
		"/":             home,
		"/home.css":     home,
		"/home.png":     home,
		"/playground":   playground,
		graphPath:       admitted(c.graphql(p, verifier, admitting, closing)),
		schemaPath:      readOnly(admitted(c.sdl(refuse))),
		"/openapi.json": description,
		"/openapi.yaml": description,
		"/docs":         reference,
		"/guide":        pages,
		"/console":      console,
		"/livez":        health(func(context.Context) error { return nil }),
		"/readyz":       health(ready),
	}
	for _, domain := range c.servedDomains() {
		byPath[graphPath+"/"+domain] = byPath[graphPath]
	}
	maps.Copy(byPath, wellKnown(p.Webhooks.Keys, issuer, options))
	byPath[resourcePath] = c.resource(issuer)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler := byPath[r.URL.Path]
		switch {
		case handler != nil:
		case strings.HasPrefix(r.URL.Path, "/playground/"):
			handler = playground
		case strings.HasPrefix(r.URL.Path, "/docs/"):
			handler = reference
		case strings.HasPrefix(r.URL.Path, "/guide/"):
			handler = pages
		case strings.HasPrefix(r.URL.Path, "/console/"):
			handler = console
		case strings.HasPrefix(r.URL.Path, "/grpc.health.v1."):
			handler = services
		case rpc.Serves(r.URL.Path):
			handler = procedures
		default:
			handler = endpoints
		}
		handler.ServeHTTP(w, r)
	})
}

// newErrorWriter returns a function that answers errors in the protocol of the path.
func newErrorWriter(o rest.Options) errorWriter {
	remote, graph := rpcOptions(o).WriteError, newGraphQLErrorWriter(o)
	return func(w http.ResponseWriter, r *http.Request, err error) {
		switch {
		case rpc.Serves(r.URL.Path):
			remote(w, r, err)
		case isGraph(r.URL.Path) && core.AsError(err).Code != core.CodeInvalidArgument: // other errors than those of HTTP itself
			graph(w, r, err)
		default:
			o.WriteError(w, r, err)
		}
	}
}

// newGraphQLErrorWriter returns a function that writes an error as a GraphQL response.
func newGraphQLErrorWriter(o rest.Options) errorWriter {
	presenter := &resolvers.Presenter{Errors: apierror.Errors{ServiceDomain: o.ServiceDomain, Logger: o.Logger}, RequestID: requestID}
	return func(w http.ResponseWriter, r *http.Request, err error) {
		shown := apierror.Show(err, "")
		h := w.Header()
		h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
		apierror.SetHeaders(h, shown)
		transport.WriteError(w, r, apierror.HTTPStatus(shown.Code), presenter.Present(r.Context(), err))
	}
}

// rpcOptions returns the options of gRPC, which equal those of REST.
func rpcOptions(o rest.Options) rpc.Options {
	return rpc.Options{ServiceDomain: o.ServiceDomain, Logger: o.Logger}
}

// readOnly rejects all methods except GET and HEAD.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This path supports GET and HEAD only.", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sdl serves the schema as text to callers who may read it.
func (c *Config) sdl(refuse errorWriter) http.Handler {
	content := sync.OnceValue(resolvers.SDL)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.mayReadSDL(r.Context()); err != nil {
			refuse(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, content())
	})
}

// health serves a health check: 200 if check succeeds, and 503 with the error otherwise.
func health(check func(context.Context) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		status, answer := http.StatusOK, map[string]string{"status": "ok"}
		if err := check(ctx); err != nil {
			status, answer = http.StatusServiceUnavailable, map[string]string{"status": "unavailable", "message": core.AsError(err).Message}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	})
}
