package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	deviceGrant    = "urn:ietf:params:oauth:grant-type:device_code"
	deviceInterval = 5 * time.Second // of a provider that names none, and what slow_down adds
	maxInterval    = time.Minute
)

// A Code is what a person enters in a browser, on any machine.
type Code struct {
	Page, Text string
	Complete   string // page that has the code already; "" means none
	Expires    time.Time
}

var errCodeExpired = errors.New("the code has expired; run the command again")

// SignInElsewhere has a person sign in with a browser on any machine.
func (c *Client) SignInElsewhere(ctx context.Context, s *Server, p *Provider, show func(Code)) (*Context, error) {
	e, err := c.discover(ctx, p)
	if err != nil {
		return nil, err
	}
	if e.DeviceAuthURL == "" {
		return nil, fmt.Errorf("the provider %s does not support sign-in with a code (RFC 8628); leave out --device", p.Issuer)
	}
	asked := oauth2.Config{ClientID: p.ClientID, Endpoint: e.Endpoint, Scopes: strings.Fields(p.Scope)}
	device, err := asked.DeviceAuth(oidc.ClientContext(ctx, c.http), p.options()...)
	if err != nil {
		return nil, p.explain(err)
	}
	code := Code{device.VerificationURI, device.UserCode, device.VerificationURIComplete, device.Expiry}
	if err := code.check(); err != nil {
		return nil, fmt.Errorf("the provider %s %w", p.Issuer, err)
	}
	if latest := c.now().Add(signInTime); code.Expires.IsZero() || code.Expires.After(latest) {
		code.Expires = latest
	}
	show(code)
	tokens, err := c.poll(ctx, p, e, device, code.Expires)
	if err != nil {
		return nil, err
	}
	return c.accept(ctx, s, p, e, tokens, "")
}

// maxCode is the longest code that a person could enter.
const maxCode = 64

func (c Code) check() error {
	if c.Text == "" || len(c.Text) > maxCode {
		return errors.New("gave no code that a person could enter")
	}
	for _, page := range []string{c.Page, cmp.Or(c.Complete, c.Page)} {
		if err := checkURL(page); err != nil {
			return fmt.Errorf("names the page %s, which %w", page, err)
		}
	}
	return nil
}

// poll asks for the tokens until the person has signed in.
func (c *Client) poll(ctx context.Context, p *Provider, e *endpoints, device *oauth2.DeviceAuthResponse, until time.Time) (*Tokens, error) {
	interval := deviceInterval
	if device.Interval > 0 {
		interval = min(time.Duration(device.Interval)*time.Second, maxInterval)
	}
	for {
		if err := c.wait(ctx, interval); err != nil {
			return nil, err
		}
		if c.now().After(until) {
			return nil, errCodeExpired
		}
		tokens, err := c.request(ctx, p, e, deviceGrant, map[string]string{"device_code": device.DeviceCode})
		var refused *refusedError
		var away *awayError
		switch {
		case err == nil:
			return tokens, nil
		case errors.As(err, &away):
			interval = min(2*interval, maxInterval)
		case !errors.As(err, &refused):
			return nil, err
		case refused.code == "slow_down":
			interval = min(interval+deviceInterval, maxInterval)
		case refused.code == "expired_token":
			return nil, errCodeExpired
		case refused.code != "authorization_pending":
			return nil, err
		}
	}
}
