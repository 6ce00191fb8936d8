package rest

import (
	"embed"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// textFiles contains the descriptions in the document, one file per area. Each line has a
// name, a colon, and a text. The names are
//
//	ListRepos           an operation; without a text it has the one of its constructor
//	Repo                a type
//	Repo.name           a field of a type; *.name is for types without their own text
//	?page_size          a query parameter; ListTags?digest is for one operation
//	{uid}               a variable of a path; GetRepo{uid} is for one operation
//	registry/repos      the operations of one collection
//
// If a name has no text there, its comment in schema/proto is used.
//
// A field whose text begins with "Input only." is never shown. A field with "Output only."
// is rejected unless it equals the value that was read; for fields of kinds, the kind says
// so.
//
//go:embed texts/*.txt
var textFiles embed.FS

// prose has the texts by name.
type prose struct {
	byName   map[string]string
	fallback map[string]string // These are the comments of schema/proto, by the same names.
	read     map[string]bool   // These names were used.
	faults   map[string]bool
}

func readTexts() prose {
	t := prose{byName: map[string]string{}, fallback: map[string]string{}, read: map[string]bool{}, faults: map[string]bool{}}
	for area, file := range contracts() {
		t.readContract(area, file)
	}
	names, _ := fs.Glob(textFiles, "texts/*.txt") // The pattern is valid.
	for _, file := range names {
		content, err := textFiles.ReadFile(file)
		if err != nil {
			panic(err) // The build is broken if a file is not embedded.
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

// contracts returns the text of each file of schema/proto by its area.
func contracts() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		files, _ := filepath.Glob("../../schema/proto/platform/*/v2/*.proto") // The pattern is valid.
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				panic(err)
			}
			if !yield(filepath.Base(filepath.Dir(filepath.Dir(file))), string(text)) {
				return
			}
		}
	}
}

var (
	protoBlock = regexp.MustCompile(`^(message|service) (\w+) \{`)
	protoField = regexp.MustCompile(`^  (?:optional |repeated )?[\w.<>, ]+ (\w+) = \d+`)
)

// readContract reads the comments of services, messages and their fields.
func (t prose) readContract(area, text string) {
	comment, message := "", ""
	for line := range strings.Lines(text) {
		if words, isComment := strings.CutPrefix(strings.TrimSpace(line), "// "); isComment {
			comment = strings.TrimSpace(comment + " " + words)
			continue
		}
		if block := protoBlock.FindStringSubmatch(line); block != nil {
			message = block[2]
			if block[1] == "service" {
				message = area + "/" + camelCase(strings.TrimSuffix(message, "Service"))
			}
			t.fallback[message] = comment
		} else if field := protoField.FindStringSubmatch(line); field != nil {
			t.fallback[message+"."+camelCase(field[1])] = comment
		}
		comment = ""
	}
}

// camelCase converts a name of the contract to its JSON spelling.
func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words {
		if i > 0 {
			words[i] = upperFirst(word)
		}
	}
	words[0] = strings.ToLower(words[0][:1]) + words[0][1:]
	return strings.Join(words, "")
}

// firstText returns the text of the first name that has one.
func (t prose) firstText(names ...string) string {
	for _, name := range names {
		if text, ok := t.byName[name]; ok {
			t.read[name] = true
			return text
		}
	}
	if comment := t.fallback[names[0]]; comment != "" {
		return comment
	}
	t.faults["no text for "+names[0]] = true
	return ""
}

func (t prose) text(name string) string { return t.firstText(name) }

// textOr returns the text of name, or fallback if there is none.
func (t prose) textOr(name, fallback string) string {
	if _, ok := t.byName[name]; !ok && fallback != "" {
		return fallback
	}
	return t.firstText(name)
}

// textOf returns the text of a field.
func (t prose) textOf(typeName, field string) string {
	return t.firstText(typeName+"."+field, "*."+field)
}

// textFor returns the text of a parameter of an operation.
func (t prose) textFor(operation, parameter string) string {
	return t.firstText(operation+parameter, parameter)
}
