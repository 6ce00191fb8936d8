package ecosystem

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// readOrdered reads versions of an ecosystem in the order of its own tools. Each line has
// versions that are equal. pip sorted those of Python; the rules of the POM reference
// sorted those of Maven. Both include the tables of the tools' own tests.
func readOrdered(t *testing.T, file string) [][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]string
	for line := range strings.Lines(string(text)) {
		lines = append(lines, strings.Fields(line))
	}
	if len(lines) < 200 {
		t.Fatalf("%s has %d lines", file, len(lines))
	}
	return lines
}

func TestVersionsSortAsTheirEcosystemSortsThem(t *testing.T) {
	t.Parallel()
	for file, keyOf := range map[string]func(string) string{"testdata/versions_java.txt": MavenVersionKey, "testdata/versions_python.txt": PythonVersionKey} {
		lines := readOrdered(t, file)
		for i, versions := range lines {
			key := keyOf(versions[0])
			for _, same := range versions[1:] {
				if got := keyOf(same); got != key {
					t.Errorf("%s: %s is %q, and %s is %q, want %v", file, versions[0], key, same, got, key)
				}
			}
			for _, later := range lines[i+1:] {
				if got := keyOf(later[0]); got <= key {
					t.Errorf("%s: %s (%q) does not come before %s (%q)", file, versions[0], key, later[0], got)
				}
			}
		}
	}
}

func FuzzVersionKeysAreTextOfBoundedLength(f *testing.F) {
	for _, version := range []string{"", "1.0", "1-ga-alpha", "é.-.", strings.Repeat("9", 255), strings.Repeat("1.", 127), "1+" + strings.Repeat("ü", 126), strings.Repeat("1-x", 85)} {
		f.Add(version)
	}
	f.Fuzz(func(t *testing.T, version string) {
		if len(version) > 255 || !utf8.ValidString(version) || strings.ContainsRune(version, 0) {
			return // artifacts have no such versions
		}
		for name, keyOf := range map[string]func(string) string{"Maven": MavenVersionKey, "Python": PythonVersionKey} {
			if key := keyOf(version); key == "" || len(key) > maxVersionKey || !utf8.ValidString(key) || strings.ContainsRune(key, 0) {
				t.Errorf("%s %q has the key %q", name, version, key)
			}
		}
	})
}
