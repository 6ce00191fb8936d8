package house

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxWords limits the words that somebody new to the code must learn.
const maxWords = 25

var wordRow = regexp.MustCompile("(?m)^\\| ([a-z, ]+) \\| .* \\| `([a-z_/.]+\\.go)` \\|$")

// Each word of the glossary in CONTRIBUTING must be found in the file that the glossary names for it.
func TestTheGlossaryIsShortAndTrue(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := wordRow.FindAllStringSubmatch(string(guide), -1)
	if len(rows) < 10 || len(rows) > maxWords {
		t.Errorf("the glossary has %d rows, want 10 to %d", len(rows), maxWords)
	}
	for _, row := range rows {
		file, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(row[2])))
		if err != nil {
			t.Errorf("the glossary: %v", err)
			continue
		}
		for word := range strings.SplitSeq(row[1], ", ") {
			name := regexp.MustCompile("(?i)" + strings.ReplaceAll(regexp.QuoteMeta(word), " ", " ?"))
			if !name.Match(file) {
				t.Errorf("the glossary says that %s has %q, which is not there", row[2], word)
			}
		}
	}
}

// The map of an area in its doc.go names each of its files.
func TestTheMapOfEachAreaHasEveryFile(t *testing.T) {
	t.Parallel()
	for _, folder := range append(slices.Clone(areaFolders), "platform") {
		text := read(t, folder+"/doc.go")
		for _, file := range sourcesIn(t, folder) {
			if name := filepath.Base(file.path); name != "doc.go" && !regexp.MustCompile(`\b`+regexp.QuoteMeta(name)).MatchString(text) {
				t.Errorf("%s/doc.go: say in the map what %s is for", folder, name)
			}
		}
	}
}

// Each word has one spelling, so that a search finds all of it: in texts for users, in the contracts, and in the code.
func TestAWordHasOneSpelling(t *testing.T) {
	t.Parallel()
	other := regexp.MustCompile("(?i)catalo" + "gue")
	for _, folder := range []string{"client", "cmd", "docs", "e2e/suites", "internal", "platform", "resolvers", "schema", "store", "tools"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(name string, entry os.DirEntry, err error) error {
			if entry != nil && entry.IsDir() && slices.Contains([]string{"samples", "node_modules", "testdata", "generated", "oracle"}, entry.Name()) {
				return filepath.SkipDir // They have texts of others, or what is made of texts here.
			}
			if err != nil || entry.IsDir() || !slices.Contains([]string{".go", ".graphql", ".graphqls", ".md", ".mjs", ".proto", ".sql", ".ts", ".tsx", ".txt"}, path.Ext(name)) {
				return err
			}
			text, err := os.ReadFile(name)
			if at := other.FindIndex(text); at != nil {
				t.Errorf("%s: write catalog, not %s", name, text[at[0]:at[1]])
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
