package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"atrium/platform/iam"
)

const (
	// maxLifetime is how far ahead a token may expire.
	maxLifetime = 24 * time.Hour
	// leeway is the largest accepted difference between the clocks of issuer and
	// service.
	leeway = time.Minute
	// minSeconds and maxSeconds are the first second of the year 1 and the last one of
	// the year 9999.
	minSeconds, maxSeconds = -62135596800, 253402300799
)

// readToken parses raw and checks its form and its times at now. services are the
// audiences of this service. The errors contain nothing of the token and may be
// shown.
func readToken(raw string, services []string, now time.Time) (*token, iam.Claims, error) {
	t, err := parse(raw)
	if err != nil {
		return nil, iam.Claims{}, err
	}
	claims, err := t.readClaims(services)
	if err != nil {
		return nil, iam.Claims{}, err
	}
	if claims.Expires, err = t.checkTimes(now); err != nil {
		return nil, iam.Claims{}, err
	}
	return t, claims, nil
}

// readClaims reads the claims about the bearer and the audience of the token.
func (t *token) readClaims(services []string) (iam.Claims, error) {
	c := iam.Claims{Values: t.claims}
	// The claim makes a token a statement about events, such as a logout, whatever its typ
	// (RFC 8417).
	if _, ok := t.claims["events"].(map[string]any); ok {
		return c, errors.New("the token is a security event token (it has the claim events), and is not for signing in")
	}
	var err error
	if c.Issuer, err = t.textClaim("iss"); err != nil {
		return c, err
	}
	if c.Subject, err = t.textClaim("sub"); err != nil {
		return c, err
	}
	if c.Audience, err = t.audience(); err != nil {
		return c, err
	}
	c.ServiceAudience = slices.ContainsFunc(c.Audience, func(aud string) bool { return slices.Contains(services, aud) })

	// These claims only describe the bearer. A claim of another type counts as
	// absent, and only the boolean true means that the email is verified.
	c.Email, _ = t.claims["email"].(string)
	c.EmailVerified, _ = t.claims["email_verified"].(bool)
	c.Name, _ = t.claims["name"].(string)
	return c, nil
}

// checkTimes checks that the token is valid at now, and returns its expiry.
func (t *token) checkTimes(now time.Time) (expires time.Time, err error) {
	expires, ok, err := t.timeClaim("exp")
	switch {
	case err != nil:
		return expires, err
	case !ok:
		return expires, errors.New("the token has no exp")
	case !now.Before(expires.Add(leeway)):
		return expires, errors.New("the token has expired")
	case expires.After(now.Add(maxLifetime + leeway)):
		return expires, errors.New("the token must expire within 24 hours")
	}
	for _, name := range []string{"nbf", "iat"} {
		start, ok, err := t.timeClaim(name)
		if err != nil {
			return expires, err
		}
		if ok && start.After(now.Add(leeway)) {
			return expires, fmt.Errorf("the token's %s lies in the future", name)
		}
	}
	return expires, nil
}

// textClaim reads a claim that must be a string and not empty.
func (t *token) textClaim(name string) (string, error) {
	s, ok := t.claims[name].(string)
	if !ok || s == "" {
		return "", fmt.Errorf("the token's %s must be a string that is not empty and has no NUL, U+FFFD or unpaired surrogate", name)
	}
	return s, nil
}

// audience reads aud, which is one string or a list of them.
func (t *token) audience() ([]string, error) {
	invalid := errors.New("the token's aud must be a string or a list of strings, none of them empty")
	values, ok := t.claims["aud"].([]any)
	if !ok {
		values = []any{t.claims["aud"]}
	}
	audience := make([]string, 0, len(values))
	for _, v := range values {
		s, ok := v.(string)
		if !ok || s == "" {
			return nil, invalid
		}
		audience = append(audience, s)
	}
	if len(audience) == 0 {
		return nil, invalid
	}
	return audience, nil
}

// timeClaim reads a claim in seconds since 1970, which may have a fraction and an
// exponent (NumericDate of RFC 7519). The result is exact to a microsecond.
func (t *token) timeClaim(name string) (at time.Time, ok bool, err error) {
	v, ok := t.claims[name]
	if !ok {
		return time.Time{}, false, nil
	}
	n, _ := v.(json.Number)
	seconds, err := n.Float64()
	if err != nil || seconds < minSeconds || seconds > maxSeconds {
		return time.Time{}, false, fmt.Errorf("the token's %s must be a number of seconds since 1970, up to the year 9999", name)
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9)).UTC(), true, nil
}
