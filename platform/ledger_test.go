package platform_test

import (
	"os"
	"strings"
	"testing"

	"atrium/internal/wiretest"
)

// An rpc is an operation of the reference.
type rpc struct {
	name         string
	service      string
	capabilities []string // These are wire names. All of them are needed.
	unscoped     bool     // The list is limited to what the caller may see.
	event        string   // This is the type without its prefix; "" means none.
}

// wireRPCs returns the operations of the reference by their names.
func wireRPCs(t testing.TB) map[string]rpc {
	t.Helper()
	found := map[string]rpc{}
	for _, r := range wiretest.RPCs(t) {
		found[r.Name] = rpc{r.Name, r.Service, r.Capabilities, r.IsUnscoped, r.Event}
	}
	return found
}

// builtInLedger reads testdata/capabilities.md: the capabilities of each built-in role,
// by wire names.
func builtInLedger(t testing.TB) map[string]map[string]bool {
	t.Helper()
	text, err := os.ReadFile("testdata/capabilities.md")
	must(t, err)
	var header []string
	capabilities, roles := 0, map[string]map[string]bool{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case cells[0] == "capability":
			header = cells
		case len(header) > 0 && len(cells) == len(header) && strings.Contains(cells[0], "."):
			capabilities++
			for i := 3; i < len(cells); i++ {
				if roles[header[i]] == nil {
					roles[header[i]] = map[string]bool{}
				}
				if cells[i] == "x" {
					roles[header[i]][cells[1]] = true
				}
			}
		}
	}
	if lines := strings.Count(string(text), "| CAP_"); capabilities != lines || lines == 0 || len(roles) != len(header)-3 || len(roles["owner"]) == 0 {
		t.Fatalf("testdata/capabilities.md has %d capabilities and the columns %q: %d capabilities and %d roles were understood", lines, header, capabilities, len(roles))
	}
	return roles
}
