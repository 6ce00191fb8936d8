package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/store/storetest"
)

// countAcknowledged counts the writes that were acknowledged.
func (w *writing) countAcknowledged() int {
	w.lock.Lock()
	defer w.lock.Unlock()
	return len(w.acknowledged)
}

// The sink fails the test if an event arrives with two ids.
func TestAnOldBackupIsRestoredWithoutASkippedDelivery(t *testing.T) {
	t.Parallel()
	url, file := demonstration.SQLite(t), filepath.Join(t.TempDir(), "backup.db")
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
	mustRun(t, url, "admin", "backup", file) // The server keeps writing and delivering.
	after := w.countAcknowledged()
	first.await(func() bool { return w.countAcknowledged() > after+100 })
	w.end()
	if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "admin", "restore", "--replace", file); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("restoring under a server: %v, want an error with 'in use'", err)
	}
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	if output := mustRun(t, url, "admin", "restore", "--replace", file); !strings.Contains(output, "\nthe keys can be read; 0 counters were corrected; events are in order; the newest event is of ") {
		t.Errorf("restoring said %q, want a text with %q", output, "\nthe keys can be read; 0 counters were corrected; events are in order; the newest event is of ")
	}
	second := start(t, url, "--dev", "--private-sink", receiver.Listener.Addr().String())
	if status, body := second.send(http.MethodPost, token, "/registry/v2/repos/"+acme, `{"name": "after-the-restore"}`); status != http.StatusOK {
		t.Fatalf("got %v, want 200", body)
	}
	restored := slices.DeleteFunc(strings.Fields(w.names(second.url)), func(name string) bool { return !strings.HasPrefix(name, "proof-") && name != "after-the-restore" })
	if len(restored) < 100 || len(restored) > w.countAcknowledged()-50 {
		t.Errorf("%d repos are there, of %d that were made", len(restored), w.countAcknowledged())
	}
	second.await(func() bool {
		sink.lock.Lock()
		defer sink.lock.Unlock()
		return !slices.ContainsFunc(restored, func(name string) bool { return sink.received[name].IsZero() })
	})
}

