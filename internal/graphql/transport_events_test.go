package graphql

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"atrium/internal/graphql/transport"
)

// serveStage starts a server for a stage.
func serveStage(t *testing.T, o stageOptions) string {
	t.Helper()
	s := httptest.NewServer(stageHandler(o))
	t.Cleanup(s.Close)
	return s.URL
}

// HTTP/2 ends a stream at its write deadline, even if nothing is written.
func TestASilentStreamStaysOpenOverHTTP2(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := serveBubbleOver(t, stageOptions{Bounds: &transport.Bounds{WriteWait: 5 * time.Second}}, (*http.Protocols).SetUnencryptedHTTP2)
		answer := listenTo(t, b.client, bubbleURL, "subscription{countdown(n: 1, delayMs: 30000)}", "ann")
		if got := readAll(t, answer); answer.ProtoMajor != 2 || !strings.Contains(got, "event: complete") {
			t.Errorf("over %s: %s, want it to contain 'event: complete'", answer.Proto, got)
		}
	})
}

func TestStreamsOfACallerAreLimited(t *testing.T) {
	t.Parallel()
	const silent = "subscription{countdown(n: 1, delayMs: 60000)}"
	server := serveStage(t, stageOptions{Bounds: &transport.Bounds{Sockets: 2}})
	listen(t, server, silent, "ann")
	dialAs(t, server, "ann")
	listen(t, server, silent, "bob")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server+"?query="+url.QueryEscape(silent), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer ann")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(body), `"RESOURCE_EXHAUSTED"`) {
		t.Errorf("the third: status %d, want 429: %s", answer.StatusCode, body)
	}
	if wait := answer.Header.Get("Retry-After"); wait != "1" {
		t.Errorf("the third: Retry-After %q, want 1", wait)
	}
}

// The attack is a caller who opens more subscriptions than the process can serve, while
// staying within the limits of sockets and of operations on each socket.
func TestSubscriptionsOfACallerAreLimitedOverSocketsAndStreams(t *testing.T) {
	t.Parallel()
	const silent = "subscription{countdown(n: 1, delayMs: 60000)}"
	server := serveStage(t, stageOptions{Bounds: &transport.Bounds{Subscriptions: 2}})
	stream := listen(t, server, silent, "ann")
	first, second := dialAs(t, server, "ann"), dialAs(t, server, "ann")
	first.subscribe("1", "subscription{countdown(n: 2, delayMs: 0)}") // It ends by itself and then no longer counts.
	for range 3 {
		first.listen()
	}
	first.subscribe("2", "subscription{floods}")
	first.listen()
	second.subscribe("3", silent)
	if got := second.listen(); !strings.Contains(got, `"type":"error"`) || !strings.Contains(got, `"RESOURCE_EXHAUSTED"`) || !strings.Contains(got, "too many subscriptions open, at most 2") || !strings.Contains(got, `"limit":{"name":"subscriptions","requested":3,"value":2}`) {
		t.Errorf("the third gives %s, want it to contain %q", got, `"type":"error"`)
	}
	second.subscribe("3", "{ping}")
	if got := second.listen(); !strings.Contains(got, "pong") {
		t.Errorf("a query gives %s, want it to contain 'pong'", got)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server+"?query="+url.QueryEscape(silent), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer ann")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusTooManyRequests || !strings.Contains(string(body), "too many subscriptions open, at most 2") {
		t.Errorf("the third as a stream: status %d, want 429: %s", answer.StatusCode, body)
	}
	listen(t, server, silent, "bob")
	_ = stream.Body.Close()
}

// listen opens a stream of events.
func listen(t *testing.T, target, query, token string) *http.Response {
	t.Helper()
	return listenTo(t, http.DefaultClient, target, query, token)
}

func listenTo(t *testing.T, client *http.Client, target, query, token string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target+"?query="+url.QueryEscape(query), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Fatalf("got %s %s, want text/event-stream; charset=utf-8", answer.Status, answer.Header.Get("Content-Type"))
	}
	return answer
}

func readAll(t *testing.T, answer *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), ":\n\n", "")
}

func TestASubscriptionIsAStreamOfEvents(t *testing.T) {
	const want = "event: next\ndata: {\"data\":{\"countdown\":1}}\n\nevent: next\ndata: {\"data\":{\"countdown\":0}}\n\nevent: complete\ndata: \n\n"
	inBubble(t, func(t *testing.T) {
		b := serveBubble(t, stageOptions{})
		if got := readAll(t, listenTo(t, b.client, bubbleURL, "subscription{countdown(n: 2, delayMs: 30000)}", "ann")); got != want {
			t.Errorf("by GET: %s, want %s", got, want)
		}
		for _, accept := range []string{"text/event-stream", "application/json, text/event-stream", "*/*"} {
			r := send(t, stageHandler(stageOptions{}), "POST", "/", `{"query": "subscription{countdown(n: 2)}"}`, "Accept", accept)
			if got := strings.ReplaceAll(r.body, ":\n\n", ""); got != want {
				t.Errorf("by POST that accepts %s: %s, want %s", accept, got, want)
			}
		}
	})
}

