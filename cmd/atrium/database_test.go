package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// openRaw opens a database without the program.
func openRaw(t *testing.T, databaseURL string) *sql.DB {
	t.Helper()
	driver, name := "pgx", storetest.Direct(databaseURL)
	if path, embedded := strings.CutPrefix(databaseURL, "sqlite:"); embedded {
		driver, name = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// execute runs a statement on a database without the program.
func execute(t *testing.T, databaseURL, statement string) {
	t.Helper()
	if _, err := openRaw(t, databaseURL).ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// expectUnready expects that the server soon says in /readyz why it is not ready. The server
// keeps the result of a check for a second.
func expectUnready(t *testing.T, server *running, want string) {
	t.Helper()
	server.await(func() bool {
		status, body := server.get("", "/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, want)
	})
}

func TestEveryCommandRefusesADatabaseOfANewerProgram(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url)
		if status, body := server.get("", "/readyz"); status != http.StatusOK {
			t.Fatalf("status %d, want 200: %s", status, body)
		}
		execute(t, url, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (70001, true)")
		expectUnready(t, server, "schema 70001")
		if err := server.end(); err != nil {
			t.Error(err)
		}
		key := strings.Repeat("0", 64)
		for _, args := range []string{
			"serve --addr 127.0.0.1:0", "serve --no-migrate --addr 127.0.0.1:0", "token", "admin recount", "admin rotate-keys", "admin migrate up", "admin migrate status",
			"admin bootstrap --org acme --issuer https://issuer.example --subject me", "admin change-encryption-key --new-encryption-key " + key,
			"admin export audit", "import osv . --group " + strings.Repeat("0", 40), "query {x}",
		} {
			_, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, strings.Fields(args)...)
			if exitCode(err) != 1 || !strings.Contains(err.Error(), "schema 70001") || !strings.Contains(err.Error(), "supports schemas up to 0") {
				t.Errorf("%s: %v, want an error with 'schema 70001'", args, err)
			}
		}
	})
}

func TestAnOlderDatabaseIsNotServed(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		execute(t, url, "UPDATE goose_db_version SET is_applied = false WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
		for _, args := range []string{"serve --no-migrate --addr 127.0.0.1:0", "admin recount", "token"} {
			_, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, strings.Fields(args)...)
			if exitCode(err) != 1 || !strings.Contains(err.Error(), "run `atrium admin migrate up`") {
				t.Errorf("%s: %v, want an error with %q", args, err, "run `atrium admin migrate up`")
			}
		}
	})
	path := filepath.Join(t.TempDir(), "typo.db")
	_, _, err := atrium(t, nil, "serve", "--no-migrate", "--addr", "127.0.0.1:0", "--database-url", "sqlite:"+path)
	if err == nil || !strings.Contains(err.Error(), "there is no database "+path) {
		t.Errorf("got %v", err)
	}
	if left, err := filepath.Glob(path + "*"); err != nil || len(left) > 0 {
		t.Errorf("there are %v, %v", left, err)
	}
}

func TestOnlyTheOwnerCanReadDatabaseFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	url := "sqlite:" + filepath.Join(folder, "atrium.db")
	server := start(t, url, "--dev")
	files, err := os.ReadDir(folder)
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v, want Perm 0o600", file.Name(), info.Mode(), err)
		}
	}
	if strings.Contains(server.stderr.String(), "chmod") {
		t.Errorf("a warning of nothing:\n%s", server.stderr)
	}
	if err := server.end(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(folder, "atrium.db"), 0o644); err != nil {
		t.Fatal(err)
	}
	server = start(t, url)
	if !strings.Contains(server.stderr.String(), `"file":"`+filepath.Join(folder, "atrium.db")+`","mode":"-rw-r--r--"`) {
		t.Errorf("no warning in\n%s", server.stderr)
	}
}

