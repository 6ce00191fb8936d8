package rpc

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/jackc/pgx/v5"

	iamv2 "atrium/gen/platform/iam/v2"
	"atrium/store/storetest"
)

// An inMemory is a transport without a network.
type inMemory struct{ handler http.Handler }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

func TestMessagesAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for protocol := range protocols {
		_, err := w.clientsAs(theOwner, protocol).groups.CreateGroup(t.Context(), &iamv2.CreateGroupRequest{
			Parent: w.org, Group: &iamv2.Group{Name: "big", Description: strings.Repeat("x", maxMessageBytes)},
		})
		_ = expectError(t, err, connect.CodeResourceExhausted)
	}
}

// The limit applies to the decompressed size of a message.
func TestMessagesAreLimitedAfterDecompression(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	client := newHTTP2Client()
	for _, option := range protocols {
		groups := connect.NewClient[iamv2.CreateGroupRequest, iamv2.Group](client, w.server.URL+"/platform.iam.v2.GroupsService/CreateGroup",
			option, connect.WithSendGzip())
		request := connect.NewRequest(&iamv2.CreateGroupRequest{Group: &iamv2.Group{Description: strings.Repeat("x", 8*maxMessageBytes)}})
		request.Header().Set("X-Subject", theOwner)
		_, err := groups.CallUnary(t.Context(), request)
		_ = expectError(t, err, connect.CodeResourceExhausted)
	}
}

func TestAGetWithABrokenMessageIsNoFaultOfTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for message, want := range map[string]int{"%25%25": http.StatusBadRequest, "e30": http.StatusOK, "eyJwYWdlU2l6ZSI6MX0=": http.StatusOK, "e30=": http.StatusOK, "e30=%3D": http.StatusBadRequest} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+"/platform.registry.v2.ReposService/ListRepos?connect=v1&encoding=json&base64=1&message="+message, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Subject", theOwner)
		answer, err := newHTTP2Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != want || want != http.StatusOK && !strings.Contains(string(body), "message: must be base64url") {
			t.Errorf("%s: got %d %s, want %d", message, answer.StatusCode, body, want)
		}
	}
}

// If an unknown filter were ignored, a list would contain too much.
func TestUnknownFieldsOfAListAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	request := &iamv2.ListGroupsRequest{}
	request.ProtoReflect().SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 4711, protowire.BytesType), "of a newer client"))
	_, err := w.owner().groups.ListGroups(t.Context(), request)
	if got := violations(t, expectError(t, err, connect.CodeInvalidArgument)); got != "4711" {
		t.Errorf("it names %q, want 4711", got)
	}
	if status, _, text := w.post(theOwner, "/platform.iam.v2.GroupsService/ListGroups", `{"ofANewerClient": 1}`); status != http.StatusBadRequest || !strings.Contains(text, "ofANewerClient") {
		t.Errorf("JSON: status %d, want 400: %s, want it to contain 'ofANewerClient'", status, text)
	}
}

func TestMalformedMessagesAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, body := range []string{"", "nonsense", "[]", `{"pageSize": "many"}`, `{"name": 1}`, strings.Repeat("[", 100_000), `{"uidp":` + strings.Repeat(`{"uidp":`, 20_000)} {
		if status, _, text := w.post(theOwner, "/platform.iam.v2.GroupsService/ListGroups", body); status != http.StatusBadRequest && body != "" {
			t.Errorf("%.20s: %d %s", body, status, text)
		}
	}
}

