package server

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"atrium/docs"
	"atrium/edge"
	"atrium/platform"
	"atrium/web"
)

// guide returns the handler of the guide. Its tables of roles and codes are made here.
func guide(links web.Links) http.Handler {
	return web.Guide(docs.Files, docs.Names(), links, map[string]string{"roles": rolesTable(), "codes": codesTable()})
}

// rolesTable returns a table of the capabilities of the built-in roles.
func rolesTable() string {
	roles := platform.BuiltInRoles()
	slices.SortStableFunc(roles, func(a, b *platform.Role) int { return cmp.Compare(len(b.Capabilities), len(a.Capabilities)) })
	head := []string{"capability"}
	for _, role := range roles {
		head = append(head, role.Name)
	}
	var rows [][]string
	for _, capability := range platform.Capabilities() {
		row := []string{string(capability)}
		for _, role := range roles {
			mark := ""
			if slices.Contains(role.Capabilities, capability) {
				mark = "yes"
			}
			row = append(row, mark)
		}
		rows = append(rows, row)
	}
	return renderTable(head, rows)
}

// codesTable returns a table of the codes of errors.
func codesTable() string {
	var rows [][]string
	for code := platform.Code(1); code <= platform.CodeUnauthenticated; code++ {
		if status := edge.HTTPStatus(code); status != 0 {
			rows = append(rows, []string{code.String(), strconv.Itoa(int(code)), fmt.Sprintf("%d %s", status, http.StatusText(status))})
		}
	}
	return renderTable([]string{"code", "number (gRPC)", "HTTP status"}, rows)
}

// renderTable returns a table in HTML. The first cell of each row is code.
func renderTable(head []string, rows [][]string) string {
	var table strings.Builder
	table.WriteString("<table>\n<thead>\n<tr>\n")
	for _, cell := range head {
		table.WriteString("<th>" + html.EscapeString(cell) + "</th>\n")
	}
	table.WriteString("</tr>\n</thead>\n<tbody>\n")
	for _, row := range rows {
		table.WriteString("<tr>\n")
		for i, cell := range row {
			if cell = html.EscapeString(cell); i == 0 {
				cell = "<code>" + cell + "</code>"
			}
			table.WriteString("<td>" + cell + "</td>\n")
		}
		table.WriteString("</tr>\n")
	}
	table.WriteString("</tbody>\n</table>\n")
	return table.String()
}
