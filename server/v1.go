package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"atrium/edge"
	"atrium/platform"
	"atrium/rest"
)

// V1 is another service that answers v1. Requests for v1 are forwarded to it unchanged.
type V1 struct {
	Upstream *url.URL
	Timeout  time.Duration // time in which the other service must begin to answer
}

// v1Path matches the paths that are forwarded. No other path is the same in both
// services.
var v1Path = regexp.MustCompile(`^/(iam|registry|vulnerabilities|libraries|advisory)/v1/`)

// route returns a handler that forwards requests for v1 and passes the others to next.
func (v *V1) route(next http.Handler, o rest.Options) http.Handler {
	if v == nil {
		return next
	}
	proxy := v.proxy(o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !v1Path.MatchString(r.URL.EscapedPath()) {
			next.ServeHTTP(w, r)
			return
		}
		if canLeaveV1(r.URL.EscapedPath()) {
			o.WriteError(w, r, platform.Invalid(platform.Violation{
				Field: "path", Description: fmt.Sprintf("must not contain the segments . and .., in any encoding, nor be encoded more than %d times", maxEncodings),
			}))
			return
		}
		through := &passage{w, http.NewResponseController(w)}
		_ = through.control.SetWriteDeadline(time.Time{})
		if r.Body != http.NoBody {
			r.Body = &slowBody{ReadCloser: r.Body, control: through.control}
		}
		proxy.ServeHTTP(through, r)
	})
}

// maxEncodings is how many times a path may be encoded. The check takes a pass over the
// whole path for each time.
const maxEncodings = 3

// canLeaveV1 reports whether a path contains . or .. as a segment after decoding it once or
// several times. Such a path could leave v1, because a service behind this one may decode it
// after checking it. It also returns true for invalid UTF-8, which may encode dots in too
// many bytes, and for a path that is encoded too many times to be checked.
func canLeaveV1(path string) bool {
	for range maxEncodings + 1 {
		for _, segment := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			segment, _, _ = strings.Cut(segment, ";") // some servers allow parameters here
			if name := strings.TrimRight(segment, "\x00 \t\r\n"); name == "." || name == ".." {
				return true
			}
		}
		decoded := unescape(path)
		if !utf8.ValidString(decoded) {
			return true
		}
		if decoded == path {
			return false
		}
		path = decoded
	}
	return true
}

// unescape decodes the escapes of a path once. Unlike url.PathUnescape, it leaves invalid
// ones as they are, because a service may decode the others.
func unescape(path string) string {
	decoded := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && i+2 < len(path) {
			if code, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				c, i = byte(code), i+2
			}
		}
		decoded = append(decoded, c)
	}
	return string(decoded)
}

// proxy returns a handler that forwards a request unchanged, including its token: v1
// accepts the same tokens and checks permissions itself. It does not forward the address
// of the client.
func (v *V1) proxy(o rest.Options) *httputil.ReverseProxy {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: v.Timeout,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       idleTimeout,
		MaxIdleConnsPerHost:   100,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // otherwise it would request gzip and decompress it
	}
	return &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(v.Upstream)
			p.Out.URL.Path, p.Out.URL.RawPath = p.In.URL.Path, p.In.URL.RawPath
			p.Out.URL.RawQuery = p.In.URL.RawQuery // also a query that Go cannot parse
			if t := platform.TraceOf(p.In.Context()); t != nil && t.Parent != "" {
				p.Out.Header.Set("Traceparent", t.Parent)
			}
		},
		FlushInterval: -1, // flush each write at once
		ErrorLog:      slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			o.WriteError(w, r, v1Error(err))
		},
	}
}

// v1Error returns DEADLINE_EXCEEDED for a slow upstream, and UNAVAILABLE for one that
// does not answer.
func v1Error(err error) error {
	var dial *net.OpError
	var network net.Error
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
	case errors.Is(err, context.Canceled), errors.As(err, &network) && network.Timeout():
		return &platform.Error{
			Code: platform.CodeDeadlineExceeded, Reason: "DEADLINE_EXCEEDED", Message: "The v1 API exceeded the time limit.", RetryAfter: time.Second,
		}
	}
	return platform.Unavailable("v1 does not answer", err)
}

// A passage is a response without a time limit for the whole. Each write has a time
// limit, so that a client that stops reading is disconnected.
type passage struct {
	http.ResponseWriter
	control *http.ResponseController
}

// WriteHeader keeps only the request id of the upstream, because a response must have one
// id.
func (p *passage) WriteHeader(status int) {
	if ids := p.Header().Values(edge.RequestIDHeader); len(ids) > 1 {
		p.Header()[edge.RequestIDHeader] = ids[1:2]
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *passage) Write(b []byte) (int, error) {
	defer p.setDeadline()()
	return p.ResponseWriter.Write(b)
}

// FlushError sends the written bytes.
func (p *passage) FlushError() error {
	defer p.setDeadline()()
	return p.control.Flush()
}

// setDeadline sets a deadline for one write or flush; done removes it. HTTP/2 ends a
// stream at its deadline even if there is nothing to write.
func (p *passage) setDeadline() (done func()) {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	return func() { _ = p.control.SetWriteDeadline(time.Time{}) }
}

// Unwrap lets http.ResponseController reach the connection.
func (p *passage) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// A slowBody is a request body without a time limit for the whole. Each read has a time
// limit. After the end of the body there is none: net/http then waits for the client to
// disconnect, and would take a time limit for that.
type slowBody struct {
	io.ReadCloser
	control *http.ResponseController
	end     error // why the body has ended
}

func (s *slowBody) Read(b []byte) (n int, err error) {
	if s.end != nil {
		return 0, s.end
	}
	_ = s.control.SetReadDeadline(time.Now().Add(readTimeout))
	n, s.end = s.ReadCloser.Read(b)
	return n, s.end
}
