package server

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/rest"
)

// A request that the gate refuses gets the structured error of its protocol with the time
// to come back, also when the answer is one that is kept, and its body is not read.
func TestRefusalsAreStructuredInEveryProtocol(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	options := rest.Options{Logger: slog.New(slog.NewJSONHandler(&logs, nil))}
	refused := newRefuser(newErrorWriter(options))
	refuse := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refused.refuse(w, r, limitQueue, crowdedErrors[1])
	})
	handler := addOuterLayers(refuse, options, (&Config{Logger: options.Logger}).newRecorder())
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
				if status != strconv.Itoa(int(platform.CodeResourceExhausted)) || answer.Trailer.Get("Grpc-Status-Details-Bin") == "" {
					t.Errorf("%s: grpc-status %q, want 8: %v", path, status, answer.Header)
				}
			} else if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") != "2" || !json.Valid(body) ||
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
	if n := strings.Count(logs.String(), "\n"); n != 1 || !strings.Contains(logs.String(), "requests are refused") {
		t.Errorf("%d lines are logged, want 1: %s", n, logs.String())
	}
}

// An unreadBody fails a test that reads it.
type unreadBody struct{ t *testing.T }

func (b unreadBody) Read([]byte) (int, error) {
	b.t.Error("the body of a refused request is read")
	return 0, io.EOF
}

// The attack is headers that differ from request to request, so that each would be kept.
func TestKeptRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	refused := newRefuser(rest.Options{}.WriteError)
	for n := range 2 * maxKept {
		r := httptest.NewRequest(http.MethodGet, "/registry/v2/repos", nil)
		r.Header.Set("Accept", strconv.Itoa(n))
		w := httptest.NewRecorder()
		refused.refuse(w, r, limitQueue, crowdedErrors[0])
		if w.Code != http.StatusTooManyRequests {
			t.Fatalf("refusal %d has the status %d", n, w.Code)
		}
	}
	if len(refused.kept) != maxKept {
		t.Errorf("%d refusals are kept, want %d", len(refused.kept), maxKept)
	}
}
