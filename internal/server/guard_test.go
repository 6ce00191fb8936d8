package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/internal/rest"
)

func discardLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// sendThrough sends a request through the guard to a handler.
func sendThrough(t *testing.T, handler http.HandlerFunc, logs *bytes.Buffer, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://atrium.example/a%2Fb?token=hidden", nil)
	change(request)
	answer := httptest.NewRecorder()
	o := rest.Options{Logger: slog.New(slog.NewJSONHandler(logs, nil))}
	addOuterLayers(addGuards(handler, nil, o), o, (&Config{Logger: o.Logger}).newRecorder(), nil).ServeHTTP(answer, request)
	return answer
}

func answerOK(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("fine")) }

func TestEveryAnswerHasARequestIDAndStaysPrivate(t *testing.T) {
	t.Parallel()
	for sent, kept := range map[string]bool{"abc-123": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): false, "a b": false, "": false, "a\"": false} {
		answer := sendThrough(t, answerOK, &bytes.Buffer{}, func(r *http.Request) { r.Header.Set("X-Request-Id", sent) })
		id := answer.Header().Get("X-Request-Id")
		if kept != (id == sent) || !requestIDPattern.MatchString(id) {
			t.Errorf("%q became %q", sent, id)
		}
		if answer.Header().Get("Cache-Control") != "no-store" || answer.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("headers %v, want Cache-Control 'no-store' and X-Content-Type-Options 'nosniff'", answer.Header())
		}
	}
}

func TestAPanicIsInternalAndItsCauseIsInTheLogOnly(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	answer := sendThrough(t, func(http.ResponseWriter, *http.Request) { panic("the cause") }, &logs, func(r *http.Request) { r.Header.Set("X-Request-Id", "id-1") })
	body := answer.Body.String()
	if answer.Code != http.StatusInternalServerError || !strings.Contains(body, `"code":13`) || !strings.Contains(body, "id-1") || strings.Contains(body, "cause") {
		t.Errorf("status %d, want 500: %s, want it to contain %q", answer.Code, body, `"code":13`)
	}
	for _, part := range []string{"the cause", "id-1", `"status":500`, "guard_test.go"} {
		if !strings.Contains(logs.String(), part) {
			t.Errorf("no %s in the log:\n%s", part, &logs)
		}
	}
}

func TestAPanicInTheMiddleOfAnAnswerEndsTheConnection(t *testing.T) {
	t.Parallel()
	defer func() {
		if cause, _ := recover().(error); !errors.Is(cause, http.ErrAbortHandler) {
			t.Errorf("panicked with %v, want %v", cause, http.ErrAbortHandler)
		}
	}()
	sendThrough(t, func(w http.ResponseWriter, r *http.Request) { answerOK(w, r); panic("late") }, &bytes.Buffer{}, func(*http.Request) {})
}

func TestPagesOfOtherOriginsMaySendNothing(t *testing.T) {
	t.Parallel()
	for site, want := range map[string]int{"cross-site": 403, "same-site": 403, "same-origin": 200, "none": 200, "": 200} {
		answer := sendThrough(t, answerOK, &bytes.Buffer{}, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", site) })
		if answer.Code != want {
			t.Errorf("%q: %d, want %d", site, answer.Code, want)
		}
		if want == 403 && !strings.Contains(answer.Body.String(), `"code":7`) {
			t.Errorf("%q: %s", site, answer.Body)
		}
	}
}

func TestTheLogShowsAShortenedPathWithoutItsQuery(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	sendThrough(t, answerOK, &logs, func(*http.Request) {})
	if !strings.Contains(logs.String(), `"path":"/a%2Fb"`) || strings.Contains(logs.String(), "hidden") || !strings.Contains(logs.String(), `"bytes":4`) {
		t.Errorf("log %s, want a text with %q and a text with %q", &logs, `"path":"/a%2Fb"`, `"bytes":4`)
	}
	logs.Reset()
	sendThrough(t, answerOK, &logs, func(r *http.Request) { r.URL.Path, r.URL.RawPath = "/"+strings.Repeat("x", 5000), "" })
	if logs.Len() > 1000 {
		t.Errorf("%d bytes of log", logs.Len())
	}
}

func TestReadinessFollowsTheStore(t *testing.T) {
	t.Parallel()
	for want, err := range map[int]error{http.StatusOK: nil, http.StatusServiceUnavailable: errors.New("away")} {
		answer := httptest.NewRecorder()
		health(func(context.Context) error { return err }).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
		if answer.Code != want || strings.Contains(answer.Body.String(), "away") {
			t.Errorf("%v: status %d, want %d: %s", err, answer.Code, want, answer.Body)
		}
	}
}
