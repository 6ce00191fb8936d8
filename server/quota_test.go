package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"atrium/auth"
	"atrium/platform"
	"atrium/rest"
	"atrium/telemetry"
)

func TestACallerHasABurstAndThenItsRate(t *testing.T) {
	t.Parallel()
	l, now := newQuotas(100, 200, 0), time.Now()
	for i := range 200 {
		if _, left, _, err := l.enter("ann", now); err != nil || left.requests != 199-i {
			t.Fatalf("request %d: %+v, %v", i, left, err)
		}
	}
	_, left, limit, err := l.enter("ann", now)
	e := platform.AsError(err)
	if err == nil || limit != limitRate || e.Code != platform.CodeResourceExhausted || e.RetryAfter != 10*time.Millisecond || left.full != 2*time.Second {
		t.Errorf("the next: %v after %v, %+v, want Code %v", err, e.RetryAfter, left, platform.CodeResourceExhausted)
	}
	if _, _, _, err := l.enter("bob", now); err != nil {
		t.Errorf("another caller: %v", err)
	}
	for i := range 101 {
		if _, _, _, err := l.enter("ann", now.Add(time.Second)); (err == nil) != (i < 100) {
			t.Fatalf("a second later, request %d: %v", i, err)
		}
	}
}

func TestACallerHasALimitOfConcurrentRequests(t *testing.T) {
	t.Parallel()
	l := newQuotas(0, 1, 2)
	enter := func(caller string) (*quota, error) {
		q, _, _, err := l.enter(caller, time.Now())
		return q, err
	}
	first, _ := enter("ann")
	if _, err := enter("ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := enter("ann"); platform.AsError(err).RetryAfter != time.Second {
		t.Errorf("the third: %v, want RetryAfter %v", err, time.Second)
	}
	if _, err := enter("bob"); err != nil {
		t.Errorf("another caller: %v", err)
	}
	l.leave(first)
	if _, err := enter("ann"); err != nil {
		t.Errorf("after one has left: %v", err)
	}
	if _, err := enter("ann"); err == nil {
		t.Error("one that left made room for two")
	}
}

// The attack is requests of many invented callers.
func TestAMillionCallersTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	l, now := newQuotas(100, 200, 20), time.Now()
	for i := range 1_000_000 {
		q, _, _, err := l.enter(fmt.Sprintf("peer 2001:db8:%x:%x::", i>>16, i&0xffff), now)
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			l.leave(q)
		}
	}
	if n := l.counts.Len(); n != maxQuotas {
		t.Errorf("%d callers are remembered, want %d", n, maxQuotas)
	}
	runtime.KeepAlive(l)
}

// limitHandler returns a handler behind quotas.
func limitHandler(l *quotas, handler http.HandlerFunc) http.Handler {
	return passGate(newGate(l, 0), handler)
}

// passGate returns a handler behind a gate. The context of a request has its caller.
func passGate(g *gate, handler http.Handler) http.Handler {
	refused := newRefuser(rest.Options{}.WriteError)
	return wrapHandler(handler, g.identifyCallers(refused), g.admitRequests(refused))
}

func ask(t *testing.T, handler http.Handler, remote string, actor *platform.Actor) *httptest.ResponseRecorder {
	t.Helper()
	ctx := t.Context()
	if actor != nil {
		ctx = platform.WithActor(ctx, actor)
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

func TestTooManyRequestsAreAnsweredWithRetryAfter(t *testing.T) {
	t.Parallel()
	handler := limitHandler(newQuotas(1, 2, 5), answerOK)
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
	ann := &platform.Actor{Issuer: "i", Subject: "ann", Identities: []platform.UID{"b", "a"}}
	annElsewhere := &platform.Actor{Issuer: "i", Subject: "ann 2", Identities: []platform.UID{"a", "b"}}
	bob := &platform.Actor{Issuer: "i", Subject: "bob"}
	for _, c := range []struct {
		name               string
		remote, nextRemote string
		actor, next        *platform.Actor
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
		{"two tokens without identity", "192.0.2.1:1", "192.0.2.1:1", bob, &platform.Actor{Issuer: "i", Subject: "eve"}, false},
		{"a subject that looks like another's", "192.0.2.1:1", "192.0.2.1:1", &platform.Actor{Issuer: `i""`, Subject: "x"}, &platform.Actor{Issuer: "i", Subject: `""x`}, false},
	} {
		handler := limitHandler(newQuotas(1, 1, 0), answerOK)
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
	l := newQuotas(1, 1, 0)
	authenticated := newGate(l, 0).admitRequests(newRefuser(rest.Options{}.WriteError))(auth.Middleware(auth.New(auth.Options{}), rest.Options{}.WriteError)(http.HandlerFunc(answerOK)))
	bad := func() int {
		return ask(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Authorization", "Bearer x")
			authenticated.ServeHTTP(w, r)
		}), "192.0.2.1:1", nil).Code
	}
	if first, second := bad(), bad(); first != http.StatusUnauthorized || second != http.StatusTooManyRequests {
		t.Errorf("got %d, want 401, then %d, want 429", first, second)
	}
	if got := ask(t, limitHandler(l, answerOK), "192.0.2.1:1", &platform.Actor{Subject: "ann"}); got.Code != http.StatusOK {
		t.Errorf("a good token at the address: status %d, want 200", got.Code)
	}
}

func TestStreamsAreInFlightUntilTheyStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start func(http.ResponseWriter)
		want  int
	}{
		"a subscription": {detach, 200},
		"websocket":      {func(w http.ResponseWriter) { w.WriteHeader(http.StatusSwitchingProtocols) }, 200},
		"a query whose answer is an event": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			w.WriteHeader(http.StatusOK)
		}, 429},
		"an answer": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) }, 429},
	} {
		var handler http.Handler
		inside := 0
		handler = limitHandler(newQuotas(0, 1, 1), func(w http.ResponseWriter, _ *http.Request) {
			if inside == 0 {
				inside = 1
				c.start(w)
				inside = ask(t, handler, "192.0.2.1:1", nil).Code
				return
			}
			w.WriteHeader(http.StatusOK)
		})
		ask(t, handler, "192.0.2.1:1", nil)
		if inside != c.want {
			t.Errorf("%s: beside it %d, want %d", name, inside, c.want)
		}
	}
}

func TestAPanicFreesItsSlot(t *testing.T) {
	t.Parallel()
	l := newQuotas(0, 1, 1)
	o := rest.Options{Logger: discardLogger()}
	handler := addOuterLayers(limitHandler(l, func(http.ResponseWriter, *http.Request) { panic("mine") }), o, (&Config{Logger: o.Logger}).newRecorder())
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
	admit := r.admitOperations(newGate(newQuotas(1, 1, 0), 0))
	ctx := platform.WithActor(t.Context(), &platform.Actor{Subject: "ann"})
	if _, err := admit(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := admit(ctx); !errors.Is(err, &platform.Error{Code: platform.CodeResourceExhausted}) {
		t.Errorf("got %v", err)
	}
	if _, err := r.admitOperations(newGate(newQuotas(0, 1, 0), 0))(context.Background()); err != nil {
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

func BenchmarkALimitedRequest(b *testing.B) {
	handler := limitHandler(newQuotas(1_000_000_000, 1_000_000_000, 20), answerOK)
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request = request.WithContext(platform.WithActor(request.Context(), &platform.Actor{Identities: []platform.UID{platform.UID(strings.Repeat("a", 57))}}))
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
}
