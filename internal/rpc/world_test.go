package rpc

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"

	"atrium/gen/platform/iam/v2/iamv2connect"
	"atrium/gen/platform/registry/v2/registryv2connect"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

const (
	testIssuer = "https://issuer.example.com"
	theOwner   = "owner-of-acme"
	nobody     = "-" // a subject that means a request without a token
)

var withNothing = connect.WithHandlerOptions()

// A world is a service on its own database, with one organization.
type world struct {
	t      testing.TB
	p      *platform.Platform
	server *httptest.Server
	org    string
}

func newWorld(t testing.TB) *world { return newWorldOn(t, storetest.SQLite(t), Options{}) }

func newWorldOn(t testing.TB, url string, o Options) *world {
	t.Helper()
	p, err := platform.New(t.Context(), storetest.Open(t, url), platform.Options{AllowSignup: true, AllowIssuers: true, TestPatience: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.Groups.Bootstrap(t.Context(), "acme", testIssuer, theOwner)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, p: p, org: string(made.Group.UID)}
	w.server = httptest.NewUnstartedServer(w.authenticate(New(p, o), o))
	w.server.Config.Protocols = new(http.Protocols)
	w.server.Config.Protocols.SetHTTP1(true)
	w.server.Config.Protocols.SetUnencryptedHTTP2(true)
	w.server.Start()
	t.Cleanup(w.server.Close)
	return w
}

// authenticate returns a handler that takes the caller from a header.
func (w *world) authenticate(next http.Handler, o Options) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Request-Id", "req-1")
		ctx := r.Context()
		if subject := r.Header.Get("X-Subject"); subject != nobody && subject != "" {
			actor, err := w.p.Authenticate(ctx, iam.Claims{Issuer: testIssuer, Subject: subject, ServiceAudience: true})
			if err != nil {
				o.WriteError(rw, r, err)
				return
			}
			ctx = core.WithActor(ctx, actor)
		}
		next.ServeHTTP(rw, r.WithContext(ctx))
	})
}

// newHTTP2Client returns a client for HTTP/2 without TLS, as gRPC needs it.
func newHTTP2Client() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols}}
}

// protocols lists the protocols of the services.
var protocols = map[string]connect.ClientOption{
	"connect": connect.WithClientOptions(), "connect JSON": connect.WithProtoJSON(),
	"gRPC": connect.WithGRPC(), "gRPC-Web": connect.WithGRPCWeb(),
}

// clients has a client of each service, for one caller and one protocol.
type clients struct {
	groups     iamv2connect.GroupsServiceClient
	identities iamv2connect.IdentitiesServiceClient
	roles      iamv2connect.RolesServiceClient
	bindings   iamv2connect.RoleBindingsServiceClient
	invites    iamv2connect.GroupInvitesServiceClient
	providers  iamv2connect.IdentityProvidersServiceClient
	repos      registryv2connect.ReposServiceClient
	tags       registryv2connect.TagsServiceClient
}

func (w *world) clientsAs(subject, protocol string) clients {
	caller := connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			r.Header().Set("X-Subject", subject)
			return next(ctx, r)
		}
	})
	client, url := newHTTP2Client(), w.server.URL
	w.t.Cleanup(client.CloseIdleConnections)
	o := connect.WithClientOptions(protocols[protocol], connect.WithInterceptors(caller))
	return clients{
		iamv2connect.NewGroupsServiceClient(client, url, o), iamv2connect.NewIdentitiesServiceClient(client, url, o),
		iamv2connect.NewRolesServiceClient(client, url, o), iamv2connect.NewRoleBindingsServiceClient(client, url, o),
		iamv2connect.NewGroupInvitesServiceClient(client, url, o), iamv2connect.NewIdentityProvidersServiceClient(client, url, o),
		registryv2connect.NewReposServiceClient(client, url, o), registryv2connect.NewTagsServiceClient(client, url, o),
	}
}

func (w *world) owner() clients { return w.clientsAs(theOwner, "gRPC") }

// must returns a function that expects success and returns the response.
func must[M any](t testing.TB) func(M, error) M {
	return func(answer M, err error) M {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
}

// expectError expects that a call fails with a code, and returns its error.
func expectError(t testing.TB, err error, code connect.Code) *connect.Error {
	t.Helper()
	var e *connect.Error
	if !errors.As(err, &e) || e.Code() != code {
		t.Fatalf("the error is %v, want %s", err, code)
	}
	return e
}

// detail returns the error detail of a type, or nil.
func detail[D proto.Message](t testing.TB, e *connect.Error) (found D) {
	t.Helper()
	for _, d := range e.Details() {
		message, err := d.Value()
		if err != nil {
			t.Fatal(err)
		}
		if typed, ok := message.(D); ok {
			return typed
		}
	}
	return found
}

// violations returns the fields that an error names, in its order.
func violations(t testing.TB, e *connect.Error) string {
	t.Helper()
	var fields []string
	for _, v := range detail[*errdetails.BadRequest](t, e).GetFieldViolations() {
		fields = append(fields, v.GetField())
	}
	return strings.Join(fields, " ")
}
