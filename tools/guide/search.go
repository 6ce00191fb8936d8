package main

import (
	"html"
	"regexp"
	"strings"
)

// A section is what a search of the guide can find: a heading, and the text up to the next one.
type section struct {
	Page    string `json:"page"`
	Anchor  string `json:"anchor"` // "" for the first section, which is the start of the page
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

var (
	headingTag = regexp.MustCompile(`(?s)<h[1-6] id="([^"]*)">(.*?)</h[1-6]>`)
	inlineTag  = regexp.MustCompile(`</?(?:a|code|em|strong)\b[^>]*>`)
	anyTag     = regexp.MustCompile(`<[^>]*>`)
)

// splitSections returns the sections of a rendered page.
func splitSections(name, page string) []section {
	headings := headingTag.FindAllStringSubmatchIndex(page, -1)
	sections := make([]section, len(headings))
	for i, at := range headings {
		end := len(page)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		sections[i] = section{Page: name, Anchor: page[at[2]:at[3]], Heading: plainText(page[at[4]:at[5]]), Text: plainText(page[at[1]:end])}
	}
	if len(sections) > 0 {
		sections[0].Anchor = ""
	}
	return sections
}

// plainText returns the text of a piece of HTML, with single spaces.
func plainText(piece string) string {
	piece = anyTag.ReplaceAllLiteralString(inlineTag.ReplaceAllLiteralString(piece, ""), " ")
	return strings.Join(strings.Fields(html.UnescapeString(piece)), " ")
}
