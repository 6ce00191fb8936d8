package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A setting that no page names is found only by those who read all of the help.
func TestTheGuideNamesEverySettingOfAServer(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var pages []byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, text...)
	}
	f := &faults{}
	parser, err := newParser(program{stdout: io.Discard, stderr: io.Discard}, f, newSources(variables(nil), f), allKinds()[:1])
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(false) {
		if command.Name != "serve" {
			continue
		}
		for _, flag := range command.Flags {
			if named := regexp.MustCompile("--(no-)?" + flag.Name + `([^-a-z]|$)`); flag.Name != "help" && !named.Match(pages) {
				t.Errorf("no page of the guide names --%s; add it to a table of docs/operating.md", flag.Name)
			}
		}
	}
}
