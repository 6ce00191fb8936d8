package server

import (
	"strings"
	"testing"

	"atrium/platform"
)

func TestTheTablesOfTheGuideAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	roles, codes := rolesTable(), codesTable()
	if n := strings.Count(roles, "\n"); n != 2+len(platform.Capabilities()) || !strings.Contains(roles, " owner |") || !strings.Contains(roles, "| `repo.list` | yes |") {
		t.Errorf("%d lines of roles:\n%s, want a text with %q and a text with %q", n, roles, " owner |", "| `repo.list` | yes |")
	}
	if !strings.Contains(codes, "| `NOT_FOUND` | 5 | 404 Not Found |") || !strings.Contains(codes, "`UNAUTHENTICATED`") {
		t.Errorf("codes:\n%s, want it to contain %q", codes, "| `NOT_FOUND` | 5 | 404 Not Found |")
	}
}
