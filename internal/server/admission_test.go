package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"atrium/internal/auth"
	"atrium/internal/rest"
	"atrium/internal/server/admission"
	"atrium/internal/telemetry"
	"atrium/platform/core"
)

// limitHandler returns a handler behind limits. The context of a request has its caller.
func limitHandler(c Config, handler http.HandlerFunc) http.Handler {
	admitting := c.newAdmission(newErrorWriter(rest.Options{Logger: discardLogger()}))
	return admitting.AdmitRequests(admitting.IdentifyCallers(handler))
}

func ask(t *testing.T, handler http.Handler, remote string, actor *core.Actor) *httptest.ResponseRecorder {
	t.Helper()
	ctx := t.Context()
	if actor != nil {
		ctx = core.WithActor(ctx, actor)
	}
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/registry/v2/repos", nil)
	request.RemoteAddr = remote
	if actor != nil {
		request.Header.Set("Authorization", "Bearer "+actor.Key())
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer
}

// A request that is refused gets the structured error of its protocol with the time to come
// back, and its body is not read.
func TestRefusalsAreStructuredInEveryProtocol(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	options := rest.Options{Logger: slog.New(slog.NewJSONHandler(&logs, nil))}
	never := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request is admitted") })
	recorder := (&Config{Logger: options.Logger}).newRecorder()
	handler := addOuterLayers(limitHandler(Config{RateLimit: 1, RateBurst: 0}, never), options, recorder, nil)
	for path, c := range map[string]struct{ contentType, code string }{
		"/registry/v2/repos": {"application/json", `"code":8`},
		"/graphql":           {"application/json", `"code":"RESOURCE_EXHAUSTED"`},
		"/platform.registry.v2.ReposService/ListRepos":         {"application/json", `"code":"resource_exhausted"`},
		"/platform.registry.v2.ReposService/ListRepos?as=grpc": {"application/grpc+proto", ""},
	} {
		first := ""
		for range 2 {
			r := httptest.NewRequest(http.MethodPost, path, unreadBody{t})
			r.Header.Set("Content-Type", c.contentType)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			answer := w.Result()
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			if c.code == "" {
				status := answer.Header.Get("Grpc-Status") + answer.Trailer.Get("Grpc-Status")
				if status != strconv.Itoa(int(core.CodeResourceExhausted)) || answer.Trailer.Get("Grpc-Status-Details-Bin") == "" {
					t.Errorf("%s: grpc-status %q, want 8: %v", path, status, answer.Header)
				}
			} else if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") != "1" || !json.Valid(body) ||
				!strings.Contains(string(body), c.code) || !strings.Contains(string(body), "google.rpc.RetryInfo") {
				t.Errorf("%s: %d %v %s", path, answer.StatusCode, answer.Header, body)
			}
			if answer.Header.Get("X-Request-Id") == "" {
				t.Errorf("%s: no request id", path)
			}
			if first == "" {
				first = string(body)
			} else if first != string(body) {
				t.Errorf("%s: the second refusal is %s, want %s", path, body, first)
			}
		}
	}
	recorder.refusals.flush()
	if n := strings.Count(logs.String(), "\n"); n != 1 || !strings.Contains(logs.String(), `"refused":8`) || !strings.Contains(logs.String(), "requests are refused") {
		t.Errorf("%d lines are logged, want 1: %s", n, logs.String())
	}
}

// An unreadBody fails a test that reads it.
type unreadBody struct{ t *testing.T }

func (b unreadBody) Read([]byte) (int, error) {
	b.t.Error("the body of a refused request is read")
	return 0, io.EOF
}

func TestTooManyRequestsAreAnsweredWithRetryAfter(t *testing.T) {
	t.Parallel()
	handler := limitHandler(Config{RateLimit: 1, RateBurst: 2, MaxInFlight: 5}, answerOK)
	first := ask(t, handler, "192.0.2.1:1", nil)
	if first.Code != http.StatusOK || first.Header().Get("RateLimit") != `"rate";r=1;t=1, "in-flight";r=4` ||
		first.Header().Get("RateLimit-Policy") != `"rate";q=2;w=2, "in-flight";q=5;qu="concurrent-requests"` {
		t.Errorf("the first: status %d, want 200: %v", first.Code, first.Header())
	}
	ask(t, handler, "192.0.2.1:2", nil)
	third := ask(t, handler, "192.0.2.1:3", nil)
	body := third.Body.String()
	if third.Code != http.StatusTooManyRequests || third.Header().Get("Retry-After") != "1" || !strings.HasPrefix(third.Header().Get("RateLimit"), `"rate";r=0;t=2`) {
		t.Errorf("the third: status %d, want 429: %v", third.Code, third.Header())
	}
	for _, part := range []string{`"code":8`, `"reason":"RESOURCE_EXHAUSTED"`, `google.rpc.RetryInfo`} {
		if !strings.Contains(body, part) {
			t.Errorf("no %s in %s", part, body)
		}
	}
}

func TestRequestsCountForTheirSender(t *testing.T) {
	t.Parallel()
	ann := &core.Actor{Issuer: "i", Subject: "ann", Identities: []core.UID{"b", "a"}}
	annElsewhere := &core.Actor{Issuer: "i", Subject: "ann 2", Identities: []core.UID{"a", "b"}}
	bob := &core.Actor{Issuer: "i", Subject: "bob"}
	for _, c := range []struct {
		name               string
		remote, nextRemote string
		actor, next        *core.Actor
		same               bool
	}{
		{"an address", "192.0.2.1:1", "192.0.2.1:2", nil, nil, true},
		{"two addresses", "192.0.2.1:1", "192.0.2.2:1", nil, nil, false},
		{"an address in both forms", "192.0.2.1:1", "[::ffff:192.0.2.1]:1", nil, nil, true},
		{"a network of IPv6", "[2001:db8::1]:1", "[2001:db8::2:3:4:5]:1", nil, nil, true},
		{"two networks of IPv6", "[2001:db8::1]:1", "[2001:db8:0:1::1]:1", nil, nil, false},
		{"no address", "@", "@", nil, nil, true},
		{"identities from anywhere", "192.0.2.1:1", "192.0.2.2:1", ann, annElsewhere, true},
		{"identities and others at the address", "192.0.2.1:1", "192.0.2.1:1", ann, nil, false},
		{"a token without identity", "192.0.2.1:1", "192.0.2.2:1", bob, bob, true},
		{"two tokens without identity", "192.0.2.1:1", "192.0.2.1:1", bob, &core.Actor{Issuer: "i", Subject: "eve"}, false},
		{"a subject that looks like another's", "192.0.2.1:1", "192.0.2.1:1", &core.Actor{Issuer: `i""`, Subject: "x"}, &core.Actor{Issuer: "i", Subject: `""x`}, false},
	} {
		handler := limitHandler(Config{RateLimit: 1, RateBurst: 1}, answerOK)
		ask(t, handler, c.remote, c.actor)
		if got := ask(t, handler, c.nextRemote, c.next); (got.Code == http.StatusTooManyRequests) != c.same {
			t.Errorf("%s: %d", c.name, got.Code)
		}
	}
}

// A request with an invalid token counts for its address, but not for authenticated
// callers at the same address.
func TestInvalidTokensCountForTheirAddress(t *testing.T) {
	t.Parallel()
	c := (&Config{RateLimit: 1, RateBurst: 1}).newAdmission(rest.Options{}.WriteError)
	authenticated := c.AdmitRequests(auth.Middleware(auth.New(auth.Options{}), rest.Options{}.WriteError)(http.HandlerFunc(answerOK)))
	bad := func() int {
		return ask(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Authorization", "Bearer x")
			authenticated.ServeHTTP(w, r)
		}), "192.0.2.1:1", nil).Code
	}
	if first, second := bad(), bad(); first != http.StatusUnauthorized || second != http.StatusTooManyRequests {
		t.Errorf("got %d, want 401, then %d, want 429", first, second)
	}
	if got := ask(t, c.AdmitRequests(c.IdentifyCallers(http.HandlerFunc(answerOK))), "192.0.2.1:1", &core.Actor{Subject: "ann"}); got.Code != http.StatusOK {
		t.Errorf("a good token at the address: status %d, want 200", got.Code)
	}
}

