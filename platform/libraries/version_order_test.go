package libraries

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"atrium/platform/affected"
)

// Advisories are matched in the order of osv-scalibr, and the lists of versions are sorted by our keys. The two agree about
// every valid version of Python, and about the versions of Maven that are in use: up to three numbers, and a qualifier with
// its number. They differ about these, where our keys follow Maven 3.9 and osv-scalibr the text of an older
// specification:
//   - 1.0.RC1 and 1.RC1, or 1.RC1 and 1-RC1: are zeros and dashes before a qualifier ignored? Ours are.
//   - beta.3 and beta-3: is the number one of the qualifier? With a dash it is for us.
//   - 1-ga-RC1: does a release qualifier before another one count? It does for us.
//   - 1-ga2, 1..2 and 1-: what do a release with a number, and an empty part, mean?
func FuzzVersionKeysAgreeWithTheOrderOfMatching(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, []byte{1, 2, 3, 4, 5, 6, 7, 9})
	for i := range byte(60) {
		f.Add([]byte{i, i * 3, i * 5, i * 7, i * 11, i * 13, i * 17}, []byte{i, i * 3, i * 5, i * 7, i * 11, i * 19, i * 23})
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		style := len(a) + len(b) // 1.0.RC1 is not compared with 1.0-RC1
		checkKeyOrder(t, EcosystemJava, "Maven", mavenVersion(a, style), mavenVersion(b, style))
		checkKeyOrder(t, EcosystemPython, "PyPI", pythonVersionOf(a), pythonVersionOf(b))
	})
}

func checkKeyOrder(t *testing.T, e Ecosystem, name, a, b string) {
	t.Helper()
	want, err := affected.Compare(name, a, b)
	if got := strings.Compare(e.versionKey(a), e.versionKey(b)); err != nil || got != cmp.Compare(want, 0) {
		t.Errorf("%s: the keys of %s and %s compare as %d; matching compares them as %d, %v", name, a, b, got, want, err)
	}
}

// choices are random numbers that a test takes one by one. They are 0 when none is left.
type choices []byte

func (c *choices) next() int {
	if len(*c) == 0 {
		return 0
	}
	n := (*c)[0]
	*c = (*c)[1:]
	return int(n)
}

func pick[T any](c *choices, from ...T) T { return from[c.next()%len(from)] }

func (c *choices) number() string { return pick(c, "0", "1", "2", "9", "10", "01", "20180101", "00") }

// mavenVersion returns a version such as 1.0.2-RC1.
func mavenVersion(c choices, style int) string {
	version := fmt.Sprintf("%s.%s.%s", c.number(), c.number(), c.number())
	qualifier := pick(&c, "", "alpha", "Beta", "milestone", "RC", "cr", "snapshot", "sp", "jre", "foo", "SR", "v")
	if qualifier == "" {
		return version + pick(&c, "", "-ga", "-Final", ".RELEASE")
	}
	number := pick(&c, "", "1", "2", "10")
	return version + []string{"-", "."}[style%2] + pick(&c, qualifier, strings.ToUpper(qualifier)) + number + pick(&c, "", "", "-SNAPSHOT")
}

// pythonVersionOf returns a version by the grammar of PEP 440.
func pythonVersionOf(c choices) string {
	version := pick(&c, "", "", "v", "0!", "1!") + c.number()
	for range c.next() % 4 {
		version += "." + c.number()
	}
	part := func(words ...string) {
		if c.next()%3 == 0 {
			version += pick(&c, "", ".", "-", "_") + pick(&c, words...) + pick(&c, "", ".", "-", "_") + c.number()
		}
	}
	part("a", "alpha", "b", "BETA", "c", "rc", "pre", "preview")
	part("post", "rev", "r")
	part("dev")
	return version + pick(&c, "", "", "+abc", "+abc.1", "+1", "+1.abc", "+1-2", "+10")
}