func TestAFailedBackupOrRestoreIsReportedAndReplacesNothing(t *testing.T) {
	t.Parallel()
	url, folder := storetest.SQLite(t), t.TempDir()
	if err := start(t, url, "--dev", "--encryption-key", strings.Repeat("ab", 32)).end(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "backup.db")
	mustRun(t, url, "admin", "backup", file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup is %v (%v), want Perm 0o600", info.Mode(), err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut, nothing := writeFile(t, "cut.db", string(whole[:len(whole)/2])), writeFile(t, "nothing.db", "")
	text := writeFile(t, "text", strings.Repeat("no database ", 200))
	env := map[string]string{"ATRIUM_DATABASE_URL": url}
	for args, want := range map[string]string{
		"admin backup " + file:                                            "the file " + file + " already exists",
		"admin backup " + folder + "/no/backup.db":                        "there is no folder " + folder + "/no",
		"admin restore " + file:                                           "use --replace to replace it",
		"admin restore --replace /nowhere":                                "there is no file /nowhere",
		"admin restore --replace " + file:                                 "encryption",
		"admin restore --replace " + cut:                                  "the backup " + cut + " is damaged",
		"admin restore --replace " + folder:                               folder + " is not a regular file",
		"admin restore --replace " + text:                                 text + " is not a SQLite database; name a file that `atrium admin backup` made",
		"admin restore --replace " + nothing:                              nothing + " is a SQLite database, but not one of Atrium",
		"admin restore --database-url postgres://h/d " + file:             "pg_restore",
		"admin backup --database-url postgres://h/d " + folder + "/pg.db": "pg_dump",
		"admin backup --database-url sqlite:" + folder + "/typo.db x":     "typo.db; create it with `atrium admin migrate up`",
	} {
		if _, _, err := atrium(t, env, strings.Fields(args)...); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), ".restore-") || strings.Contains(err.Error(), "restore a backup of it") {
			t.Errorf("%s: %v, want an error with %q", args, err, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Dir(strings.TrimPrefix(url, "sqlite:")) + "/*before*"); len(left) > 0 {
		t.Errorf("something was replaced: %v", left)
	}
	mustRun(t, url, "admin", "backup", "--overwrite", file)
	mustRun(t, "sqlite:"+folder+"/new.db", "admin", "restore", "--encryption-key", strings.Repeat("ab", 32), file)
	if info, err := os.Stat(folder + "/new.db"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the database is %v (%v), want Perm 0o600", info, err)
	}
	if left, _ := filepath.Glob(folder + "/.*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// The attack is an operator who names the wrong file, such as one that a typing error created.
func TestABackupIsOfADatabaseOfAtrium(t *testing.T) {
	t.Parallel()
	url, folder := storetest.SQLite(t), t.TempDir()
	good, fresh := filepath.Join(folder, "good.db"), filepath.Join(folder, "fresh.db")
	mustRun(t, url, "admin", "backup", good)
	before, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	if log := before[18]; log != 1 {
		t.Errorf("the header of the backup has the journal mode %d, want 1: a file without a log", log)
	}
	empty, text := writeFile(t, "empty.db", ""), writeFile(t, "text.db", strings.Repeat("no database ", 200))
	for source, want := range map[string]string{
		empty: "there is no database " + empty + "; create it with `atrium admin migrate up`, or name another with --database-url",
		text:  text + " is not a SQLite database",
	} {
		for _, args := range [][]string{{"admin", "backup", "--overwrite", good}, {"admin", "backup", fresh}} {
			if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": "sqlite:" + source}, args...); exitCode(err) != 1 || !strings.Contains(err.Error(), want) {
				t.Errorf("%v of %s: %v, want an error with %q", args, source, err, want)
			}
		}
	}
	if after, err := os.ReadFile(good); !bytes.Equal(before, after) {
		t.Errorf("the good backup was replaced (%v)", err)
	}
	if left, _ := filepath.Glob(folder + "/*"); len(left) != 1 {
		t.Errorf("the folder has %v, want only the good backup", left)
	}
	if left, _ := filepath.Glob(folder + "/.*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestABackupReplacesNoFileOfADatabase(t *testing.T) {
	t.Parallel()
	url, elsewhere := demonstration.SQLite(t), t.TempDir()
	path := strings.TrimPrefix(url, "sqlite:")
	link, busy := filepath.Join(elsewhere, "link.db"), filepath.Join(elsewhere, "busy.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{busy, busy + "-wal"} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := start(t, url, "--dev")
	for to, want := range map[string]string{
		path: "belongs to the database", path + "-wal": "belongs to the database", path + "-shm": "belongs to the database",
		path + "-journal": "belongs to the database", path + ".lock": "belongs to the database",
		link:      "belongs to the database",
		elsewhere: "is not a regular file", busy: "name another file",
	} {
		_, existed := os.Lstat(to)
		if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "admin", "backup", "--overwrite", to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", to, err, want)
		}
		if _, exists := os.Lstat(to); (existed == nil) != (exists == nil) {
			t.Errorf("%s was made: %v, want %v", to, exists, existed)
		}
	}
	if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": "sqlite:" + link}, "admin", "backup", "--overwrite", path); err == nil || !strings.Contains(err.Error(), "belongs to the database") {
		t.Errorf("of a link: %v, want an error with 'belongs to the database'", err)
	}
	if err := server.end(); err != nil {
		t.Fatal(err)
	}
	if err := start(t, url, "--dev").end(); err != nil {
		t.Errorf("the database cannot be served again: %v", err)
	}
}

// copyOpen copies the database of a running server, and its log, as they are after the server
// was killed.
func copyOpen(t *testing.T, url string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "killed.db")
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(strings.TrimPrefix(url, "sqlite:") + suffix)
		if err != nil || len(content) == 0 {
			t.Fatalf("there are %d bytes in the file %q of the database: %v, want some", len(content), suffix, err)
		}
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestARestoreReadsTheLogOfADatabaseToo(t *testing.T) {
	t.Parallel()
	url, empty := demonstration.SQLite(t), filepath.Join(t.TempDir(), "empty.db")
	mustRun(t, url, "admin", "backup", empty)
	server := start(t, url, "--dev") // The log has the demonstration.
	killed := copyOpen(t, url)
	kept := copyOpen(t, url)
	if err := server.end(); err != nil {
		t.Fatal(err)
	}
	const want = "the newest event is of "
	if output := mustRun(t, "sqlite:"+filepath.Join(t.TempDir(), "new.db"), "admin", "restore", killed); !strings.Contains(output, want) {
		t.Errorf("restoring a database with a log said %q, want it to contain %q", output, want)
	}
	output := mustRun(t, "sqlite:"+kept, "admin", "restore", "--replace", empty)
	_, before, _ := strings.Cut(strings.SplitN(output, "\n", 2)[0], "is now ")
	if output := mustRun(t, "sqlite:"+kept, "admin", "restore", "--replace", before); !strings.Contains(output, want) {
		t.Errorf("restoring what a restore kept said %q, want it to contain %q", output, want)
	}
}

func TestEveryRestoreKeepsTheDatabaseThatWasThere(t *testing.T) {
	t.Parallel()
	url, file := storetest.SQLite(t), filepath.Join(t.TempDir(), "backup.db")
	mustRun(t, url, "admin", "backup", file)
	kept := map[string]bool{}
	for range 4 { // several in one second
		name, _, _ := strings.Cut(mustRun(t, url, "admin", "restore", "--replace", file), "\n")
		kept[strings.TrimPrefix(name, "the previous database is now ")] = true
	}
	if len(kept) != 4 {
		t.Errorf("4 restores kept %v, want 4 names", kept)
	}
	for name := range kept {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}

// The folder of the link may be on a small disk. The database stays where it is.
func TestARestoreFollowsTheLinkToTheDatabase(t *testing.T) {
	t.Parallel()
	url, folder := storetest.SQLite(t), t.TempDir()
	link, file := filepath.Join(folder, "link.db"), filepath.Join(folder, "backup.db")
	path := strings.TrimPrefix(url, "sqlite:")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	mustRun(t, url, "admin", "backup", file)
	mustRun(t, "sqlite:"+link, "admin", "restore", "--replace", file)
	if to, err := os.Readlink(link); to != path {
		t.Errorf("the link leads to %q, want %q (%v)", to, path, err)
	}
	if kept, err := filepath.Glob(path + ".before-*"); len(kept) != 1 {
		t.Errorf("%q are kept beside the database, want the former one (%v)", kept, err)
	}
	mustRun(t, url, "admin", "recount")
}

func TestARepairReportsWhatItFound(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		mustRun(t, url, "admin", "bootstrap", "--org", "acme", "--issuer", "https://issuer.example.com", "--subject", "me")
		if output := mustRun(t, url, "admin", "repair"); !strings.Contains(output, "0 counters were corrected; events are in order") {
			t.Errorf("said %q, want it to contain '0 counters were corrected; events are in order'", output)
		}
	})
}

func TestEachVersionBacksUpOnceBeforeAnUpgrade(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "backups")
	url, file := "sqlite:"+filepath.Join(t.TempDir(), "atrium.db"), filepath.Join(folder, "before-"+version+".db")
	if output := mustRun(t, url, "admin", "backup", "--before-upgrade", folder); output != "" {
		t.Errorf("without a database, the command says %q, want nothing", output)
	}
	mustRun(t, url, "admin", "migrate", "up")
	if output := mustRun(t, url, "admin", "backup", "--before-upgrade", folder); !strings.HasPrefix(output, "backed up to "+file) {
		t.Errorf("the first start of a version says %q, want a backup to %s", output, file)
	}
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, url, "admin", "rotate-keys") // The second start of the version must not replace the copy from before the upgrade.
	if output := mustRun(t, url, "admin", "backup", "--before-upgrade", folder); output != "" {
		t.Errorf("the second start of a version says %q, want nothing", output)
	}
	if second, err := os.ReadFile(file); err != nil || !bytes.Equal(first, second) {
		t.Errorf("the second start has replaced the backup (%v)", err)
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has the mode %v (%v), want 0700: backups contain keys", info.Mode(), err)
	}
	if output := mustRun(t, "postgres://127.0.0.1:1/none", "admin", "backup", "--before-upgrade", folder); output != "" {
		t.Errorf("with PostgreSQL, the command says %q, want nothing", output)
	}
}
