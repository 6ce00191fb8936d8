package main

import (
	"fmt"
	"os"
	"regexp"
)

// pinned matches an action that is named by its commit, followed by its version.
var (
	action = regexp.MustCompile(`(?m)uses: *.*$`)
	pinned = regexp.MustCompile(`^uses: *[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
)

// checkWorkflows rejects actions that others could change. actionlint finds all other
// faults of workflows.
func checkWorkflows(paths []string) error {
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, use := range action.FindAllString(string(text), -1) {
			if !pinned.MatchString(use) {
				return fmt.Errorf("%s: %q must be pinned to a commit, with its version beside it", path, use)
			}
		}
	}
	fmt.Printf("%d workflows\n", len(paths))
	return nil
}
