package server

import (
	"net/http"
	"strings"
)

// An observed is a response that records its status and its size.
type observed struct {
	http.ResponseWriter
	status    int
	bytes     int64
	streaming func(kind string) // called if the response is a stream
	challenge func() string     // completes a plain WWW-Authenticate
}

// WriteHeader records the first final status.
func (o *observed) WriteHeader(status int) {
	if o.status == 0 && status >= http.StatusOK {
		o.status = status
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
		o.status = http.StatusOK
	}
	n, err := o.ResponseWriter.Write(b)
	o.bytes += int64(n)
	return n, err
}

// Flush sends the written bytes, for handlers that stream.
func (o *observed) Flush() { _ = http.NewResponseController(o.ResponseWriter).Flush() }

// Unwrap lets http.ResponseController reach the connection.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

func (o *observed) code() int {
	if o.status == 0 {
		return http.StatusOK // net/http sends this status if the handler writes nothing
	}
	return o.status
}
