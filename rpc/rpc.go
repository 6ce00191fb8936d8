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
	ServiceDomain string       // suffix of ErrorInfo.domain; "": atrium.dev
	Logger        *slog.Logger // receives the internal errors that clients do not see; nil discards them

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
		connect.WithRecover(o.recoverPanic),
		connect.WithReadMaxBytes(maxMessageBytes),
		connect.WithCompressMinBytes(minCompressBytes),
		gzipCodec(),
	)
	mux := http.NewServeMux()
	served := o.mount(mux, services(p, connect.WithHandlerOptions(options, codecs())))
	mux.Handle(grpchealth.NewHandler(health{o.ready(p), served}, options))
	reflector := grpcreflect.NewStaticReflector(append(served, grpchealth.HealthV1ServiceName)...)
	mux.Handle(grpcreflect.NewHandlerV1(reflector, options))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector, options))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { o.WriteError(w, r, noProcedure) })
	return withRequestID(mux)
}

// Serves reports whether a path is that of a procedure.
func Serves(path string) bool {
	return strings.HasPrefix(path, "/platform.") || strings.HasPrefix(path, "/grpc.")
}

// A service serves the procedures below a path.
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

// mount registers services under their paths and returns their names.
func (o Options) mount(mux *http.ServeMux, all []service) (names []string) {
	for _, s := range all {
		mux.Handle(s.path, o.guarded(s))
		names = append(names, strings.Trim(s.path, "/"))
	}
	return names
}

// guarded rejects unknown procedures and callers without a token before the message is
// read.
func (o Options) guarded(s service) http.Handler {
	found, _ := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.Trim(s.path, "/")))
	descriptor, _ := found.(protoreflect.ServiceDescriptor) // generated with the handler
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := protoreflect.Name(strings.TrimPrefix(r.URL.Path, s.path))
		if descriptor.Methods().ByName(name) == nil {
			o.WriteError(w, r, noProcedure)
			return
		}
		if err := platform.RequireAuthenticated(r.Context()); err != nil && !s.public {
			o.WriteError(w, r, err)
			return
		}
		s.handler.ServeHTTP(w, r)
	})
}

// currentName returns the v2 name of a service of v2beta1. Both behave the same.
func currentName(name string) string {
	if strings.HasPrefix(strings.TrimPrefix(name, "/"), "platform.") {
		return strings.Replace(name, ".v2beta1.", ".v2.", 1)
	}
	return name
}

// withRequestID passes the request id to the interceptor, which cannot see the response
// headers, and routes v2beta1 to v2.
func withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := *r
		own.Header = make(http.Header, len(r.Header)+1)
		for name, values := range r.Header {
			own.Header[name] = values
		}
		if path := currentName(r.URL.Path); path != r.URL.Path {
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

// Check reports whether a service serves; "" means all services.
func (h health) Check(ctx context.Context, r *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	if r.Service != "" && !slices.Contains(h.served, currentName(r.Service)) {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("no such service"))
	}
	status := grpchealth.StatusServing
	if h.ready(ctx) != nil {
		status = grpchealth.StatusNotServing
	}
	return &grpchealth.CheckResponse{Status: status}, nil
}
