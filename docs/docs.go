// Package docs holds the guide, in Markdown, and as the HTML that tools/guide makes of
// it, with the pictures of the README. It must contain nothing else. A server shows the guide at /guide, and
// e2e/suites/guide.mjs runs the commands in its Markdown.
package docs

import (
	"archive/zip"
	"embed"
	"io/fs"
	"strings"
)

//go:embed pages.zip
var pages string

// Pictures has console.png, the picture of the console, which make pictures takes.
//
//go:embed console.png
var Pictures embed.FS

// Pages returns the pages in HTML. It panics if the archive is damaged, which a test of
// package web excludes.
func Pages() fs.FS {
	files, err := zip.NewReader(strings.NewReader(pages), int64(len(pages)))
	if err != nil {
		panic(err)
	}
	return files
}

// parts are the parts of the guide, in reading order: what one learns, does, looks up and understands.
var parts = []struct {
	title string
	pages []string
}{
	{"", []string{"index"}},
	{"Tutorials", []string{"quick-start", "tutorial", "tutorial-access", "tutorial-dashboard"}},
	{"Use", []string{"console", "importing", "from-ci", "feeds", "findings", "sign-in", "events"}},
	{"Build", []string{"graphql", "questions", "rest-grpc", "browser-apps", "moving-from-v1"}},
	{"Operate", []string{"operating", "install", "configure", "secure", "scale", "backup", "upgrade", "watch", "troubleshoot", "proxies", "capacity"}},
	{"Look up", []string{"settings", "roles", "event-types", "errors", "oddities", "schema-changes"}},
	{"Understand", []string{"concepts", "how-it-works", "security"}},
}

// Names lists the pages in reading order.
func Names() (names []string) {
	for _, part := range parts {
		names = append(names, part.pages...)
	}
	return names
}

// Parts returns the titles of the parts of the guide, by the page with which each begins.
func Parts() map[string]string {
	titles := map[string]string{}
	for _, part := range parts {
		titles[part.pages[0]] = part.title
	}
	return titles
}
