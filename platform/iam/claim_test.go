package iam

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// bearer returns the claims of a valid token, changed by change.
func bearer(change func(*Claims)) Claims {
	c := Claims{
		Issuer: "https://issuer.example.com", Subject: "ada", Audience: []string{"atrium"}, ServiceAudience: true,
		Values: map[string]any{"team": "blue", "level": float64(7), "big": json.Number("9007199254740993"), "admin": true, "groups": []any{"c", "a"}, "sizes": []any{json.Number("1"), json.Number("2")}, "nested": []any{[]any{"a"}}, "empties": []any{}, "org": map[string]any{"id": "1"}, "none": nil, "empty": ""},
	}
	if change != nil {
		change(&c)
	}
	return c
}

// matches reports whether the rule of an identity matches a token.
func matches(i *Identity, c Claims, now core.Time) bool {
	return (&matcher{patterns: newPatterns()}).matches(i, c, now)
}

func TestATokenMatchesARuleOnlyAsAWhole(t *testing.T) {
	t.Parallel()
	const issuer, subject = "https://issuer.example.com", "ada"
	exact := ClaimMatch{Issuer: issuer, Subject: subject}
	with := func(change func(*ClaimMatch)) ClaimMatch { m := exact; change(&m); return m }
	subjects := func(pattern string) ClaimMatch { return ClaimMatch{Issuer: issuer, SubjectPattern: pattern} }
	claim := func(name, value string) ClaimMatch {
		return with(func(m *ClaimMatch) { m.Claims = map[string]string{name: value} })
	}
	claimLike := func(name, pattern string) ClaimMatch {
		return with(func(m *ClaimMatch) { m.ClaimPatterns = map[string]string{name: pattern} })
	}
	for _, x := range []struct {
		what string
		rule ClaimMatch
		want bool
	}{
		{"exact", exact, true},
		{"another issuer", ClaimMatch{Issuer: issuer + "/", Subject: subject}, false},
		{"another subject", ClaimMatch{Issuer: issuer, Subject: "Ada"}, false},
		{"no rule at all", ClaimMatch{}, false},
		{"no subject", ClaimMatch{Issuer: issuer}, false},
		{"no issuer", ClaimMatch{Subject: subject}, false},
		{"issuer pattern", ClaimMatch{IssuerPattern: `https://[a-z]+\.example\.com`, Subject: subject}, true},
		{"issuer pattern of a part", ClaimMatch{IssuerPattern: `https://issuer`, Subject: subject}, false},

		{"pattern of the whole", subjects("ad."), true},
		{"pattern of the front", subjects("ad"), false},
		{"pattern of the end", subjects("da"), false},
		{"pattern with own anchors", subjects("^ada$"), true},
		{"one of two", subjects("ada|bob"), true},
		{"the front or another", subjects("ad|bob"), false},
		{"another or the end", subjects("bob|da"), false},
		{"anything", subjects(".*"), true},
		{"a pattern that closes our group", subjects("x)|(?:.*"), false},
		{"a pattern that closes our group at the front", subjects("a)|(?:b"), false},
		{"any letter case", subjects("(?i)ADA"), true},
		{"not a pattern", subjects("("), false},

		{"audience", with(func(m *ClaimMatch) { m.Audience = "atrium" }), true},
		{"another audience", with(func(m *ClaimMatch) { m.Audience = "other" }), false},
		{"audience pattern", with(func(m *ClaimMatch) { m.AudiencePattern = "atr.um" }), true},
		{"audience pattern of a part", with(func(m *ClaimMatch) { m.AudiencePattern = "atr" }), false},

		{"claim", claim("team", "blue"), true},
		{"another value", claim("team", "red"), false},
		{"a claim it lacks", claim("club", "blue"), false},
		{"a claim it lacks, empty", claim("club", ""), false},
		{"an empty claim", claim("empty", ""), true},
		{"a number", claim("level", "7"), true},
		{"a number as another text", claim("level", "7.0"), false},
		{"a large number", claim("big", "9007199254740993"), true},
		{"a boolean", claim("admin", "true"), true},
		{"an element of a list", claim("groups", "a"), true},
		{"another element of a list", claim("groups", "b"), false},
		{"a number in a list", claim("sizes", "2"), true},
		{"a list in a list", claim("nested", "a"), false},
		{"an empty list", claim("empties", ""), false},
		{"an object", claim("org", "1"), false},
		{"null", claim("none", ""), false},
		{"claim pattern", claimLike("team", "b.*"), true},
		{"claim pattern of a part", claimLike("team", "lu"), false},
		{"claim pattern on a claim it lacks", claimLike("club", ".*"), false},
		{"claim pattern on a list", claimLike("groups", "a|b"), true},
		{"claim pattern on another list", claimLike("groups", "b.*"), false},
		{"all claims must match", with(func(m *ClaimMatch) {
			m.Claims, m.ClaimPatterns = map[string]string{"team": "blue", "admin": "true"}, map[string]string{"level": `\d`, "empty": "x?"}
		}), true},
		{"one of the claims does not", with(func(m *ClaimMatch) {
			m.Claims, m.ClaimPatterns = map[string]string{"team": "blue", "admin": "false"}, map[string]string{"level": `\d`}
		}), false},
	} {
		if got := matches(&Identity{ClaimMatch: &x.rule}, bearer(nil), core.Time{}); got != x.want {
			t.Errorf("%s: matches is %t, want %t", x.what, got, x.want)
		}
	}
	if matches(&Identity{}, bearer(nil), core.Time{}) || matches(&Identity{StaticKeys: &StaticKeys{Issuer: issuer, Subject: subject}}, bearer(nil), core.Time{}) {
		t.Error("an identity without a claim match matches")
	}
}

