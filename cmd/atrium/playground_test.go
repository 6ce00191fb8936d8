package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atrium/internal/demo"
	"atrium/platform/core"
)

// query runs a GraphQL document and decodes its data.
func (r *running) query(token, document, variables string, into any) {
	r.t.Helper()
	request := map[string]any{"query": document}
	if variables != "" {
		request["variables"] = json.RawMessage(variables)
	}
	body, err := json.Marshal(request)
	if err != nil {
		r.t.Fatal(err)
	}
	status, answer := r.send(http.MethodPost, token, "/graphql", string(body))
	var decoded struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := json.Unmarshal([]byte(answer), &decoded); err != nil || status != http.StatusOK || len(decoded.Errors) > 0 {
		r.t.Fatalf("%d: %.2000s\nfor %s, want 200", status, answer, document)
	}
	if err := json.Unmarshal(decoded.Data, into); err != nil {
		r.t.Fatal(err)
	}
}

func TestEveryExampleOfThePlaygroundReturnsData(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev")
		token := strings.TrimSpace(mustRun(t, url, "token"))
		for _, example := range demo.Examples(core.UID(demoUID(t, server))) {
			if strings.Contains(example.Query, "subscription ") {
				continue // A subscription answers only when something changes.
			}
			data := map[string]any{}
			server.query(token, example.Query, example.Variables, &data)
			if empty := findEmpty(data); empty != "" {
				t.Errorf("%s: nothing in%s, want none", example.Name, empty)
			}
		}
	})
}

// The demonstration has images with lists of packages: an old tag that is supported and affected, and
// a new one that is not, an exception that ends, and images of which only names are known.
func TestTheDemonstrationShowsFindings(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev")
		token := strings.TrimSpace(mustRun(t, url, "token"))
		var answer struct {
			FindingSummary struct {
				AffectedRepos, AffectedImages int
				Open                          struct{ Total, Critical, Fixable int }
				Accepted, NotAffected         struct{ Total int }
			}
			Accepted struct{ Nodes []struct{ ExpireTime string } }
			Express  struct {
				Nodes []struct {
					InstalledVersion string
					Repo             struct{ Name string }
					Tags, FixedIn    struct{ Nodes []struct{ Name string } }
				}
			}
			ByName struct {
				Nodes []struct{ VulnerabilityID string }
			}
		}
		server.query(token, `{
			findingSummary { affectedRepos affectedImages open { total critical fixable } accepted { total } notAffected { total } }
			accepted: findings(where: { states: [ACCEPTED] }) { nodes { expireTime } }
			express: findings(where: { vulnerabilityIds: ["ACME-2026-0101"], query: "express" }, orderBy: { field: UID }) {
				nodes { installedVersion repo { name } tags { nodes { name } } fixedIn(first: 1) { nodes { name } } }
			}
			byName: findings(where: { basis: [NAME], states: [OPEN] }) { nodes { vulnerabilityId } }
		}`, "", &answer)
		sum := answer.FindingSummary
		got := []int{sum.AffectedRepos, sum.AffectedImages, sum.Open.Total, sum.Open.Critical, sum.Open.Fixable, sum.Accepted.Total, sum.NotAffected.Total}
		if want := []int{5, 5, 10, 2, 8, 1, 1}; !slices.Equal(got, want) {
			t.Errorf("affected repos and images, open, critical, fixable, accepted and not affected findings: %v, want %v", got, want)
		}
		affected := map[string]bool{}
		for _, f := range answer.Express.Nodes {
			if len(f.Tags.Nodes) != 1 || len(f.FixedIn.Nodes) != 1 || f.InstalledVersion != "4.17.3" {
				t.Errorf("a finding of express is %+v, want it in one tag, and a newer one without it", f)
				continue
			}
			affected[f.Repo.Name+":"+f.Tags.Nodes[0].Name] = true
		}
		if want := map[string]bool{"checkout:4.2.7": true, "frontend:11.9.2": true}; !maps.Equal(affected, want) {
			t.Errorf("%v have the old express, want %v", affected, want)
		}
		if all := answer.Accepted.Nodes; len(all) != 1 || all[0].ExpireTime == "" {
			t.Errorf("the exceptions are %+v, want one that ends", all)
		}
		if all := answer.ByName.Nodes; len(all) != 1 || all[0].VulnerabilityID != "ACME-2026-0003" {
			t.Errorf("by name there is %+v, want ACME-2026-0003, of an image of which only names are known", all)
		}
	})
}

