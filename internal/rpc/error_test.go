package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	iamv2 "atrium/gen/platform/iam/v2"
	pingv2 "atrium/gen/platform/ping/v2"
	"atrium/gen/platform/ping/v2/pingv2connect"
	registryv2 "atrium/gen/platform/registry/v2"
	"atrium/gen/platform/registry/v2/registryv2connect"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// procedures lists all procedures of the mounted services.
func procedures(t *testing.T, p *platform.Platform) (all []string) {
	t.Helper()
	for _, s := range services(p, withNothing) {
		found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.Trim(s.path, "/")))
		if err != nil {
			t.Fatal(err)
		}
		methods := found.(protoreflect.ServiceDescriptor).Methods()
		for i := range methods.Len() {
			all = append(all, s.path+string(methods.Get(i).Name()))
		}
	}
	return all
}

// post calls a procedure like curl, with the Connect protocol in JSON.
func (w *world) post(subject, procedure, body string) (int, http.Header, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.server.URL+procedure, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Subject", subject)
	answer, err := w.server.Client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(text)
}

func TestNothingButPingAnswersWithoutAToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all := procedures(t, w.p)
	if len(all) < 40 {
		t.Fatalf("there are only %d procedures", len(all))
	}
	for _, procedure := range all {
		status, header, text := w.post(nobody, procedure, "{}")
		want := http.StatusUnauthorized
		if strings.HasSuffix(procedure, "/Ping") {
			want = http.StatusOK
		}
		if status != want || status == http.StatusUnauthorized && header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s answers %d, want %d: %v %s", procedure, status, want, header, text)
		}
	}
}

// A procedure without an implementation would answer UNIMPLEMENTED.
func TestEveryServedProcedureIsImplemented(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, procedure := range procedures(t, w.p) {
		if status, _, text := w.post(theOwner, procedure, "{}"); status >= http.StatusInternalServerError {
			t.Errorf("%s answers %d %s", procedure, status, text)
		}
	}
}

func TestErrorsComeWithTheDetailsOfREST(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for protocol := range protocols {
		c := w.clientsAs(theOwner, protocol)
		_, err := c.groups.GetGroup(t.Context(), &iamv2.GetGroupRequest{Uid: "nonsense"})
		e := expectError(t, err, connect.CodeInvalidArgument)
		info := detail[*errdetails.ErrorInfo](t, e)
		if info.GetReason() != "INVALID_ARGUMENT" || info.GetDomain() != "iam.atrium.dev" || violations(t, e) != "uid" {
			t.Errorf("%s: %v %v, want Reason 'INVALID_ARGUMENT', Domain 'iam.atrium.dev' and violations of 'uid'", protocol, info, e.Details())
		}
		if _, err := e.Details()[0].Value(); err != nil || e.Details()[0].Type() != "google.rpc.ErrorInfo" {
			t.Errorf("%s: the first detail is %s, want google.rpc.ErrorInfo (%v)", protocol, e.Details()[0].Type(), err)
		}

		_, err = w.clientsAs("a stranger", protocol).repos.ListRepos(t.Context(), &registryv2.ListReposRequest{})
		info = detail[*errdetails.ErrorInfo](t, expectError(t, err, connect.CodePermissionDenied))
		if info.GetReason() != "IDENTITY_NOT_FOUND" || info.GetMetadata()["capability"] != "repo.list" || info.GetDomain() != "registry.atrium.dev" {
			t.Errorf("%s: %v, want Reason 'IDENTITY_NOT_FOUND', capability 'repo.list' and Domain 'registry.atrium.dev'", protocol, info)
		}

		_, err = c.roles.DeleteRole(t.Context(), &iamv2.DeleteRoleRequest{Uid: string(iam.OwnerRole)})
		blocked := detail[*errdetails.PreconditionFailure](t, expectError(t, err, connect.CodeFailedPrecondition)).GetViolations()
		if len(blocked) != 1 || blocked[0].GetType() != "BUILT_IN_ROLE" || blocked[0].GetSubject() != string(iam.OwnerRole) {
			t.Errorf("%s: %v, want 1 of them", protocol, blocked)
		}

		_, err = c.groups.CreateGroup(t.Context(), &iamv2.CreateGroupRequest{Group: &iamv2.Group{Name: "acme"}})
		if r := detail[*errdetails.ResourceInfo](t, expectError(t, err, connect.CodeAlreadyExists)); r.GetResourceType() != "iam.atrium.dev/Group" {
			t.Errorf("%s: %v, want ResourceType 'iam.atrium.dev/Group'", protocol, r)
		}
	}
}

// A failingPing is a service whose handler calls a function of the test.
type failingPing struct{ with func() error }

func (s failingPing) Ping(context.Context, *pingv2.PingRequest) (*pingv2.PingResponse, error) {
	return nil, s.with()
}

func TestInternalErrorsAreLoggedAndNotShown(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func() error{
		"an error": func() error { return errors.New("the secret of the database") },
		"a panic":  func() error { panic("the secret of the database") },
	} {
		var log bytes.Buffer
		o := Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		_, handler := pingv2connect.NewPingServiceHandler(failingPing{with}, connect.WithInterceptors(o.interceptor(func(ctx context.Context) context.Context { return ctx }, func(context.Context) bool { return false })), connect.WithRecover(recoverPanic))
		client := pingv2connect.NewPingServiceClient(&http.Client{Transport: inMemory{withID("req-7", withRequestID(handler))}}, "http://atrium")
		_, err := client.Ping(t.Context(), &pingv2.PingRequest{})
		e := expectError(t, err, connect.CodeInternal)
		if info := detail[*errdetails.ErrorInfo](t, e); info.GetMetadata()["requestId"] != "req-7" || len(e.Details()) != 1 || strings.Contains(e.Error(), "secret") {
			t.Errorf("%s: %v %v, want requestId 'req-7' and 1 details", name, e, info)
		}
		if !strings.Contains(log.String(), "the secret of the database") || !strings.Contains(log.String(), "req-7") {
			t.Errorf("%s: the log is %s, want a text with 'the secret of the database' and a text with 'req-7'", name, &log)
		}
	}
}

