package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
)

// A textHandler writes log lines for people: the time of day, the level, the message and
// the attributes.
type textHandler struct {
	out    io.Writer
	level  slog.Leveler
	colors bool
	prefix string // prefix of attribute names, made of the groups
	before string // attributes of every line
}

// newTextHandler returns a handler that writes lines for people.
func newTextHandler(out io.Writer, level slog.Leveler, colors bool) slog.Handler {
	return &textHandler{out: out, level: level, colors: colors}
}

// Enabled reports whether a level is logged.
func (h *textHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level.Level()
}

// Color codes of terminals.
const (
	red        = "\x1b[31m"
	yellow     = "\x1b[33m"
	dim        = "\x1b[2m"
	resetColor = "\x1b[0m"
)

// Handle writes one line.
func (h *textHandler) Handle(_ context.Context, r slog.Record) error {
	var line strings.Builder
	line.WriteString(h.color(dim, r.Time.Format("15:04:05.000")))
	color := ""
	switch {
	case r.Level >= slog.LevelError:
		color = red
	case r.Level >= slog.LevelWarn:
		color = yellow
	}
	fmt.Fprintf(&line, " %s %s%s", h.color(color, fmt.Sprintf("%-5s", r.Level)), escapeLine(r.Message), h.before)
	r.Attrs(func(a slog.Attr) bool {
		h.add(&line, h.prefix, a)
		return true
	})
	line.WriteByte('\n')
	_, err := io.WriteString(h.out, line.String())
	return err
}

func (h *textHandler) color(color, text string) string {
	if !h.colors || color == "" {
		return text
	}
	return color + text + resetColor
}

// add writes an attribute. The name of a group becomes a prefix of the names in it.
func (h *textHandler) add(line *strings.Builder, prefix string, a slog.Attr) {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		for _, inner := range value.Group() {
			h.add(line, prefix+a.Key+".", inner)
		}
		return
	}
	text := value.String()
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '"' || r == '=' || !strconv.IsPrint(r) }) {
		text = strconv.Quote(text)
	}
	line.WriteString(" " + h.color(dim, prefix+a.Key+"=") + text)
}

// WithAttrs returns a handler that adds attributes to each line.
func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	made := *h
	var before strings.Builder
	for _, a := range attrs {
		h.add(&before, h.prefix, a)
	}
	made.before += before.String()
	return &made
}

// WithGroup returns a handler that adds the name of a group to the prefix.
func (h *textHandler) WithGroup(name string) slog.Handler {
	made := *h
	made.prefix += name + "."
	return &made
}
