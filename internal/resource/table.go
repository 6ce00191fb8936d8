package resource

import (
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// A cell is a text with its style, which is a parameter of SGR (ECMA-48) or "".
type cell struct{ text, style string }

// gap is the space between two columns.
const gap = 2

// Width returns how many columns of a terminal a text takes: two for a wide character, such as those of Chinese and emoji, and none for a
// mark on the character before it.
func Width(text string) (columns int) {
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case isWide(r):
			columns += 2
		default:
			columns++
		}
	}
	return columns
}

func isWide(r rune) bool {
	kind := width.LookupRune(r).Kind()
	return kind == width.EastAsianWide || kind == width.EastAsianFullwidth
}

// writeTable writes rows whose cells stand below each other. Nothing follows the last cell of a line.
func writeTable(out io.Writer, rows [][]cell, colors bool) error {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(c.text))
		}
	}
	var line strings.Builder
	for _, row := range rows {
		line.Reset()
		pending := 0
		for i, c := range row {
			if c.text != "" {
				line.WriteString(strings.Repeat(" ", pending))
				pending = 0
				if colors && c.style != "" {
					line.WriteString("\x1b[" + c.style + "m" + c.text + "\x1b[0m")
				} else {
					line.WriteString(c.text)
				}
			}
			pending += widths[i] - Width(c.text) + gap
		}
		line.WriteByte('\n')
		if _, err := io.WriteString(out, line.String()); err != nil {
			return err
		}
	}
	return nil
}

// styles are those of words that people look for.
var styles = map[string]string{
	"critical": "1;31", "high": "31", "medium": "33", "low": "36", "none": "2", "unknown": "2",
	"failed": "31", "succeeded": "32", "running": "36", "resolved": "32", "accepted": "2", "not_affected": "2",
}
