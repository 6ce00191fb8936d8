package main

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResourcesAreListedAndShown(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev")
		env := map[string]string{"ATRIUM_URL": server.url, "ATRIUM_TOKEN": strings.TrimSpace(mustRun(t, url, "token"))}
		list := func(args ...string) string {
			t.Helper()
			out, said, err := atrium(t, env, args...)
			if err != nil {
				t.Errorf("%q: %v\n%s", args, err, said)
			}
			return out
		}
		table := list("list", "findings", "--severity", "critical,high", "--limit", "3")
		if lines := strings.Split(table, "\n"); len(lines) != 5 || !strings.HasPrefix(lines[0], "SEVERITY  VULNERABILITY") || !strings.HasPrefix(lines[1], "critical  ") || !strings.Contains(lines[1], "acme/") || strings.Contains(table, "\x1b") {
			t.Errorf("findings:\n%s, want three with the paths of their repos", table)
		}
		uids := strings.Fields(list("list", "repos", "-q", "--limit", "2", "--order-by", "name"))
		if len(uids) != 2 {
			t.Fatalf("uids of repos: %q", uids)
		}
		var repo struct{ UID, Name string }
		if err := json.Unmarshal([]byte(list("get", "repos", uids[0], "-o", "json")), &repo); err != nil || repo.UID != uids[0] {
			t.Errorf("a repo as JSON: %v %+v", err, repo)
		}
		path := strings.Fields(strings.Split(list("list", "repos", "--uid", uids[0]), "\n")[1])[1] + "/" + repo.Name
		for _, named := range []string{path, repo.Name} {
			if out := list("get", "repo", named); !strings.Contains(out, uids[0]) {
				t.Errorf("get repo %s: %s", named, out)
			}
		}
		rows, err := csv.NewReader(strings.NewReader(list("list", "tags", "--group", path, "--direct-only", "-o", "csv", "--limit", "0"))).ReadAll()
		if err != nil || len(rows) < 2 || rows[0][0] != "repo" || rows[1][0] != path {
			t.Errorf("tags as CSV: %v %q", err, rows)
		}
		if out := list("list", "repos", "--group", "acme", "-o", "name", "--limit", "0"); !strings.Contains("\n"+out, "\n"+repo.Name+"\n") {
			t.Errorf("names: %s", out)
		}
		if out := list("list", "groups", "--direct-only", "-o", "yaml"); !strings.Contains(out, "name: acme\n") {
			t.Errorf("organizations as YAML: %s", out)
		}
		for _, kind := range allKinds() {
			args := []string{"list", kind.Name, "--limit", "1"}
			switch {
			case kind.NeedsGroup():
				args = append(args, "--group", "acme")
			case kind.Name == "artifacts":
				args = append(args, "--ecosystem", "python")
			case kind.Name == "artifact-versions", kind.Name == "package-versions", kind.Name == "resolved-vulns-reports":
				continue // These are of one artifact, one package or some images.
			}
			if out, said, err := atrium(t, env, args...); err != nil || out == "" && !strings.HasPrefix(said, "There are no ") {
				t.Errorf("%q: %v %q %q", args, err, out, said)
			}
		}
		for words, want := range map[string]string{
			"list rep": "repos", "list findings --severity critical,h": "critical,high", "list findings --sev": "--severity", "list repos --order-by na": "name",
			"get repo acme/": path, "list tags --group ac": "acme", "get repos x -o ya": "yaml",
		} {
			if out := list(append([]string{"complete-words", "--"}, strings.Split(words, " ")...)...); !strings.Contains("\n"+out, "\n"+want+"\n") {
				t.Errorf("%q is completed by %q, want %s among them", words, out, want)
			}
		}
		if _, said, err := atrium(t, env, "list", "repos", "--limit", "1"); err != nil || !strings.HasPrefix(said, "Showing 1 of ") {
			t.Errorf("more than is shown: %v %q", err, said)
		}
	})
}

func TestWhatAListDoesNotKnowIsNamed(t *testing.T) {
	t.Parallel()
	env := map[string]string{"ATRIUM_TOKEN": "t", "ATRIUM_SEVERITY": "none"}
	for _, c := range []struct{ args, wants string }{
		{"list findings --severity awful", "--severity: must be one of unknown, none, low, medium, high, critical"},
		{"list findings --color red", "unknown flag --color"},
		{"list findings --color red", "the filters of findings are --advisory, --assigned"},
		{"list ships", "the kinds are "},
		{"list repos --order-by color", "--order-by (ATRIUM_ORDER_BY): must be fields"},
		{"list repos --limit=-1 -o xml --interval 1ms", "--interval (ATRIUM_INTERVAL): must be 1s or more"},
		{"list repos --watch -o json", "--watch (ATRIUM_WATCH): shows tables only"},
		{"list packages --direct-only", "--direct-only (ATRIUM_DIRECT_ONLY): does not apply to packages"},
		{"list artifacts", "--ecosystem: is required"},
		{"list terms-acceptances", "--group (ATRIUM_GROUP): is required"},
		{"list vulnerability-metadata --group acme", "--group (ATRIUM_GROUP): does not apply to vulnerability-metadata"},
	} {
		if _, _, err := atrium(t, env, strings.Fields(c.args)...); exitCode(err) != 2 || !strings.Contains(err.Error(), c.wants) {
			t.Errorf("%s: %v, want %q", c.args, err, c.wants)
		}
	}
}

