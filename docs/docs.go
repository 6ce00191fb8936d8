// Package docs holds the guide: in Markdown, and as the HTML that tools/guide makes
// of it. A server shows it at /guide. The commands in it are run, from its Markdown,
// by e2e/suites/guide.mjs.
package docs

import "embed"

// Files are the pages in HTML, in the folder pages.
//
//go:embed pages
var Files embed.FS

// Names lists the pages in the order in which they are read.
func Names() []string {
	return []string{
		"index", "quick-start", "concepts", "graphql", "rest-grpc", "console", "events", "sign-in", "importing", "operating", "errors", "security", "moving-from-v1",
	}
}
