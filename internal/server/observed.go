package server

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// An observed is a response that records its status and its size.
type observed struct {
	http.ResponseWriter
	status    int
	bytes     int64
	within    time.Duration     // time in which the client must receive the response, from its begin; 0 sets no limit
	until     time.Time         // when that time ends
	unsent    error             // why a part of the response could not be sent; nil if there is none
	streaming func(kind string) // called if the response is a stream
	challenge func() string     // completes a plain WWW-Authenticate
}

// begin records the first final status, and limits the time in which the client must receive the
// response. That time does not depend on how long the request has waited.
func (o *observed) begin(status int) {
	o.status = status
	if o.within > 0 {
		o.until = time.Now().Add(o.within)
		_ = http.NewResponseController(o.ResponseWriter).SetWriteDeadline(o.until)
	}
}

// isLate reports whether the client has not received the response in time.
func (o *observed) isLate() bool { return !o.until.IsZero() && !time.Now().Before(o.until) }

// WriteHeader begins the response.
func (o *observed) WriteHeader(status int) {
	if o.status == 0 && status >= http.StatusOK {
		o.begin(status)
	}
	if status == http.StatusUnauthorized && o.Header().Get("WWW-Authenticate") == "Bearer" {
		o.Header().Set("WWW-Authenticate", o.challenge())
	}
	switch {
	case status == http.StatusSwitchingProtocols:
		o.status = status
		o.streaming("websocket")
	case strings.HasPrefix(o.Header().Get("Content-Type"), "text/event-stream"):
		o.streaming("sse")
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *observed) Write(b []byte) (int, error) {
	if o.status == 0 {
		o.begin(http.StatusOK)
	}
	n, err := o.ResponseWriter.Write(b)
	o.bytes += int64(n)
	o.noteUnsent(err)
	return n, err
}

// noteUnsent notes why a part of the response could not be sent. A response to HEAD has no body.
func (o *observed) noteUnsent(err error) {
	if o.unsent == nil && err != nil && !errors.Is(err, http.ErrBodyNotAllowed) {
		o.unsent = err
	}
}

// FlushError sends the written bytes.
func (o *observed) FlushError() error {
	err := http.NewResponseController(o.ResponseWriter).Flush()
	if !errors.Is(err, http.ErrNotSupported) {
		o.noteUnsent(err)
	}
	return err
}

// Flush is FlushError for handlers that take any http.Flusher.
func (o *observed) Flush() { _ = o.FlushError() }

// bufferedBody is the size of the largest body that net/http does not begin to send before the handler has
// ended, so that it sets the length by itself.
const bufferedBody = 2 << 10

// complete sends the end of a response of which a part may have been sent, to note whether the client
// receives it.
func (o *observed) complete() {
	if o.bytes > bufferedBody {
		_ = o.FlushError()
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

func (o *observed) code() int {
	if o.status == 0 {
		return http.StatusOK // net/http sends this status if the handler writes nothing
	}
	return o.status
}
