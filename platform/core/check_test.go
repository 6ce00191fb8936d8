package core

import (
	"strings"
	"testing"
)

func TestNamesFollowTheirGrammars(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("a", n) }
	check := func(rule string, ok func(string, *Violations), good, bad []string) {
		t.Helper()
		for _, list := range []struct {
			names []string
			good  bool
		}{{good, true}, {bad, false}} {
			for _, name := range list.names {
				var v Violations
				if ok(name, &v); (len(v) == 0) != list.good {
					t.Errorf("%s %q: %v", rule, name, v)
				}
			}
		}
	}
	check("name", func(s string, v *Violations) { v.CheckName(s, NamePattern, MaxNameBytes) },
		[]string{"a", "0", "-", ".", " ", "my ci.runner_1-b", long(512)},
		[]string{"", "A", "é", "a/b", "a\n", "a\tb", "a,b", "a\x00", long(513)})
	check("repo", func(s string, v *Violations) { v.CheckName(s, RepoPattern, MaxRepoBytes) },
		[]string{"a", "go", "library/golang", "a.b_c__d-e--f", "0/1/2", "a---b", long(255)},
		[]string{"", "A", "a/", "/a", "a//b", "a..b", "a._b", "a___b", "-a", "a-", ".a", "a.", "a b", "é", "a:b", "a@b", "a/-b", "a\n", long(256)})
	check("tag", func(s string, v *Violations) { v.CheckName(s, TagPattern, MaxLineBytes) },
		[]string{"a", "_", "1.26", "A.b-c_d", "sha256-" + long(64), long(128)},
		[]string{"", ".a", "-a", "a b", "a/b", "a:b", "é", "a\n", long(129)})
	check("description", func(s string, v *Violations) { v.CheckLine("description", s) },
		[]string{"", "One line, äöü 漢字 🙂.", strings.Repeat("é", 512)},
		[]string{"a\nb", "a\rb", "a\tb", "\x00", "\x7f", "\u0085", "\xff", strings.Repeat("é", 513)})
	check("readme", func(s string, v *Violations) { v.CheckText("content", s, MaxReadmeBytes) },
		[]string{"", "# Title\n\n\ttext\r\n", long(256 << 10)},
		[]string{"\xff", "a\x00b", long(256<<10 + 1)})
}

func TestListsOfTextAreLimited(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		list []string
		want int
	}{
		{nil, 0}, {[]string{"a", "b"}, 0}, {[]string{"a", ""}, 1}, {[]string{"a\n", "b\n"}, 1}, {make([]string, 4), 1},
	} {
		var v Violations
		if v.CheckLines("bundles", x.list, 3); len(v) != x.want {
			t.Errorf("%q: %v, want %v of them", x.list, v, x.want)
		}
	}
}
