package admission

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
)

func TestACallerHasABurstAndThenItsRate(t *testing.T) {
	t.Parallel()
	l, now := newQuotas(100, 200, 0), time.Now()
	for i := range 200 {
		if _, left, _, err := l.enter("ann", 1, now); err != nil || left.requests != 199-i {
			t.Fatalf("request %d: %+v, %v", i, left, err)
		}
	}
	_, left, limit, err := l.enter("ann", 1, now)
	e := core.AsError(err)
	if err == nil || limit != limitRate || e.Code != core.CodeResourceExhausted || e.RetryAfter != 10*time.Millisecond || left.full != 2*time.Second {
		t.Errorf("the next: %v after %v, %+v, want Code %v", err, e.RetryAfter, left, core.CodeResourceExhausted)
	}
	if _, _, _, err := l.enter("bob", 1, now); err != nil {
		t.Errorf("another caller: %v", err)
	}
	for i := range 101 {
		if _, _, _, err := l.enter("ann", 1, now.Add(time.Second)); (err == nil) != (i < 100) {
			t.Fatalf("a second later, request %d: %v", i, err)
		}
	}
}

func TestACallerHasALimitOfConcurrentRequests(t *testing.T) {
	t.Parallel()
	l := newQuotas(0, 1, 2)
	enter := func(caller string) (*quota, error) {
		q, _, _, err := l.enter(caller, 1, time.Now())
		return q, err
	}
	first, _ := enter("ann")
	if _, err := enter("ann"); err != nil {
		t.Fatal(err)
	}
	if _, err := enter("ann"); core.AsError(err).RetryAfter != time.Second {
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
		q, _, _, err := l.enter(fmt.Sprintf("peer 2001:db8:%x:%x::", i>>16, i&0xffff), 1, now)
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

// admitBefore returns a handler behind a Controller. The context of a request has its caller.
func admitBefore(c *Controller, handler http.Handler) http.Handler {
	return c.AdmitRequests(c.IdentifyCallers(handler))
}

// limitHandler returns a handler behind quotas.
func limitHandler(l *quotas, handler http.HandlerFunc) http.Handler {
	c := newTestController(0)
	c.quotas = l
	return admitBefore(c, handler)
}

func answerOK(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

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

func TestStreamsAreInFlightUntilTheyStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start func(http.ResponseWriter)
		want  int
	}{
		"a subscription": {Detach, 200},
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

func BenchmarkALimitedRequest(b *testing.B) {
	handler := limitHandler(newQuotas(1_000_000_000, 1_000_000_000, 20), answerOK)
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request = request.WithContext(core.WithActor(request.Context(), &core.Actor{Identities: []core.UID{core.UID(strings.Repeat("a", 57))}}))
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), request)
	}
}
