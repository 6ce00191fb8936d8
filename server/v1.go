package server

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"atrium/edge"
	"atrium/platform"
	"atrium/rest"
)

// V1 is the service that still answers v1. Requests for v1 are passed to it as
// they are.
type V1 struct {
	Upstream *url.URL
	Timeout  time.Duration // until it answers
}

// v1Path is what is not answered here: nothing else of the two services has
// the same paths.
var v1Path = regexp.MustCompile(`^/(iam|registry|vulnerabilities|libraries|advisory)/v1/`)

// beside passes requests for v1 on, and leaves the others to next.
func (v *V1) beside(next http.Handler, o rest.Options) http.Handler {
	if v == nil {
		return next
	}
	proxy := v.proxy(o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !v1Path.MatchString(r.URL.EscapedPath()) {
			next.ServeHTTP(w, r)
			return
		}
		if hasDotSegment(r.URL.EscapedPath()) {
			o.WriteError(w, r, platform.Invalid(platform.Violation{Field: "path", Description: "must not hold segments of dots, in any encoding"}))
			return
		}
		through := &passage{w, http.NewResponseController(w)}
		_ = through.control.SetWriteDeadline(time.Time{})
		if r.Body != http.NoBody {
			r.Body = &slowBody{r.Body, through.control}
		}
		proxy.ServeHTTP(through, r)
	})
}

// hasDotSegment reports whether a path may lead out of v1 for whoever decodes it,
// once or more often: a service behind may do so after it has looked at the path.
// What is no UTF-8 may hold dots in too many bytes.
func hasDotSegment(path string) bool {
	for {
		for _, segment := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			segment, _, _ = strings.Cut(segment, ";") // where some keep parameters
			if name := strings.TrimRight(segment, "\x00 \t\r\n"); name == "." || name == ".." {
				return true
			}
		}
		decoded, err := url.PathUnescape(path)
		if !utf8.ValidString(decoded) {
			return true
		}
		if err != nil || decoded == path {
			return false
		}
		path = decoded
	}
}

// proxy sends a request on as it came, token and all: v1 takes the same ones
// and decides itself. It says nothing of the client's address.
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
		DisableCompression:    true, // it would ask for gzip and unpack it
	}
	return &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(v.Upstream)
			p.Out.URL.Path, p.Out.URL.RawPath = p.In.URL.Path, p.In.URL.RawPath
			p.Out.URL.RawQuery = p.In.URL.RawQuery // also what Go cannot parse
			if t := platform.TraceOf(p.In.Context()); t != nil && t.Parent != "" {
				p.Out.Header.Set("Traceparent", t.Parent)
			}
		},
		FlushInterval: -1, // at once
		ErrorLog:      slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			o.WriteError(w, r, v1Error(err))
		},
	}
}

// v1Error tells an upstream that is away from one that is slow.
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

// A passage is an answer that may take as long as its reader takes some of it
// now and then.
type passage struct {
	http.ResponseWriter
	control *http.ResponseController
}

// WriteHeader prefers the upstream's request id to our own: an answer has one.
func (p *passage) WriteHeader(status int) {
	if ids := p.Header().Values(edge.RequestIDHeader); len(ids) > 1 {
		p.Header()[edge.RequestIDHeader] = ids[1:2]
	}
	p.ResponseWriter.WriteHeader(status)
}

func (p *passage) Write(b []byte) (int, error) {
	defer p.hurry()()
	return p.ResponseWriter.Write(b)
}

// FlushError sends what was written.
func (p *passage) FlushError() error {
	defer p.hurry()()
	return p.control.Flush()
}

// hurry sets a time for one step. It is not left running: HTTP/2 ends a stream
// whose time is up even if there is nothing to write.
func (p *passage) hurry() (done func()) {
	_ = p.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	return func() { _ = p.control.SetWriteDeadline(time.Time{}) }
}

// Unwrap lets http.ResponseController reach the connection.
func (p *passage) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// A slowBody may take as long as some of it arrives now and then.
type slowBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (s *slowBody) Read(b []byte) (int, error) {
	_ = s.control.SetReadDeadline(time.Now().Add(readTimeout))
	return s.ReadCloser.Read(b)
}
