// Command schemadiff says what the working tree changes in the GraphQL schema,
// and what that means for clients. It compares the files of schema/ with those
// of the last commit; where they are equal, that commit with the one before.
//
// It ends with 1 where a change breaks clients and CHANGELOG.md does not own
// up to it, as schema/README.md asks. Where git knows nothing older, in a
// shallow clone or without git, it says so and ends with 0.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if err := run(context.Background(), ".", os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "schemadiff:", err)
		os.Exit(1)
	}
}

var errHidden = errors.New("breaking changes that CHANGELOG.md does not own up to; schema/README.md says how to")

// run compares the schemas of the module in a folder and writes a list of
// their differences. Its error is errHidden, or a fault of the working tree.
func run(ctx context.Context, folder string, out io.Writer) error {
	files, err := workingTree(folder)
	if err != nil {
		return err
	}
	after, err := load(files)
	if err != nil {
		return err
	}
	base, before, err := baseline(ctx, folder, files)
	if err != nil {
		_, err = fmt.Fprintln(out, "schema: nothing to compare it with:", err)
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(folder, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	return report(out, base, diff(before, after), owned(string(changelog)))
}

// report writes the changes since a commit, the worst first.
func report(out io.Writer, base string, changes []change, owned func(change) bool) error {
	var counts [safe + 1]int
	var hidden []change
	text := ""
	for _, c := range changes {
		counts[c.level]++
		text += fmt.Sprintf("  %-9s  %s %s\n", c.level, c.at, c.what)
		if c.level == breaking && !owned(c) {
			hidden = append(hidden, c)
		}
	}
	text = fmt.Sprintf("schema: since %s %d breaking, %d dangerous, %d safe changes\n", base, counts[breaking], counts[dangerous], counts[safe]) + text
	if len(hidden) > 0 {
		text += "CHANGELOG.md lacks under Unreleased, in these words or better ones:\n"
	}
	for _, c := range hidden {
		text += fmt.Sprintf("  - Breaking: `%s` %s.\n", c.at, c.what)
	}
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if len(hidden) > 0 {
		return errHidden
	}
	return nil
}
