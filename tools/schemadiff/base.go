package main

import (
	"context"
	"errors"
	"path"
	"strings"
)

// errNoBase means that git knows no older state, as in a shallow clone or without a repository.
var errNoBase = errors.New("git knows no older commit that differs")

// findBase returns the commit with which the working tree is compared, and a name of it for people. It
// is the first of these in which files differ from those of the working tree:
//   - where the branch left the default branch of origin, so that all that the branch changes is
//     listed, in however many commits;
//   - the last release, on the default branch itself;
//   - the commit before, as long as nothing is released.
//
// A shallow clone lacks some of them, and is compared with what it has.
func findBase(ctx context.Context, folder, files string) (commit, name string, err error) {
	ask := func(args ...string) string {
		out, err := git(ctx, folder, args...)
		if err != nil {
			return "" // this clone does not have it
		}
		return strings.TrimSpace(out)
	}
	branch := ask("rev-parse", "--abbrev-ref", "--quiet", "--verify", "origin/HEAD")
	if branch == "" { // a fetch, unlike a clone, does not record which branch is the default one
		branch = "origin/main"
	}
	tag := ask("describe", "--tags", "--abbrev=0", "HEAD~1") // not the release that HEAD may be
	for _, base := range []struct{ commit, name string }{
		{ask("merge-base", "HEAD", branch), "the merge base with " + branch},
		{tag, tag},
		{ask("rev-parse", "--quiet", "--verify", "HEAD"), "HEAD"},
		{ask("rev-parse", "--quiet", "--verify", "HEAD~1"), "HEAD~1"},
	} {
		if base.commit == "" || ask("ls-tree", "--name-only", base.commit, path.Dir(files)+"/") == "" {
			continue
		}
		if ask("diff", "--name-only", base.commit, "--", files) != "" {
			return base.commit, base.name, nil
		}
	}
	return "", "", errNoBase
}
