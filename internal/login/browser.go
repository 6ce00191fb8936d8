package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	// signInTime is how long a person may take.
	signInTime = 10 * time.Minute

	// closeTime is how long the last page may take to its browser.
	closeTime = 5 * time.Second
)

var errLate = errors.New("nobody signed in within 10 minutes")

// SignIn has a person sign in with a browser on this machine. show gets the page that the browser must open: one of this machine, which leads to
// the provider, because process lists show what a browser is called with. port is that of the address to which the provider sends the browser
// back; 0 means a free one.
func (c *Client) SignIn(ctx context.Context, s *Server, p *Provider, port int, show func(page string)) (*Context, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, signInTime, errLate)
	defer cancel()
	e, err := c.discover(ctx, p)
	if err != nil {
		return nil, err
	}
	if e.AuthURL == "" {
		return nil, fmt.Errorf("the provider %s has no page for a sign-in", p.Issuer)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("this machine cannot receive the answer of the browser: %w", err)
	}
	waiting := &callback{
		host: listener.Addr().String(), start: "/~start/" + rand.Text(), path: redirectPath(p.Issuer), state: rand.Text(), cookie: rand.Text(),
		starts: make(chan struct{}, 1), answers: make(chan answer, 1),
	}
	verifier, nonce := oauth2.GenerateVerifier(), rand.Text()
	redirect := (&url.URL{Scheme: "http", Host: waiting.host, Path: waiting.path}).String()
	waiting.page = p.page(e, redirect, waiting.state, nonce, verifier)
	site := &http.Server{Handler: waiting, ReadHeaderTimeout: requestTime, ReadTimeout: requestTime}
	go func() { _ = site.Serve(listener) }() // Close and Shutdown end it.
	defer site.Close()

	show("http://" + waiting.host + waiting.start)
	var got answer
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case got = <-waiting.answers:
	}
	signedIn, err := c.redeem(ctx, s, p, e, got.query, map[string]string{"redirect_uri": redirect, "code_verifier": verifier}, nonce)
	got.done <- err
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer stop()
	_ = site.Shutdown(closing) // The page is only for the eyes.
	return signedIn, err
}

// redirectPath returns the path of the address to which a provider sends the browser back. The issuer is part of it, as at the console: so a
// provider cannot have a code of another come as its own (RFC 9700, section 4.4).
func redirectPath(issuer string) string {
	_, name, _ := strings.Cut(issuer, "://")
	return "/~signed-in/" + strings.TrimSuffix(name, "/")
}

// page returns the address of the page of the provider.
func (p *Provider) page(e *endpoints, redirect, state, nonce, verifier string) string {
	asked := oauth2.Config{ClientID: p.ClientID, Endpoint: e.Endpoint, RedirectURL: redirect, Scopes: strings.Fields(p.Scope)}
	return asked.AuthCodeURL(state, append(p.options(), oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier))...)
}

// isOurs says whether a sign-in itself sets a parameter. A server that sets one would have the answer sent to itself, or would make a request of
// its own: request and request_uri replace all others.
func isOurs(parameter string) bool {
	return slices.Contains([]string{
		"client_id", "code_challenge", "code_challenge_method", "nonce", "redirect_uri", "request", "request_uri", "response_mode", "response_type", "scope", "state",
	}, parameter)
}

// options returns the parameters of the operator. How the console gets its answer is not for programs.
func (p *Provider) options() (options []oauth2.AuthCodeOption) {
	for name, value := range p.Parameters {
		if !isOurs(name) {
			options = append(options, oauth2.SetAuthURLParam(name, value))
		}
	}
	return options
}

// redeem checks the answer of the provider, and gets the tokens for its code.
func (c *Client) redeem(ctx context.Context, s *Server, p *Provider, e *endpoints, got url.Values, proof map[string]string, nonce string) (*Context, error) {
	if from := got.Get("iss"); from != p.Issuer && (from != "" || e.NamesItself) {
		return nil, fmt.Errorf("the answer in the browser comes from %q, not from the provider %s", from, p.Issuer)
	}
	if code := got.Get("error"); code != "" {
		return nil, &refusedError{p.Issuer, code, got.Get("error_description")}
	}
	if got.Get("code") == "" {
		return nil, fmt.Errorf("the provider %s gave no code", p.Issuer)
	}
	proof["code"] = got.Get("code")
	tokens, err := c.request(ctx, p, e, "authorization_code", proof)
	if err != nil {
		return nil, err
	}
	return c.accept(ctx, s, p, e, tokens, nonce)
}