func TestWithoutAPlaygroundNoPageLinksToIt(t *testing.T) {
	t.Parallel()
	server := start(t, demonstration.SQLite(t), "--dev", "--no-playground")
	for path, want := range map[string]int{"/": http.StatusOK, "/playground": http.StatusNotFound, "/playground/small": http.StatusNotFound, "/docs": http.StatusOK, "/guide": http.StatusOK} {
		if status, body := server.get("", path); status != want && (path != "/docs" || status != http.StatusNotImplemented) || strings.Contains(body, ">Playground<") { // a reference that was not built answers 501
			t.Errorf("%s: status %d, want %d: %.300s, want it without '>Playground<'", path, status, want, body)
		}
	}
}

func TestWithoutAConsoleNoPageLeadsToOne(t *testing.T) {
	t.Parallel()
	server := start(t, demonstration.SQLite(t), "--dev", "--no-console")
	for path, want := range map[string]int{"/": http.StatusOK, "/console": http.StatusNotFound, "/console/acme": http.StatusNotFound, "/docs": http.StatusOK, "/guide": http.StatusOK} {
		if status, body := server.get("", path); status != want && (path != "/docs" || status != http.StatusNotImplemented) || strings.Contains(body, ">Console<") { // a reference that was not built answers 501
			t.Errorf("%s: status %d, want %d: %.300s, want it without '>Console<'", path, status, want, body)
		}
	}
}

func TestTheDocumentsOfTheConsoleAreTrusted(t *testing.T) {
	t.Parallel()
	manifest := filepath.Join(t.TempDir(), "trusted.json")
	if err := os.WriteFile(manifest, []byte(`{"mine": "query Mine { ping }"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("../../internal/web/console/generated/documents.json")
	if err != nil {
		t.Fatal(err)
	}
	var documents map[string]string
	if err := json.Unmarshal(content, &documents); err != nil || len(documents) == 0 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	for _, console := range []string{"--console", "--no-console"} {
		url := demonstration.SQLite(t)
		server := start(t, url, "--dev", "--trusted-documents", manifest, console)
		token := strings.TrimSpace(mustRun(t, url, "token"))
		for _, document := range documents {
			body, err := json.Marshal(map[string]string{"query": document})
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(document, "subscription") {
				continue // A subscription answers only when something changes.
			}
			_, answer := server.send(http.MethodPost, token, "/graphql", string(body))
			if refused := strings.Contains(answer, "only trusted documents"); refused != (console == "--no-console") {
				t.Errorf("%s: %.80s gives %.300s", console, document, answer)
			}
		}
	}
}

// optional lists fields that may be null or empty.
var optional = []string{"after", "before", "changes", "identity", "deliveries", "denied", "description", "disableReason", "failingSince", "fixed", "fixedVersions", "image", "installedVersion", "lastSeenTime"}

// findEmpty returns where a value contains an empty list or null.
func findEmpty(value any) (path string) {
	switch value := value.(type) {
	case nil:
		return ": null"
	case map[string]any:
		for key, v := range value {
			if in := findEmpty(v); in != "" && !slices.Contains(optional, key) {
				return "." + key + in
			}
		}
	case []any:
		if len(value) == 0 {
			return ": []"
		}
		for _, v := range value {
			if in := findEmpty(v); in != "" {
				return in
			}
		}
	}
	return ""
}