// countRows counts the rows of a query.
func countRows(t *testing.T, databaseURL, query string) (n int) {
	t.Helper()
	if err := openRaw(t, databaseURL).QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestCommandsCreateNoKeys(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		mustRun(t, url, "admin", "bootstrap", "--org", "acme", "--issuer", "https://issuer.example", "--subject", "me")
		_, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "token")
		if exitCode(err) != 1 || !strings.Contains(err.Error(), "atrium serve --dev") {
			t.Errorf("a token without a server in development mode: %v, want an error with 'atrium serve --dev'", err)
		}
		mustRun(t, url, "admin", "export", "audit")
		if n := countRows(t, url, "SELECT count(*) FROM shared_key"); n != 0 {
			t.Errorf("%d keys are left, want 0", n)
		}
	})
}

func TestTheEncryptionKeyIsChangedByACommand(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		first, second := strings.Repeat("01", 32), strings.Repeat("02", 32)
		server := start(t, url) // This stores a key in the database.
		mustRun(t, url, "admin", "change-encryption-key", "--new-encryption-key", first)
		expectUnready(t, server, "encryption key")
		if err := server.end(); err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{
			"serve --addr 127.0.0.1:0", "serve --addr 127.0.0.1:0 --encryption-key " + second, "admin rotate-keys", "admin rotate-keys --encryption-key " + second,
			"admin change-encryption-key --encryption-key " + second + " --new-encryption-key " + strings.Repeat("03", 32),
		} {
			_, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, strings.Fields(args)...)
			if exitCode(err) != 1 || !strings.Contains(err.Error(), "--encryption-key") {
				t.Errorf("%s: %v, want an error with '--encryption-key'", args, err)
			}
		}
		mustRun(t, url, "admin", "rotate-keys", "--encryption-key", first)
		mustRun(t, url, "admin", "change-encryption-key", "--encryption-key", first, "--new-encryption-key", second)
		if err := start(t, url, "--encryption-key", second).end(); err != nil {
			t.Error(err)
		}
	})
}

func TestTwoServersOnOneFileAreRefused(t *testing.T) {
	t.Parallel()
	url := demonstration.SQLite(t)
	server := start(t, url, "--dev")
	_, _, err := atrium(t, nil, "serve", "--addr", "127.0.0.1:0", "--database-url", url)
	if exitCode(err) != 1 || !strings.Contains(err.Error(), strings.TrimPrefix(url, "sqlite:")) || !strings.Contains(err.Error(), "another server") {
		t.Errorf("got %v, want an error with 'another server'", err)
	}
	mustRun(t, url, "admin", "recount") // Commands may run while a server runs.
	if err := server.end(); err != nil {
		t.Fatal(err)
	}
	if err := start(t, url).end(); err != nil { // The file is no longer locked.
		t.Error(err)
	}
}

// The attack is an operator who names the database of another program, or a database that is still empty. A command that only
// asks, or that needs existing data, must leave it as it was; and no command may put the tables of Atrium into it.
func TestADatabaseOfAnotherProgramStaysAsItIs(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "bookmarks.db")
	execute(t, "sqlite:"+other, "CREATE TABLE bookmark (url TEXT)")
	for file, want := range map[string]string{
		other:                        other + " is a SQLite database, but not one of Atrium; name another with --database-url",
		writeFile(t, "empty.db", ""): "there is no database ",
	} {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		commands := []string{"admin status", "admin migrate status", "admin issuers list", "token", "admin recount", "admin export audit", "admin backup " + t.TempDir() + "/copy.db", "admin repair", "serve --no-migrate --addr 127.0.0.1:0"}
		if file == other {
			commands = append(commands, "admin migrate up", "admin bootstrap --org acme --issuer https://issuer.example --subject me", "serve --addr 127.0.0.1:0")
		}
		for _, args := range commands {
			if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": "sqlite:" + file}, strings.Fields(args)...); exitCode(err) != 1 || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %s: %v, want an error with %q", args, file, err, want)
			}
			if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
				t.Fatalf("%s has changed %s, which has %d bytes now, from %d (%v)", args, file, len(after), len(before), err)
			}
		}
	}
}

