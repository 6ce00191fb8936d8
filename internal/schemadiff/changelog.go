package main

import (
	"regexp"
	"strings"
)

var (
	unreleased = regexp.MustCompile(`(?ms)^## \[?Unreleased\]?\n(.*?)(?:^## |\z)`)
	entryStart = regexp.MustCompile(`(?m)^\s*[-*] `)
)

// owned reports of a change whether a changelog says under Unreleased that it
// breaks: an entry begins with "Breaking:" and has its coordinate in backticks.
// A coordinate anywhere else may be there for another reason.
func owned(changelog string) func(change) bool {
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
