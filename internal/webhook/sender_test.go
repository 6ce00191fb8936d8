package webhook

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"atrium/platform/core"
	"atrium/platform/webhooks"
)

func TestAnAttemptRecordsTheAnswerOfTheSink(t *testing.T) {
	t.Parallel()
	type answer struct {
		status           int
		retryAfter, body string
	}
	var next answer
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if next.retryAfter != "" {
			w.Header().Set("Retry-After", next.retryAfter)
		}
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
	}))
	t.Cleanup(sink.Close)
	s := newService(t, http.DefaultClient)

	for name, c := range map[string]struct {
		answer answer
		want   webhooks.Attempt
	}{
		"200":                       {answer{200, "", "thanks"}, webhooks.Attempt{Status: 200, Answer: "thanks"}},
		"202 without a body":        {answer{202, "", ""}, webhooks.Attempt{Status: 202}},
		"410":                       {answer{410, "", "gone"}, webhooks.Attempt{Status: 410, Answer: "gone"}},
		"429 with seconds":          {answer{429, "120", ""}, webhooks.Attempt{Status: 429, RetryAfter: 2 * time.Minute}},
		"503 with a date":           {answer{503, "Fri, 27 Mar 2026 13:56:00 GMT", ""}, webhooks.Attempt{Status: 503, RetryAfter: 59215 * time.Millisecond}},
		"503 with a date of before": {answer{503, "Fri, 27 Mar 2026 13:54:00 GMT", ""}, webhooks.Attempt{Status: 503}},
		"a wait below zero":         {answer{503, "-5", ""}, webhooks.Attempt{Status: 503}},
		"a wait that is no number":  {answer{503, "soon", ""}, webhooks.Attempt{Status: 503}},
		"a wait without end":        {answer{503, strings.Repeat("9", 30), ""}, webhooks.Attempt{Status: 503, RetryAfter: maxRetryAfter}},
		"a wait of a century":       {answer{503, "3153600000", ""}, webhooks.Attempt{Status: 503, RetryAfter: maxRetryAfter}},
		"lines and a terminal's":    {answer{500, "", "a\r\n\tb\x1b[31m\x00\u202ec\n"}, webhooks.Attempt{Status: 500, Answer: "a   b[31mc"}},
		"no UTF-8":                  {answer{500, "", "a\xff\xfeb"}, webhooks.Attempt{Status: 500, Answer: "ab"}},
		"a body that is cut":        {answer{500, "", strings.Repeat("x", 1023) + "üyz"}, webhooks.Attempt{Status: 500, Answer: strings.Repeat("x", 1023)}},
	} {
		next = c.answer
		if got := s.Send(t.Context(), dispatch(sink.URL)); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestNoMoreOfAnAnswerIsReadThanIsKept(t *testing.T) {
	t.Parallel()
	body := &endless{}
	client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: body}, nil
	})}
	got := newService(t, client).Send(t.Context(), dispatch("https://sink.example"))
	if len(got.Answer) != maxAnswer || got.Status != http.StatusOK {
		t.Errorf("%d bytes are kept, want %d, with status %d, want 200", len(got.Answer), maxAnswer, got.Status)
	}
	if body.read != maxAnswer || !body.closed {
		t.Errorf("%d bytes are read, want %d, and closed is %t", body.read, maxAnswer, body.closed)
	}
}

// net/http hands out the connection as the body of a 101, without a time limit.
func TestNothingIsReadOfAnAnswerThatSwitchesProtocols(t *testing.T) {
	t.Parallel()
	body := &endless{}
	client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: body}, nil
	})}
	got := newService(t, client).Send(t.Context(), dispatch("https://sink.example"))
	if want := (webhooks.Attempt{Status: http.StatusSwitchingProtocols}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if body.read != 0 || !body.closed {
		t.Errorf("%d bytes are read, want none, and closed is %t", body.read, body.closed)
	}
}

type endless struct {
	read   int
	closed bool
}

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return copy(p, strings.Repeat("x", len(p))), nil
}

func (e *endless) Close() error {
	e.closed = true
	return nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestARedirectIsAnAnswer(t *testing.T) {
	t.Parallel()
	target, followed := newSink(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", target)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "over there")
		}))
		s := newService(t, sink.Client())
		if got, want := s.Send(t.Context(), dispatch(sink.URL)), (webhooks.Attempt{Status: status, Answer: "over there"}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		sink.Close()
	}
	if n := len(followed()); n != 0 {
		t.Errorf("%d redirects were followed, want 0", n)
	}
}

func TestASinkThatHangsIsLeftAfterFifteenSeconds(t *testing.T) {
	t.Parallel()
	hang := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})}
	keys := []core.Key{newKey(t, 1)}
	synctest.Test(t, func(t *testing.T) {
		s := NewSender(SenderOptions{Client: hang, Keys: func(context.Context) ([]core.Key, error) { return keys, nil }})
		began := time.Now()
		got := s.Send(t.Context(), dispatch("https://sink.example"))
		if want := (webhooks.Attempt{Error: "no answer within 15 s"}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if took := time.Since(began); took != sendTimeout {
			t.Errorf("it took %s, want %s", took, sendTimeout)
		}
	})
}

func TestAnAnswerThatBreaksOffIsAnAnswer(t *testing.T) {
	t.Parallel()
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "part")
	}))
	t.Cleanup(sink.Close)
	got := newService(t, sink.Client()).Send(t.Context(), dispatch(sink.URL))
	if want := (webhooks.Attempt{Status: http.StatusOK, Answer: "part"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The attack is a sink that closes idle connections as soon as they are used again.
func TestAKeptConnectionThatIsClosedCostsNoAttempt(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	used := map[string]bool{} // The keys are the client's addresses of the connections.
	aborted := 0
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if used[r.RemoteAddr] {
			aborted++
			panic(http.ErrAbortHandler)
		}
		used[r.RemoteAddr] = true
	}))
	t.Cleanup(sink.Close)
	s := newService(t, sink.Client())
	s.deliver(t, dispatch(sink.URL))
	s.deliver(t, dispatch(sink.URL))
	if aborted != 1 {
		t.Errorf("%d requests came over a connection that was kept, want 1", aborted)
	}
}

func FuzzAnswersAreKeptPrintable(f *testing.F) {
	for _, seed := range []string{"", "ok", "\xff\xf0\x9f", "\u202e\u0000\u2028", "ü\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		got := toPrintable(answer)
		if !utf8.ValidString(got) || len(got) > len(answer) || strings.ContainsAny(got, "\r\n\t\x00\x1b\u2028\u202e") {
			t.Errorf("%q is kept as %q", answer, got)
		}
	})
}
