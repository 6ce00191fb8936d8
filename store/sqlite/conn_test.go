package sqlite

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	lib "modernc.org/sqlite/lib"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

func TestAFullDatabaseIsNotCalledBusy(t *testing.T) {
	t.Parallel()
	e, err := Open(t.Context(), filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	run := func(sql string, args ...any) error {
		return e.Write(t.Context(), func(c dbconn.TxConn) error {
			return c.Run(t.Context(), &dbconn.Statement{SQL: sql, Args: args})
		})
	}
	if err := errors.Join(run("CREATE TABLE t (a BLOB)"), run("PRAGMA max_page_count = 8")); err != nil {
		t.Fatal(err)
	}
	var said *core.Error
	if err := run("INSERT INTO t VALUES (?)", make([]byte, 1<<20)); !errors.As(err, &said) || said.Code != core.CodeUnavailable || !strings.Contains(said.Message, "is full; make room") {
		t.Errorf("got %v, want UNAVAILABLE with 'is full; make room'", err)
	}
	for code, want := range map[int]string{lib.SQLITE_BUSY_SNAPSHOT: "has locked", lib.SQLITE_LOCKED: "has locked", lib.SQLITE_IOERR_WRITE: "cannot be read or written", lib.SQLITE_FULL: "is full"} {
		if got := describeTrouble(code); !strings.Contains(got, want) {
			t.Errorf("%d is described as %q, want it to contain %q", code, got, want)
		}
	}
	if got := describeTrouble(lib.SQLITE_CORRUPT); got != "" {
		t.Errorf("damage is described as %q, want %q", got, "")
	}
}
