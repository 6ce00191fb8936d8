package ingest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// maxLinkBytes limits the address of the next page of a list.
const maxLinkBytes = 2 << 10

// keepNextLink replaces the Link headers of an answer (RFC 8288) by the one that leads to the
// next page of a list, if there is one. The client library takes the first link whatever its
// relation is, and reads only one header.
func keepNextLink(answer *http.Response) error {
	next := ""
	for _, header := range answer.Header.Values("Link") {
		for _, link := range splitUnquoted(header, ',') {
			if target, isNext := parseLink(link); isNext && next == "" {
				next = target
			}
		}
	}
	switch {
	case len(next) > maxLinkBytes:
		return fmt.Errorf("the link to the next page is longer than %d bytes", maxLinkBytes)
	case next == "":
		answer.Header.Del("Link")
	default:
		answer.Header.Set("Link", "<"+next+`>; rel="next"`)
	}
	return nil
}

// parseLink returns the target of a link, and whether the link leads to the next page. A link
// without a relation does so, because a list that ends too early would remove tags.
func parseLink(link string) (target string, isNext bool) {
	parts := splitUnquoted(link, ';')
	target, found := strings.CutPrefix(strings.TrimSpace(parts[0]), "<")
	target, closed := strings.CutSuffix(target, ">")
	if !found || !closed {
		return "", false
	}
	for _, parameter := range parts[1:] {
		name, value, _ := strings.Cut(parameter, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		relations := strings.Fields(strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`)))
		return target, slices.Contains(relations, "next")
	}
	return target, true
}

// splitUnquoted splits text at a separator outside of <> and quotation marks.
func splitUnquoted(text string, separator rune) []string {
	var parts []string
	start, end := 0, rune(0) // end is the character that ends the current quotation
	isEscaped := false
	for i, r := range text {
		switch {
		case isEscaped:
			isEscaped = false
		case end == '"' && r == '\\':
			isEscaped = true
		case end != 0:
			if r == end {
				end = 0
			}
		case r == '<':
			end = '>'
		case r == '"':
			end = '"'
		case r == separator:
			parts, start = append(parts, text[start:i]), i+1
		}
	}
	return append(parts, text[start:])
}