func TestWithoutAnAudienceRuleATokenMustBeForThisService(t *testing.T) {
	t.Parallel()
	elsewhere := bearer(func(c *Claims) { c.Audience, c.ServiceAudience = []string{"other", "third"}, false })
	plain := ClaimMatch{Issuer: elsewhere.Issuer, Subject: elsewhere.Subject}
	if matches(&Identity{ClaimMatch: &plain}, elsewhere, core.Time{}) {
		t.Error("a token for another service matches")
	}
	named := plain
	named.Audience = "third"
	if !matches(&Identity{ClaimMatch: &named}, elsewhere, core.Time{}) {
		t.Error("one of its audiences is named, yet it does not match")
	}
	if matches(&Identity{ClaimMatch: &named}, bearer(nil), core.Time{}) {
		t.Error("a token for this service matches a rule for another one")
	}
	pattern := plain
	pattern.AudiencePattern = "o.*"
	if nobody := bearer(func(c *Claims) { c.Audience = nil }); matches(&Identity{ClaimMatch: &pattern}, nobody, core.Time{}) {
		t.Error("a token for nobody matches")
	}
}

func TestARuleIsCheckedAsAWhole(t *testing.T) {
	t.Parallel()
	long, many := strings.Repeat("a", 3000), []string(nil)
	for i := range maxClaims {
		many = append(many, fmt.Sprintf(`"claim-%d": %q`, i, long[:1000]))
	}
	for rule, want := range map[string]string{
		`{"issuer": "https://i.example.com", "subject": "s"}`:                                             "",
		`{"issuer": "http://localhost:8080/realm", "subject": "s"}`:                                       "",
		`{"issuerPattern": "https://.*", "subjectPattern": "a|b", "audience": "x", "claims": {"a": "b"}}`: "",
		`{}`:                     "claimMatch.issuer claimMatch.subject",
		`{"issuer": "nonsense"}`: "claimMatch.issuer claimMatch.subject",
		`{"issuer": "https://i.example.com?x", "subject": "s"}`:                                                 "claimMatch.issuer",
		`{"issuer": "https://u@i.example.com", "subject": "s"}`:                                                 "claimMatch.issuer",
		`{"issuer": "https://i.example.com", "issuerPattern": ".*", "subject": "s", "subjectPattern": ".*"}`:    "claimMatch.issuer claimMatch.subject",
		`{"issuer": "https://i.example.com", "subjectPattern": "("}`:                                            "claimMatch.subjectPattern",
		`{"issuer": "https://i.example.com", "subjectPattern": "a)|(?:b"}`:                                      "claimMatch.subjectPattern",
		`{"issuer": "https://i.example.com", "subjectPattern": "a{1,2000}"}`:                                    "claimMatch.subjectPattern",
		`{"issuer": "https://i.example.com", "subjectPattern": "((a{30}){30}){9}"}`:                             "claimMatch.subjectPattern",
		`{"issuer": "https://i.example.com", "subjectPattern": "(?=a)"}`:                                        "claimMatch.subjectPattern",
		`{"issuer": "https://i.example.com", "subject": "s", "audience": "a", "audiencePattern": "a"}`:          "claimMatch.audience",
		`{"issuer": "https://i.example.com", "subject": "s", "claimPatterns": {"a": "[", "b": "ok", "c": "*"}}`: "claimMatch.claimPatterns.a claimMatch.claimPatterns.c",
		`{"issuer": "https://i.example.com", "subject": "` + long + `", "audience": "` + long + `"}`:            "claimMatch.subject claimMatch.audience",
		`{"issuer": "https://i.example.com", "subject": "a\u0000b"}`:                                            "claimMatch.subject",
		`{"issuer": "https://i.example.com", "subject": "\u0001"}`:                                              "claimMatch.subject",
		`{"issuer": "https://i.example.com", "subject": 1, "nope": true, "audience": []}`:                       "claimMatch.audience claimMatch.nope claimMatch.subject",
		`{"issuer": "https://i.example.com", "subject": "s", "subject": "t"}`:                                   "claimMatch.subject",
		`{"issuer": "https://i.example.com", "subject": "s", "issuer_pattern": "x"}`:                            "claimMatch.issuer",
		`{"issuer": "https://i.example.com", "subject": "s", "claims": {"a": "` + long + `", "b": "x"}}`:        "claimMatch.claims.a",
		`{"issuer": "https://i.example.com", "subject": "s", "claims": {"a\u0000": "x", "b": "\n"}}`:            "claimMatch.claims.a\x00 claimMatch.claims.b",
		`{"issuer": "https://i.example.com", "subject": "s", "claimPatterns": {"` + long + `": "x"}}`:           "claimMatch.claimPatterns." + fieldmask.TruncateForMessage(long),
		`{"issuer": "https://i.example.com", "subject": "s", "claims": {` + strings.Join(many, ",") + `}}`:      "claimMatch.claims",
		`{"ISSUER": "https://i.example.com", "subject": "s"}`:                                                   "claimMatch.ISSUER",
		`"x"`: "claimMatch",
		`[]`:  "claimMatch",
	} {
		var v core.Violations
		in := fieldmask.JSONInput[*Identity]([]byte(`{"name": "n", "claimMatch": `+rule+`}`), nil)
		_ = (&core.Collection[*Identity, *IdentityFilter]{Kind: &IdentityKind}).Decode(t.Context(), in, &v)
		if got := listFields(v.SortByField(IdentityKind.FieldNames())); got != want {
			t.Errorf("%.120s: violations of %q, want %q: %v", rule, got, want, v)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("ada|bob", "ada")
	f.Add("a)|(?:.*", "b")
	f.Add(`\Qa`, "a")
	f.Add("(?i)A$", "a")
	f.Add("^ab(c|d)$", "abd")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		_, err := regexp.Compile(pattern)
		if len(pattern) > maxPatternBytes || len(s) > maxMatched || compile(pattern).size > maxProgram {
			return
		}
		m := &matcher{patterns: newPatterns(), work: -1 << 40}
		full := m.matchFull(pattern, s)
		anchored, anchoredErr := regexp.Compile(`\A(?:` + pattern + `)\z`)
		if err != nil && full {
			t.Fatalf("%q is no pattern, yet it matches", pattern)
		}
		if err == nil && anchoredErr == nil && full != anchored.MatchString(s) {
			t.Fatalf("%q matches the whole of %q: %t", pattern, s, full)
		}
		// A rule is found by the literal beginning of its pattern.
		key := (&ClaimMatch{Issuer: "i", SubjectPattern: pattern}).Key()
		if err == nil && utf8.ValidString(s) && full && !slices.Contains(subjectKeys(s), key.Subject) {
			t.Fatalf("%q matches %q, and is not found by %q", pattern, s, key.Subject)
		}
	})
}

// listFields joins the fields of violations.
func listFields(all core.Violations) string {
	fields := make([]string, len(all))
	for i, v := range all {
		fields[i] = v.Field
	}
	return strings.Join(fields, " ")
}
