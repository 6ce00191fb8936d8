package sqlite

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"atrium/store/sqlstore/dbconn"
)

// fileWithoutTemporary is the variable with the database for the process that the test below starts.
const fileWithoutTemporary = "ATRIUM_TEST_WITHOUT_TEMPORARY"

// A container may have one folder that can be written: that of the database. Large statements need temporary files.
func TestTemporaryFilesAreBesideTheDatabaseIfNothingElseCanBeWritten(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(fileWithoutTemporary); path != "" {
		e, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		err = e.Write(t.Context(), func(c dbconn.TxConn) error {
			return c.Run(t.Context(),
				&dbconn.Statement{SQL: "CREATE TABLE many (a INTEGER UNIQUE, b TEXT)"},
				&dbconn.Statement{SQL: "INSERT INTO many SELECT value, hex(zeroblob(200)) FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 6000) SELECT value FROM n)"},
				&dbconn.Statement{SQL: "UPDATE many SET a = a + 10000"}) // SQLite must be able to undo it alone
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := exec.CommandContext(t.Context(), "unshare", "-rm", "true").Run(); err != nil {
		t.Skip("this system lets nobody mount a folder: " + err.Error())
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const script = `set -e; data=$(dirname "$0"); mkdir -p "$data/empty" "$data/bin"; cp "$1" "$data/bin/program"
for folder in /tmp /var/tmp /usr/tmp; do
	case "$data" in $folder/*) mount --bind "$data" /mnt; moved=/mnt;; esac
done
for folder in /tmp /var/tmp /usr/tmp; do test ! -d $folder || mount -t tmpfs -o ro tmpfs $folder; done
data=${moved:-$data}; mount --bind "$data/empty" "$data/empty"; mount -o remount,ro,bind "$data/empty"; cd "$data/empty"
export ATRIUM_TEST_WITHOUT_TEMPORARY="$data/a.db"; unset TMPDIR SQLITE_TMPDIR
exec "$data/bin/program" -test.run="^$2\$"`
	path := filepath.Join(t.TempDir(), "a.db")
	command := exec.CommandContext(t.Context(), "unshare", "-rm", "sh", "-c", script, path, program, t.Name()) //nolint:gosec // this program
	if said, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
