package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/store/storetest"
)

// startAnotherPostgres starts a new PostgreSQL server for the test and returns the URL of
// an empty database on it.
func startAnotherPostgres(t *testing.T) string {
	t.Helper()
	hold := exec.CommandContext(t.Context(), "../../scripts/with-postgres", "sh", "-c", `echo "$ATRIUM_TEST_POSTGRES"; cat`)
	hold.Env = slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "ATRIUM_TEST_POSTGRES=") })
	hold.Stderr = os.Stderr
	end, err := hold.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := hold.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hold.Start(); err != nil {
		t.Fatal(err)
	}
	hold.Cancel = func() error { return end.Close() } // The server needs time to remove its files.
	t.Cleanup(func() { _ = end.Close(); _ = hold.Wait() })
	url, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(url)
}

// runFromGuide runs a command exactly as the guide's page about backups shows it: the
// command that begins with the given word.
func runFromGuide(t *testing.T, begins, folder, databaseURL string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/backup.md")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^` + begins + ` .*$`).FindString(string(page))
	programs, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if line == "" || err != nil {
		t.Fatalf("the guide has no command %s (%v)", begins, err)
	}
	slices.Reverse(programs) // scripts/with-postgres also tries the newest version first.
	command := exec.CommandContext(t.Context(), "bash", "-euc", line)
	command.Dir = folder
	command.Env = append(os.Environ(), "ATRIUM_DATABASE_URL="+databaseURL, "PATH="+strings.Join(append(programs, os.Getenv("PATH")), ":"))
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, output)
	}
}

// The sink fails the test if an event arrives with two ids. The second server has counted
// fewer transactions than the first. Without the repair, its new events would sort before
// old ones.
func TestAnOldDumpOfPostgreSQLIsRestoredIntoAnotherServerWithoutASkippedDelivery(t *testing.T) {
	t.Parallel()
	url, folder := storetest.Postgres(t), t.TempDir()
	sink := &countingSink{t: t, ids: map[string]string{}, received: map[string]time.Time{}}
	receiver := httptest.NewServer(sink)
	t.Cleanup(receiver.Close)
	first := start(t, url, "--dev", "--private-sink", receiver.Listener.Addr().String())
	token, acme := strings.TrimSpace(mustRun(t, url, "token", "--ttl", "24h")), demoUID(t, first)
	if status, body := first.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, `{"sink": "`+receiver.URL+`", "types": ["dev.atrium.api.platform.registry.repo.created.v1"]}`); status != http.StatusOK {
		t.Fatalf("got %v, want 200", body)
	}
	w := &writing{t: t, token: token, group: acme, acknowledged: map[string]time.Time{}}
	w.at(first.url)
	for range 4 {
		w.running.Go(w.write)
	}
	first.await(func() bool { return w.countAcknowledged() > 100 })
	const page = "/registry/v2/repos?page_size=5&order_by=name"
	begun := readPage(t, first, token, page)
	runFromGuide(t, "pg_dump", folder, url) // The server keeps writing and delivering.
	after := w.countAcknowledged()
	first.await(func() bool { return w.countAcknowledged() > after+100 })
	w.end()
	if err := first.end(); err != nil {
		t.Fatal(err)
	}

	restored := startAnotherPostgres(t)
	runFromGuide(t, "pg_restore", folder, restored)
	if output := mustRun(t, restored, "admin", "repair"); !strings.Contains(output, "the keys can be read; 0 counters were corrected; events are moved into the order of this server; the newest event is of ") {
		t.Errorf("the repair said %q, want a text with %q", output, "the keys can be read; 0 counters were corrected; events are moved into the order of this server; the newest event is of ")
	}
	second := start(t, restored, "--dev", "--private-sink", receiver.Listener.Addr().String())
	if status, body := second.send(http.MethodPost, token, "/registry/v2/repos/"+acme, `{"name": "after-the-restore"}`); status != http.StatusOK {
		t.Fatalf("got %v, want 200", body)
	}
	kept := slices.DeleteFunc(strings.Fields(w.names(second.url)), func(name string) bool { return !strings.HasPrefix(name, "proof-") && name != "after-the-restore" })
	if len(kept) < 100 || len(kept) > w.countAcknowledged()-50 {
		t.Errorf("%d repos are there, of %d that were made", len(kept), w.countAcknowledged())
	}
	second.await(func() bool {
		sink.lock.Lock()
		defer sink.lock.Unlock()
		return !slices.ContainsFunc(kept, func(name string) bool { return sink.received[name].IsZero() })
	})
	if got := readPage(t, second, token, page+"&page_token="+begun.NextPageToken); begun.NextPageToken == "" || len(got.Repos) != 5 || got.Repos[0].Name <= begun.Repos[4].Name {
		t.Errorf("a page token from before the backup goes on with %v after %v, want 5 of them", got.Repos, begun.Repos)
	}
	if output := mustRun(t, restored, "admin", "repair"); !strings.Contains(output, "0 counters were corrected; events are in order") {
		t.Errorf("the second repair said %q", output)
	}
}

type repoPage struct {
	Repos         []struct{ Name string }
	NextPageToken string `json:"nextPageToken"`
}

// readPage returns a page of repos.
func readPage(t *testing.T, server *running, token, path string) (page repoPage) {
	t.Helper()
	status, body := server.get(token, path)
	if err := json.Unmarshal([]byte(body), &page); err != nil || status != http.StatusOK {
		t.Fatalf("%s: status %d, want 200: %s", path, status, body)
	}
	return page
}
