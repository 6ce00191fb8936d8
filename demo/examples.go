package demo

import (
	"embed"
	"encoding/json"
	"time"

	"atrium/platform"
	"atrium/web"
)

// Examples lists queries that each answer something on the demonstration data.
// Those that create something create it in group.
func Examples(group platform.UID) []web.Example {
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
