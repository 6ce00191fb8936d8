// Package docs holds the guide, in Markdown, and as the HTML that tools/guide makes of
// it. It must contain nothing else. A server shows the guide at /guide, and
// e2e/suites/guide.mjs runs the commands in its Markdown.
package docs

import (
	"archive/zip"
	_ "embed" // for pages
	"io/fs"
	"strings"
)

//go:embed pages.zip
var pages string

// Pages returns the pages in HTML. It panics if the archive is damaged, which a test of
// package web excludes.
func Pages() fs.FS {
	files, err := zip.NewReader(strings.NewReader(pages), int64(len(pages)))
	if err != nil {
		panic(err)
	}
	return files
}

// Names lists the pages in reading order.
func Names() []string {
	return []string{
		"index", "quick-start", "tutorial", "concepts", "how-it-works", "graphql", "questions", "rest-grpc", "oddities", "browser-apps", "console", "events", "sign-in", "importing", "from-ci", "feeds", "findings", "operating", "install", "configure", "secure", "scale", "backup", "upgrade", "watch", "troubleshoot", "proxies", "capacity", "settings", "roles", "event-types", "errors", "security", "schema-changes", "moving-from-v1",
	}
}
