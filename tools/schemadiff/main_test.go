package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write creates a module with a schema and a changelog.
func write(t *testing.T, folder, schema, changelog string) {
	t.Helper()
	for name, text := range map[string]string{"schema/a.graphqls": schema, "CHANGELOG.md": changelog} {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func commit(t *testing.T, folder string) {
	t.Helper()
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "commit", "-qm", "t"}} {
		if _, err := git(t.Context(), folder, args...); err != nil {
			t.Fatal(err)
		}
	}
}

// runIn runs the program in a folder.
func runIn(t *testing.T, folder string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), folder, &out)
	return out.String(), err
}

const (
	twoFields       = "type Query { a: Int b: Int }"
	oneField        = "type Query { a: Int }"
	silentChangelog = "# Changelog\n\n## Unreleased\n\n- Something about `Query.b`.\n\n## 1.0\n\n- Breaking: `Query.b`.\n"
	honestChangelog = "# Changelog\n\n## Unreleased\n\n- Something.\n- Breaking: the field\n  `Query.b` is removed.\n- More.\n"
)

func TestABreakingChangeFailsUnlessTheChangelogNamesIt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, twoFields, silentChangelog)
	commit(t, folder)

	write(t, folder, oneField, silentChangelog)
	out, err := runIn(t, folder)
	if !errors.Is(err, errHidden) || !strings.Contains(out, "  breaking   Query.b is removed\n") || !strings.Contains(out, "  - Breaking: `Query.b` is removed.\n") {
		t.Errorf("without a word: %v, want %v\n%s", err, errHidden, out)
	}
	write(t, folder, oneField, honestChangelog)
	out, err = runIn(t, folder)
	if want := "schema: since HEAD 1 breaking, 0 dangerous, 0 safe changes\n  breaking   Query.b is removed\n"; err != nil || out != want {
		t.Errorf("with an entry: %v\n%s, want %s", err, out, want)
	}
}

func TestATypeThatTookThePlaceOfAnotherIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, "type Query { a: ID! b(x: [ID!]): [ID!] c: ID! }", silentChangelog)
	commit(t, folder)
	announced := "# Changelog\n\n## Unreleased\n\n- Breaking: what is a uid changed from `ID` to `UID`.\n"
	for schema, isAnnounced := range map[string]bool{
		"scalar UID type Query { a: UID! b(x: [UID!]): [UID!] c: ID! }":   true,
		"scalar UID type Query { a: UID! b(x: [UID!]): [UID!] c: UID }":   false, // It is null now, too.
		"scalar Key type Query { a: Key! b(x: [ID!]): [ID!] c: ID! }":     false,
		"scalar UID type Query { a: [UID!]! b(x: [ID!]): [ID!] c: UID! }": false,
	} {
		write(t, folder, schema, announced)
		if out, err := runIn(t, folder); (err == nil) != isAnnounced {
			t.Errorf("%s: %v\n%s", schema, err, out)
		}
	}
}

func TestACleanTreeIsComparedWithTheCommitBefore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, twoFields, silentChangelog)
	commit(t, folder)
	write(t, folder, oneField, silentChangelog)
	commit(t, folder)
	if out, err := runIn(t, folder); !errors.Is(err, errHidden) || !strings.HasPrefix(out, "schema: since HEAD~1 1 breaking") {
		t.Errorf("%v, want %v\n%s, want it to begin with 'schema: since HEAD~1 1 breaking'", err, errHidden, out)
	}
}

// What a branch breaks is listed however many commits it has, until it is merged.
func TestABranchIsComparedWithWhereItLeftTheDefaultBranch(t *testing.T) {
	t.Parallel()
	origin := t.TempDir()
	write(t, origin, twoFields, silentChangelog)
	commit(t, origin)
	do := func(folder string, args ...string) {
		t.Helper()
		if _, err := git(t.Context(), folder, args...); err != nil {
			t.Fatal(err)
		}
	}
	do(origin, "branch", "-M", "trunk")
	clone := filepath.Join(t.TempDir(), "clone")
	do(origin, "clone", "-q", "file://"+origin, clone)
	write(t, clone, oneField, silentChangelog)
	commit(t, clone)
	write(t, clone, oneField, silentChangelog+"\n")
	commit(t, clone) // The break is in the commit before the last one.
	write(t, clone, oneField+" type New { a: Int }", silentChangelog+"\n")
	expect := func(folder, want string) {
		t.Helper()
		if out, err := runIn(t, folder); !errors.Is(err, errHidden) || !strings.HasPrefix(out, want) {
			t.Errorf("%v, want %v\n%s, want it to begin with %q", err, errHidden, out, want)
		}
	}
	expect(clone, "schema: since the merge base with origin/trunk 1 breaking, 0 dangerous, 1 safe changes\n")
	commit(t, clone)
	expect(clone, "schema: since the merge base with origin/trunk 1 breaking, 0 dangerous, 1 safe changes\n")

	// On the default branch nothing is left of the branch: it is compared with the last release, or the commit before.
	do(clone, "push", "-q", "origin", "HEAD:refs/heads/main", "HEAD:refs/heads/other")
	do(origin, "checkout", "-q", "main")
	full, shallow := filepath.Join(t.TempDir(), "full"), filepath.Join(t.TempDir(), "shallow")
	do(origin, "clone", "-q", "--branch", "main", "file://"+origin, full)
	do(full, "tag", "v1", "HEAD~3")
	do(full, "tag", "v2", "HEAD")
	expect(full, "schema: since v1 1 breaking, 0 dangerous, 1 safe changes\n")
	do(full, "tag", "-d", "v1")
	if out, err := runIn(t, full); err != nil || !strings.HasPrefix(out, "schema: since HEAD~1 0 breaking, 0 dangerous, 1 safe") {
		t.Errorf("%v\n%s", err, out)
	}
	do(origin, "clone", "-q", "--branch", "main", "--depth", "1", "file://"+origin, shallow)
	if out, err := runIn(t, shallow); err != nil || !strings.HasPrefix(out, "schema: nothing to compare it with: ") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWithoutAnOlderSchemaItPassesWithAMessage(t *testing.T) {
	t.Parallel()
	unversioned, first, broken := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, unversioned, oneField, silentChangelog)
	write(t, first, oneField, silentChangelog)
	commit(t, first) // A clone of depth 1 has one commit.
	write(t, broken, "type Query {", silentChangelog)
	commit(t, broken)
	write(t, broken, oneField, silentChangelog)
	for _, folder := range []string{unversioned, first, broken} {
		if out, err := runIn(t, folder); err != nil || !strings.HasPrefix(out, "schema: nothing to compare it with: ") {
			t.Errorf("%v\n%s, want it to begin with 'schema: nothing to compare it with: '", err, out)
		}
	}
}

func TestAnInvalidSchemaFails(t *testing.T) {
	t.Parallel()
	empty, broken := t.TempDir(), t.TempDir()
	write(t, broken, "type Query {", silentChangelog)
	for _, folder := range []string{empty, broken} {
		if _, err := runIn(t, folder); err == nil || errors.Is(err, errHidden) {
			t.Errorf("it ends with %v", err)
		}
	}
}
