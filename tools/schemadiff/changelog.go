package main

import (
	"regexp"
	"strings"
)

var (
	unreleased = regexp.MustCompile(`(?ms)^## \[?Unreleased\]?\n(.*?)(?:^## |\z)`)
	entryStart = regexp.MustCompile(`(?m)^\s*[-*] `)
)

// ownedBreaks returns a function that reports whether a changelog announces a breaking
// change under Unreleased: an entry begins with "Breaking:" and contains the coordinate in
// backticks. A coordinate anywhere else may have another reason.
func ownedBreaks(changelog string) func(change) bool {
	confessed := ""
	if section := unreleased.FindStringSubmatch(changelog); section != nil {
		for _, entry := range entryStart.Split(section[1], -1)[1:] {
			if strings.HasPrefix(entry, "Breaking:") {
				confessed += entry
			}
		}
	}
	return func(c change) bool { return strings.Contains(confessed, "`"+c.at+"`") }
}
