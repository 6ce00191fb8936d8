package dbfile_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atrium/store/dbfile"
)

// SQLite keeps the log and the locks of a file under its name, so another name of the same file has others.
func TestADatabaseWithAnotherNameIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	link, hard := filepath.Join(t.TempDir(), "link.db"), filepath.Join(t.TempDir(), "hard.db")
	if err := errors.Join(dbfile.CheckNames(path), dbfile.Create(path), os.Symlink(path, link), dbfile.CheckNames(path), dbfile.CheckNames(link)); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, hard); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link, hard} {
		if err := dbfile.CheckNames(name); err == nil || !strings.Contains(err.Error(), "has 2 names (hard links)") || !strings.Contains(err.Error(), "-samefile") {
			t.Errorf("%s: got %v, want that it has 2 names, and what to do", name, err)
		}
	}
	if err := errors.Join(os.Remove(hard), dbfile.CheckNames(path)); err != nil {
		t.Errorf("with one name again: %v", err)
	}
}

// mountedFile is the variable with the file that is mounted when the test below runs in another process.
const mountedFile = "ATRIUM_TEST_MOUNTED"

// A file that is mounted has its log outside of the mount, and another container has another one.
func TestADatabaseThatIsMountedAloneIsRefused(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(mountedFile); path != "" {
		if err := dbfile.CheckNames(path); err == nil || !strings.Contains(err.Error(), "mount the folder that contains it") {
			t.Fatalf("got %v, want that the folder must be mounted", err)
		}
		if err := dbfile.CheckNames(filepath.Join(filepath.Dir(path), "other.db")); err != nil {
			t.Fatalf("beside it: %v", err)
		}
		return
	}
	folder := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	from, at := filepath.Join(t.TempDir(), "host.db"), filepath.Join(folder, "a.db")
	if err := errors.Join(dbfile.Create(from), dbfile.Create(at), dbfile.Create(filepath.Join(folder, "other.db"))); err != nil {
		t.Fatal(err)
	}
	runInNamespace(t, `mount --bind "$0" "$1"`, []string{from, at}, mountedFile+"="+at)
}

// runInNamespace runs the test again in another process with mounts of its own, which a script makes.
func runInNamespace(t *testing.T, script string, args []string, env ...string) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "unshare", "-rm", "true").Run(); err != nil {
		t.Skip("this system lets nobody mount a file: " + err.Error())
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "unshare", append([]string{"-rm", "sh", "-c", script + ` && exec "$ATRIUM_TEST_PROGRAM" -test.run="^$ATRIUM_TEST_NAME\$"`}, args...)...) //nolint:gosec // this program
	command.Env = append(append(os.Environ(), "ATRIUM_TEST_PROGRAM="+program, "ATRIUM_TEST_NAME="+t.Name()), env...)
	if said, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}
