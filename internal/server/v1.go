package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"atrium/internal/apierror"
	"atrium/internal/rest"
	"atrium/internal/rpc"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// V1 is another service that answers v1. Requests for v1 are forwarded to it, in all protocols
// except GraphQL, with the limits of all other requests.
type V1 struct {
	Upstream *url.URL
	Timeout  time.Duration // time in which the other service must begin to answer
}

// v1Path matches the paths that are forwarded. No other path is the same in both
// services.
var v1Path = regexp.MustCompile(`^/(iam|registry|vulnerabilities|libraries|advisory)/v1/`)

// An authorizer verifies the values of the Authorization header of a request, and returns a context with
// its caller.
type authorizer func(ctx context.Context, authorization []string) (context.Context, error)

// route returns a handler that forwards the requests for v1 that admit lets pass, and passes
// the others to next.
func (v *V1) route(next http.Handler, admit layer, authorize authorizer, o rest.Options) http.Handler {
	if v == nil {
		return next
	}
	forward := admit(v.forward(authorize, o))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v1Path.MatchString(r.URL.EscapedPath()) || rpc.IsV1(r.URL.Path) {
			forward.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// forward returns a handler that forwards requests for v1.
func (v *V1) forward(authorize authorizer, o rest.Options) http.Handler {
	proxy, refuse := v.proxy(o), newErrorWriter(o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if canLeaveV1(r.URL.EscapedPath()) {
			refuse(w, r, core.Invalid(fieldmask.Violation{
				Field: "path", Description: fmt.Sprintf("must not contain the segments . and .., in any encoding, nor be encoded more than %d times", maxEncodings),
			}))
			return
		}
		if err := limitTunnels(r, authorize); err != nil {
			refuse(w, r, err)
			return
		}
		control := http.NewResponseController(w)
		limited := http.MaxBytesReader(w, r.Body, rest.MaxBody)
		switch {
		case isStream(r):
			limited = newMessageReader(r.Body, control)
		case r.ContentLength > rest.MaxBody:
			refuse(w, r, rest.BodyError(&http.MaxBytesError{Limit: rest.MaxBody}))
			return
		}
		through := &passage{w, r, control, &clientBody{ReadCloser: limited}}
		_ = through.control.SetWriteDeadline(time.Time{})
		if r.Body != http.NoBody {
			r.Body = through.body
		}
		proxy.ServeHTTP(through, r)
	})
}

// limitTunnels returns an error for a request that may open a tunnel to the other service, in which nothing
// is checked any more, unless it is one for a websocket from a caller who is known here. Any other upgrade is not passed
// on, so that the service answers as if there was none (RFC 9110, section 7.8): some clients offer HTTP/2
// with each request. TRACE would show the headers that proxies have added.
func limitTunnels(r *http.Request, authorize authorizer) error {
	if r.Method == http.MethodConnect || r.Method == http.MethodTrace {
		return rest.UnsupportedMethod()
	}
	upgrade := r.Header["Upgrade"]
	if len(upgrade) == 0 {
		return nil
	}
	if r.Method != http.MethodGet || len(upgrade) != 1 || !strings.EqualFold(upgrade[0], "websocket") {
		r.Header.Del("Upgrade")
		return nil
	}
	ctx, err := authorize(r.Context(), r.Header["Authorization"])
	if err == nil && core.ActorOf(ctx) == nil {
		err = core.Unauthenticated("a websocket of v1 needs a token in the Authorization header")
	}
	return err
}

// v1IdleTimeout is how long a connection to the other service is kept without requests. It is
// shorter than the time after which Node.js closes one, five seconds, because a request that is
// sent at that moment is lost, and not repeated if it may change something.
const v1IdleTimeout = 4 * time.Second

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
// accepts the same tokens and checks permissions itself. What the headers of proxies say
// about the client comes from this server.
func (v *V1) proxy(o rest.Options) *httputil.ReverseProxy {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ResponseHeaderTimeout: v.Timeout,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       v1IdleTimeout,
		MaxIdleConnsPerHost:   100,
		ForceAttemptHTTP2:     true,
		DisableCompression:    true, // otherwise it would request gzip and decompress it
	}
	refuse := newErrorWriter(o)
	return &httputil.ReverseProxy{
		Transport: newProtocolTransport(transport),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(v.Upstream)
			if sent, err := url.ParseRequestURI(p.In.RequestURI); err == nil { // it has the package that the client knows
				p.Out.URL.Path, p.Out.URL.RawPath = sent.Path, sent.RawPath
			}
			p.Out.URL.RawQuery = p.In.URL.RawQuery // also a query that Go cannot parse
			maps.DeleteFunc(p.Out.Header, func(name string, _ []string) bool { return isProxyHeader(name) })
			p.SetXForwarded()
			p.Out.Header["X-Real-Ip"] = p.Out.Header["X-Forwarded-For"]
			if t := core.TraceOf(p.In.Context()); t != nil && t.Parent != "" {
				p.Out.Header.Set("Traceparent", t.Parent)
			}
		},
		FlushInterval: -1, // flush each write at once
		ErrorLog:      slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			through, _ := w.(*passage) // forward made it
			if fault := through.body.fault.Load(); fault != nil {
				refuse(w, through.request, rest.BodyError(*fault))
				return
			}
			refuse(w, through.request, v1Error(err))
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
		return &core.Error{
			Code: core.CodeDeadlineExceeded, Reason: "DEADLINE_EXCEEDED", Message: "The v1 API exceeded the time limit.", RetryAfter: time.Second,
		}
	}
	return core.Unavailable("the v1 API does not answer", err)
}