func TestHealthFollowsTheDatabase(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	w := newWorldOn(t, url, Options{})
	const check = "/grpc.health.v1.Health/Check"
	for body, want := range map[string]string{
		`{}`: "SERVING_STATUS_SERVING", `{"service": "platform.iam.v2.GroupsService"}`: "SERVING_STATUS_SERVING", `{"service": "platform.iam.v2.NoService"}`: "not_found",
	} {
		if _, _, text := w.post(nobody, check, body); !strings.Contains(text, `"`+want+`"`) {
			t.Errorf("%s: %s, want %s", body, text, want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	answer, err := health{ready: w.p.Ready}.Check(ended, &grpchealth.CheckRequest{})
	if err != nil || answer.Status != grpchealth.StatusNotServing {
		t.Errorf("a database that does not answer is %v (%v)", answer, err)
	}
}

func TestReflectionListsWhatIsServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stream := grpcreflect.NewClient(newHTTP2Client(), w.server.URL, connect.WithGRPC()).NewStream(t.Context())
	defer func() { _, _ = stream.Close() }()
	names, err := stream.ListServices()
	if err != nil || len(names) != len(services(w.p, withNothing))+1 {
		t.Fatalf("it lists %v (%v)", names, err)
	}
	files, err := stream.FileContainingSymbol("platform.registry.v2.Repo")
	if err != nil || len(files) == 0 || files[0].GetName() != "platform/registry/v2/repos.proto" {
		t.Errorf("a repo is in %v (%v), want Name 'platform/registry/v2/repos.proto'", files, err)
	}
	for _, name := range names {
		files, err := stream.FileContainingSymbol(name)
		if err != nil {
			t.Errorf("%s is in no file: %s", name, err)
			continue
		}
		for _, service := range files[0].GetService() {
			for _, method := range service.GetMethod() {
				path := "/" + files[0].GetPackage() + "." + service.GetName() + "/" + method.GetName()
				if status, _, text := w.post(nobody, path, `{}`); status == http.StatusNotFound || strings.Contains(text, "unimplemented") {
					t.Errorf("%s is described, and its call gives %d %s", path, status, text)
				}
			}
		}
	}
}

// A call that waits for a locked row must end at its deadline and release its connection.
func TestADeadlineFreesTheConnection(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	w := newWorldOn(t, url, Options{})
	other, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(context.WithoutCancel(t.Context())) }()
	for name, call := range map[string]func() error{
		"deadline": func() error {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			return w.rename(ctx)
		},
		"cancelled": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				waitUntil(t, url, 1)
				cancel()
			}()
			return w.rename(ctx)
		},
	} {
		tx, err := other.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "LOCK TABLE grp IN ACCESS EXCLUSIVE MODE"); err != nil {
			t.Fatal(err)
		}
		err = call()
		if code := connect.CodeOf(err); code != connect.CodeDeadlineExceeded && code != connect.CodeCanceled {
			t.Errorf("%s: %v", name, err)
		}
		waitUntil(t, url, 0) // The lock is still held.
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := w.rename(t.Context()); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	}
}

func (w *world) rename(ctx context.Context) error {
	_, err := w.owner().groups.UpdateGroup(ctx, &iamv2.UpdateGroupRequest{Group: &iamv2.Group{Uid: w.org, Name: "acme"}})
	return err
}

// waitUntil waits until this number of sessions of a database wait for a lock.
func waitUntil(t *testing.T, url string, waiting int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	for ; t.Context().Err() == nil; time.Sleep(5 * time.Millisecond) {
		var n int
		const sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
		if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Error(err)
			return
		}
		if n == waiting {
			return
		}
	}
}

func TestAnErrorOfTheDeadlineSaysThatARetryMayHelp(t *testing.T) {
	t.Parallel()
	e := Options{}.presentError(t.Context(), "/platform.iam.v2.GroupsService/GetGroup", "req-1", context.DeadlineExceeded)
	if e.Code() != connect.CodeDeadlineExceeded || detail[*errdetails.RetryInfo](t, e) == nil || detail[*errdetails.ErrorInfo](t, e).GetDomain() != "iam.atrium.dev" {
		t.Errorf("it is %v %v, want Code %v and Domain 'iam.atrium.dev'", e, e.Details(), connect.CodeDeadlineExceeded)
	}
}
