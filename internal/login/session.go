package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// minLife is how long a token must still be valid to be used.
const minLife = time.Minute

// An EndedError means that only a new sign-in gives a token.
type EndedError struct {
	Server string
	cause  error
}

// Error returns the message.
func (e *EndedError) Error() string {
	text := fmt.Sprintf("your session at %s has ended; sign in again with `atrium login %[1]s`", e.Server)
	if e.cause != nil {
		text += " (" + e.cause.Error() + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *EndedError) Unwrap() error { return e.cause }

// Token returns a token of a context that is valid for some time, and asks the provider for a new one if there is none. One process at
// a time does so, because many providers accept a refresh token only once, and end the session if it comes again.
func (c *Client) Token(ctx context.Context, f *Folder, name string) (token string, err error) {
	stored, err := f.Load(name)
	if err != nil {
		return "", err
	}
	server := stored.Server
	if c.isFresh(stored) {
		return stored.Token, nil
	}
	err = f.withLock(ctx, func() error {
		stored, err := f.Load(name)
		if err != nil {
			return err
		}
		if stored.Server != server {
			return fmt.Errorf("the context %s was signed in to another server in the meantime", name)
		}
		if !c.isFresh(stored) {
			if err := c.refresh(ctx, stored); err != nil {
				return err
			}
			err = f.store(stored)
		}
		token = stored.Token
		return err
	})
	return token, err
}

func (c *Client) isFresh(s *Context) bool {
	return s.Expires.IsZero() || c.now().Add(minLife).Before(s.Expires)
}

// refresh gets new tokens. If the provider is away, the old token serves until it ends.
func (c *Client) refresh(ctx context.Context, s *Context) error {
	isValid := c.now().Before(s.Expires)
	if s.RefreshToken == "" || s.Provider == nil {
		if isValid {
			return nil
		}
		return &EndedError{s.Server, nil}
	}
	e, err := c.discover(ctx, s.Provider)
	var tokens *Tokens
	if err == nil {
		tokens, err = c.request(ctx, s.Provider, e, "refresh_token", map[string]string{"refresh_token": s.RefreshToken})
	}
	var refused *refusedError
	var away *awayError
	switch {
	case errors.As(err, &refused):
		return &EndedError{s.Server, err}
	case errors.As(err, &away) && isValid:
		return nil
	case err != nil:
		return fmt.Errorf("the token has expired, and could not be renewed yet: %w", err)
	}
	if tokens.id != "" {
		if err := c.verify(ctx, s.Provider, e, tokens, ""); err != nil {
			return err
		}
	}
	before := ReadClaims(s.Token)
	if err := s.keep(tokens); err != nil {
		return err
	}
	if after := ReadClaims(s.Token); after.Subject != before.Subject || after.Issuer != before.Issuer {
		return fmt.Errorf("the provider %s issued a token for another person", s.Provider.Issuer)
	}
	return nil
}

// Revoke tells the provider of a context that its tokens are no longer used (RFC 7009). It does nothing if there is no provider, or if
// the provider has no endpoint for that.
func (c *Client) Revoke(ctx context.Context, s *Context) error {
	if s.Provider == nil || s.RefreshToken == "" {
		return nil
	}
	e, err := c.discover(ctx, s.Provider)
	if err != nil || e.Revocation == "" {
		return err
	}
	form := url.Values{"token": {s.RefreshToken}, "token_type_hint": {"refresh_token"}, "client_id": {s.Provider.ClientID}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Revocation, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := c.http.Do(request)
	if err != nil {
		return &awayError{s.Provider.Issuer, unwrapURL(err)}
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK {
		return &awayError{s.Provider.Issuer, fmt.Errorf("status %d", response.StatusCode)}
	}
	return nil
}

// MakeContext returns a context of a token that was given by hand.
func MakeContext(server *url.URL, token string) *Context {
	return &Context{Server: server.String(), Token: token, Expires: ReadClaims(token).Expires}
}
