package main

import (
	"bytes"
	"regexp"
	"strings"
)

// changesMarker matches the line of a page that listBreaks replaces.
var changesMarker = regexp.MustCompile(`(?m)^<!-- breaking -->$`)

var (
	// entryStart matches the start of an entry of the changelog, or of what follows the list.
	entryStart = regexp.MustCompile(`(?m)^(?:- |\n|\*\*)`)

	// ofSchema matches a coordinate of the schema, such as `Repo`, `Repo.tags` or `Repo.tags(first:)`.
	ofSchema = regexp.MustCompile("`@?[A-Z]\\w*(?:\\.\\w+)?(?:\\(\\w+:\\))?`")
)

// listBreaks lists as Markdown the entries of a changelog that announce what breaks clients of the
// schema, by version. tools/schemadiff sees to it that there is one for each.
func listBreaks(changelog []byte) []byte {
	var list bytes.Buffer
	for _, section := range strings.Split(string(changelog), "\n## ")[1:] {
		version, entries, _ := strings.Cut(section, "\n")
		for _, entry := range entryStart.Split(entries, -1) {
			text, isBreak := strings.CutPrefix(entry, "Breaking: ")
			if !isBreak || !ofSchema.MatchString(text) {
				continue
			}
			if version != "" {
				list.WriteString("## " + version + "\n\n")
				version = ""
			}
			list.WriteString("- " + strings.TrimRight(text, "\n") + "\n")
		}
		list.WriteString("\n")
	}
	return list.Bytes()
}
