package iam

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestARuleIsFoundByItsLiteralPart(t *testing.T) {
	t.Parallel()
	const mark = PatternMark
	for _, x := range []struct {
		rule ClaimMatch
		want RuleKey
	}{
		{ClaimMatch{Issuer: "https://a.example.com", Subject: "ada"}, RuleKey{"https://a.example.com", "ada"}},
		{ClaimMatch{Issuer: "https://a.example.com", SubjectPattern: "repo:acme/.*"}, RuleKey{"https://a.example.com", mark + "repo:acm"}},
		{ClaimMatch{Issuer: "https://a.example.com", SubjectPattern: "^repo:acme/api:(x|y)$"}, RuleKey{"https://a.example.com", mark + "repo:acme/ap"}},
		{ClaimMatch{Issuer: "https://a.example.com", SubjectPattern: "(?i)repo:acme/.*"}, RuleKey{"https://a.example.com", mark}},
		{ClaimMatch{Issuer: "https://a.example.com", SubjectPattern: "repo:a|task:b"}, RuleKey{"https://a.example.com", mark}},
		{ClaimMatch{Issuer: "https://a.example.com", SubjectPattern: "(repo:abc|repo:abd)"}, RuleKey{"https://a.example.com", mark + "repo"}},
		{ClaimMatch{Issuer: "https://a.example.com", SubjectPattern: "äöüß.*"}, RuleKey{"https://a.example.com", mark + "äöüß"}},
		{ClaimMatch{IssuerPattern: `https://login\.example\.com/[a-z]+`, Subject: "ada"}, RuleKey{mark + "https://login.example.com", "ada"}},
		{ClaimMatch{IssuerPattern: `https://login\.example\.com`, Subject: "ada"}, RuleKey{mark + "https://login.example.com", "ada"}},
		{ClaimMatch{IssuerPattern: `https://login\.example\.com.*`, Subject: "ada"}, RuleKey{mark, "ada"}},
		{ClaimMatch{IssuerPattern: `https://login.example.com/x`, Subject: "ada"}, RuleKey{mark, "ada"}},
		{ClaimMatch{IssuerPattern: `https://[ab]\.example\.com/`, SubjectPattern: ".*"}, RuleKey{mark, mark}},
		{ClaimMatch{}, RuleKey{}},
		{ClaimMatch{Issuer: "https://a.example.com"}, RuleKey{}},
	} {
		if got := x.rule.Key(); got != x.want {
			t.Errorf("%+v has the key %q, want %q", x.rule, got, x.want)
		}
	}
	if got := issuerKeys("https://login.example.com/x/y"); !slices.Equal(got, []string{"https://login.example.com/x/y", mark, mark + "https://login.example.com"}) {
		t.Errorf("a token looks up the issuers %q", got)
	}
	if got := subjectKeys("repo:acme"); !slices.Equal(got, []string{"repo:acme", mark, mark + "repo", mark + "repo:acm"}) {
		t.Errorf("a token looks up the subjects %q", got)
	}
	if got := len(subjectKeys(strings.Repeat("x", 1000))); got != len(prefixLengths)+1 {
		t.Errorf("a long subject looks up %d keys", got)
	}
}

func TestPatternsAreKeptWithinBounds(t *testing.T) {
	t.Parallel()
	p := newPatterns()
	for i := range maxPatterns + 10 {
		p.get(fmt.Sprint("a", i))
	}
	if n := len(p.byText); n != maxPatterns || n != p.used.Len() || p.byText["a0"] != nil || p.byText[fmt.Sprint("a", maxPatterns+9)] == nil {
		t.Errorf("%d patterns are kept, want %d, %d in order", n, maxPatterns, p.used.Len())
	}
	if c := p.get("a4000"); c != p.get("a4000") {
		t.Error("a pattern is compiled twice")
	}
	for i := range 300 {
		p.get(fmt.Sprintf("(a{%d}){3}", 300+i%33) + strings.Repeat("b", i))
	}
	if p.memory > maxPatternMemory {
		t.Errorf("patterns take %d bytes", p.memory)
	}
	memory := 0
	for at := p.used.Front(); at != nil; at = at.Next() {
		memory += at.Value.(*compiledPattern).memory()
	}
	if memory != p.memory {
		t.Errorf("patterns take %d bytes, counted are %d", memory, p.memory)
	}
}

// Forty rules of one organization must not cost a token of another one more than some
// milliseconds, whatever their patterns are.
func TestTheWorkForPatternsOfAnOrganizationIsLimited(t *testing.T) {
	t.Parallel()
	m := &matcher{patterns: newPatterns()}
	long := strings.Repeat("a", maxMatched)
	tried := 0
	for i := range MaxCandidatesOfRoot {
		pattern := fmt.Sprintf("(a|a){300}b{%d}", i)
		if m.matchFull(pattern, long); m.work <= maxWork {
			tried++
		}
	}
	if tried > 2 {
		t.Errorf("%d of the patterns were tried", tried)
	}
	if m.matchFull("ada", "ada") || (&matcher{patterns: m.patterns}).matchFull("a*", long+"a") {
		t.Error("a pattern is tried beyond the bounds")
	}
	if !(&matcher{patterns: m.patterns}).matchFull("ada", "ada") {
		t.Error("another organization's pattern is not tried")
	}
}
