package main

import (
	"regexp"
	"strings"
)

var (
	unreleased = regexp.MustCompile(`(?ms)^## \[?Unreleased\]?\n(.*?)(?:^## |\z)`)
	entryStart = regexp.MustCompile(`(?m)^\s*[-*] `)
	retyped    = regexp.MustCompile(`^was (\[*)(\w+)(\S*) and is (\[*)(\w+)(\S*)$`)
)

// ownedBreaks returns a function that reports whether a changelog announces a breaking
// change under Unreleased: an entry begins with "Breaking:" and contains the coordinate in
// backticks. A coordinate anywhere else may have another reason. Of a type that took the place of
// another in many fields, the entry has "`ID` to `UID`" instead of each of them.
func ownedBreaks(changelog string) func(change) bool {
	confessed := ""
	if section := unreleased.FindStringSubmatch(changelog); section != nil {
		for _, entry := range entryStart.Split(section[1], -1)[1:] {
			if strings.HasPrefix(entry, "Breaking:") {
				confessed += entry
			}
		}
	}
	return func(c change) bool {
		renamed := retyped.FindStringSubmatch(c.what)
		return strings.Contains(confessed, "`"+c.at+"`") ||
			renamed != nil && renamed[1] == renamed[4] && renamed[3] == renamed[6] && strings.Contains(confessed, "`"+renamed[2]+"` to `"+renamed[5]+"`")
	}
}
