package rest

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"atrium/internal/apierror"
	"atrium/platform"

	"github.com/go-chi/chi/v5"
)

// Options are the settings of the endpoints. The zero value is valid.
type Options struct {
	ServiceDomain string // suffix of ErrorInfo.domain; "" means atrium.dev
	Version       string // version of the program in the OpenAPI document; "" means dev
	ConsoleURL    string // URL of the console, to which links in files lead; "" means that they lead to advisories
	Uploads       Uploads
	Logger        *slog.Logger // receives the internal errors that clients do not see; nil discards them
}

// New returns a handler of all routes of p, and of its exports and imports. The caller of the handler must put the actor
// into the context of the request (core.WithActor) and set the X-Request-Id header of
// the response, which errors name.
//
// The URL must be as the client sent it, because a router that cleans paths would change
// UIDs.
func New(p *platform.Platform, o Options) http.Handler {
	router := chi.NewRouter()
	router.Use(anyMethod)
	for prefix, group := range groupPaths(slices.Concat(routes(p), exportRoutes(p, o), importRoutes(p, o), operationRoutes(p))) {
		router.Handle(prefix, serve(p, o, group))
	}
	for _, area := range apierror.AreasWithV1 {
		router.Handle("/"+area+"/v1/*", refuse(o, noV1))
	}
	router.NotFound(refuse(o, noPath))
	return router
}

// routes returns the table of all routes.
func routes(p *platform.Platform) []route {
	var all []route
	for _, area := range [][]route{
		iamRoutes(p), registryRoutes(p), vulnerabilitiesRoutes(p), advisoryRoutes(p), eventsRoutes(p), pingRoutes(p),
		librariesRoutes(p), findingsRoutes(p), packagesRoutes(p), accessRoutes(p), batchRoutes(p),
		sourcesRoutes(p),
	} {
		for _, r := range area {
			beta := r
			beta.pattern = strings.Replace(r.pattern, "/v2/", "/v2beta1/", 1)
			all = append(all, r, beta)
		}
	}
	return all
}

// anyMethod makes the router match paths only. The handler of a path answers methods
// that it does not support.
func anyMethod(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chi.RouteContext(r.Context()).RouteMethod = http.MethodGet
		next.ServeHTTP(w, r)
	})
}

// serve returns the handler of the requests whose path starts with the prefix of a group.
func serve(p *platform.Platform, o Options, group *pathGroup) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		variables, methods := group.match(r.URL.EscapedPath())
		if methods == nil {
			o.WriteError(w, r, noPath)
			return
		}
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet // net/http omits the body
		}
		route := methods[method]
		switch {
		case route != nil:
			answer, err := route.run(w, allowStandby(p, r, method), variables)
			if err != nil {
				o.WriteError(w, r, err)
				return
			}
			if p.Findings.AwaitSettled(r.Context()) {
				w.Header().Set(apierror.FindingsPendingHeader, "true")
			}
			o.writeAnswer(w, r, answer)
		case method == http.MethodOptions:
			setPrivateHeaders(w.Header())
			w.Header().Set("Allow", methods.allow())
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Allow", methods.allow())
			o.WriteError(w, r, noMethod)
		}
	}
}

// allowStandby marks requests that change nothing.
func allowStandby(p *platform.Platform, r *http.Request, method string) *http.Request {
	if method != http.MethodGet {
		return r
	}
	if ctx := p.AllowStandby(r.Context()); ctx != r.Context() {
		return r.WithContext(ctx)
	}
	return r
}

func refuse(o Options, err error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { o.WriteError(w, r, err) }
}
