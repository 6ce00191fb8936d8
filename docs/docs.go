// Package docs holds the guide, in Markdown. A server shows it at /guide. The
// commands in it are run, from its text, by e2e/suites/guide.mjs.
package docs

import "embed"

// Files are the pages.
//
//go:embed *.md
var Files embed.FS

// Names lists the pages in the order in which they are read.
func Names() []string {
	return []string{
		"index", "quick-start", "concepts", "graphql", "rest-grpc", "console", "events", "sign-in", "importing", "operating", "errors", "security", "moving-from-v1",
	}
}
