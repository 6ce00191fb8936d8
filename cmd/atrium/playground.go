package main

import (
	"embed"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"atrium/platform"
	"atrium/web"
)

// pageTokenLife is how long the playground's token holds: a working day, since
// the page is not loaded again while someone works in it.
const pageTokenLife = 12 * time.Hour

// playground is the page, filled in with a token of the demonstration's owner
// in development mode.
func (c *serveCommand) playground(dev *development, logger *slog.Logger) http.Handler {
	if dev == nil {
		return web.Playground(web.Options{Examples: examples("")})
	}
	token := func(r *http.Request) string {
		token, err := dev.issuer.Mint("owner", c.Audience[0], pageTokenLife, nil)
		if err != nil {
			logger.ErrorContext(r.Context(), "no token for the playground", "error", err)
		}
		return token
	}
	return web.Playground(web.Options{Token: token, Examples: examples(dev.organisation)})
}

// examples are the tabs of the playground. Each answers something on the
// demonstration data, where new things go into group.
func examples(group platform.UID) []web.Example {
	return []web.Example{
		{Name: "Overview", Query: example("overview")},
		{Name: "Repo", Query: example("repo"), Variables: variables("name", "billing")},
		{Name: "Access", Query: example("access"), Variables: variables("group", group)},
		{Name: "Sign in", Query: example("sign_in")},
		{Name: "Stale", Query: example("stale"), Variables: variables("since", platform.At(time.Now()))},
		{Name: "Advisories", Query: example("advisories")},
		{Name: "Libraries", Query: example("libraries")},
		{Name: "Changes", Query: example("changes")},
		{Name: "Webhooks", Query: example("webhooks")},
		{Name: "Audit", Query: example("audit")},
		{Name: "New repo", Query: example("new_repo"), Variables: variables("input", map[string]any{
			"parent": group, "name": "greeter", "description": "Says hello",
		})},
	}
}

func variables(name string, value any) string {
	text, _ := json.MarshalIndent(map[string]any{name: value}, "", "  ") // plain data: it cannot fail
	return string(text)
}

//go:embed examples
var exampleFiles embed.FS

func example(name string) string {
	query, err := exampleFiles.ReadFile("examples/" + name + ".graphql")
	if err != nil {
		panic(err) // a file that is not embedded: the build is broken
	}
	return string(query)
}
