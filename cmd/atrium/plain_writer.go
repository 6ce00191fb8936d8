package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
)

// A plainWriter writes text without characters that a terminal would interpret: control
// characters, and those that change the direction of text. It writes them as JSON escapes, so
// that JSON keeps its meaning.
type plainWriter struct{ io.Writer }

// Write writes text.
func (w plainWriter) Write(text []byte) (int, error) {
	if isPlainASCII(text) {
		return w.Writer.Write(text)
	}
	if _, err := io.WriteString(w.Writer, escape(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// isPlainASCII reports whether text needs no escapes, as most texts.
func isPlainASCII(text []byte) bool {
	for _, b := range text {
		if (b < ' ' || b > '~') && b != '\n' && b != '\t' {
			return false
		}
	}
	return true
}

// escape returns text with escapes for all characters that are not printable, except line breaks
// and tabs.
func escape(text string) string {
	var escaped strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsPrint(r) || r == '\n' || r == '\t':
			escaped.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&escaped, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&escaped, `\u%04x`, r)
		}
	}
	return escaped.String()
}

// escapeLine is like escape, but returns one line without tabs.
func escapeLine(text string) string {
	return strings.NewReplacer("\n", `\u000a`, "\t", `\u0009`).Replace(escape(text))
}

// terminalOf returns the writer behind a plainWriter, for a caller that writes control characters
// of its own and escapes the texts between them.
func terminalOf(out io.Writer) io.Writer {
	if plain, ok := out.(plainWriter); ok {
		return plain.Writer
	}
	return out
}
