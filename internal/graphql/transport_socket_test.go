package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"atrium/internal/graphql/transport"
	"atrium/platform/core"
)

// A peer is a client of a websocket.
type peer struct {
	*testing.T
	conn *websocket.Conn
}

// These codes are those with which the protocol closes a websocket.
const (
	closeInvalid      = websocket.StatusCode(4400)
	closeUnauthorized = websocket.StatusCode(4401)
	closeForbidden    = websocket.StatusCode(4403)
	closeNoProtocol   = websocket.StatusCode(4406)
	closeLate         = websocket.StatusCode(4408)
	closeDuplicate    = websocket.StatusCode(4409)
	closeSecondInit   = websocket.StatusCode(4429)
)

func dial(t *testing.T, server string, header http.Header) peer {
	t.Helper()
	return dialTo(t, http.DefaultClient, server, header)
}

func dialTo(t *testing.T, client *http.Client, server string, header http.Header) peer {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), server, &websocket.DialOptions{HTTPClient: client, Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return peer{t, conn}
}

// dialAs opens a websocket with a token and waits for the acknowledgement.
func dialAs(t *testing.T, server, token string) peer {
	t.Helper()
	return dial(t, server, nil).as(token)
}

// as begins the session of a token.
func (p peer) as(token string) peer {
	p.Helper()
	p.say(`{"type": "connection_init", "payload": {"Authorization": "Bearer ` + token + `"}}`)
	p.expect(`{"type":"connection_ack"}`)
	return p
}

func (p peer) say(text string) {
	p.Helper()
	if err := p.conn.Write(p.Context(), websocket.MessageText, []byte(text)); err != nil {
		p.Fatal(err)
	}
}

func (p peer) subscribe(id, query string) {
	p.Helper()
	p.say(fmt.Sprintf(`{"id": %q, "type": "subscribe", "payload": {"query": %q}}`, id, query))
}

