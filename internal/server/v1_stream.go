package server

import (
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"time"

	"atrium/internal/rest"
	"atrium/internal/rpc"
)

// isStream reports whether the body of a request is a stream of messages with prefixes, as in
// gRPC, gRPC-Web and the streams of Connect.
func isStream(r *http.Request) bool {
	media := r.Header.Get("Content-Type")
	return strings.HasPrefix(media, "application/grpc") && !strings.HasPrefix(media, "application/grpc-web-text") ||
		strings.HasPrefix(media, "application/connect+")
}

// A protocolTransport sends gRPC over HTTP/2 also to a service without TLS.
type protocolTransport struct{ usual, grpc *http.Transport }

func newProtocolTransport(usual *http.Transport) *protocolTransport {
	grpc := usual.Clone()
	grpc.Protocols = new(http.Protocols)
	grpc.Protocols.SetUnencryptedHTTP2(true)
	grpc.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingTimeout, PingTimeout: pingTimeout}
	return &protocolTransport{usual, grpc}
}

// RoundTrip sends a request.
func (t *protocolTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "http" && rpc.IsGRPC(r) {
		return t.grpc.RoundTrip(r)
	}
	return t.usual.RoundTrip(r)
}

// A messageReader reads a stream of messages. It limits the size of each message, and the time
// from its first to its last byte, but not the stream, which ends when its caller wants.
type messageReader struct {
	io.ReadCloser
	control *http.ResponseController
	prefix  []byte // what has been read of the prefix of a message
	left    uint32 // bytes of the message that are still to come
	isIn    bool   // whether a message has begun and not ended
	refused bool   // whether a message was too large; who reads the rest limits the time
}

// messagePrefixBytes is the length of a prefix: flags, and the length of the message.
const messagePrefixBytes = 5

func newMessageReader(body io.ReadCloser, control *http.ResponseController) io.ReadCloser {
	_ = control.SetReadDeadline(time.Time{})
	return &messageReader{ReadCloser: body, control: control, prefix: make([]byte, 0, messagePrefixBytes)}
}

// Read reads a part of the stream. It fails with an http.MaxBytesError if a message is too large.
func (m *messageReader) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	if m.refused {
		return n, err
	}
	if tooLarge := m.follow(p[:n]); tooLarge != nil {
		m.refused = true
		return 0, tooLarge
	}
	switch isIn := m.left > 0 || len(m.prefix) > 0; {
	case isIn && !m.isIn:
		m.isIn, _ = true, m.control.SetReadDeadline(time.Now().Add(readTimeout))
	case !isIn && m.isIn:
		m.isIn, _ = false, m.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// follow notes where in the stream the bytes b end.
func (m *messageReader) follow(b []byte) error {
	for len(b) > 0 {
		if m.left > 0 {
			n := min(uint64(m.left), uint64(len(b)))
			m.left, b = m.left-uint32(n), b[n:] //nolint:gosec // n is at most m.left
			continue
		}
		n := min(messagePrefixBytes-len(m.prefix), len(b))
		m.prefix, b = append(m.prefix, b[:n]...), b[n:]
		if len(m.prefix) < messagePrefixBytes {
			continue
		}
		m.left, m.prefix = binary.BigEndian.Uint32(m.prefix[1:]), m.prefix[:0]
		if m.left > rest.MaxBody {
			return &http.MaxBytesError{Limit: rest.MaxBody}
		}
	}
	return nil
}
