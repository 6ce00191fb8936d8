package house

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every file that a doc.go names exists: in its folder, or with its folder. A file that a comment elsewhere names exists somewhere.
func TestEveryFileThatACommentNamesExists(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`[\w./*-]*\w\.(?:go|graphqls|proto|sql|md)\b`)
	names := map[string]bool{}
	walk(t, func(file string) { names[filepath.Base(file)] = true })
	names["capabilities.md"] = true // in testdata, where walk does not look
	docs := 0
	for _, f := range sources(t) {
		if filepath.Base(f.path) == "doc.go" {
			docs++
			for _, name := range named.FindAllString(read(t, f.path), -1) {
				if !existsSome(name) && !existsSome(path.Join(f.folder, name)) && !isExample(name) {
					t.Errorf("%s names %s, which is neither in its folder nor in the root", f.path, name)
				}
			}
			continue
		}
		for _, group := range f.ast.Comments {
			for _, name := range named.FindAllString(group.Text(), -1) {
				if !strings.Contains(name, "*") && !names[path.Base(name)] && !isExample(name) {
					t.Errorf("%s names %s, which is gone", f.path, name)
				}
			}
		}
	}
	if docs < 20 {
		t.Fatalf("%d files doc.go are found", docs)
	}
}

// isExample reports whether a file is one of those that comments name without having it.
func isExample(name string) bool {
	return strings.Contains(name, "widget") || strings.Contains(name, "00001_schema") || name == "server/oauth2.go" // a file of Dex
}

// Every name of Go that a doc.go has, such as setRequestID or MemoryPool, is in the code. Names of one word look like English.
func TestEveryNameThatADocHasExists(t *testing.T) {
	t.Parallel()
	camel := regexp.MustCompile(`\b(?:[a-z]+|[A-Z][a-z]+)[A-Z]\w*\b`)
	known := map[string]bool{}
	docs := map[string]string{}
	for _, f := range sources(t) {
		text := read(t, f.path)
		if filepath.Base(f.path) == "doc.go" {
			docs[f.path] = text
			continue
		}
		for _, name := range camel.FindAllString(text, -1) {
			known[name] = true
		}
	}
	for file, text := range docs {
		for _, name := range camel.FindAllString(text, -1) {
			if !known[name] && !strings.Contains(strings.ToLower(name), "widget") {
				t.Errorf("%s names %s, which is nowhere in the code", file, name)
			}
		}
	}
}

// Whoever reads the README or the start of the guide finds every page from there.
func TestEveryPageIsFoundFromTheStart(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages (%v)", len(pages), err)
	}
	for start, folder := range map[string]string{"README.md": "docs/", "docs/index.md": ""} {
		text := read(t, start)
		for _, page := range pages {
			if name := filepath.Base(page); name != "index.md" && !strings.Contains(text, "("+folder+name+")") && !strings.Contains(text, "("+folder+name+"#") {
				t.Errorf("%s links no %s", start, name)
			}
		}
	}
}

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	mdFence   = regexp.MustCompile("(?ms)^```.*?^```$")
)

// Every link in Markdown leads to a file, and to a heading that it has.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	links := 0
	walk(t, func(file string) {
		if filepath.Ext(file) != ".md" {
			return
		}
		text := mdFence.ReplaceAllString(read(t, file), "")
		for _, link := range mdLink.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			links++
			if target = path.Join(path.Dir(file), target); strings.HasPrefix(link[1], "#") {
				target = file
			}
			if !exists(target) {
				t.Errorf("%s links %s, which does not exist", file, link[1])
			} else if anchor != "" && !slices.Contains(anchors(read(t, target)), anchor) {
				t.Errorf("%s links %s, which has no such heading", file, link[1])
			}
		}
	})
	if links < 100 {
		t.Fatalf("%d links are found", links)
	}
}

// anchors returns the names of the headings of a page, as GitHub and the guide make them.
func anchors(page string) []string {
	var names []string
	for _, heading := range mdHeading.FindAllStringSubmatch(mdFence.ReplaceAllString(page, ""), -1) {
		text := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(heading[1], "$1")
		text = regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(text), "")
		names = append(names, strings.ReplaceAll(text, " ", "-"))
	}
	return names
}

// The map and the table of frequent changes in CONTRIBUTING name files and folders that exist, and every folder of the root is in the map.
func TestTheMapForContributorsIsTrue(t *testing.T) {
	t.Parallel()
	guide := read(t, "CONTRIBUTING.md")
	start, end := strings.Index(guide, "## The map\n"), strings.Index(guide, "## How do I ...\n")
	if start < 0 || end < start {
		t.Fatal("CONTRIBUTING.md has no map before its questions: where is it now?")
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile("`([a-z][\\w./-]*)`").FindAllStringSubmatch(guide[start:end], -1) {
		if named[name[1]] = true; name[1] != "role" && !exists(name[1]) {
			t.Errorf("the map in CONTRIBUTING.md names %s, which does not exist", name[1])
		}
	}
	if len(named) < 30 {
		t.Errorf("the map names %d files and folders", len(named))
	}
	folders, err := filepath.Glob(filepath.Join(root, "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range folders {
		if folder := filepath.Base(filepath.Dir(file)); !named[folder] {
			t.Errorf("the map in CONTRIBUTING.md lacks %s", folder)
		}
	}
}
