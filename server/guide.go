package server

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"atrium/docs"
	"atrium/edge"
	"atrium/platform"
	"atrium/web"
)

// guide returns the handler of the guide. Its tables of roles and codes are generated.
func guide(links web.Links) http.Handler {
	return web.Guide(docs.Files, docs.Names(), links, map[string]string{"roles": rolesTable(), "codes": codesTable()})
}

// rolesTable returns a Markdown table of the capabilities of the built-in roles.
func rolesTable() string {
	roles := platform.BuiltInRoles()
	slices.SortStableFunc(roles, func(a, b *platform.Role) int { return cmp.Compare(len(b.Capabilities), len(a.Capabilities)) })
	var table strings.Builder
	table.WriteString("| capability |")
	for _, role := range roles {
		fmt.Fprintf(&table, " %s |", role.Name)
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(roles)) + "\n")
	for _, capability := range platform.Capabilities() {
		fmt.Fprintf(&table, "| `%s` |", capability)
		for _, role := range roles {
			mark := " "
			if slices.Contains(role.Capabilities, capability) {
				mark = "yes"
			}
			fmt.Fprintf(&table, " %s |", mark)
		}
		table.WriteString("\n")
	}
	return table.String()
}

// codesTable returns a Markdown table of the codes of errors.
func codesTable() string {
	var table strings.Builder
	table.WriteString("| code | number (gRPC) | HTTP status |\n|---|---|---|\n")
	for code := platform.Code(1); code <= platform.CodeUnauthenticated; code++ {
		if status := edge.HTTPStatus(code); status != 0 {
			fmt.Fprintf(&table, "| `%s` | %d | %d %s |\n", code, code, status, http.StatusText(status))
		}
	}
	return table.String()
}
