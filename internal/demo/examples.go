package demo

import (
	"embed"
	"encoding/json"
	"time"

	"atrium/internal/web"
	"atrium/platform/core"
)

// Examples lists queries for the demonstration data. Mutations among them create
// their resources in group.
func Examples(group core.UID) []web.Example {
	return []web.Example{
		{Name: "Overview", Query: readQuery("overview")},
		{Name: "Repo", Query: readQuery("repo"), Variables: encodeVariable("name", "billing")},
		{Name: "Open findings", Query: readQuery("findings")},
		{Name: "What is affected", Query: readQuery("affected"), Variables: encodeVariable("vulnerability", "ACME-2026-0101")},
		{Name: "Who holds a package", Query: readQuery("holders"), Variables: encodeVariables(map[string]any{"package": "express", "below": "4.18.0"})},
		{Name: "Search", Query: readQuery("search"), Variables: encodeVariable("query", "bill")},
		{Name: "Who has access", Query: readQuery("access"), Variables: encodeVariable("group", group)},
		{Name: "Ways to sign in", Query: readQuery("sign_in")},
		{Name: "Unused identities", Query: readQuery("stale"), Variables: encodeVariable("since", core.At(time.Now()))},
		{Name: "Advisories", Query: readQuery("advisories")},
		{Name: "Libraries", Query: readQuery("libraries")},
		{Name: "Live changes", Query: readQuery("changes")},
		{Name: "Webhooks", Query: readQuery("webhooks")},
		{Name: "Audit log", Query: readQuery("audit")},
		{Name: "New repo", Query: readQuery("new_repo"), Variables: encodeVariable("input", map[string]any{
			"parent": group, "name": "greeter", "description": "Says hello",
		})},
	}
}

func encodeVariable(name string, value any) string {
	return encodeVariables(map[string]any{name: value})
}

func encodeVariables(values map[string]any) string {
	text, _ := json.MarshalIndent(values, "", "  ") // cannot fail with plain data
	return string(text)
}

//go:embed examples
var exampleFiles embed.FS

func readQuery(name string) string {
	query, err := exampleFiles.ReadFile("examples/" + name + ".graphql")
	if err != nil {
		panic(err) // the file is not embedded, so the build is broken
	}
	return string(query)
}
