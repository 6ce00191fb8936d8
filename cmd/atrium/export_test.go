package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheAuditLogIsExportedAsJSONLines(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "atrium.db")
	mustRun(t, url, "migrate", "up")
	mustRun(t, url, "bootstrap", "--org", "acme", "--issuer", "https://issuer.example.com", "--subject", "owner")
	lines := strings.Split(strings.TrimSpace(mustRun(t, url, "events", "export")), "\n")
	types := ""
	for _, line := range lines {
		var e exportedEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.ID == "" || e.Subject == "" || e.Actor.Subject == "" || len(e.Body) == 0 {
			t.Errorf("%s: %v", line, err)
		}
		types += e.Type + " "
	}
	if len(lines) != 3 || !strings.Contains(types, "dev.atrium.api.iam.group.created.v1") {
		t.Errorf("exported %s, want it to contain 'dev.atrium.api.iam.group.created.v1'", types)
	}
	for args, want := range map[string]int{
		"--type iam.group.created": 1, "--denied": 0, "--until 2020-01-01T00:00:00Z": 0, "--since 2020-01-01T00:00:00Z": 3,
	} {
		if got := strings.Count(mustRun(t, url, append([]string{"events", "export"}, strings.Fields(args)...)...), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d", args, got, want)
		}
	}
}
