package login

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// A Provider is an OpenID provider of a server.
type Provider struct {
	Name     string `json:"name,omitempty"`
	Issuer   string `json:"issuer"`
	ClientID string `json:"client_id"`
	Scope    string `json:"scope"`

	// Parameters are added to requests for a sign-in.
	Parameters map[string]string `json:"parameters,omitempty"`
}

// Title returns what people call the provider: its name, or its host.
func (p *Provider) Title() string {
	if of, err := url.Parse(p.Issuer); err == nil && p.Name == "" {
		return of.Host
	}
	return p.Name
}

// Find returns the provider with a name, a host or an issuer. Without any of them it is the only one.
func (s *Server) Find(wanted string) (*Provider, error) {
	var titles []string
	for i := range s.Providers {
		p := &s.Providers[i]
		of, err := url.Parse(p.Issuer)
		if wanted == "" && len(s.Providers) == 1 || wanted != "" && (strings.EqualFold(wanted, p.Name) || wanted == p.Issuer || err == nil && wanted == of.Host) {
			return p, nil
		}
		titles = append(titles, p.Title())
	}
	switch {
	case len(titles) == 0:
		return nil, fmt.Errorf("%s has no provider at which people sign in (--console-issuer of the server); with a token, use --with-token", s.URL)
	case wanted == "":
		return nil, fmt.Errorf("%s has several providers; choose one with --provider: %s", s.URL, strings.Join(titles, ", "))
	default:
		return nil, fmt.Errorf("%q is not a provider of %s; it has %s", wanted, s.URL, strings.Join(titles, ", "))
	}
}

// Tokens are what a provider gave.
type Tokens struct {
	access, id, refresh string
	expires             time.Time // of the access token, as the provider says; zero if it does not
}

// endpoints are where a provider is asked.
type endpoints struct {
	*oidc.Provider
	oauth2.Endpoint
	more
}

// more is what a provider says that the library does not read.
type more struct {
	Revocation string `json:"revocation_endpoint"`

	// NamesItself says whether each answer in the browser names its issuer (RFC 9207).
	NamesItself bool `json:"authorization_response_iss_parameter_supported"`
}

// discover finds the endpoints of a provider. The issuer must be what the provider calls itself.
func (c *Client) discover(ctx context.Context, p *Provider) (*endpoints, error) {
	if err := checkURL(p.Issuer); err != nil {
		return nil, fmt.Errorf("the provider %s %w", p.Issuer, err)
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, c.http), p.Issuer)
	var other *oidc.IssuerMismatchError
	switch {
	case errors.As(err, &other):
		return nil, fmt.Errorf("the provider %s calls itself %s; the operator must set exactly that issuer", p.Issuer, other.Discovered)
	case err != nil:
		return nil, &awayError{p.Issuer, unwrapURL(err)}
	}
	e := &endpoints{Provider: found, Endpoint: found.Endpoint()}
	if err := found.Claims(&e.more); err != nil {
		return nil, &awayError{p.Issuer, err}
	}
	for _, at := range []string{e.AuthURL, e.TokenURL, e.DeviceAuthURL, e.Revocation} {
		if at == "" {
			continue
		}
		if err := checkURL(at); err != nil {
			return nil, fmt.Errorf("the address %s of the provider %s %w", at, p.Issuer, err)
		}
	}
	if e.TokenURL == "" {
		return nil, fmt.Errorf("the provider %s has no endpoint for tokens", p.Issuer)
	}
	return e, nil
}

// An awayError means that a provider did not answer as providers do. Another try may succeed.
type awayError struct {
	issuer string
	cause  error
}

// Error returns the message.
func (e *awayError) Error() string {
	return fmt.Sprintf("the provider %s does not answer: %s", e.issuer, e.cause)
}

// Unwrap returns the cause.
func (e *awayError) Unwrap() error { return e.cause }

// IsAway reports whether an error is that of a provider that did not answer, so that another try may succeed.
func IsAway(err error) bool {
	var away *awayError
	return errors.As(err, &away)
}

// A refusedError means that a provider refused what was asked. Another try would be refused too.
type refusedError struct{ issuer, code, description string }

// Error returns the message.
func (e *refusedError) Error() string {
	if e.description == "" || e.description == e.code {
		return fmt.Sprintf("the provider %s refuses: %s", e.issuer, e.code)
	}
	return fmt.Sprintf("the provider %s refuses: %s (%s)", e.issuer, e.description, e.code)
}

// explain returns the error of a provider that answered a request with an error.
func (p *Provider) explain(err error) error {
	var answered *oauth2.RetrieveError
	if !errors.As(err, &answered) {
		return &awayError{p.Issuer, unwrapURL(err)}
	}
	if status := answered.Response.StatusCode; answered.ErrorCode == "" || status >= 500 {
		return &awayError{p.Issuer, fmt.Errorf("status %d", status)}
	}
	return &refusedError{p.Issuer, answered.ErrorCode, answered.ErrorDescription}
}

