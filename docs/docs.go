// Package docs holds the guide, in Markdown, and as the HTML that tools/guide makes of
// it. It must contain nothing else. A server shows the guide at /guide, and
// e2e/suites/guide.mjs runs the commands in its Markdown.
package docs

import "embed"

// Files has the pages in HTML, in the folder pages.
//
//go:embed pages
var Files embed.FS

// Names lists the pages in reading order.
func Names() []string {
	return []string{
		"index", "quick-start", "concepts", "graphql", "rest-grpc", "console", "events", "sign-in", "importing", "operating", "errors", "security", "moving-from-v1",
	}
}
