package transport

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"atrium/internal/graphql/refusal"

	"github.com/coder/websocket"
)

// The protocol on websockets, and its codes for closing them.
const (
	socketProtocol = "graphql-transport-ws"

	closeInvalid      = websocket.StatusCode(4400)
	closeUnauthorized = websocket.StatusCode(4401)
	closeForbidden    = websocket.StatusCode(4403)
	closeNoProtocol   = websocket.StatusCode(4406)
	closeLate         = websocket.StatusCode(4408)
	closeDuplicate    = websocket.StatusCode(4409)
	closeSecondInit   = websocket.StatusCode(4429)
)

// maxOperationID limits the id of an operation.
const maxOperationID = 128

// A message is a message of the protocol in either direction.
type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// A closure is the code and reason with which a websocket is closed. Code 0 means that
// it has been closed already.
type closure struct {
	code   websocket.StatusCode
	reason string
}

// A socket is one open websocket. There is no queue: an operation continues with the
// next response when the client has received the previous one.
type socket struct {
	*endpoint
	conn *websocket.Conn
	work sync.WaitGroup // goroutines that must end before the websocket does
	// authorization holds the values of the Authorization header that prove the caller.
	authorization []string

	lock    sync.Mutex
	running map[string]*socketOperation // operations by the id that the client chose
	count   int                         // number of operations that have not ended, including those that the client cancelled
}

// serveSocket serves a websocket until either side closes it.
func (e *endpoint) serveSocket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{socketProtocol}, OriginPatterns: e.Origins})
	if err != nil {
		return // the library has answered the request
	}
	defer func() { _ = conn.CloseNow() }()
	if conn.Subprotocol() != socketProtocol {
		_ = conn.Close(closeNoProtocol, "Subprotocol not acceptable")
		return
	}
	conn.SetReadLimit(-1)
	if e.BodyBytes > 0 {
		conn.SetReadLimit(e.BodyBytes)
	}
	s := &socket{endpoint: e, conn: conn, authorization: r.Header.Values("Authorization"), running: map[string]*socketOperation{}}
	ctx, last := s.awaitInit(r.Context())
	if last == nil {
		last = s.talk(ctx)
	}
	if last.code != 0 {
		_ = conn.Close(last.code, last.reason)
	}
}

// talk serves an authenticated client. It sends the acknowledgement after it has
// counted the websocket, so that limits apply in order.
func (s *socket) talk(ctx context.Context) *closure {
	leave, err := s.Tallies.sockets.enter(s.Identify(ctx), LimitSockets, s.Sockets)
	if err != nil {
		_ = s.Present(ctx, err) // for the log
		return &closure{websocket.StatusTryAgainLater, "Too many websockets"}
	}
	defer leave()
	s.send(ctx, message{Type: "connection_ack"})
	ctx, end := s.lifetime(ctx)
	defer s.work.Wait()
	defer end()
	s.work.Go(func() { s.watch(ctx, end) })
	return s.serve(ctx)
}

// awaitInit waits for connection_init, and returns ctx with the caller that it, or the
// request for the websocket, has authenticated.
func (s *socket) awaitInit(ctx context.Context) (context.Context, *closure) {
	if s.InitWait > 0 {
		late := time.AfterFunc(s.InitWait, func() { _ = s.conn.Close(closeLate, "Connection initialisation timeout") })
		defer late.Stop()
	}
	for {
		received, refused := s.receive(ctx)
		switch {
		case refused != nil:
			return nil, refused
		case received.Type == "ping":
			s.send(ctx, message{Type: "pong", Payload: received.Payload})
		case received.Type == "pong":
		case received.Type != "connection_init":
			return nil, &closure{closeUnauthorized, "Unauthorized"}
		default:
			proven, err := s.authorize(ctx, received.Payload)
			if err != nil {
				return nil, s.closureOf(ctx, err)
			}
			return proven, nil
		}
	}
}

