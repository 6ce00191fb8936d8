package rpc

import (
	"context"
	"encoding/base64"
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

	"atrium/internal/apierror"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// Options are the settings of the services. The zero value is valid.
type Options struct {
	ServiceDomain string       // suffix of ErrorInfo.domain; "" means atrium.dev
	Logger        *slog.Logger // receives the internal errors that clients do not see; nil discards them

	// Aliases are the names that clients use for the packages of the services. Health and
	// reflection know them. Who calls the handler has resolved the paths of its requests.
	Aliases Aliases

	// Ready is the check of grpc.health.v1; nil means the check of the platform.
	Ready func(context.Context) error
}

// The largest message, and the smallest message that gRPC compresses for clients that accept
// it, in bytes.
const (
	maxMessageBytes  = 1 << 20
	minCompressBytes = 1 << 10
)

// New returns a handler of all services of p, with health and reflection. The caller of the
// handler must put the actor into the context of the request (core.WithActor) and set
// the X-Request-Id header of the response, which errors name. gRPC needs HTTP/2; the other
// protocols also work with HTTP/1.1.
func New(p *platform.Platform, o Options) http.Handler {
	options := connect.WithHandlerOptions(
		connect.WithInterceptors(o.interceptor(p.AllowStandby, p.Findings.AwaitSettled)),
		connect.WithRecover(recoverPanic),
		connect.WithReadMaxBytes(maxMessageBytes),
		connect.WithCompressMinBytes(minCompressBytes),
		gzipCodec(),
	)
	mux := http.NewServeMux()
	served := o.mount(mux, services(p, connect.WithHandlerOptions(options, codecs())))
	mux.Handle(grpchealth.NewHandler(health{o.ready(p), served, o.Aliases}, options))
	reflector := newReflector(served, o.Aliases)
	mux.Handle(grpcreflect.NewHandlerV1(reflector, options))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(reflector, options))
	mux.HandleFunc("/", o.refuseUnknown)
	return withRequestID(mux)
}

// Serves reports whether a path is the path of a procedure.
func Serves(path string) bool {
	return strings.HasPrefix(path, "/"+ownPackage+".") || strings.HasPrefix(path, "/grpc.")
}

// A service serves the procedures below a path.
type service struct {
	path    string // /platform.registry.v2.ReposService/
	handler http.Handler
	public  bool // needs no token
}

func newService(path string, handler http.Handler) service {
	return service{path: path, handler: handler}
}

func newPublicService(path string, handler http.Handler) service { return service{path, handler, true} }

// services lists the services of the platform, in the order of their packages.
func services(p *platform.Platform, o connect.HandlerOption) []service {
	return slices.Concat(
		advisoryServices(p, o),
		eventsServices(p, o),
		iamServices(p, o),
		librariesServices(p, o),
		operationsServices(p, o),
		pingServices(p, o),
		registryServices(p, o),
		sourcesServices(p, o),
		vulnerabilitiesServices(p, o),
	)
}

// mount registers services under their paths and returns their names.
func (o Options) mount(mux *http.ServeMux, all []service) (names []string) {
	for _, s := range all {
		mux.Handle(s.path, o.guard(s))
		names = append(names, strings.Trim(s.path, "/"))
	}
	return names
}

// guard rejects unknown procedures and callers without a token before the message is
// read.
func (o Options) guard(s service) http.Handler {
	found, _ := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.Trim(s.path, "/")))
	descriptor, _ := found.(protoreflect.ServiceDescriptor) // the paths come from the generated code, so the descriptor exists
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := protoreflect.Name(strings.TrimPrefix(r.URL.Path, s.path))
		if descriptor.Methods().ByName(name) == nil {
			o.WriteError(w, r, noProcedure)
			return
		}
		if err := core.RequireAuthenticated(r.Context()); err != nil && !s.public {
			o.WriteError(w, r, err)
			return
		}
		if err := checkQuery(r); err != nil {
			o.WriteError(w, r, err)
			return
		}
		if r.ProtoMajor < 2 { // net/http sends the trailers of a short answer only if connect has flushed it
			s.handler.ServeHTTP(w, r)
			return
		}
		answer := &unaryResponse{ResponseWriter: w} // no procedure streams
		s.handler.ServeHTTP(answer, r)
		_ = answer.end() // fails only if the client has disconnected
	})
}

// checkQuery rejects a GET of Connect whose message is not base64. connect would answer it
// as a fault of the server.
func checkQuery(r *http.Request) error {
	if r.Method != http.MethodGet {
		return nil
	}
	query := r.URL.Query()
	if query.Get("base64") != "1" {
		return nil
	}
	message, encoding := query.Get("message"), base64.RawURLEncoding
	if len(message)%4 == 0 { // connect expects padding then
		encoding = base64.URLEncoding
	}
	if _, err := encoding.DecodeString(message); err != nil {
		return core.Invalid(fieldmask.Violation{Field: "message", Description: "must be base64url"})
	}
	return nil
}

// withRequestID passes the request id to the interceptor, which cannot see the response
// headers, and routes v2beta1 to v2. It hides Accept-Encoding, since the caller of the handler
// compresses answers of Connect, as those of other protocols.
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
		delete(own.Header, "Accept-Encoding")
		if IsGRPC(r) {
			omitLength(w.Header())
		}
		own.Header[apierror.RequestIDHeader] = []string{w.Header().Get(apierror.RequestIDHeader)}
		next.ServeHTTP(w, &own)
	})
}

// ready returns the check of health.
func (o Options) ready(p *platform.Platform) func(context.Context) error {
	if o.Ready != nil {
		return o.Ready
	}
	return p.Ready
}

// health answers grpc.health.v1: all services serve while the check succeeds.
type health struct {
	ready   func(context.Context) error
	served  []string
	aliases Aliases
}

// Check reports whether a service serves; "" means all services.
func (h health) Check(ctx context.Context, r *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	if r.Service != "" && !slices.Contains(h.served, h.aliases.resolveName(r.Service)) {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("no such service"))
	}
	status := grpchealth.StatusServing
	if h.ready(ctx) != nil {
		status = grpchealth.StatusNotServing
	}
	return &grpchealth.CheckResponse{Status: status}, nil
}
