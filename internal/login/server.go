package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Client sends the requests of a sign-in.
type Client struct {
	http *http.Client
	now  func() time.Time
	wait func(context.Context, time.Duration) error
}

// requestTime limits each request.
const requestTime = 30 * time.Second

// NewClient returns a client that uses the transport; nil means that of the program.
func NewClient(transport http.RoundTripper) *Client {
	if transport == nil {
		transport = http.DefaultTransport
	}
	return &Client{
		http: &http.Client{
			Transport: limited{transport}, Timeout: requestTime,
			// What a request has is for the place that it names.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		now: time.Now,
		wait: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(d):
				return nil
			}
		},
	}
}

// maxBody is much more than any document of a sign-in has.
const maxBody = 1 << 20

// limited is a transport whose responses have a limit, because not all libraries have one.
type limited struct{ http.RoundTripper }

// RoundTrip sends a request.
func (t limited) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxBody)
	}
	return response, err
}

// A Server is what a server says about how people sign in to it.
type Server struct {
	URL       *url.URL   `json:"-"`
	Providers []Provider `json:"sign_in_providers"`
	Audiences []string   `json:"audiences"`

	trusted string // audience that the person names, which may be the name of another host
}

// Trust accepts tokens for an audience with the name of another host.
func (s *Server) Trust(audience string) { s.trusted = audience }

// Describe asks a server how people sign in to it (RFC 9728).
func (c *Client) Describe(ctx context.Context, server *url.URL) (*Server, error) {
	if err := checkURL(server.String()); err != nil {
		return nil, fmt.Errorf("the server %s %w", server, err)
	}
	response, err := c.get(ctx, server.JoinPath(".well-known/oauth-protected-resource").String(), "")
	if err != nil {
		return nil, fmt.Errorf("the server %s cannot be reached: %w", server, unwrapURL(err))
	}
	defer response.Body.Close()
	said := &Server{URL: server}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s does not say how people sign in (it answers %d); is it the URL of an Atrium server?", server, response.StatusCode)
	}
	if err := json.NewDecoder(response.Body).Decode(said); err != nil {
		return nil, fmt.Errorf("%s does not say how people sign in (%w); is it the URL of an Atrium server?", server, err)
	}
	return said, nil
}

func (c *Client) get(ctx context.Context, from, bearer string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	return c.http.Do(request)
}

// unwrapURL returns the cause of a failed request without its URL, which may have a secret.
func unwrapURL(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// checkURL fails for a URL to which no secret may go, and which no browser may open.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "":
		return errors.New("must be a URL with a host, and without a user and a fragment")
	case u.Scheme != "https" && (u.Scheme != "http" || !IsThisMachine(u.Hostname())):
		return errors.New("must begin with https://, since others could read what is sent")
	}
	return nil
}

// IsThisMachine reports whether a host is this machine.
func IsThisMachine(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// CheckAudience fails for an audience that is the name of another server, by its host. With a token for it, this server could
// act there as the caller. This machine may have any name.
func CheckAudience(server *url.URL, audience string) error {
	of, err := url.Parse(audience)
	isURL := err == nil && (of.Scheme == "https" || of.Scheme == "http")
	if !isURL || IsThisMachine(server.Hostname()) || strings.EqualFold(of.Host, server.Host) {
		return nil
	}
	return fmt.Errorf("%s asks for a token for %s, with which it could act there as you; if both are one service, say so with --audience %[2]s", server, audience)
}