// authorize checks the token of connection_init. A websocket without a token is
// closed.
func (s *socket) authorize(ctx context.Context, payload json.RawMessage) (context.Context, error) {
	var members map[string]any
	if len(payload) > 0 && json.Unmarshal(payload, &members) != nil {
		return nil, refusal.NewInvalid("payload", "must be a JSON object")
	}
	for name, value := range members {
		if !strings.EqualFold(name, "Authorization") {
			continue
		}
		token, _ := value.(string)
		if s.Authorize == nil {
			return nil, refusal.NewUnauthenticated("a token is accepted only in the Authorization header of the request")
		}
		var err error
		s.authorization = []string{token}
		if ctx, err = s.Authorize(ctx, s.authorization); err != nil {
			return nil, err
		}
	}
	if s.Identify(ctx) == (Caller{}) {
		return nil, refusal.NewUnauthenticated("a bearer token is required")
	}
	return ctx, nil
}

// closureOf returns the closure of a websocket whose caller is rejected.
func (s *socket) closureOf(ctx context.Context, err error) *closure {
	switch codeOf(s.Present(ctx, err)) {
	case refusal.InvalidArgument:
		return &closure{closeInvalid, "Invalid message received"}
	case refusal.Unauthenticated, refusal.PermissionDenied:
		return &closure{closeForbidden, "Forbidden"}
	default:
		return &closure{websocket.StatusTryAgainLater, "Try again later"}
	}
}

// watch closes the websocket when its lifetime ends, or when the client does not
// respond to pings.
func (s *socket) watch(ctx context.Context, end func()) {
	var tick <-chan time.Time
	if s.KeepAlive > 0 {
		ticker := time.NewTicker(s.KeepAlive)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-tick:
			if s.ping(ctx) != nil {
				end()
				_ = s.conn.CloseNow()
			}
		case <-ctx.Done():
			switch reason := reasonOf(ctx); {
			case reason == nil:
			case reason.Code == refusal.Unavailable:
				_ = s.conn.Close(websocket.StatusGoingAway, "Server is shutting down")
			default:
				_ = s.conn.Close(closeForbidden, "Token expired")
			}
			return
		}
	}
}

func (s *socket) ping(ctx context.Context) error {
	ctx, cancel := s.writeContext(ctx)
	defer cancel()
	return s.conn.Ping(ctx)
}

// writeContext returns the context of one write. It does not end with ctx, because an
// interrupted write closes the websocket without a reason.
func (s *socket) writeContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = context.WithoutCancel(ctx)
	if s.WriteWait <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, s.WriteWait)
}

// serve handles the messages of the client until either side closes the websocket.
func (s *socket) serve(ctx context.Context) *closure {
	for {
		received, refused := s.receive(ctx)
		if refused != nil {
			return refused
		}
		switch received.Type {
		case "connection_init":
			return &closure{closeSecondInit, "Too many initialisation requests"}
		case "ping":
			s.send(ctx, message{Type: "pong", Payload: received.Payload})
		case "pong":
		case "complete":
			s.cancel(received.ID)
		case "subscribe":
			if refused := s.subscribe(ctx, received); refused != nil {
				return refused
			}
		default:
			return &closure{closeInvalid, "Invalid message received"}
		}
	}
}

// receive reads one message.
func (s *socket) receive(ctx context.Context) (received message, refused *closure) {
	kind, data, err := s.conn.Read(context.WithoutCancel(ctx)) // watch ends it
	switch {
	case err != nil: // for example a message that is too large, which the library has answered
		return received, &closure{}
	case kind == websocket.MessageText && !utf8.Valid(data): // RFC 6455, section 8.1
		return received, &closure{websocket.StatusInvalidFramePayloadData, "Invalid UTF-8"}
	case kind != websocket.MessageText || json.Unmarshal(data, &received) != nil:
		return received, &closure{closeInvalid, "Invalid message received"}
	}
	return received, nil
}

// send sends one message.
func (s *socket) send(ctx context.Context, m message) {
	data, err := json.Marshal(m)
	if err == nil {
		_ = s.write(ctx, data)
	}
}

// write writes one message and reports whether that succeeded. A client that does not read in time is
// disconnected.
func (s *socket) write(ctx context.Context, data []byte) bool {
	ctx, cancel := s.writeContext(ctx)
	defer cancel()
	return s.conn.Write(ctx, websocket.MessageText, data) == nil
}
