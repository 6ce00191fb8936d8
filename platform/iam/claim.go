package iam

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A ClaimMatch is the rule of an identity: the conditions on the claims of a
// token. Patterns are RE2 and must match the whole value. Of a value and its
// pattern only one is set. Without an audience rule, the token must be issued for
// this service. A claim that is a list matches when one of its elements matches.
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

// UnmarshalJSON decodes a rule. Unknown members are an error.
func (m *ClaimMatch) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{
		"issuer": &m.Issuer, "issuerPattern": &m.IssuerPattern, "subject": &m.Subject,
		"subjectPattern": &m.SubjectPattern, "audience": &m.Audience, "audiencePattern": &m.AudiencePattern,
		"claims": &m.Claims, "claimPatterns": &m.ClaimPatterns})
}

// A StoredClaimMatch is a rule as a store keeps it, which was checked before.
type StoredClaimMatch ClaimMatch

// StaticKeys is a rule that contains the keys of its issuer.
type StaticKeys struct {
	Issuer         string    `json:"issuer"`
	Subject        string    `json:"subject"`
	IssuerKeys     string    `json:"issuerKeys"` // the JWKS of the issuer
	ExpirationTime core.Time `json:"expirationTime,omitzero"`
	Audiences      []string  `json:"audiences,omitempty"`
}

// UnmarshalJSON decodes a rule. Unknown members are an error.
func (k *StaticKeys) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{
		"issuer": &k.Issuer, "subject": &k.Subject, "issuerKeys": &k.IssuerKeys,
		"expirationTime": &k.ExpirationTime, "audiences": &k.Audiences})
}

// Check adds the violations of the fields.
func (m *ClaimMatch) Check(v *core.Violations) {
	checkPair(v, "claimMatch.issuer", m.Issuer, m.IssuerPattern, true)
	if m.Issuer != "" && m.IssuerPattern == "" {
		checkIssuer(v, "claimMatch.issuer", m.Issuer)
	}
	checkPair(v, "claimMatch.subject", m.Subject, m.SubjectPattern, true)
	checkPair(v, "claimMatch.audience", m.Audience, m.AudiencePattern, false)
	if len(m.Claims)+len(m.ClaimPatterns) > maxClaims {
		v.Add("claimMatch.claims", "must have at most %d items, patterns included", maxClaims)
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(m.Claims)) {
		field := "claimMatch.claims." + fieldmask.TruncateForMessage(name)
		checkClaimText(v, field, name)
		checkClaimText(v, field, m.Claims[name])
		size += len(name) + len(m.Claims[name])
	}
	for _, name := range slices.Sorted(maps.Keys(m.ClaimPatterns)) {
		field := "claimMatch.claimPatterns." + fieldmask.TruncateForMessage(name)
		checkClaimText(v, field, name)
		checkPattern(v, field, m.ClaimPatterns[name])
		size += len(name) + len(m.ClaimPatterns[name])
	}
	if size > maxClaimsBytes {
		v.Add("claimMatch.claims", "must be at most %d bytes in total, patterns included", maxClaimsBytes)
	}
}

// checkClaimText checks the name or the value of a claim.
func checkClaimText(v *core.Violations, field, text string) {
	switch {
	case len(text) > maxRuleBytes:
		v.Add(field, "must have a name and a value of at most %d bytes each", maxRuleBytes)
	case strings.ContainsFunc(text, unicode.IsControl):
		v.Add(field, "must not contain control characters")
	}
}

// Limits of a rule. Rules are read and evaluated for requests of unknown callers.
const (
	maxClaims      = 20
	maxClaimsBytes = 16 << 10
	maxRuleBytes   = 1024 // two such values form an index key, whose size is limited
	maxKeysBytes   = 16 << 10
)

// checkPair checks a value of a rule and the pattern that can replace it.
func checkPair(v *core.Violations, field, exact, pattern string, required bool) {
	switch {
	case exact != "" && pattern != "":
		v.Add(field, "cannot be given together with %sPattern", field[len("claimMatch."):])
	case exact == "" && pattern == "" && required:
		v.Add(field, "is required, or its pattern")
	case len(exact) > maxRuleBytes:
		v.Add(field, "must be at most %d bytes", maxRuleBytes)
	case strings.ContainsFunc(exact, unicode.IsControl):
		v.Add(field, "must not contain control characters")
	}
	if pattern != "" {
		checkPattern(v, field+"Pattern", pattern)
	}
}

func checkIssuer(v *core.Violations, field, s string) {
	u, err := url.Parse(s)
	if len(s) > maxRuleBytes {
		v.Add(field, "must be at most %d bytes", maxRuleBytes)
	} else if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		v.Add(field, "must be an https URL without a user, a query and a fragment")
	}
}

// Check adds the violations of the fields.
func (k *StaticKeys) Check(v *core.Violations) {
	if k.Issuer == "" {
		v.Add("staticKeys.issuer", "is required")
	} else {
		checkIssuer(v, "staticKeys.issuer", k.Issuer)
	}
	v.CheckRequiredLine("staticKeys.subject", k.Subject)
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	switch {
	case k.IssuerKeys == "":
		v.Add("staticKeys.issuerKeys", "is required")
	case len(k.IssuerKeys) > maxKeysBytes || json.Unmarshal([]byte(k.IssuerKeys), &set) != nil || len(set.Keys) == 0:
		v.Add("staticKeys.issuerKeys", "must be a JWKS with at least one key")
	}
	v.CheckLines("staticKeys.audiences", k.Audiences, 20)
}

// matches reports whether the rule of an identity accepts a token.
func (m *matcher) matches(i *Identity, c Claims, now core.Time) bool {
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

// claimTexts returns the values of a claim as texts: one for a string, a number
// or a boolean, and one for each element of a list.
func claimTexts(v any) []string {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var texts []string
	for _, value := range list {
		switch value := value.(type) {
		case string:
			texts = append(texts, value)
		case bool, float64, json.Number:
			if b, err := json.Marshal(value); err == nil {
				texts = append(texts, string(b))
			}
		}
	}
	return texts
}
