package dbfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"atrium/store/dbfile"
)

// All who may use a database may lock it too.
func TestTheFilesThatAreLockedHaveTheRightsOfTheDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	if err := errors.Join(dbfile.Create(path), os.Chmod(path, 0o660)); err != nil {
		t.Fatal(err)
	}
	turn, err := dbfile.NewTurn(path)
	if err != nil {
		t.Fatal(err)
	}
	release, err := dbfile.Acquire(path)
	if err := errors.Join(err, release(), turn.Close()); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{".lock", ".next", ".turn"} {
		if info, err := os.Stat(path + suffix); err != nil || info.Mode().Perm() != 0o660 {
			t.Errorf("%s is %v, %v, want the mode 0660", suffix, info, err)
		}
	}
	dbfile.Remove(path)
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
		t.Errorf("%v are left (%v), want none", left, err)
	}
}
