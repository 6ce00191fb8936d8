package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
)

func TestAStreamIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		":\n\nevent: next\ndata: {}\n\nevent: complete\ndata: \n\nevent: next\ndata: late\n\n": {"{}", "complete"},
		"event:next\r\ndata:{\r\ndata: }\r\n\r\nevent: complete\r\ndata:\r\n\r\n":              {"{\n}", "complete"},
		"event: other\ndata: x\n\nid: 1\nevent: next\ndata: 1\n\nevent: next\ndata: 2":         {"1", "lost"},
		"": {"lost"},
	} {
		var got []string
		err := readEvents(strings.NewReader(text), func() {}, func(data string) error {
			got = append(got, data)
			return nil
		})
		switch {
		case err == nil:
			got = append(got, "complete")
		case isTemporary(err):
			got = append(got, "lost")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q gives %q (%v), want %q", text, got, err, want)
		}
	}
}

// newTestClient returns a client of a server.
func newTestClient(t *testing.T, address string, silent time.Duration) *graphqlClient {
	t.Helper()
	server, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return &graphqlClient{server: server, token: func(context.Context) (string, error) { return "t", nil }, silent: silent, http: http.DefaultClient}
}

// The attack: a network that drops everything, so that no error ever arrives.
func TestASilentStreamCountsAsLost(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaEvents)
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		<-done
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(done) })
	err := newTestClient(t, server.URL, 20*time.Millisecond).subscribe(t.Context(), question{}, func(time.Time) {}, nil)
	if !isTemporary(err) || !strings.Contains(err.Error(), errSilent.Error()) {
		t.Errorf("error %v", err)
	}
}

func TestAStreamEndsWhenTheReaderFails(t *testing.T) {
	t.Parallel()
	server := startFake(t, streamEvents(`{"data":{}}`, `{"data":{}}`), streamEvents(`{"data":{}}`))
	enough := errors.New("enough")
	read := 0
	err := newTestClient(t, server.URL, time.Minute).subscribe(t.Context(), question{}, func(time.Time) {}, func(*answer) error { read++; return enough })
	if !errors.Is(err, enough) || read != 1 {
		t.Errorf("read %d, want 1: %v, want %v", read, err, enough)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := newTestClient(t, server.URL, time.Minute).subscribe(ctx, question{}, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// The attack: a server that redirects callers with their tokens to another server.
func TestATokenIsNotSentAfterARedirect(t *testing.T) {
	t.Parallel()
	var seen []string
	var target string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.Path)
		http.Redirect(w, r, target, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	target = server.URL + "/elsewhere"
	_, _, err := atrium(t, nil, "query", "{ x }", "--url", server.URL, "--token", "t")
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "answered 307") || !slices.Equal(seen, []string{"/graphql"}) {
		t.Errorf("%v after %v, want an error with 'answered 307'", err, seen)
	}
}

func TestAnAnswerThatIsNotGraphQLIsAClearError(t *testing.T) {
	t.Parallel()
	answering := func(status int, media, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		code   core.Code
		want   string
	}{
		{"of the guards", answering(401, "application/json", `{"code":16,"message":"Unauthenticated: who?"}`), core.CodeUnauthenticated, "Unauthenticated: who?"},
		{"of a proxy", answering(503, "text/html", "<html>"), core.CodeUnavailable, "answered 503"},
		{"of a proxy with limits", answering(429, "text/plain", ""), core.CodeResourceExhausted, "answered 429"},
		{"of GraphQL", answering(400, mediaGraphQL, `{"errors":[{"message":"a"},{"message":"b","extensions":{"status":3}}]}`), 0, "a; b"},
		{"of another kind of server", answering(200, "text/html", "<html>"), core.CodeInternal, "answered 200"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := startFake(t, c.answer)
			err := newTestClient(t, server.URL, time.Minute).subscribe(t.Context(), question{}, nil, nil)
			var e *core.Error
			if !errors.As(err, &e) || e.Code != c.code || !strings.Contains(e.Message, c.want) {
				t.Errorf("error %#v", err)
			}
		})
	}
}
