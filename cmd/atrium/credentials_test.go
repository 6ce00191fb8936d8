package main

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atrium/store/storetest"
)

// withRole creates a role that may do everything, and returns the URL of a database with its password, or with another one.
func withRole(t *testing.T, role string) (databaseURL string, withPassword func(string) string) {
	t.Helper()
	databaseURL = storetest.Postgres(t)
	execute(t, databaseURL, "CREATE ROLE "+role+" SUPERUSER LOGIN PASSWORD 'first'")
	raw := openRaw(t, databaseURL)
	t.Cleanup(func() {
		if _, err := raw.ExecContext(context.Background(), "REASSIGN OWNED BY "+role+" TO CURRENT_USER; DROP OWNED BY "+role+"; DROP ROLE "+role); err != nil {
			t.Error(err)
		}
	})
	return databaseURL, func(password string) string {
		u, err := url.Parse(databaseURL)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(role, password)
		return u.String()
	}
}

// endSessions ends the connections of a role, as a failover does.
func endSessions(t *testing.T, databaseURL, role string) {
	t.Helper()
	execute(t, databaseURL, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '"+role+"'")
}

func TestAPasswordIsChangedWithoutARestart(t *testing.T) {
	t.Parallel()
	databaseURL, withPassword := withRole(t, "rotating")
	file := writeFile(t, "database-url", withPassword("first")+"\n")
	mustRun(t, withPassword("first"), "admin", "migrate", "up")
	server := launch(t, map[string]string{"ATRIUM_DATABASE_URL_FILE": file}, "serve", "--addr", "127.0.0.1:0", "--metrics-addr=")
	server.await(func() bool { return servedAt.MatchString(server.stdout.String() + server.stderr.String()) })
	server.url = servedAt.FindStringSubmatch(server.stdout.String() + server.stderr.String())[1]
	server.await(func() bool { status, _ := server.get("", "/readyz"); return status == http.StatusOK })

	execute(t, databaseURL, "ALTER ROLE rotating PASSWORD 'second'")
	endSessions(t, databaseURL, "rotating")
	var said string
	server.await(func() bool {
		var status int
		status, said = server.get("", "/readyz")
		return status == http.StatusServiceUnavailable
	})
	if !strings.Contains(said, "refuses the user or the password of this server; its operator must correct them") || strings.Contains(said, "first") {
		t.Errorf("/readyz says %q, want that the password is refused", said)
	}
	if err := os.WriteFile(file, []byte(withPassword("second")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server.await(func() bool { status, _ := server.get("", "/readyz"); return status == http.StatusOK })
	endSessions(t, databaseURL, "rotating")
	if err := server.end(); err != nil {
		t.Fatal(err)
	}
}

func TestACommandPrintsThePassword(t *testing.T) {
	t.Parallel()
	_, withPassword := withRole(t, "commanded")
	password := writeFile(t, "password", "first\n")
	plain := strings.Replace(withPassword(""), ":@", "@", 1)
	command := "cat " + password
	if out := mustRun(t, plain, "admin", "migrate", "up", "--database-password-command", command); out != "the database is up to date\n" {
		t.Errorf("migrate says %q", out)
	}
	server := start(t, plain, "--database-password-command", command)
	if status, body := server.get("", "/readyz"); status != http.StatusOK {
		t.Errorf("/readyz: %d %s, want 200", status, body)
	}
	for command, want := range map[string]string{"false": "false fails: exit status 1", "true": "must print one line", "cat " + password + " " + password: "must print one line", "/nowhere": "no such file"} {
		if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": plain}, "admin", "migrate", "status", "--database-password-command", command); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", command, err, want)
		}
	}
	if _, said, err := atrium(t, nil, "admin", "migrate", "status", "--database-password-command", command); exitCode(err) != 2 || !strings.Contains(said+err.Error(), "needs a PostgreSQL database") {
		t.Errorf("with SQLite: %v, want exit code 2", err)
	}
	if out, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": plain}, "admin", "config", "--database-password-command", "false"); err != nil || !strings.Contains(out, "database-password-command: \"false\"") {
		t.Errorf("the check of the configuration runs the command: %v\n%s", err, out)
	}
}

func TestAPasswordOfACommandIsKeptForAMinute(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "password")
	command := &passwordCommand{arguments: []string{"cat", file}}
	for i, step := range []struct {
		written, want string
		isOld         bool
	}{{"a", "a", false}, {"b", "a", false}, {"b", "b", true}} {
		if err := os.WriteFile(file, []byte(step.written), 0o600); err != nil {
			t.Fatal(err)
		}
		if step.isOld {
			command.until = time.Time{}
		}
		if got, err := command.get(context.Background()); err != nil || got != step.want {
			t.Errorf("step %d: %q (%v), want %q", i, got, err, step.want)
		}
	}
}
