package resolvers

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"atrium/internal/agreement"
	endpoint "atrium/internal/graphql"
	"atrium/platform"
	"atrium/platform/core"
)

// These tests compare our executor with gqlgen's, which is the oracle. Both use the same
// resolvers and must give the same answers. Package agreement lists the differences that
// are intended.

// A pair is an endpoint with our executor, and the same one with the oracle. If oracle is
// nil, nothing is compared: the build may lack it.
type pair struct{ tested, oracle http.Handler }

func newPair(p *platform.Platform, logger *slog.Logger, settings endpoint.Settings, readSDL func(context.Context) error) pair {
	presenter := newPresenter(logger)
	silent := newPresenter(nil)
	both := pair{tested: serveEngine(newFaultyEngine(p), presenter, settings, readSDL)}
	if agreement.Missing() == "" {
		both.oracle = serveEngine(newFaultyOracle(p), silent, settings, readSDL)
	}
	return both
}

// needOracle skips a test that only compares the executors if the build lacks the oracle.
func needOracle(t testing.TB) {
	t.Helper()
	if why := agreement.Missing(); why != "" {
		t.Skip(why)
	}
}

// ServeHTTP sends the request to our executor only.
func (h pair) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.tested.ServeHTTP(w, r) }

// serve sends a request to our executor, and also to the oracle unless the request
// changes something.
func (h pair) serve(t testing.TB, w *httptest.ResponseRecorder, r *http.Request) {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.tested.ServeHTTP(w, r)
	if h.oracle == nil || bytes.Contains(body, []byte("mutation")) || w.Header().Get("Content-Type") == "text/event-stream; charset=utf-8" {
		return
	}
	again := httptest.NewRecorder()
	r = r.WithContext(core.WithTrace(r.Context(), &core.Trace{})) // The reads of the oracle are not counted.
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.oracle.ServeHTTP(again, r)
	if difference := agreement.Difference(w.Body.Bytes(), again.Body.Bytes()); difference != "" && !agreement.MustIgnore(body, again.Body.Bytes()) {
		t.Errorf("the executors do not agree on %s\n%s", body, difference)
	}
}
