package platform

import (
	"strings"
	"unicode/utf8"
)

// A RuleKey is what tokens find the identities of a claim rule by. Where a rule
// has a pattern, the key holds what is literal at the pattern's start, so that a
// token looks up a fixed number of keys however many rules there are.
type RuleKey struct{ Issuer, Subject string }

// PatternMark stands at the start of the part of a key that comes from a
// pattern. No issuer and no subject of a rule holds a control character.
const PatternMark = "\x01"

// prefixLengths are how many characters of a pattern's literal start a key can
// hold: the most that there are.
var prefixLengths = []int{0, 4, 8, 12, 16, 24, 32, 48, 64}

// Key is what tokens find the identity of this rule by; empty where it matches
// none.
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

// HasPattern reports whether issuer or subject are given by a pattern.
func (k RuleKey) HasPattern() bool {
	return strings.HasPrefix(k.Issuer, PatternMark) || strings.HasPrefix(k.Subject, PatternMark)
}

// literalHost is the scheme and host of every issuer that a pattern matches; ""
// where they are not literal.
func literalHost(pattern string) string {
	prefix, whole := literalPrefix(pattern)
	if whole {
		prefix += "/" // the host ends where the issuer does
	}
	return hostOf(prefix)
}

// hostOf is the scheme and host that a URL begins with; "" where it does not
// show where the host ends.
func hostOf(issuer string) string {
	scheme, rest, ok := strings.Cut(issuer, "://")
	host, _, ended := strings.Cut(rest, "/")
	if !ok || !ended || host == "" || strings.Contains(scheme, "/") {
		return ""
	}
	return scheme + "://" + host
}

// issuerKeys are the issuers' parts of the keys that a token of issuer looks up.
func issuerKeys(issuer string) []string {
	keys := []string{issuer, PatternMark}
	if host := hostOf(issuer + "/"); host != "" {
		keys = append(keys, PatternMark+host)
	}
	return keys
}

// subjectKeys are the subjects' parts of the keys that a token of subject looks
// up: itself, and each prefix of it that a key can hold.
func subjectKeys(subject string) []string {
	return append([]string{subject}, patternKeys(subject, 0)...)
}

// patternKeys are those of patterns whose literal start is at least as long as
// a number of characters.
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

// cutPrefix is as much of a literal start as a key holds.
func cutPrefix(prefix string) string {
	return firstRunes(prefix, prefixLength(utf8.RuneCountInString(prefix)))
}

// prefixLength is the greatest of prefixLengths that n characters suffice for.
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
