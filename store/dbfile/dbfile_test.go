package dbfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atrium/store/dbfile"
)

func TestAFileIsCreatedOnceAndOnlyForItsOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	var making sync.WaitGroup
	for range 8 {
		making.Go(func() {
			if err := dbfile.Create(path); err != nil {
				t.Error(err)
			}
		})
	}
	making.Wait()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 0 {
		t.Fatalf("the file is %v, %v, want Perm 0o600 and Size 0", info, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("there are %v, want 1 of them, %v", left, err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dbfile.Create(path); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(path); string(content) != "x" {
		t.Errorf("a file that was there holds %q, %v", content, err)
	}
	if err := dbfile.Create(filepath.Join(path, "b.db")); err == nil || !strings.Contains(err.Error(), "b.db") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

// SQLite would create the file that a link names, readable by everybody.
func TestAFileThatALinkNamesIsCreatedOnlyForItsOwner(t *testing.T) {
	t.Parallel()
	folder, data := t.TempDir(), t.TempDir()
	linked := filepath.Join(folder, "linked")
	absolute, relative, second := filepath.Join(folder, "a.db"), filepath.Join(data, "b.db"), filepath.Join(folder, "c.db")
	err := errors.Join(os.Symlink(data, linked), os.Symlink(filepath.Join(linked, "real-a.db"), absolute), os.Symlink("real-b.db", relative), os.Symlink(relative, second))
	if err != nil {
		t.Fatal(err)
	}
	for path, file := range map[string]string{absolute: "real-a.db", filepath.Join(linked, "b.db"): "real-b.db", second: "real-b.db"} {
		file = filepath.Join(data, file)
		release, err := dbfile.Acquire(path) // before the file exists
		if err == nil {
			err = dbfile.Create(path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s leads to %v (%v), want a file of mode 0600", path, info, err)
		}
		if _, err := dbfile.Acquire(file); !errors.Is(err, dbfile.ErrInUse) {
			t.Errorf("%s: got %v, want %v", file, err, dbfile.ErrInUse)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	}
	loop := filepath.Join(folder, "loop.db")
	if err := errors.Join(os.Symlink(loop, loop), dbfile.Create(filepath.Join(folder, "fine.db"))); err != nil {
		t.Fatal(err)
	}
	if err := dbfile.Create(loop); err == nil {
		t.Error("a link to itself is no error")
	}
	if err := os.Symlink(filepath.Join(folder, "nowhere", "x.db"), filepath.Join(folder, "lost.db")); err != nil {
		t.Fatal(err)
	}
	if err := dbfile.Create(filepath.Join(folder, "lost.db")); err == nil || !strings.Contains(err.Error(), "nowhere does not exist") {
		t.Errorf("got %v, want an error that names the missing folder", err)
	}
}

func TestFilesThatOthersMayReadAreFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	for name, mode := range map[string]os.FileMode{path: 0o644, path + "-wal": 0o600, path + "-shm": 0o620} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	found := dbfile.FindExposed(path)
	if len(found) != 2 || found[0] != (dbfile.ExposedFile{Path: path, Mode: 0o644}) || found[1] != (dbfile.ExposedFile{Path: path + "-shm", Mode: 0o620}) {
		t.Errorf("found %v, want 2 of them", found)
	}
}

func TestOneServerLocksADatabaseUnderAllItsNames(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	other := filepath.Join(t.TempDir(), "link.db")
	if err := errors.Join(dbfile.Create(path), os.Symlink(path, other)); err != nil {
		t.Fatal(err)
	}
	release, err := dbfile.Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, other} {
		if _, err := dbfile.Acquire(name); !errors.Is(err, dbfile.ErrInUse) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want ErrTaken with the name of the file", name, err)
		}
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	release, err = dbfile.Acquire(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
}

func TestTheFilesOfADatabaseAreKnownUnderAllTheirNames(t *testing.T) {
	t.Parallel()
	folder, elsewhere := t.TempDir(), t.TempDir()
	path, link, hard, way := filepath.Join(folder, "a.db"), filepath.Join(elsewhere, "link.db"), filepath.Join(elsewhere, "hard.db"), filepath.Join(elsewhere, "way")
	if err := errors.Join(dbfile.Create(path), os.Symlink(path, link), os.Link(path, hard), os.Symlink(folder, way)); err != nil {
		t.Fatal(err)
	}
	for _, database := range []string{path, link, filepath.Join(way, "a.db")} {
		for _, name := range []string{path, hard, path + "-wal", path + "-shm", path + "-journal", path + ".lock", path + ".next", path + ".turn", filepath.Join(way, "a.db.lock"), filepath.Join(folder, ".", "a.db")} {
			if !dbfile.IsFileOf(database, name) {
				t.Errorf("%s is not a file of %s, want that it is", name, database)
			}
		}
		for _, name := range []string{path + ".before", filepath.Join(folder, "b.db"), filepath.Join(elsewhere, "a.db"), filepath.Join(folder, "no", "a.db")} {
			if dbfile.IsFileOf(database, name) {
				t.Errorf("%s is a file of %s, want that it is not", name, database)
			}
		}
	}
	if !dbfile.IsFileOf(link, link) || !dbfile.IsFileOf(path, link) {
		t.Error("the link is not a file of the database, want that it is")
	}
}

func TestASuffixIsOneUnderWhichThereIsNoFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	for _, name := range []string{path + ".old", path + ".old-2-wal"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for wanted, want := range map[string]string{".old": ".old-3", ".new": ".new"} {
		if got := dbfile.FindSuffix(wanted, path); got != want {
			t.Errorf("for %s: %s, want %s", wanted, got, want)
		}
	}
}
