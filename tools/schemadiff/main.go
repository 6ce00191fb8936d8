// Command schemadiff lists the changes of the working tree in the GraphQL schema, and what
// they mean for clients, since the branch left the default branch of origin (findBase). Its argument
// is the folder of Atrium.
//
// It exits with 1 if a change breaks clients and CHANGELOG.md does not announce it, as
// schema/README.md requires. If git knows no older schema, as in a shallow clone, it says so
// and exits with 0.
//
// With -base it prints only the commit with which it would compare some files, or nothing, so that
// scripts/proto-breaking compares with the same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	files := flag.String("base", "", "print only the commit with which these files of the folder are compared")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: schemadiff [-base FILES] FOLDER")
		os.Exit(2)
	}
	ctx, folder := context.Background(), flag.Arg(0)
	if *files != "" {
		commit, _, _ := findBase(ctx, folder, *files) // it is empty where there is none
		fmt.Println(commit)
		return
	}
	if err := run(ctx, folder, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "schemadiff:", err)
		os.Exit(1)
	}
}

var errHidden = errors.New("breaking changes that CHANGELOG.md does not own up to; schema/README.md says how to")

// run compares the schemas of the module in a folder and writes a list of the differences.
// The error is errHidden, or an error in the working tree.
func run(ctx context.Context, folder string, out io.Writer) error {
	files, err := workingTree(folder)
	if err != nil {
		return err
	}
	after, err := load(files)
	if err != nil {
		return err
	}
	base, before, err := baseline(ctx, folder)
	if err != nil {
		_, err = fmt.Fprintln(out, "schema: nothing to compare it with:", err)
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(folder, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	return report(out, base, diff(before, after), ownedBreaks(string(changelog)))
}

// report writes the changes since a commit, the most severe first.
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
