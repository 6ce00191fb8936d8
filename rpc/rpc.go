package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"atrium/edge"
	"atrium/platform"
)

// Options are the settings of the services; the zero value serves.
type Options struct {
	ServiceDomain string       // what ErrorInfo.domain ends in; "" is atrium.dev
	Logger        *slog.Logger // of errors whose cause the client is not shown; nil: nobody

	// Ready is what grpc.health.v1 asks; nil: the platform's own check.
	Ready func(context.Context) error
}

// What a message may hold, and from which size on answers are compressed for
// clients that take it.
const (
	maxMessageBytes  = 1 << 20
	minCompressBytes = 1 << 10
)

// New serves every service over p, with health and reflection. It takes the
// caller from the request's context (platform.WithActor), and the id that its
// errors name from the X-Request-Id header of the answer, both set by whoever
// calls it. gRPC takes HTTP/2, the other protocols do not mind.
func New(p *platform.Platform, o Options) http.Handler {
	options := connect.WithHandlerOptions(
		connect.WithInterceptors(o.interceptor()),
		connect.WithRecover(o.recovered),
		connect.WithReadMaxBytes(maxMessageBytes),
		connect.WithCompressMinBytes(minCompressBytes),
		gzipped(),
	)
	mux := http.NewServeMux()
	served := o.mount(mux, services(p, connect.WithHandlerOptions(options, codecs())))
	mux.Handle(grpchealth.NewHandler(health{o.ready(p), served}, options))
	reflector := grpcreflect.NewStaticReflector(append(served, grpchealth.HealthV1ServiceName)...)
	mux.Handle(grpcreflect.NewHandlerV1(reflector, options))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector, options))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { o.WriteError(w, r, noProcedure) })
	return identified(mux)
}

// Serves tells the paths of procedures from those of other protocols.
func Serves(path string) bool {
	return strings.HasPrefix(path, "/platform.") || strings.HasPrefix(path, "/grpc.")
}

// A service is what serves the procedures below a path.
type service struct {
	path    string // /platform.registry.v2.ReposService/
	handler http.Handler
	public  bool // it takes no token
}

func newService(path string, handler http.Handler) service {
	return service{path: path, handler: handler}
}

func open(path string, handler http.Handler) service { return service{path, handler, true} }

// services lists those of the platform, in the order of their packages.
func services(p *platform.Platform, o connect.HandlerOption) []service {
	return slices.Concat(
		advisoryServices(p, o),
		eventsServices(p, o),
		iamServices(p, o),
		librariesServices(p, o),
		pingServices(p, o),
		registryServices(p, o),
		vulnerabilitiesServices(p, o),
	)
}

// mount puts services behind their paths and gives their names.
func (o Options) mount(mux *http.ServeMux, all []service) (names []string) {
	for _, s := range all {
		mux.Handle(s.path, o.guarded(s))
		names = append(names, strings.Trim(s.path, "/"))
	}
	return names
}

// guarded refuses what a service would not answer before a message is read:
// procedures that it does not have, and callers without a token.
func (o Options) guarded(s service) http.Handler {
	found, _ := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.Trim(s.path, "/")))
	descriptor, _ := found.(protoreflect.ServiceDescriptor) // generated with the handler
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := protoreflect.Name(strings.TrimPrefix(r.URL.Path, s.path))
		if descriptor.Methods().ByName(name) == nil {
			o.WriteError(w, r, noProcedure)
			return
		}
		if err := platform.Authenticated(r.Context()); err != nil && !s.public {
			o.WriteError(w, r, err)
			return
		}
		s.handler.ServeHTTP(w, r)
	})
}

// current is the name that a service of v2beta1 has in v2. Both answer alike.
func current(name string) string {
	if strings.HasPrefix(strings.TrimPrefix(name, "/"), "platform.") {
		return strings.Replace(name, ".v2beta1.", ".v2.", 1)
	}
	return name
}

// identified hands the id of a request on to the interceptor, which does not
// see the answer's headers, and leads v2beta1 to v2.
func identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := *r
		own.Header = make(http.Header, len(r.Header)+1)
		for name, values := range r.Header {
			own.Header[name] = values
		}
		if path := current(r.URL.Path); path != r.URL.Path {
			own.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
		}
		own.Header[edge.RequestIDHeader] = []string{w.Header().Get(edge.RequestIDHeader)}
		next.ServeHTTP(w, &own)
	})
}

// ready is the check of health.
func (o Options) ready(p *platform.Platform) func(context.Context) error {
	if o.Ready != nil {
		return o.Ready
	}
	return p.Ready
}

// health answers grpc.health.v1: every service serves while the check has no
// error.
type health struct {
	ready  func(context.Context) error
	served []string
}

// Check tells whether a service serves; "" is the whole of it.
func (h health) Check(ctx context.Context, r *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	if r.Service != "" && !slices.Contains(h.served, current(r.Service)) {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("no such service"))
	}
	status := grpchealth.StatusServing
	if h.ready(ctx) != nil {
		status = grpchealth.StatusNotServing
	}
	return &grpchealth.CheckResponse{Status: status}, nil
}
