package main

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"atrium/store/storetest"
)

// A fullDisk fails every write, like /dev/full.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// runOnFullDisk runs the program on a database, and its output is lost.
func runOnFullDisk(t *testing.T, url string, args ...string) error {
	t.Helper()
	env := map[string]string{"ATRIUM_DATABASE_URL": url}
	return run(t.Context(), args, program{name: "atrium", lookup: variables(env), environ: list(env), stdout: fullDisk{}, stderr: io.Discard})
}

func TestAVersionThatCannotBePrintedIsAnError(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--version", "version"} {
		if err := runOnFullDisk(t, "", args); exitCode(err) != 1 || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: %v, want exit code 1", args, err)
		}
	}
}

func TestABackupWithoutANameIsRefused(t *testing.T) {
	t.Parallel()
	if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": storetest.SQLite(t)}, "admin", "backup", ""); exitCode(err) != 1 || !strings.Contains(err.Error(), "the name of the backup is empty; name a file") {
		t.Errorf("error %v, want one that asks for a name", err)
	}
}

// The operator has no token yet to ask for the UID with.
func TestTheUIDOfAnOrganizationIsInTheErrorsOfBootstrap(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		args := []string{"admin", "bootstrap", "--org", "acme", "--issuer", "https://issuer.example.com", "--subject", "me"}
		const created = "the organization acme was created and has the UID "
		lost := runOnFullDisk(t, url, args...)
		if exitCode(lost) != 1 || !strings.Contains(lost.Error(), created) || !strings.Contains(lost.Error(), "could not be printed: no space left") {
			t.Fatalf("the output is lost: %v, want an error with %q", lost, created)
		}
		_, rest, _ := strings.Cut(lost.Error(), created)
		uid, _, _ := strings.Cut(rest, ",")
		want := "the organization acme has the UID " + uid
		if _, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, args...); exitCode(err) != 1 || len(uid) != 40 || !strings.Contains(explain(err), want) {
			t.Errorf("a second run: %v, want an error with %q", err, want)
		}
	})
}