func TestAStreamReportsARejectedOperation(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"subscription{nothing}", "{", "{ping}"} {
		got := readAll(t, listen(t, serveStage(t, stageOptions{}), query, "ann"))
		if events := strings.Count(got, "event: next"); events != 1 || !strings.HasSuffix(got, "\n\nevent: complete\ndata: \n\n") {
			t.Errorf("%s gives %s, want it to end with %q", query, got, "\n\nevent: complete\ndata: \n\n")
		}
		if strings.Contains(got, "errors") != (query != "{ping}") {
			t.Errorf("%s gives %s", query, got)
		}
	}
}

func TestASilentStreamShowsThatItIsAlive(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := serveBubble(t, stageOptions{Bounds: &transport.Bounds{KeepAlive: 12 * time.Second}})
		text, _ := io.ReadAll(listenTo(t, b.client, bubbleURL, "subscription{countdown(n: 1, delayMs: 29000)}", "ann").Body)
		if alive := strings.Count(string(text), ":\n\n"); alive != 5 { // The first is sent at once, and four in two pauses.
			t.Errorf("got %d signs of life in %s, want 5", alive, text)
		}
	})
}

func TestAStreamEndsWithTheToken(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := serveBubble(t, stageOptions{})
		got := readAll(t, listenTo(t, b.client, bubbleURL, "subscription{countdown(n: 9, delayMs: 20000)}", "ann30000"))
		if !strings.Contains(got, `{"countdown":8}`) || strings.Contains(got, `{"countdown":7}`) {
			t.Errorf("got %s, want it to contain %q", got, `{"countdown":8}`)
		}
		// Clients retry a stream that ends without complete, and take an error for the last answer.
		if !strings.HasSuffix(got, "\n\n: Unauthenticated: the token has expired\n\n") || strings.Contains(got, "errors") {
			t.Errorf("got %s, want it to end with a comment", got)
		}
		if got := readAll(t, listenTo(t, b.client, bubbleURL, "subscription{expires}", "ann")); got != ": Unauthenticated: the token has expired\n\n" {
			t.Errorf("where the subscription itself notices the expiry: %s", got)
		}
	})
}

func TestAStreamEndsResumablyWithTheServer(t *testing.T) { inBubble(t, testClosing) }

func testClosing(t *testing.T) {
	closing := make(chan struct{})
	b := serveBubble(t, stageOptions{Closing: closing})
	lines := bufio.NewScanner(listenTo(t, b.client, bubbleURL, "subscription{countdown(n: 9, delayMs: 20000)}", "ann").Body)
	for lines.Scan() && !strings.Contains(lines.Text(), "countdown") {
	}
	close(closing)
	var rest []string
	for lines.Scan() {
		rest = append(rest, lines.Text())
	}
	text := strings.Join(rest, "\n")
	if !strings.HasSuffix(text, "\n: Unavailable: the server is shutting down; subscribe again, after the last event\n") || strings.Contains(text, "complete") || len(rest) > 16 {
		t.Errorf("got %q, want it to end with a comment", rest)
	}
}

func TestASlowReaderOfAStreamIsDisconnected(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		b := serveBubble(t, stageOptions{Bounds: &transport.Bounds{WriteWait: 5 * time.Second}})
		listenTo(t, b.client, bubbleURL, "subscription{floods}", "ann") // The client does not read.
		<-b.ended
	})
}

func TestAPanicEndsOnlyItsStream(t *testing.T) {
	t.Parallel()
	got := readAll(t, listen(t, serveStage(t, stageOptions{}), "subscription{panics}", "ann"))
	if strings.Count(got, "event: next") != 1 || !strings.Contains(got, `"code":"INTERNAL"`) {
		t.Errorf("got %s, want it to contain %q", got, `"code":"INTERNAL"`)
	}
}

func TestAStreamReportsWhyItEnds(t *testing.T) {
	t.Parallel()
	server := serveStage(t, stageOptions{})
	got := readAll(t, listen(t, server, "subscription{breaks}", "ann"))
	if got != ": Unavailable: the stage is away\n\n" {
		t.Errorf("got %s, want a comment and no event", got)
	}
	p := dialAs(t, server, "ann")
	p.subscribe("1", "subscription{breaks}")
	if messages := p.expectClose(websocket.StatusTryAgainLater); len(messages) > 0 {
		t.Errorf("got %q before the end, want nothing", messages)
	}
}
