// Command packages checks the files for deployment with the libraries of the programs that
// read them: the chart with those of Helm and Kubernetes, and compose.yaml with that of
// Compose. It also lists the packages of the pages.
package main

import (
	"fmt"
	"os"
)

const usage = `usage: packages chart FOLDER PROGRAM     lint and render the chart, and let the program check the settings
       packages readme FOLDER            make the table in README.md of the chart from its values
       packages archive FOLDER VERSION IMAGE TARGET
                                         write the archive of the chart for a release
       packages compose FILE [SECRET...] load a file of Compose with its secrets, and without each
       packages dockerfile FILE          reject base images that are not pinned
       packages workflows FILE...        reject actions in workflows that are not pinned
       packages contents FILE            add the packages of the pages to a list of contents by cyclonedx-gomod`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) >= 2 {
		switch command, rest := args[0], args[1:]; {
		case command == "chart" && len(rest) == 2:
			return checkChart(rest[0], rest[1])
		case command == "readme" && len(rest) == 1:
			return writeReadme(rest[0], false)
		case command == "archive" && len(rest) == 4:
			return archiveChart(rest[0], rest[1], rest[2], rest[3])
		case command == "compose":
			return checkCompose(rest[0], rest[1:])
		case command == "dockerfile" && len(rest) == 1:
			return checkDockerfile(rest[0])
		case command == "workflows":
			return checkWorkflows(rest)
		case command == "contents" && len(rest) == 1:
			return addPages(rest[0])
		}
	}
	return fmt.Errorf("%s", usage)
}
