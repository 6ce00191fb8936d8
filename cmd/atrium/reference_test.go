package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
)

// The pages of reference that follow from the code are in the repository, where GitHub shows them.
// ATRIUM_WRITE_REFERENCE=1 go test ./cmd/atrium -run TheReference writes them.
func TestTheReferenceIsThatOfTheCode(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{"settings": settingsPage(t), "roles": rolesPage(), "event-types": eventTypesPage(t)} {
		name := filepath.Join("../../docs", page+".md")
		if os.Getenv("ATRIUM_WRITE_REFERENCE") != "" {
			if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("docs/%s.md is not that of the code (%v): run ATRIUM_WRITE_REFERENCE=1 go test ./cmd/atrium -run TheReference, then make generate", page, err)
		}
	}
}

// generated says where the pages come from.
const generated = "The program's code is the source of this page, and a test compares them.\n\n"

// settingsPage lists the settings of a server, by the flags that name them.
func settingsPage(t *testing.T) string {
	t.Helper()
	f := &faults{}
	parser, err := newParser(program{stdout: io.Discard, stderr: io.Discard}, f, newSources(variables(nil), f), allKinds()[:1])
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString("# Settings\n\nThese are the settings of `atrium serve`. Each is a flag, an environment variable, or a line in the YAML file of `--config`, named like the\n" +
		"flag without its dashes. A flag counts before a variable, and a variable before the file. A variable with `_FILE` at its end names a\nfile that has the value, for secrets. `atrium admin config` prints what a server would use, and where it comes from.\n\n" + generated +
		"| flag | variable | default | meaning |\n|---|---|---|---|\n")
	serve := slices.IndexFunc(parser.Model.Leaves(false), func(n *kong.Node) bool { return n.Name == "serve" })
	flags := slices.Clone(parser.Model.Leaves(false)[serve].Flags)
	slices.SortFunc(flags, func(a, b *kong.Flag) int { return cmp.Compare(a.Name, b.Name) })
	for _, flag := range flags {
		name, value := "--"+flag.Name, flag.Default
		switch {
		case flag.Name == "help":
			continue
		case flag.IsBool() && flag.Tag.Negatable != "":
			name = "--[no-]" + flag.Name
			value = map[bool]string{true: "on", false: "off"}[value == "true"]
		case flag.IsBool():
			value = "off"
		case flag.PlaceHolder != "":
			name += "=" + flag.PlaceHolder
		}
		if value != "" && !flag.IsBool() {
			value = "`" + value + "`"
		}
		variable := "`ATRIUM_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_")) + "`"
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", name, variable, value, escapeCell(flag.Help))
	}
	return page.String()
}

// escapeCell makes a text fit into a cell of a table.
func escapeCell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(text)
}

// rolesPage lists what the built-in roles may do.
func rolesPage() string {
	roles := iam.BuiltInRoles()
	slices.SortStableFunc(roles, func(a, b *iam.Role) int { return cmp.Compare(len(b.Capabilities), len(a.Capabilities)) })
	var page strings.Builder
	page.WriteString("# Capabilities and roles\n\nA capability is the right to do one thing; a role is a set of capabilities. These are the capabilities and the built-in roles that have\n" +
		"them. An organization can make roles of its own. [Concepts](concepts.md) explains how roles are bound.\n\n" + generated + "| capability |")
	for _, role := range roles {
		page.WriteString(" " + role.Name + " |")
	}
	page.WriteString("\n|---|" + strings.Repeat("---|", len(roles)) + "\n")
	for _, capability := range core.Capabilities() {
		fmt.Fprintf(&page, "| `%s` |", capability)
		for _, role := range roles {
			page.WriteString(map[bool]string{true: " yes |", false: " |"}[slices.Contains(role.Capabilities, capability)])
		}
		page.WriteString("\n")
	}
	return page.String()
}

// eventTypesPage lists the types of events, with what the schema says of them.
func eventTypesPage(t *testing.T) string {
	t.Helper()
	schema, err := os.ReadFile("../../schema/event.graphqls")
	if err != nil {
		t.Fatal(err)
	}
	meaning := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  "([^"\n]+)"\n  ([A-Z_]+)$`).FindAllStringSubmatch(string(schema), -1) {
		meaning[m[2]] = m[1]
	}
	samples := map[string]json.RawMessage{}
	text, err := os.ReadFile("../../platform/testdata/events.json")
	if err == nil {
		err = json.Unmarshal(text, &samples)
	}
	if err != nil {
		t.Fatal("platform/testdata/events.json cannot be read: ", err)
	}
	var page, bodies strings.Builder
	page.WriteString("# Event types\n\nEach change records one event. Its full type has `" + core.EventPrefix + "` before the type in this table, and `" + core.EventVersion + "` after it. `kind` is the name in\n" +
		"GraphQL. `body` is the kind of resource in the event's body, as it is after the change. [Events and webhooks](events.md) explains how you receive\nthem. Below the table, each type has [a body](#bodies) that a change has recorded.\n\n" + generated +
		"| type | kind | body | when |\n|---|---|---|---|\n")
	types := platform.AllEventTypes()
	for _, full := range types.All() {
		kind, _ := types.KindName(full)
		if meaning[kind] == "" {
			t.Errorf("schema/event.graphqls does not describe %s", kind)
		}
		short := events.ShortEventType(full)
		fmt.Fprintf(&page, "| `%s` | `%s` | %s | %s |\n", short, kind, types.BodyOf(&core.Event{Type: full}), meaning[kind])
		var shown bytes.Buffer
		if err := json.Indent(&shown, samples[short], "", "  "); err != nil || shown.Len() == 0 {
			t.Errorf("platform/testdata/events.json has no body of %s (%v)", short, err)
		}
		fmt.Fprintf(&bodies, "\n### %s\n\n```json\n%s\n```\n", short, &shown)
	}
	page.WriteString("\n## Bodies\n\nThe data of a delivery is `{\"actor\": {...}, \"body\": {...}}`. A test of the core makes these bodies; uids and times are replaced by the\nsame ones in each run.\n")
	return page.String() + bodies.String()
}
