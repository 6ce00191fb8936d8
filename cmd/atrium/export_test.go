package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"atrium/store/storetest"
)

func TestTheAuditLogIsExportedAsJSONLines(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "atrium.db")
	mustRun(t, url, "admin", "migrate", "up")
	mustRun(t, url, "admin", "bootstrap", "--org", "acme", "--issuer", "https://issuer.example.com", "--subject", "owner")
	lines := strings.Split(strings.TrimSpace(mustRun(t, url, "admin", "export", "audit")), "\n")
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
		if got := strings.Count(mustRun(t, url, append([]string{"admin", "export", "audit"}, strings.Fields(args)...)...), "\n"); got != want {
			t.Errorf("%s: %d lines, want %d", args, got, want)
		}
	}
}

func TestFindingsAndPackagesAreExportedByTheCommandLine(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		acme, folder := bootstrap(t, url), t.TempDir()
		for name, text := range map[string]string{
			"osv.json": `{"id": "CVE-2026-1", "modified": "2026-03-27T13:55:00Z", "aliases": ["GHSA-2026-1"], "references": [{"type": "WEB", "url": "https://example.com/a"}, {"type": "ADVISORY", "url": "https://example.com/b"}], "summary": "=A parser", "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"}], "affected": [{"package": {"ecosystem": "npm", "name": "left-pad"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.3.0"}]}]}]}`,
			"registry.jsonl": `{"kind": "repo", "name": "shop"}
{"kind": "tag", "repo": "shop", "name": "1", "digest": "sha256:` + strings.Repeat("1", 64) + `"}
{"kind": "image", "repo": "shop", "digest": "sha256:` + strings.Repeat("1", 64) + `", "packages": ["pkg:npm/left-pad@1.2.0", "pkg:npm/bash@2.0.0"]}`,
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		mustRun(t, url, "import", "osv", "--group", acme, filepath.Join(folder, "osv.json"))
		mustRun(t, url, "import", "registry", "--group", acme, filepath.Join(folder, "registry.jsonl"))
		for _, c := range []struct {
			args, has string
			lines     int
		}{
			{"findings --group acme", `"repoName":"shop","repoPath":"acme/shop","tags":["1"],"summary":"=A parser","link":"https://example.com/b"`, 1},
			{"findings --group " + acme + " --format csv", "CVE-2026-1,GHSA-2026-1,'=A parser,CRITICAL,9.8,OPEN,left-pad,npm,1.2.0,1.3.0,,,shop,acme/shop,1,sha256:", 2},
			{"findings --group acme/shop --severity CRITICAL --severity low --state open --fixable --format json", `[{"`, 2},
			{"findings --group acme --severity low", "", 0}, {"findings --group acme --known-exploited", "", 0}, {"findings --group acme --state resolved", "", 0},
			{"findings --group acme --updated-since 2020-01-01T00:00:00Z", "CVE-2026-1", 1}, {"findings --group acme --first-seen-since 2200-01-01T00:00:00Z", "", 0},
			{"packages --group acme", `{"package":"bash","ecosystem":"npm","version":"2.0.0","purl":"pkg:npm/bash@2.0.0",`, 2},
			{"packages --group acme --name left-pad --ecosystem npm --format csv", "left-pad,npm,1.2.0,pkg:npm/left-pad@1.2.0,", 2},
		} {
			got := mustRun(t, url, append([]string{"export"}, strings.Fields(c.args)...)...)
			if strings.Count(got, "\n") != c.lines || !strings.Contains(got, c.has) {
				t.Errorf("%s: got %q, want %d lines with %q", c.args, got, c.lines, c.has)
			}
		}
		if got := mustRun(t, url, "export", "findings", "--group", "acme/shop", "--format", "sarif"); !json.Valid([]byte(got)) || !strings.Contains(got, `"ruleId":"CVE-2026-1"`) {
			t.Errorf("SARIF is %s", got)
		}
		for args, want := range map[string]string{
			"findings --format xml": "--format", "packages --format sarif": "ndjson, csv, json", "findings --severity bad": "critical",
			"findings --state bad": "not_affected", "findings --updated-since today": "--updated-since", "findings --group acme/none": "acme/none", "packages": "--group",
		} {
			_, stderr, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, append([]string{"export"}, strings.Fields(args)...)...)
			if err == nil || !strings.Contains(stderr+err.Error(), want) {
				t.Errorf("%s: %v %s, want an error with %q", args, err, stderr, want)
			}
		}
	})
}

// Each export over the network prints what the export of the database prints.
func TestExportsOverTheNetworkPrintTheSame(t *testing.T) {
	t.Parallel()
	url := demonstration.SQLite(t)
	server := start(t, url, "--dev")
	env := map[string]string{"ATRIUM_DATABASE_URL": url}
	var first struct{ RepoPath, Digest string }
	if err := json.NewDecoder(strings.NewReader(mustRun(t, url, "export", "findings", "--group", "acme"))).Decode(&first); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"findings --group acme --severity critical --severity high --state open --fixable --format csv", "findings --group acme --state open --format sarif",
		"packages --group acme --name openssl --format csv", "sbom --image " + first.RepoPath + "@" + first.Digest + " --format spdx",
	} {
		here := mustRun(t, url, append([]string{"export"}, strings.Fields(args)...)...)
		there, said, err := atrium(t, env, append([]string{"export"}, strings.Fields(args+" --url "+server.url)...)...)
		links := regexp.MustCompile(`https?://[^",]*`) // Those of a server lead to its console.
		if err != nil || links.ReplaceAllString(here, "") != links.ReplaceAllString(there, "") || strings.Count(here, "\n") < 2 {
			t.Errorf("%s: %v %s\n%.500s\nover the network, and of the database\n%.500s", args, err, said, there, here)
		}
	}
	for args, want := range map[string]string{"findings --group acme/none": "there is no group and no repo acme/none", "sbom --image acme/none:1": "acme/none"} {
		if _, said, err := atrium(t, env, append([]string{"export"}, strings.Fields(args+" --url "+server.url)...)...); err == nil || !strings.Contains(said+err.Error(), want) {
			t.Errorf("%s: %v %s, want an error with %q", args, err, said, want)
		}
	}
}
