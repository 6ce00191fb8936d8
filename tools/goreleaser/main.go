// Command goreleaser reads a configuration of GoReleaser as strictly as GoReleaser does. This takes seconds, and
// building GoReleaser takes minutes.
package main

import (
	"fmt"
	"os"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: goreleaser FILE")
		os.Exit(2)
	}
	project, err := config.Load(os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s is not a configuration of GoReleaser: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d builds, %d archives, %d packages, %d lists of contents\n", project.ProjectName, len(project.Builds), len(project.Archives), len(project.NFPMs), len(project.SBOMs))
}
