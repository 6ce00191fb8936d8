package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/internal/web"
	"atrium/platform/core"
)

func TestTheTablesOfTheGuideAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	handler := guide(web.Links{})
	for path, want := range map[string]struct {
		rows int
		row  string
	}{
		"/guide/concepts": {len(core.Capabilities()), "<tr><td><code>repo.list</code></td><td>yes</td>"},
		"/guide/errors":   {12, "<tr><td><code>NOT_FOUND</code></td><td>5</td><td>404 Not Found</td></tr>"},
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		_, table, _ := strings.Cut(w.Body.String(), want.row)
		before, _, _ := strings.Cut(w.Body.String(), want.row)
		start := strings.LastIndex(before, "<tbody>")
		end := strings.Index(table, "</tbody>")
		if start < 0 || end < 0 {
			t.Errorf("%s has no row %q:\n%s", path, want.row, w.Body)
			continue
		}
		if rows := 1 + strings.Count(before[start:], "<tr>") + strings.Count(table[:end], "<tr>"); rows != want.rows {
			t.Errorf("%s: the table has %d rows, want %d", path, rows, want.rows)
		}
		if strings.Contains(w.Body.String(), "{{") {
			t.Errorf("%s has a marker without a table", path)
		}
	}
}
