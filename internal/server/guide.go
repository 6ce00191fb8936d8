package server

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"atrium/docs"
	"atrium/internal/apierror"
	"atrium/internal/web"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// guide returns the handler of the guide. Its tables of roles and codes are made here.
func guide(links web.Links) http.Handler {
	return web.Guide(docs.Pages(), docs.Names(), links, map[string]web.Table{"roles": rolesTable(), "codes": codesTable()})
}

// rolesTable returns a table of the capabilities of the built-in roles.
func rolesTable() web.Table {
	roles := iam.BuiltInRoles()
	slices.SortStableFunc(roles, func(a, b *iam.Role) int { return cmp.Compare(len(b.Capabilities), len(a.Capabilities)) })
	head := []string{"capability"}
	for _, role := range roles {
		head = append(head, role.Name)
	}
	var rows [][]string
	for _, capability := range core.Capabilities() {
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
	return web.Table{Head: head, Rows: rows}
}

// codesTable returns a table of the codes of errors.
func codesTable() web.Table {
	var rows [][]string
	for code := core.Code(1); code <= core.CodeUnauthenticated; code++ {
		if status := apierror.HTTPStatus(code); status != 0 {
			rows = append(rows, []string{code.String(), strconv.Itoa(int(code)), fmt.Sprintf("%d %s", status, http.StatusText(status))})
		}
	}
	return web.Table{Head: []string{"code", "number (gRPC)", "HTTP status"}, Rows: rows}
}