// The attack is a resource whose name moves the cursor of those who list it.
func TestTextsOfResourcesAreEscaped(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"roles": [{"name": "a\u001b[2J\nb\u202e", "uid": "c\u0007"}]}`)
	}))
	t.Cleanup(site.Close)
	env := map[string]string{"ATRIUM_URL": site.URL, "ATRIUM_TOKEN": "t"}
	for _, form := range []string{"table", "wide", "csv", "json", "yaml", "name"} {
		if out, _, err := atrium(t, env, "list", "roles", "-o", form); err != nil || strings.ContainsAny(out, "\x1b\x07\u202e") || !strings.Contains(out, "[2J") {
			t.Errorf("as %s: %v %q", form, err, out)
		}
	}
}

// The attack is a resource whose name is a command, which bash would run when it completes words.
func TestNamesThatAShellWouldRunAreNotCompleted(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"roles": [{"name": "$(touch /tmp/x)"}, {"name": "a`+"`id`"+`"}, {"name": "publisher"}, {"name": "a b"}]}`)
	}))
	t.Cleanup(site.Close)
	env := map[string]string{"ATRIUM_URL": site.URL, "ATRIUM_TOKEN": "t"}
	if out, _, err := atrium(t, env, "complete-words", "--", "get", "roles", ""); err != nil || out != "publisher\n" {
		t.Errorf("%v %q", err, out)
	}
}

func TestATableIsShownByThePagerOfThePerson(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"roles": [{"name": "publisher"}]}`)
	}))
	t.Cleanup(site.Close)
	folder := t.TempDir()
	seen, script := filepath.Join(folder, "seen"), filepath.Join(folder, "pager")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ncat > "+seen+"\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as terminals are
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	for _, c := range []struct {
		noColor, want string
	}{{"", "\x1b[2mNAME\x1b[0m       \x1b[2mGROUP"}, {"1", "NAME       GROUP"}} {
		env := map[string]string{"ATRIUM_URL": site.URL, "ATRIUM_TOKEN": "t", "PAGER": script, "NO_COLOR": c.noColor, "PATH": os.Getenv("PATH")}
		if err := run(t.Context(), []string{"list", "roles"}, program{"atrium", variables(env), list(env), strings.NewReader(""), terminal, io.Discard}); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(seen); err != nil || !strings.HasPrefix(string(text), c.want) || !strings.HasSuffix(string(text), "\npublisher\n") {
			t.Errorf("NO_COLOR=%q: %v, the pager got %q, want %q", c.noColor, err, text, c.want)
		}
	}
}

func TestAWatchedListFollowsChanges(t *testing.T) {
	t.Parallel()
	url := demonstration.SQLite(t)
	server := start(t, url, "--dev")
	token := strings.TrimSpace(mustRun(t, url, "token"))
	env := map[string]string{"ATRIUM_URL": server.url, "ATRIUM_TOKEN": token}
	watched := launch(t, env, "list", "repos", "--watch", "--limit", "0", "--group", "acme")
	watched.await(func() bool { return strings.Contains(watched.stdout.String(), "NAME") })
	if status, body := server.send(http.MethodPost, token, "/registry/v2/repos/"+demoUID(t, server), `{"name": "watched-by-people"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	watched.await(func() bool { return strings.Contains(watched.stdout.String(), "watched-by-people") })
	if err := watched.end(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

func TestAListIsPolledWithoutAFeed(t *testing.T) {
	t.Parallel()
	names := make(chan string, 2)
	names <- "first"
	names <- "second"
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/graphql" {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"code": 7, "message": "there is no feed"}`)
			return
		}
		name := "last"
		select {
		case name = <-names:
		default:
		}
		_, _ = io.WriteString(w, `{"roles": [{"name": "`+name+`"}]}`)
	}))
	t.Cleanup(site.Close)
	watched := launch(t, map[string]string{"ATRIUM_URL": site.URL, "ATRIUM_TOKEN": "t"}, "list", "roles", "--watch", "--interval", "1s")
	watched.await(func() bool { return strings.Contains(watched.stdout.String(), "last") })
	if err := watched.end(); err != nil || !strings.Contains(watched.stdout.String(), "first\n\nNAME ") {
		t.Errorf("%v\n%s", err, watched.stdout)
	}
}
