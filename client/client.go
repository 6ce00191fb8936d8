// Package client calls the services of an Atrium server over gRPC.
//
// A Client has the generated stub of every service. All stubs share a token, a
// retry policy and an HTTP/2 connection. Errors are *connect.Error:
// connect.CodeOf returns the code, and Details the typed details.
// This package must not import the server: client and server share only the contract.
package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"connectrpc.com/connect"

	"atrium/gen/services"
)

// A Client calls the services of one server. It is safe for concurrent use.
type Client struct{ services.Services }

// Options configures a Client. With the zero value, calls have no token.
type Options struct {
	// Token returns the bearer token of a call. It is called for every call, so
	// that it can renew a token that expires. If it is nil, calls have no token.
	Token func(context.Context) (string, error)
	// Attempts is how often a call is tried at most. 0 means 4; 1 means no retry.
	Attempts int
	// HTTPClient must speak HTTP/2. If it is nil, the Client makes its own, which
	// also speaks HTTP/2 without TLS.
	HTTPClient connect.HTTPClient
	// Connect has further options of connect, such as interceptors.
	Connect []connect.ClientOption

	sleep func(context.Context, time.Duration) error // set by tests
}

// StaticToken returns a function for Options.Token that always returns token.
func StaticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// New returns a Client of the server at an address such as
// https://atrium.example.com. With http:// the token is sent unencrypted. New sends
// nothing.
func New(address string, o Options) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the address %q must be the URL of a server, such as https://atrium.example.com", address)
	}
	if o.Attempts < 0 {
		return nil, errors.New("attempts must not be negative")
	}
	baseURL, httpClient := strings.TrimSuffix(address, "/"), o.HTTPClient
	if httpClient == nil {
		httpClient = newHTTP2Client()
	}
	options := connect.WithClientOptions(append([]connect.ClientOption{
		connect.WithGRPC(), connect.WithInterceptors(o.retryInterceptor(), o.tokenInterceptor()),
	}, o.Connect...)...)
	return &Client{services.New(httpClient, baseURL, options)}, nil
}

// newHTTP2Client returns a client that speaks only HTTP/2, with and without TLS.
func newHTTP2Client() *http.Client {
	const maxDial, pingInterval = 10 * time.Second, 15 * time.Second
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{
		Protocols: protocols, Proxy: http.ProxyFromEnvironment,
		DialContext: (&net.Dialer{Timeout: maxDial}).DialContext, TLSHandshakeTimeout: maxDial,
		// The server answers a ping at once, so that a call does not wait for a server that is gone.
		HTTP2: &http.HTTP2Config{SendPingTimeout: pingInterval, PingTimeout: pingInterval},
	}}
}

// tokenInterceptor adds the token to each call.
func (o Options) tokenInterceptor() connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			if o.Token == nil {
				return next(ctx, r)
			}
			token, err := o.Token(ctx)
			if err != nil {
				return nil, connect.NewError(connect.CodeUnauthenticated, fmt.Errorf("get the token: %w", err))
			}
			r.Header().Set("Authorization", "Bearer "+token)
			return next(ctx, r)
		}
	})
}