// resource returns the parameter that says for which service a token is (RFC 8707), if the operator has set it. Providers want it
// in requests for tokens too.
func (p *Provider) resource() url.Values {
	if resource := p.Parameters["resource"]; resource != "" {
		return url.Values{"resource": {resource}}
	}
	return url.Values{}
}

// request asks for tokens with a grant. The library has a call for each grant, but only this one takes the resource of RFC 8707.
func (c *Client) request(ctx context.Context, p *Provider, e *endpoints, grant string, proof map[string]string) (*Tokens, error) {
	form := p.resource()
	form.Set("grant_type", grant)
	for name, value := range proof {
		form.Set(name, value)
	}
	given, err := (&clientcredentials.Config{
		ClientID: p.ClientID, TokenURL: e.TokenURL, AuthStyle: oauth2.AuthStyleInParams, EndpointParams: form,
	}).Token(oidc.ClientContext(ctx, c.http))
	if err != nil {
		return nil, p.explain(err)
	}
	id, _ := given.Extra("id_token").(string)
	return &Tokens{given.AccessToken, id, given.RefreshToken, given.Expiry}, nil
}

// verify checks the signature of the ID token, and that it is of this sign-in. Without a nonce, the sign-in had none.
func (c *Client) verify(ctx context.Context, p *Provider, e *endpoints, t *Tokens, nonce string) error {
	verifier := e.VerifierContext(oidc.ClientContext(ctx, c.http), &oidc.Config{ClientID: p.ClientID, Now: c.now})
	token, err := verifier.Verify(ctx, t.id)
	if err != nil {
		return fmt.Errorf("the provider %s gave an ID token that is not valid: %w", p.Issuer, err)
	}
	if nonce != "" && token.Nonce != nonce {
		return fmt.Errorf("the provider %s gave an ID token of another sign-in (its nonce differs)", p.Issuer)
	}
	if token.AccessTokenHash != "" {
		if err := token.VerifyAccessToken(t.access); err != nil {
			return fmt.Errorf("the provider %s gave an access token that does not belong to its ID token: %w", p.Issuer, err)
		}
	}
	return nil
}

// Claims are what a token says. Nothing has verified them: the server does.
type Claims struct {
	Issuer, Subject string
	Audience        []string
	Expires         time.Time // zero if it does not say it
}

// ReadClaims returns the claims of a token; none if it is not a JWT.
func ReadClaims(token string) Claims {
	parts := strings.Split(token, ".")
	var read struct {
		Issuer   string          `json:"iss"`
		Subject  string          `json:"sub"`
		Audience json.RawMessage `json:"aud"`
		Expires  float64         `json:"exp"`
	}
	if len(parts) != 3 {
		return Claims{}
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &read) != nil {
		return Claims{}
	}
	claims := Claims{Issuer: read.Issuer, Subject: read.Subject}
	var one string
	if json.Unmarshal(read.Audience, &one) == nil {
		claims.Audience = []string{one}
	} else {
		_ = json.Unmarshal(read.Audience, &claims.Audience) // It stays empty if it is something else.
	}
	if read.Expires > 0 && read.Expires < 1e11 {
		claims.Expires = time.Unix(int64(read.Expires), 0)
	}
	return claims
}

// choose returns the token that the server accepts: the access token if it is one for the server, or else the ID token. Some organizations
// accept tokens for the client, so the server decides about these.
func (t *Tokens) choose(p *Provider, audiences []string) (token string, err error) {
	access := ReadClaims(t.access)
	isForServer := func(claims Claims) bool {
		return slices.ContainsFunc(claims.Audience, func(one string) bool { return slices.Contains(audiences, one) })
	}
	switch {
	case isForServer(access):
		return t.access, nil
	case isForServer(ReadClaims(t.id)):
		return t.id, nil
	case slices.Contains(access.Audience, p.ClientID):
		return t.access, nil
	case t.id != "":
		return t.id, nil
	}
	return "", fmt.Errorf("the provider %s gave no token for this server, which accepts those for %s; the operator must name the server in the request (--console-parameter resource=URL or audience=URL, or a scope in --console-scope)", p.Issuer, strings.Join(audiences, ", "))
}

// keep puts the tokens of a provider into a context. An answer without a refresh token leaves the old one valid.
func (c *Context) keep(t *Tokens) error {
	token, err := t.choose(c.Provider, c.Audiences)
	if err != nil {
		return err
	}
	c.Token, c.RefreshToken, c.Expires = token, cmp.Or(t.refresh, c.RefreshToken), ReadClaims(token).Expires
	if c.Expires.IsZero() {
		c.Expires = t.expires
	}
	return nil
}
