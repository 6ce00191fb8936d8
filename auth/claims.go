package auth

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"atrium/platform"
)

const (
	// maxLifetime is how far ahead a token may expire.
	maxLifetime = 24 * time.Hour
	// leeway is how far the clocks of issuer and service may be apart.
	leeway = time.Minute
	// maxSeconds is the last moment of the year 9999.
	maxSeconds = 253402300799
)

// read gives the token in raw and what it claims, if it has the right form
// and holds at now. services are the audiences by which this service is
// called. Its errors hold nothing of the token and may be shown.
func read(raw string, services []string, now time.Time) (*token, platform.Claims, error) {
	t, err := parse(raw)
	if err != nil {
		return nil, platform.Claims{}, err
	}
	claims, err := t.bearer(services)
	if err != nil {
		return nil, platform.Claims{}, err
	}
	if claims.Expires, err = t.checkTimes(now); err != nil {
		return nil, platform.Claims{}, err
	}
	return t, claims, nil
}

// bearer reads the claims that say who the token was made out to, and for whom.
func (t *token) bearer(services []string) (platform.Claims, error) {
	c := platform.Claims{Values: t.claims}
	var err error
	if c.Issuer, err = t.text("iss"); err != nil {
		return c, err
	}
	if c.Subject, err = t.text("sub"); err != nil {
		return c, err
	}
	if c.Audience, err = t.audience(); err != nil {
		return c, err
	}
	c.ServiceAudience = slices.ContainsFunc(c.Audience, func(aud string) bool { return slices.Contains(services, aud) })

	// These only describe the bearer: of another type they count as absent,
	// and an email is verified only by the boolean true.
	c.Email, _ = t.claims["email"].(string)
	c.EmailVerified, _ = t.claims["email_verified"].(bool)
	c.Name, _ = t.claims["name"].(string)
	return c, nil
}

// checkTimes decides whether the token holds at now, and gives its end.
func (t *token) checkTimes(now time.Time) (expires time.Time, err error) {
	expires, ok, err := t.moment("exp")
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
		start, ok, err := t.moment(name)
		if err != nil {
			return expires, err
		}
		if ok && start.After(now.Add(leeway)) {
			return expires, fmt.Errorf("the token's %s lies in the future", name)
		}
	}
	return expires, nil
}

func (t *token) text(name string) (string, error) {
	s, ok := t.claims[name].(string)
	if !ok || s == "" {
		return "", fmt.Errorf("the token's %s must be a string that is not empty", name)
	}
	return s, nil
}

// audience reads aud, which is one string or a list of them.
func (t *token) audience() ([]string, error) {
	wrong := errors.New("the token's aud must be a string or a list of strings, none of them empty")
	values, ok := t.claims["aud"].([]any)
	if !ok {
		values = []any{t.claims["aud"]}
	}
	audience := make([]string, 0, len(values))
	for _, v := range values {
		s, ok := v.(string)
		if !ok || s == "" {
			return nil, wrong
		}
		audience = append(audience, s)
	}
	if len(audience) == 0 {
		return nil, wrong
	}
	return audience, nil
}

// moment reads a time claim: whole seconds in plain digits. Fractions,
// exponents and strings are refused, since readers differ in what they make
// of them.
func (t *token) moment(name string) (at time.Time, ok bool, err error) {
	v, ok := t.claims[name]
	if !ok {
		return time.Time{}, false, nil
	}
	wrong := fmt.Errorf("the token's %s must be a whole number of seconds", name)
	n, ok := v.(json.Number)
	if !ok {
		return time.Time{}, false, wrong
	}
	seconds, err := strconv.ParseUint(string(n), 10, 64) // digits only
	if err != nil || seconds > maxSeconds {
		return time.Time{}, false, wrong
	}
	return time.Unix(int64(seconds), 0).UTC(), true, nil
}
