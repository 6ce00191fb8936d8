package iam

import (
	"strings"
	"unicode/utf8"
)

// A RuleKey is the index key of a claim rule. For a pattern, the key contains the
// literal start of the pattern. Thus a token looks up a fixed number of keys,
// independent of the number of rules.
type RuleKey struct{ Issuer, Subject string }

// PatternMark is the first character of the part of a key that comes from a
// pattern. Issuers and subjects of rules contain no control characters.
const PatternMark = "\x01"

// prefixLengths are the possible lengths, in characters, of the literal start in a
// key. A key uses the largest one that fits.
var prefixLengths = []int{0, 4, 8, 12, 16, 24, 32, 48, 64}

// Key returns the index key of a rule. It is empty if the rule matches no token.
func (m *ClaimMatch) Key() RuleKey {
	if m == nil || m.Issuer == "" && m.IssuerPattern == "" || m.Subject == "" && m.SubjectPattern == "" {
		return RuleKey{}
	}
	key := RuleKey{m.Issuer, m.Subject}
	if key.Issuer == "" {
		key.Issuer = PatternMark + literalHost(m.IssuerPattern)
	}
	if key.Subject == "" {
		prefix, _ := literalPrefix(m.SubjectPattern)
		key.Subject = PatternMark + cutPrefix(prefix)
	}
	return key
}

// hasPattern reports whether the issuer or the subject is a pattern.
func (k RuleKey) hasPattern() bool {
	return strings.HasPrefix(k.Issuer, PatternMark) || strings.HasPrefix(k.Subject, PatternMark)
}

// literalHost returns the scheme and host of all issuers that a pattern matches,
// or "" if they are not literal.
func literalHost(pattern string) string {
	prefix, whole := literalPrefix(pattern)
	if whole {
		prefix += "/" // the host ends where the issuer does
	}
	return hostOf(prefix)
}

// hostOf returns the scheme and host of a URL, or "" if no slash follows the host.
func hostOf(issuer string) string {
	scheme, rest, ok := strings.Cut(issuer, "://")
	host, _, ended := strings.Cut(rest, "/")
	if !ok || !ended || host == "" || strings.Contains(scheme, "/") {
		return ""
	}
	return scheme + "://" + host
}

// issuerKeys returns the issuer parts of the keys that a token looks up.
func issuerKeys(issuer string) []string {
	keys := []string{issuer, PatternMark}
	if host := hostOf(issuer + "/"); host != "" {
		keys = append(keys, PatternMark+host)
	}
	return keys
}

// subjectKeys returns the subject parts of the keys that a token looks up: the
// subject itself, and each prefix that a key can contain.
func subjectKeys(subject string) []string {
	return append([]string{subject}, patternKeys(subject, 0)...)
}

// patternKeys returns the subject parts of keys of patterns whose literal start
// has at least the given number of characters.
func patternKeys(subject string, least int) []string {
	var keys []string
	shortest := prefixLength(least)
	for _, n := range prefixLengths {
		if n >= shortest && n <= utf8.RuneCountInString(subject) {
			keys = append(keys, PatternMark+firstRunes(subject, n))
		}
	}
	return keys
}

// cutPrefix returns the part of a literal start that a key contains.
func cutPrefix(prefix string) string {
	return firstRunes(prefix, prefixLength(utf8.RuneCountInString(prefix)))
}

// prefixLength returns the largest of prefixLengths that is at most n.
func prefixLength(n int) int {
	longest := 0
	for _, length := range prefixLengths {
		if length <= n {
			longest = length
		}
	}
	return longest
}

func firstRunes(s string, n int) string {
	for at := range s {
		if n == 0 {
			return s[:at]
		}
		n--
	}
	return s
}