// A passage is a response without a time limit for the whole. Each write has a time
// limit, so that a client that stops reading is disconnected.
type passage struct {
	http.ResponseWriter
	request *http.Request // as the client sent it
	control *http.ResponseController
	body    *clientBody // of the request
}

// WriteHeader keeps only the request id and the limits of the upstream, if it has them,
// because a response must have one of each.
func (p *passage) WriteHeader(status int) {
	for _, name := range []string{apierror.RequestIDHeader, "Ratelimit", "Ratelimit-Policy"} {
		if values := p.Header()[name]; len(values) > 1 {
			p.Header()[name] = values[1:2]
		}
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

// A clientBody is a request body that keeps the error with which its client ended it.
type clientBody struct {
	io.ReadCloser
	fault atomic.Pointer[error] // nil if there is none
}

func (b *clientBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrBodyReadAfterClose) {
		b.fault.CompareAndSwap(nil, &err)
	}
	return n, err
}

// proxyHeaders are the headers by which proxies tell a service about its client, with dashes
// and in lower case. Names that end in a dash stand for all that begin with them.
var proxyHeaders = []string{
	"forwarded", "x-forwarded", "x-forwarded-", "x-original-", "x-real-ip", "true-client-ip", "client-ip", "x-client-ip", "x-cluster-client-ip",
	"proxy-client-ip", "wl-proxy-client-ip", "x-proxyuser-ip", "cf-connecting-ip", "cf-connecting-ipv6", "cf-pseudo-ipv4", "fastly-client-ip",
	"fly-client-ip", "x-azure-clientip", "x-azure-socketip", "x-appengine-", "x-envoy-", "x-remote-", "remote-addr", "remote-user", "x-host",
	"x-rewrite-url", "x-ssl-", "x-client-cert", "x-auth-request-", "x-webauth-", "x-authenticated-", "x-ms-client-", "x-goog-authenticated-", "x-goog-iap-",
}

// isProxyHeader reports whether a service may take a header for one of a proxy. Many
// services read underscores as dashes.
func isProxyHeader(name string) bool {
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	return slices.ContainsFunc(proxyHeaders, func(header string) bool {
		return name == header || strings.HasSuffix(header, "-") && strings.HasPrefix(name, header)
	})
}