// accept makes a context of the tokens of a sign-in.
func (c *Client) accept(ctx context.Context, s *Server, p *Provider, e *endpoints, tokens *Tokens, nonce string) (*Context, error) {
	if tokens.id == "" {
		return nil, fmt.Errorf("the provider %s gave no ID token, although the scope has openid", p.Issuer)
	}
	if err := c.verify(ctx, p, e, tokens, nonce); err != nil {
		return nil, err
	}
	made := &Context{Server: s.URL.String(), Provider: p, Audiences: s.Audiences}
	if err := made.keep(tokens); err != nil {
		return nil, err
	}
	for _, audience := range ReadClaims(made.Token).Audience {
		if err := CheckAudience(s.URL, audience); err != nil && audience != s.trusted {
			return nil, err
		}
	}
	return made, nil
}

// An answer is what came with the browser. The page waits until done says how the sign-in has ended.
type answer struct {
	query url.Values
	done  chan error
}

// A callback sends the browser to the provider, and waits for it to come back. Any page can send requests here, so only one with the right
// state counts, and only once. Other people of this machine can see the first address, so it serves once too, and gives the browser a cookie:
// they cannot come with an answer of their own to a sign-in that somebody else has begun.
type callback struct {
	host, start, path, state, cookie string

	page    string        // that of the provider
	starts  chan struct{} // has an element once the browser was sent to it
	answers chan answer
}

// cookieName is the name of the cookie of the browser that has begun.
const cookieName = "atrium-sign-in"

// ServeHTTP answers the browser.
func (b *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer") // The address has the code.
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Host == b.host && r.URL.Path == b.start && r.Method == http.MethodGet {
		b.begin(w, r)
		return
	}
	query := r.URL.Query()
	isForged := subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(b.state)) != 1
	switch {
	case r.Host != b.host || r.URL.Path != b.path || r.Method != http.MethodGet:
		writePage(w, http.StatusNotFound, "There is nothing here.")
		return
	case isForged || !b.hasBegun(r) || len(query["state"]) > 1 || len(query["code"]) > 1:
		writePage(w, http.StatusBadRequest, "This is not the answer to the sign-in that waits here. Start again with atrium login.")
		return
	}
	got := answer{query, make(chan error, 1)}
	select {
	case b.answers <- got:
	default:
		writePage(w, http.StatusConflict, "This sign-in is already complete.")
		return
	}
	select {
	case <-r.Context().Done():
	case err := <-got.done:
		if err != nil {
			writePage(w, http.StatusBadRequest, "The sign-in has failed. The terminal says why.")
			return
		}
		writePage(w, http.StatusOK, "You are signed in. Close this page, and go back to the terminal.")
	}
}

// begin sends the browser to the provider.
func (b *callback) begin(w http.ResponseWriter, r *http.Request) {
	select {
	case b.starts <- struct{}{}:
		http.SetCookie(w, &http.Cookie{Name: cookieName, Value: b.cookie, Path: "/~signed-in/", HttpOnly: true, SameSite: http.SameSiteLaxMode}) //nolint:gosec // a browser sends no Secure cookie to a loopback address
		http.Redirect(w, r, b.page, http.StatusSeeOther)
	default:
		writePage(w, http.StatusGone, "This page was opened already. If it was not you, end atrium login, and start again.")
	}
}

// hasBegun reports whether a request is of the browser that was sent to the provider.
func (b *callback) hasBegun(r *http.Request) bool {
	cookie, err := r.Cookie(cookieName)
	return err == nil && subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(b.cookie)) == 1
}

func writePage(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<!doctype html><html lang=en><meta name=viewport content='width=device-width'><title>Atrium</title><h1>Atrium</h1><p>"+text+"</p></html>\n")
}
