package platform

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A ClaimMatch is the rule of an identity: what a token's claims must be.
// Patterns are RE2 and match the whole value. Of each pair one is set; without
// an audience rule the token must be made for this service.
type ClaimMatch struct {
	Issuer          string            `json:"issuer,omitempty"`
	IssuerPattern   string            `json:"issuerPattern,omitempty"`
	Subject         string            `json:"subject,omitempty"`
	SubjectPattern  string            `json:"subjectPattern,omitempty"`
	Audience        string            `json:"audience,omitempty"`
	AudiencePattern string            `json:"audiencePattern,omitempty"`
	Claims          map[string]string `json:"claims,omitempty"`
	ClaimPatterns   map[string]string `json:"claimPatterns,omitempty"`
}

// UnmarshalJSON reads a rule; a member it does not know is an error.
func (m *ClaimMatch) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b,
		member{"issuer", &m.Issuer}, member{"issuerPattern", &m.IssuerPattern}, member{"subject", &m.Subject},
		member{"subjectPattern", &m.SubjectPattern}, member{"audience", &m.Audience}, member{"audiencePattern", &m.AudiencePattern},
		member{"claims", &m.Claims}, member{"claimPatterns", &m.ClaimPatterns})
}

// StaticKeys is a rule that brings the issuer's keys with it.
type StaticKeys struct {
	Issuer         string   `json:"issuer"`
	Subject        string   `json:"subject"`
	IssuerKeys     string   `json:"issuerKeys"` // JWKS
	ExpirationTime Time     `json:"expirationTime,omitzero"`
	Audiences      []string `json:"audiences,omitempty"`
}

// UnmarshalJSON reads a rule; a member it does not know is an error.
func (k *StaticKeys) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b,
		member{"issuer", &k.Issuer}, member{"subject", &k.Subject}, member{"issuerKeys", &k.IssuerKeys},
		member{"expirationTime", &k.ExpirationTime}, member{"audiences", &k.Audiences})
}

func (m *ClaimMatch) check(v *violations) {
	v.oneOfPair("claimMatch.issuer", m.Issuer, m.IssuerPattern, true)
	if m.Issuer != "" && m.IssuerPattern == "" {
		v.issuer("claimMatch.issuer", m.Issuer)
	}
	v.oneOfPair("claimMatch.subject", m.Subject, m.SubjectPattern, true)
	v.oneOfPair("claimMatch.audience", m.Audience, m.AudiencePattern, false)
	if len(m.Claims)+len(m.ClaimPatterns) > maxClaims {
		v.add("claimMatch.claims", "must be at most %d, patterns included", maxClaims)
	}
	for _, name := range sortedKeys(m.ClaimPatterns) {
		v.pattern("claimMatch.claimPatterns."+shown(name), m.ClaimPatterns[name])
	}
}

// Limits of what one rule may ask, since it runs on requests of strangers.
const (
	maxClaims       = 20
	maxPatternBytes = 512
	maxRuleBytes    = 1024 // two are the key of an index, whose entries are bounded
	maxKeysBytes    = 16 << 10
)

func (v *violations) oneOfPair(field, exact, pattern string, required bool) {
	switch {
	case exact != "" && pattern != "":
		v.add(field, "cannot be given together with %sPattern", field[len("claimMatch."):])
	case exact == "" && pattern == "" && required:
		v.add(field, "is required, or its pattern")
	case len(exact) > maxRuleBytes:
		v.add(field, "must be at most %d bytes", maxRuleBytes)
	case strings.ContainsFunc(exact, unicode.IsControl):
		v.add(field, "must not hold control characters")
	}
	if pattern != "" {
		v.pattern(field+"Pattern", pattern)
	}
}

func (v *violations) pattern(field, pattern string) {
	if len(pattern) > maxPatternBytes {
		v.add(field, "must be at most %d bytes", maxPatternBytes)
	} else if _, err := regexp.Compile(pattern); err != nil {
		v.add(field, "must be an RE2 pattern")
	}
}

func (v *violations) issuer(field, s string) {
	u, err := url.Parse(s)
	if len(s) > maxRuleBytes {
		v.add(field, "must be at most %d bytes", maxRuleBytes)
	} else if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		v.add(field, "must be an https URL without query and fragment")
	}
}

func (k *StaticKeys) check(v *violations) {
	if k.Issuer == "" {
		v.add("staticKeys.issuer", "is required")
	} else {
		v.issuer("staticKeys.issuer", k.Issuer)
	}
	v.label("staticKeys.subject", k.Subject)
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	switch {
	case k.IssuerKeys == "":
		v.add("staticKeys.issuerKeys", "is required")
	case len(k.IssuerKeys) > maxKeysBytes || json.Unmarshal([]byte(k.IssuerKeys), &set) != nil || len(set.Keys) == 0:
		v.add("staticKeys.issuerKeys", "must be a JWKS with at least one key")
	}
	v.lines("staticKeys.audiences", k.Audiences, 20)
}

// matches decides whether the rule of an identity accepts a token.
func (i *Identity) matches(c Claims, now Time) bool {
	if len(c.StaticIdentities) > 0 {
		return slices.Contains(c.StaticIdentities, i.UID) && i.StaticKeys.acceptsStatic(c, now)
	}
	m := i.ClaimMatch
	if m == nil || m.Issuer == "" && m.IssuerPattern == "" || m.Subject == "" && m.SubjectPattern == "" {
		return false
	}
	return oneMatches(m.Issuer, m.IssuerPattern, c.Issuer) &&
		oneMatches(m.Subject, m.SubjectPattern, c.Subject) &&
		m.acceptsAudience(c) && m.acceptsClaims(c.Values)
}

func (m *ClaimMatch) acceptsAudience(c Claims) bool {
	if m.Audience == "" && m.AudiencePattern == "" {
		return c.ServiceAudience
	}
	return slices.ContainsFunc(c.Audience, func(aud string) bool { return oneMatches(m.Audience, m.AudiencePattern, aud) })
}

func (m *ClaimMatch) acceptsClaims(values map[string]any) bool {
	for name, want := range m.Claims {
		if got, ok := claimText(values[name]); !ok || got != want {
			return false
		}
	}
	for name, pattern := range m.ClaimPatterns {
		if got, ok := claimText(values[name]); !ok || !fullMatch(pattern, got) {
			return false
		}
	}
	return true
}

// claimText is the text of a claim that is a string, number or boolean.
func claimText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool, float64, json.Number:
		b, err := json.Marshal(v)
		return string(b), err == nil
	default:
		return "", false
	}
}

func oneMatches(exact, pattern, got string) bool {
	if exact != "" {
		return exact == got
	}
	return fullMatch(pattern, got)
}

// fullMatch reports whether a pattern matches all of s. The pattern is left as
// it is: put between \A(?: and )\z it could close that group.
func fullMatch(pattern, s string) bool {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false
	}
	re.Longest()
	at := re.FindStringIndex(s)
	return at != nil && at[0] == 0 && at[1] == len(s)
}
