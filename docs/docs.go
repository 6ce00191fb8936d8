// Package docs holds the guide, in Markdown. It must contain nothing else. A server shows
// the guide at /guide, and e2e/suites/guide.mjs runs the commands in it.
package docs

import "embed"

// Files has the pages.
//
//go:embed *.md
var Files embed.FS

// Names lists the pages in reading order.
func Names() []string {
	return []string{
		"index", "quick-start", "concepts", "graphql", "rest-grpc", "console", "events", "sign-in", "importing", "operating", "errors", "security", "moving-from-v1",
	}
}
