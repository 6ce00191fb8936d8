package storetest_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"atrium/store/sqlstore/dbconn"
)

// exampleMigrator returns a Migrator for the migrations in testdata. They are an example for those
// of future releases: they give a new name to a column of a table of this test. On PostgreSQL,
// a server of the previous version writes meanwhile.
func exampleMigrator(t *testing.T, w *world) *dbconn.Migrator {
	t.Helper()
	engine := openEngine(t, w.url)
	files := must[fs.FS](t)(fs.Sub(os.DirFS("testdata/migrations"), engine.Dialect().Migrations))
	m := must[*dbconn.Migrator](t)(engine.Migrator(files))
	t.Cleanup(func() { _ = m.Close() })
	return m
}

const exampleNotes = 1000

// makeNotes makes the table of the example, with rows as the previous version writes them.
func (w *world) makeNotes() *sql.DB {
	w.t.Helper()
	db := w.openDirect()
	w.exec(db, "CREATE TABLE note (id BIGINT PRIMARY KEY, title TEXT NOT NULL)")
	w.exec(db, fmt.Sprintf("WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < %d) INSERT INTO note (id, title) SELECT id, 'note ' || id FROM n", exampleNotes))
	return db
}

// checkNotes checks that the first changed notes of n have the text of their last change.
func (w *world) checkNotes(db *sql.DB, n, changed int) {
	w.t.Helper()
	got := w.query(db, fmt.Sprintf("SELECT count(*), count(CASE WHEN heading = 'note ' || id || CASE WHEN id <= %d THEN '!' ELSE '' END THEN 1 END) FROM note", changed))[0]
	if got[0] != fmt.Sprint(n) || got[1] != got[0] {
		w.t.Errorf("%s of %s notes have their text, want %d", got[1], got[0], n)
	}
}

func TestAMigrationRunsBesideAServerOfThePreviousVersion(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		db, m := w.makeNotes(), exampleMigrator(t, w)
		if w.onSQLite() {
			must[any](t)(nil, m.Up(t.Context()))
			w.checkNotes(db, exampleNotes, 0)
			return
		}
		written := 0
		write := func() error {
			_, err := db.ExecContext(t.Context(), fmt.Sprintf("WITH c AS (UPDATE note SET title = title || '!' WHERE id = %d) INSERT INTO note (id, title) VALUES (%d, 'note %[2]d')", written+1, exampleNotes+written+1))
			if err == nil {
				written++
			}
			return err
		}
		must[any](t)(nil, write())
		// The migration waits before a late step, until the server has written beside it.
		gate := must[*sql.Tx](t)(db.BeginTx(t.Context(), nil))
		w.exec(db, "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END $$")
		w.exec(db, "CREATE TRIGGER wait BEFORE UPDATE ON note FOR EACH ROW WHEN (OLD.id = 550) EXECUTE FUNCTION wait()")
		must[sql.Result](t)(gate.ExecContext(t.Context(), "SELECT pg_advisory_xact_lock(4711)"))
		done := make(chan error, 1)
		go func() { done <- m.Up(t.Context()) }()
		waitFor(t, "the migration does not wait", func() bool {
			return w.query(db, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event = 'advisory'")[0][0] == "1"
		})
		must[any](t)(nil, write())
		must[any](t)(nil, gate.Rollback())
		err := write()
		for err == nil {
			err = write()
		}
		if !strings.Contains(err.Error(), `column "title"`) { // The last step has been done.
			t.Fatal("the server cannot write during the migration:", err)
		}
		must[any](t)(nil, <-done)
		w.checkNotes(db, exampleNotes+written, written)
	})
}

// An interrupted migration keeps the steps that it has done, and the next one continues.
func TestAnInterruptedMigrationContinues(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.onSQLite() {
			t.Skip("a migration of SQLite is one transaction")
		}
		db, m := w.makeNotes(), exampleMigrator(t, w)
		w.exec(db, "CREATE FUNCTION interrupt() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'interrupted'; END $$")
		w.exec(db, "CREATE TRIGGER interrupt BEFORE UPDATE ON note FOR EACH ROW WHEN (OLD.id = 550) EXECUTE FUNCTION interrupt()")
		if err := m.Up(t.Context()); err == nil || !strings.Contains(err.Error(), "interrupted") {
			t.Fatalf("the migration ends with %v, want the interruption", err)
		}
		w.exec(db, "DROP TRIGGER interrupt ON note")
		if got := w.query(db, "SELECT count(heading) FROM note")[0][0]; got != "500" {
			t.Errorf("%s notes have their text, want those of the steps before the interruption", got)
		}
		must[any](t)(nil, m.Up(t.Context()))
		w.checkNotes(db, exampleNotes, 0)
	})
}
