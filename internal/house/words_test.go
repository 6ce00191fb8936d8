package house

import (
	"os"
	"path/filepath"
	"regexp"
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

// The map of the core in platform/doc.go names each of its files.
func TestTheMapOfTheCoreHasEveryFile(t *testing.T) {
	t.Parallel()
	text := read(t, "platform/doc.go")
	for _, file := range sourcesIn(t, "platform") {
		if name := filepath.Base(file.path); name != "doc.go" && !regexp.MustCompile(`\b`+regexp.QuoteMeta(name)).MatchString(text) {
			t.Errorf("platform/doc.go: say in the map what %s is for", name)
		}
	}
}