func (p peer) listen() string {
	p.Helper()
	_, data, err := p.conn.Read(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	return string(data)
}

func (p peer) expect(want ...string) {
	p.Helper()
	for _, text := range want {
		if got := p.listen(); got != text {
			p.Fatalf("got %s, want %s", got, text)
		}
	}
}

// expectClose reads the remaining messages and expects the close code.
func (p peer) expectClose(code websocket.StatusCode) (messages []string) {
	p.Helper()
	for {
		_, data, err := p.conn.Read(p.Context())
		if err == nil {
			messages = append(messages, string(data))
			continue
		}
		if got := websocket.CloseStatus(err); got != code {
			p.Fatalf("closed with %d (%v), want %d", got, err, code)
		}
		return messages
	}
}

func TestAWebsocketExecutesOperations(t *testing.T) { inBubble(t, testOperations) }

func testOperations(t *testing.T) {
	p := dialTo(t, serveBubble(t, stageOptions{}).client, bubbleURL, nil).as("ann")
	p.subscribe("1", "subscription{countdown(n: 2, delayMs: 30000)}")
	p.expect(
		`{"id":"1","type":"next","payload":{"data":{"countdown":1}}}`, `{"id":"1","type":"next","payload":{"data":{"countdown":0}}}`,
		`{"id":"1","type":"complete"}`,
	)
	p.subscribe("1", "{ping}")
	p.expect(
		`{"id":"1","type":"next","payload":{"data":{"ping":"pong"},"extensions":{"cost":{"limit":5000,"requested":0}}}}`,
		`{"id":"1","type":"complete"}`,
	)
	p.say(`{"type": "ping", "payload": {"n": 1}}`)
	p.expect(`{"type":"pong","payload":{"n":1}}`)
}

func TestAWebsocketReportsARejectedOperation(t *testing.T) {
	t.Parallel()
	p := dialAs(t, serveStage(t, stageOptions{}), "ann")
	for _, payload := range []string{`{"query": 1}`, `[]`, `{}`, `{"query": "{` + strings.Repeat("ping ", 1001) + `}"}`} {
		p.say(`{"id": "a", "type": "subscribe", "payload": ` + payload + `}`)
		var got struct {
			ID, Type string
			Payload  []struct{ Extensions struct{ Code string } }
		}
		if err := json.Unmarshal([]byte(p.listen()), &got); err != nil || got.ID != "a" || got.Type != "error" || got.Payload[0].Extensions.Code != "INVALID_ARGUMENT" {
			t.Errorf("%.60s gives %+v (%v), want ID 'a', Type 'error' and Code 'INVALID_ARGUMENT'", payload, got, err)
		}
	}
	p.subscribe("b", "subscription{panics}")
	if got := p.listen(); !strings.Contains(got, `"code":"INTERNAL"`) {
		t.Errorf("a panic gives %s, want it to contain %q", got, `"code":"INTERNAL"`)
	}
	p.expect(`{"id":"b","type":"complete"}`)
}

// The attack is a token that is no longer accepted when an operation begins. It must not end
// the server.
func TestAnOperationOfARefusedTokenClosesTheWebsocket(t *testing.T) {
	t.Parallel()
	server := serveStage(t, stageOptions{})
	p := dialAs(t, server, "once")
	p.subscribe("a", "{ping}")
	if messages := p.expectClose(closeForbidden); len(messages) > 0 {
		t.Errorf("got %q before the end, want nothing", messages)
	}
	dialAs(t, server, "ann")
}

// Clients subscribe again after a websocket was closed with 4403, and never after an error and
// complete. The subscription itself may notice first that the token has expired.
func TestAWebsocketIsClosedWhereverTheExpiryIsNoticed(t *testing.T) {
	t.Parallel()
	p := dialAs(t, serveStage(t, stageOptions{}), "ann")
	p.subscribe("1", "subscription{countdown(n: 1, delayMs: 60000)}")
	p.subscribe("2", "subscription{expires}")
	if messages := p.expectClose(closeForbidden); len(messages) > 0 {
		t.Errorf("got %q before the end, want nothing", messages)
	}
}

func TestAWebsocketIsClosedAfterAnInvalidMessage(t *testing.T) {
	inBubble(t, testInvalidMessages)
}

func testInvalidMessages(t *testing.T) {
	client := serveBubble(t, stageOptions{Bounds: &transport.Bounds{InitWait: 5 * time.Second, BodyBytes: 1000}}).client
	init := `{"type": "connection_init", "payload": {"Authorization": "Bearer ann"}}`
	asking := `{"id": "1", "type": "subscribe", "payload": {"query": "subscription{countdown(n: 9, delayMs: 1000)}"}}`
	for _, c := range []struct {
		name  string
		words []string
		code  websocket.StatusCode
	}{
		{"nothing said", nil, closeLate},
		{"subscribe first", []string{asking}, closeUnauthorized},
		{"init twice", []string{init, init}, closeSecondInit},
		{"no JSON", []string{init, "nonsense"}, closeInvalid},
		{"no JSON at first", []string{"nonsense"}, closeInvalid},
		{"an unknown type", []string{init, `{"type": "start"}`}, closeInvalid},
		{"no id", []string{init, `{"type": "subscribe", "payload": {"query": "{ping}"}}`}, closeInvalid},
		{"a long id", []string{init, `{"id": "` + strings.Repeat("x", 129) + `", "type": "subscribe"}`}, closeInvalid},
		{"an id twice", []string{init, asking, asking}, closeDuplicate},
		{"a large message", []string{init, strings.Repeat("x", 1001)}, websocket.StatusMessageTooBig},
		{"no token", []string{`{"type": "connection_init"}`}, closeForbidden},
		{"a bad token", []string{`{"type": "connection_init", "payload": {"authorization": "Bearer bad"}}`}, closeForbidden},
		{"a token that is none", []string{`{"type": "connection_init", "payload": {"Authorization": 1}}`}, closeForbidden},
		{"a payload that is none", []string{`{"type": "connection_init", "payload": "x"}`}, closeInvalid},
	} {
		p := dialTo(t, client, bubbleURL, nil)
		for _, text := range c.words {
			p.say(text)
		}
		t.Log(c.name)
		p.expectClose(c.code)
	}
}

func TestAWebsocketOfAnotherProtocolIsClosed(t *testing.T) {
	t.Parallel()
	conn, _, err := websocket.Dial(t.Context(), serveStage(t, stageOptions{}), &websocket.DialOptions{Subprotocols: []string{"graphql-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	peer{t, conn}.expectClose(closeNoProtocol)
}

func TestAWebsocketHasTheCallerOfItsRequest(t *testing.T) {
	t.Parallel()
	p := dial(t, serveStage(t, stageOptions{}), http.Header{"Authorization": {"Bearer ann"}})
	p.say(`{"type": "connection_init"}`)
	p.expect(`{"type":"connection_ack"}`)
}

func TestOnlyPagesOfKnownOriginsOpenWebsockets(t *testing.T) {
	t.Parallel()
	server := serveStage(t, stageOptions{Origins: []string{"https://*.friend.example"}})
	for origin, want := range map[string]int{
		server: 101, "": 101, "https://a.friend.example": 101, "http://a.friend.example": 403, "https://evil.example": 403, "null": 403,
	} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		conn, answer, err := websocket.Dial(t.Context(), server, &websocket.DialOptions{HTTPHeader: header})
		if err == nil {
			_ = conn.CloseNow()
		}
		if answer.StatusCode != want {
			t.Errorf("%q gives %d, want %d", origin, answer.StatusCode, want)
		}
	}
}

func TestAWebsocketEndsWithItsToken(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		p := dialTo(t, serveBubble(t, stageOptions{}).client, bubbleURL, nil).as("ann30000")
		p.subscribe("1", "subscription{countdown(n: 9, delayMs: 20000)}")
		if messages := p.expectClose(closeForbidden); len(messages) != 1 || !strings.Contains(messages[0], `{"countdown":8}`) {
			t.Errorf("got %q, want 1 of them", messages)
		}
	})
}

func TestAWebsocketEndsWithTheServer(t *testing.T) {
	t.Parallel()
	closing := make(chan struct{})
	p := dialAs(t, serveStage(t, stageOptions{Closing: closing}), "ann")
	close(closing)
	p.expectClose(websocket.StatusGoingAway)
}

func TestAnOperationThatTheClientCompletesEnds(t *testing.T) {
	t.Parallel()
	p := dialAs(t, serveStage(t, stageOptions{Bounds: &transport.Bounds{Operations: 1}}), "ann")
	p.subscribe("1", "subscription{countdown(n: 1000, delayMs: 10)}")
	p.listen()
	p.say(`{"id": "1", "type": "complete"}`)
	p.say(`{"id": "unknown", "type": "complete"}`)
	p.subscribe("1", "{__typename}")
	for {
		got := p.listen()
		switch {
		case strings.Contains(got, "countdown"): // The operation was running.
			continue
		case strings.Contains(got, `"limit":{"name":"operations"`): // The first operation has not ended yet.
			p.subscribe("1", "{__typename}")
			continue
		case !strings.Contains(got, `"__typename":"Query"`):
			t.Errorf("got %s", got)
		}
		break
	}
	p.expect(`{"id":"1","type":"complete"}`)
}

func TestTheResultOfAnOperationThatTheClientCompletesIsNotSent(t *testing.T) {
	t.Parallel()
	started := make(chan struct{}, 10)
	admit := func(ctx context.Context) (context.Context, func(), error) {
		started <- struct{}{}
		return ctx, func() {}, nil
	}
	p := dialAs(t, serveStage(t, stageOptions{Admit: admit}), "ann")
	for range 5 {
		p.subscribe("1", "{wait}")
		<-started
		p.say(`{"id": "1", "type": "complete"}`)
		p.subscribe("1", "{ping}")
		p.expect(
			`{"id":"1","type":"next","payload":{"data":{"ping":"pong"},"extensions":{"cost":{"limit":5000,"requested":0}}}}`,
			`{"id":"1","type":"complete"}`,
		)
		<-started
	}
}

// An operation that is refused before it is executed is a request like any other, so it must be
// recorded too.
func TestEveryOperationOfAWebsocketBeginsAndEnds(t *testing.T) {
	t.Parallel()
	ended, number := make(chan *core.Trace, 10), atomic.Int32{}
	begin := func(ctx context.Context) context.Context {
		own := &core.Trace{ID: fmt.Sprint(number.Add(1))}
		context.AfterFunc(ctx, func() { ended <- own })
		return core.WithTrace(ctx, own)
	}
	p := dialAs(t, serveStage(t, stageOptions{Begin: begin}), "ann")
	for i, c := range []struct {
		payload string
		code    core.Code // 0 if it is executed
	}{
		{`{"query": "{ping}"}`, 0}, {`{"query": "{nope}"}`, core.CodeInvalidArgument}, {`{"query": "{"}`, core.CodeInvalidArgument}, {`[]`, core.CodeInvalidArgument},
	} {
		p.say(fmt.Sprintf(`{"id": "%d", "type": "subscribe", "payload": %s}`, i, c.payload))
		p.listen()
		if c.code == 0 {
			p.listen() // It is complete.
		}
		own := <-ended
		if got := own.Facts().Codes; own.ID != fmt.Sprint(i+1) || (len(got) > 0) != (c.code > 0) || len(got) > 0 && got[0] != c.code {
			t.Errorf("%s: operation %s ends with %v, want %v", c.payload, own.ID, got, c.code)
		}
	}
}

func TestOperationsOfAWebsocketAreLimited(t *testing.T) { inBubble(t, testOperationLimit) }

func testOperationLimit(t *testing.T) {
	bounds := transport.Bounds{Operations: 50}
	p := dialTo(t, serveBubble(t, stageOptions{Bounds: &bounds}).client, bubbleURL, nil).as("ann")
	for i := range 50 {
		p.subscribe(fmt.Sprint(i), "subscription{countdown(n: 1, delayMs: 1500)}")
	}
	p.subscribe("50", "{ping}")
	if got := p.listen(); !strings.Contains(got, `"id":"50","type":"error"`) || !strings.Contains(got, `"limit":{"name":"operations","requested":51,"value":50}`) {
		t.Errorf("got %s, want it to contain %q", got, `"id":"50","type":"error"`)
	}
	for range 100 {
		p.listen()
	}
	p.subscribe("50", "{__typename}")
	if got := p.listen(); !strings.Contains(got, `"type":"next"`) {
		t.Errorf("afterwards: got %s, want it to contain %q", got, `"type":"next"`)
	}
}

func TestAdmitCountsOperationsOfAWebsocket(t *testing.T) {
	t.Parallel()
	var open, came atomic.Int32
	started, left := make(chan struct{}, 1), make(chan struct{}, 2)
	admit := func(ctx context.Context) (context.Context, func(), error) {
		defer func() {
			select {
			case started <- struct{}{}:
			default: // only the first one is awaited
			}
		}()
		if core.ActorOf(ctx) == nil || came.Add(1) > 2 {
			return nil, nil, &core.Error{Code: core.CodeResourceExhausted, Reason: "RESOURCE_EXHAUSTED", Message: "enough"}
		}
		open.Add(1)
		return ctx, sync.OnceFunc(func() {
			open.Add(-1)
			left <- struct{}{}
		}), nil
	}
	p := dialAs(t, serveStage(t, stageOptions{Admit: admit}), "ann")
	p.subscribe("stream", "subscription{countdown(n: 1, delayMs: 60000)}")
	<-started // operations run side by side, and this one must be the first
	p.subscribe("query", "{ping}")
	for range 2 { // These are the messages next and complete.
		p.listen()
	}
	p.subscribe("too many", "{ping}")
	if got := p.listen(); !strings.Contains(got, `"RESOURCE_EXHAUSTED"`) || !strings.Contains(got, `"type":"error"`) {
		t.Errorf("the third gives %s, want it to contain %q", got, `"RESOURCE_EXHAUSTED"`)
	}
	p.subscribe("too many", "{ping}") // The id is free again.
	if got := p.listen(); !strings.Contains(got, `"RESOURCE_EXHAUSTED"`) {
		t.Errorf("again: %s, want it to contain %q", got, `"RESOURCE_EXHAUSTED"`)
	}
	for range 2 { // The stream has limits of its own, so it leaves too.
		<-left
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d are under way, want 0", n)
	}
}

func TestWebsocketsOfACallerAreLimited(t *testing.T) {
	t.Parallel()
	server, ended := serveCounted(t, stageOptions{Bounds: &transport.Bounds{Sockets: 2}})
	first := dialAs(t, server, "ann")
	dialAs(t, server, "ann")
	dialAs(t, server, "bob")
	third := dial(t, server, nil)
	third.say(`{"type": "connection_init", "payload": {"Authorization": "Bearer ann"}}`)
	third.expectClose(websocket.StatusTryAgainLater)
	<-ended
	_ = first.conn.Close(websocket.StatusNormalClosure, "")
	<-ended
	fourth := dialAs(t, server, "ann") // This socket replaces the first one.
	fourth.subscribe("1", "{ping}")
	if got := fourth.listen(); !strings.Contains(got, `"ping":"pong"`) {
		t.Errorf("the place of the first is not free: %s", got)
	}
}

// serveCounted starts a server for a stage. The channel ended receives a value whenever a
// request or a websocket has ended.
func serveCounted(t *testing.T, o stageOptions) (url string, ended <-chan bool) {
	t.Helper()
	ends := make(chan bool, 100)
	h := stageHandler(o)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		ends <- true
	}))
	t.Cleanup(s.Close)
	return s.URL, ends
}