// The roles of some databases may read only.
func TestAskingForTheMigrationsMakesNoTable(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	if out := mustRun(t, url, "admin", "migrate", "status"); !strings.Contains(out, "00001 schema         pending") {
		t.Errorf("it prints\n%s", out)
	}
	if out := mustRun(t, url, "admin", "migrate", "status", "-o", "json"); !strings.Contains(out, `"applied": false`) || strings.Contains(out, "appliedTime") {
		t.Errorf("as JSON it prints\n%s", out)
	}
	if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "admin", "status"); exitCode(err) != 1 || !strings.Contains(err.Error(), "run `atrium admin migrate up`") {
		t.Errorf("the status: %v, want an error that names `atrium admin migrate up`", err)
	}
	tables := 0
	if err := openRaw(t, url).QueryRowContext(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&tables); err != nil || tables != 0 {
		t.Errorf("the database has %d tables (%v), want none", tables, err)
	}
}

// These are databases on which no server could start, or only seem to: each has a sentence that says what to do.
func TestADatabaseThatDoesNotFitIsExplained(t *testing.T) {
	t.Parallel()
	server := storetest.Direct(storetest.EmptyPostgres(t))
	// named returns a URL of the server with another user and another database.
	named := func(user, database string) string {
		u, err := neturl.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		u.Path, u.RawQuery = "/"+database, ""
		if user != "" {
			u.User = neturl.UserPassword(user, "secret")
		}
		return u.String()
	}
	suffix := strings.ToLower(rand.Text())
	role, latin, ascii, foreign := "role_"+suffix, "latin_"+suffix, "ascii_"+suffix, "foreign_"+suffix
	for _, statement := range []string{
		"CREATE ROLE " + role + " LOGIN PASSWORD 'secret'", "CREATE DATABASE " + foreign + " TEMPLATE template0",
		"CREATE DATABASE " + latin + " TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'",
		"CREATE DATABASE " + ascii + " TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'",
	} {
		execute(t, server, statement)
	}
	t.Cleanup(func() {
		db := openRaw(t, server)
		for _, statement := range []string{"DROP DATABASE " + latin, "DROP DATABASE " + ascii, "DROP DATABASE " + foreign, "DROP ROLE " + role} {
			if _, err := db.ExecContext(context.Background(), statement); err != nil { // The context of the test has ended.
				t.Error(err)
			}
		}
	})
	readOnly := named("", foreign) + "?sslmode=prefer&default_transaction_read_only=on"
	at, err := neturl.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	several := strings.Replace(readOnly, at.Host, at.Host+",localhost:"+at.Port(), 1)
	for url, want := range map[string]string{
		named("", latin) + "?sslmode=disable":         "the database " + latin + " has the encoding LATIN1",
		named("", latin) + "?client_encoding=UTF8":    "the database " + latin + " has the encoding LATIN1",
		named("", ascii):                              "has the encoding SQL_ASCII",
		named(role, foreign):                          "may not create tables in its schema (permission denied for schema public)",
		named(role, foreign) + "?search_path=nowhere": "there is no schema in which",
		readOnly: "is read-only",
		several:  "every server of --database-url that answers is read-only",
		named("", foreign) + "?sslmode=prefer&target_session_attrs=standby":       "fits its target_session_attrs (server is not in hot standby mode)",
		named("", foreign) + "?sslmode=prefer&require_auth=gss":                   "authenticates in another way than --database-url requires",
		named("nobody_"+suffix, "") + "?sslmode=prefer":                           "does not let user nobody_" + suffix,
		named("", foreign) + "?sslmode=verify-full&sslrootcert=/nowhere/root.crt": "the file /nowhere/root.crt, which the PostgreSQL URL names, does not exist",
		named("", foreign) + "?keepalives_idle=soon":                              `the parameter "keepalives_idle" of the PostgreSQL URL must be a number`,
		named("", foreign) + "?sslmode=require":                                   "does not offer TLS",
	} {
		_, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "admin", "migrate", "up")
		if exitCode(err) != 1 || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "SQLSTATE") {
			t.Errorf("%s: %v, want an error with %q", url, err, want)
		}
	}
	for _, parameters := range []string{
		"keepalives=1&keepalives_idle=30&keepalives_interval=10&keepalives_count=3", "gssencmode=disable&sslcompression=0&ssl_min_protocol_version=TLSv1.2", "fallback_application_name=x&load_balance_hosts=random", "client_encoding=auto",
	} {
		if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": named("", foreign) + "?" + parameters}, "admin", "migrate", "status"); err != nil {
			t.Errorf("%s: %v", parameters, err)
		}
	}
}