func TestErrorsSayWhenToRetry(t *testing.T) {
	t.Parallel()
	_, handler := pingv2connect.NewPingServiceHandler(failingPing{func() error { return core.Unavailable("the store is away", errors.New("no route")) }},
		connect.WithInterceptors(Options{}.interceptor(func(ctx context.Context) context.Context { return ctx }, func(context.Context) bool { return false })))
	client := pingv2connect.NewPingServiceClient(&http.Client{Transport: inMemory{withRequestID(handler)}}, "http://atrium")
	_, err := client.Ping(t.Context(), &pingv2.PingRequest{})
	e := expectError(t, err, connect.CodeUnavailable)
	if d := detail[*errdetails.RetryInfo](t, e); d.GetRetryDelay().AsDuration() != time.Second || e.Meta().Get("Retry-After") != "1" {
		t.Errorf("it says %v, %v, want AsDuration %v and Retry-After '1'", d, e.Meta(), time.Second)
	}
}

func withID(id string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r)
	})
}

func TestUnknownProceduresAreUnimplemented(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{"/platform.iam.v2.GroupsService/Explode", "/platform.iam.v2.NoService/Get", "/platform.", "/grpc.x/y"} {
		if status, _, text := w.post(theOwner, path, "{}"); status != http.StatusNotFound && status != http.StatusNotImplemented {
			t.Errorf("%s answers %d %s", path, status, text)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+"/platform.iam.v2.NoService/Get", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/grpc")
	answer, err := newHTTP2Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	if got := answer.Trailer.Get("Grpc-Status"); answer.StatusCode != http.StatusOK || got != "12" {
		t.Errorf("to gRPC it answers %d, want 200, grpc-status %s, want 12", answer.StatusCode, got)
	}
}

func TestAnInvalidTokenIsAnErrorOfTheProtocol(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, storetest.SQLite(t), Options{ServiceDomain: "example.com"})
	refusing := New(w.p, Options{})
	handler := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			Options{ServiceDomain: "example.com"}.WriteError(rw, r, core.Unauthenticated("the token has expired"))
			return
		}
		refusing.ServeHTTP(rw, r)
	})
	w.server.Config.Handler = handler
	for protocol, option := range protocols {
		client := pingv2connect.NewPingServiceClient(newHTTP2Client(), w.server.URL, option)
		ctx, call := connect.NewClientContext(t.Context())
		call.RequestHeader().Set("Authorization", "Bearer expired")
		_, err := client.Ping(ctx, &pingv2.PingRequest{})
		e := expectError(t, err, connect.CodeUnauthenticated)
		if info := detail[*errdetails.ErrorInfo](t, e); info.GetDomain() != "ping.example.com" || fmt.Sprint(e.Message()) != "Unauthenticated: the token has expired" {
			t.Errorf("%s: %v %v, want Domain 'ping.example.com'", protocol, e, info)
		}
	}
}

// The attack is a proxy such as nginx, which drops the trailers of a response whose length is 0. A client then does not learn
// why its call failed.
func TestNoErrorOfGRPCHasALength(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct{ procedure, subject, status string }{
		"an error of an operation": {registryv2connect.ReposServiceListReposProcedure, theOwner, "3"},
		"no token":                 {registryv2connect.ReposServiceListReposProcedure, nobody, "16"},
		"an unknown procedure":     {"/platform.registry.v2.ReposService/Nothing", theOwner, "12"},
		"an unknown service":       {"/platform.None/Nothing", theOwner, "12"},
	} {
		const invalid = "\x00\x00\x00\x00\x0b\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" // page_size: -1
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.server.URL+c.procedure, strings.NewReader(invalid))
		if err != nil {
			t.Fatal(err)
		}
		request.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "X-Subject": {c.subject}}
		response := must[*http.Response](t)(newHTTP2Client().Do(request))
		body, err := io.ReadAll(response.Body)
		if err := errors.Join(err, response.Body.Close()); err != nil || len(body) > 0 {
			t.Errorf("%s: body %q (%v), want none", name, body, err)
		}
		if got := response.Trailer.Get("Grpc-Status"); got != c.status || response.ContentLength != -1 {
			t.Errorf("%s: status %q and length %d, want status %s and no length", name, got, response.ContentLength, c.status)
		}
	}
}

// Behind nginx, a call that was refused before its message had arrived failed with INTERNAL_ERROR now and then.
func TestARefusedCallIsAnsweredAfterItsMessage(t *testing.T) {
	t.Parallel()
	for media, want := range map[string]int{
		"application/grpc": 0, "application/grpc+proto": 0, "application/grpc-web+proto": 5, "application/json": 5,
	} {
		message := strings.NewReader("\x00\x00\x00\x00\x00")
		r := httptest.NewRequest(http.MethodPost, registryv2connect.ReposServiceListReposProcedure, message)
		r.Header.Set("Content-Type", media)
		Options{}.WriteError(httptest.NewRecorder(), r, core.Unauthenticated("test"))
		if message.Len() != want {
			t.Errorf("%s: %d bytes of the message are left, want %d", media, message.Len(), want)
		}
	}
}
