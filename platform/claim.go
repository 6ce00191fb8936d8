package platform

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// A ClaimMatch is the rule of an identity: what a token's claims must be.
// Patterns are RE2 and match the whole value. Of each pair one is set; without
// an audience rule the token must be made for this service. A claim that is a
// list has a value when one of its elements is that value, and matches a pattern
// when one of them does.
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
	maxClaims    = 20
	maxRuleBytes = 1024 // two are the key of an index, whose entries are bounded
	maxKeysBytes = 16 << 10
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
func (m *matcher) matches(i *Identity, c Claims, now Time) bool {
	if len(c.StaticIdentities) > 0 {
		return slices.Contains(c.StaticIdentities, i.UID) && i.StaticKeys.acceptsStatic(c, now)
	}
	rule := i.ClaimMatch
	return rule.Key() != (RuleKey{}) &&
		m.matchOne(rule.Issuer, rule.IssuerPattern, c.Issuer) &&
		m.matchOne(rule.Subject, rule.SubjectPattern, c.Subject) &&
		m.acceptsAudience(rule, c) && m.acceptsClaims(rule, c.Values)
}

func (m *matcher) acceptsAudience(rule *ClaimMatch, c Claims) bool {
	if rule.Audience == "" && rule.AudiencePattern == "" {
		return c.ServiceAudience
	}
	return slices.ContainsFunc(c.Audience, func(aud string) bool { return m.matchOne(rule.Audience, rule.AudiencePattern, aud) })
}

func (m *matcher) acceptsClaims(rule *ClaimMatch, values map[string]any) bool {
	for name, want := range rule.Claims {
		if !slices.Contains(claimTexts(values[name]), want) {
			return false
		}
	}
	for name, pattern := range rule.ClaimPatterns {
		if !slices.ContainsFunc(claimTexts(values[name]), func(got string) bool { return m.matchFull(pattern, got) }) {
			return false
		}
	}
	return true
}

// claimTexts are the texts of a claim: one of a string, number or boolean, and
// those of its elements of a list.
func claimTexts(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var texts []string
	for _, one := range list {
		switch one := one.(type) {
		case string:
			texts = append(texts, one)
		case bool, float64, json.Number:
			if b, err := json.Marshal(one); err == nil {
				texts = append(texts, string(b))
			}
		}
	}
	return texts
}