func TestAPanicFreesItsSlot(t *testing.T) {
	t.Parallel()
	o := rest.Options{Logger: discardLogger()}
	handler := addOuterLayers(limitHandler(Config{RateBurst: 1, MaxInFlight: 1}, func(http.ResponseWriter, *http.Request) { panic("mine") }), o, (&Config{Logger: o.Logger}).newRecorder(), nil)
	for range 3 {
		if got := ask(t, handler, "192.0.2.1:1", nil); got.Code != http.StatusInternalServerError {
			t.Errorf("got status %d, want 500", got.Code)
		}
	}
}

func TestOperationsOfAWebsocketCountToo(t *testing.T) {
	t.Parallel()
	metrics := telemetry.New("test")
	r := (&Config{Logger: discardLogger(), Metrics: metrics}).newRecorder()
	admit := admitOperations(admission.New(admission.Settings{Rate: 1, Burst: 1}))
	ctx := core.WithActor(t.Context(), &core.Actor{Subject: "ann"})
	if _, _, err := admit(ctx); err != nil {
		t.Fatal(err)
	}
	trace := &core.Trace{}
	if _, _, err := admit(core.WithTrace(ctx, trace)); !errors.Is(err, &core.Error{Code: core.CodeResourceExhausted}) {
		t.Errorf("got %v", err)
	}
	if limit := trace.Facts().Limit; limit != "rate" {
		t.Errorf("the trace has the limit %q, want rate", limit)
	}
	r.finish(finished{protocol: "graphql-ws", trace: trace, facts: trace.Facts(), code: "RESOURCE_EXHAUSTED"})
	if _, _, err := admitOperations(admission.New(admission.Settings{Burst: 1}))(context.Background()); err != nil {
		t.Errorf("without limits: %v", err)
	}
	scraped := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(scraped, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, sample := range []string{`atrium_limit_refusals_total{limit="rate"} 1`, `atrium_requests_total{code="RESOURCE_EXHAUSTED",operation="other",protocol="graphql-ws"} 1`} {
		if !strings.Contains(scraped.Body.String(), sample+"\n") {
			t.Errorf("no %s", sample)
		}
	}
}
