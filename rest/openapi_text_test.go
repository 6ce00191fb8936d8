package rest

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

// textFiles hold what the document says to people, a file per domain: on each
// line a name, a colon, and a text. The names are
//
//	ListRepos           an operation; without a text it has that of its recipe
//	Repo                a type
//	Repo.name           a field of it, and *.name of any type that has none
//	?page_size          a query parameter, and ListTags?digest of one operation
//	{uid}               a variable of a path, and GetRepo{uid} likewise
//	registry/repos      the operations of one collection
//
// A field whose text begins with "Input only." is never shown, and one with
// "Output only." is refused unless it is what was read; kinds say the latter themselves.
//
//go:embed texts/*.txt
var textFiles embed.FS

// prose is the texts by name.
type prose struct {
	byName map[string]string
	read   map[string]bool // names that were asked for
	faults map[string]bool
}

func readTexts() prose {
	t := prose{byName: map[string]string{}, read: map[string]bool{}, faults: map[string]bool{}}
	names, _ := fs.Glob(textFiles, "texts/*.txt") // the pattern is good
	for _, file := range names {
		content, err := textFiles.ReadFile(file)
		if err != nil {
			panic(err) // a file that is not embedded: the build is broken
		}
		for line := range strings.Lines(string(content)) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			name, text, found := strings.Cut(line, ": ")
			if _, twice := t.byName[name]; !found || twice {
				t.faults[fmt.Sprintf("%s: %q is no new text", file, line)] = true
			}
			t.byName[name] = text
		}
	}
	return t
}

// first is the text of the first name that has one.
func (t prose) first(names ...string) string {
	for _, name := range names {
		if text, ok := t.byName[name]; ok {
			t.read[name] = true
			return text
		}
	}
	t.faults["no text for "+names[0]] = true
	return ""
}

func (t prose) text(name string) string { return t.first(name) }

// textOr is the text of name, or else fallback.
func (t prose) textOr(name, fallback string) string {
	if _, ok := t.byName[name]; !ok && fallback != "" {
		return fallback
	}
	return t.first(name)
}

// textOf is the text of a field.
func (t prose) textOf(of, field string) string { return t.first(of+"."+field, "*."+field) }

// textFor is the text of a parameter of an operation.
func (t prose) textFor(operation, parameter string) string {
	return t.first(operation+parameter, parameter)
}