// testSlowReader opens a websocket, does not read from it, and waits for its end.
func testSlowReader(t *testing.T, bounds transport.Bounds, query string) {
	t.Helper()
	inBubble(t, func(t *testing.T) {
		b := serveBubble(t, stageOptions{Bounds: &bounds})
		dialTo(t, b.client, bubbleURL, nil).as("ann").subscribe("1", query)
		<-b.ended
	})
}

func TestASlowReaderOfAWebsocketIsDisconnected(t *testing.T) {
	testSlowReader(t, transport.Bounds{WriteWait: 5 * time.Second}, "subscription{floods}")
}

func TestAClientWithoutPongsIsDisconnected(t *testing.T) {
	testSlowReader(t, transport.Bounds{WriteWait: 5 * time.Second, KeepAlive: 12 * time.Second}, "subscription{countdown(n: 1, delayMs: 60000)}")
}

func TestTextThatIsNoUTF8ClosesAWebsocket(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"in a ping": "{\"type\":\"ping\",\"payload\":{\"a\":\"\xff\"}}", "in a document": "{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":{\"query\":\"{ping}#\xc3\"}}",
		"in no JSON": "\xff", "half a surrogate pair": "{\"type\":\"ping\",\"payload\":{\"a\":\"\xed\xa0\x80\"}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := dialAs(t, serveStage(t, stageOptions{}), "ann")
			p.say(text)
			p.expectClose(websocket.StatusInvalidFramePayloadData)
		})
	}
	p := dial(t, serveStage(t, stageOptions{}), nil)
	p.say("{\"type\":\"connection_init\",\"payload\":{\"a\":\"\xff\"}}")
	p.expectClose(websocket.StatusInvalidFramePayloadData)
}
