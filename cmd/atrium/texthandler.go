package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
)

// A textHandler writes a line for people: the time of day, the level, what
// happened, and what is known of it.
type textHandler struct {
	out     io.Writer
	level   slog.Leveler
	colours bool
	prefix  string // of names, in groups
	before  string // attributes that every line has
}

// Enabled reports whether a level is logged.
func (h *textHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.level.Level()
}

// Codes of colours on terminals.
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	dim    = "\x1b[2m"
	plainC = "\x1b[0m"
)

// Handle writes one line.
func (h *textHandler) Handle(_ context.Context, r slog.Record) error {
	var line strings.Builder
	line.WriteString(h.coloured(dim, r.Time.Format("15:04:05.000")))
	colour := ""
	switch {
	case r.Level >= slog.LevelError:
		colour = red
	case r.Level >= slog.LevelWarn:
		colour = yellow
	}
	fmt.Fprintf(&line, " %s %s%s", h.coloured(colour, fmt.Sprintf("%-5s", r.Level)), r.Message, h.before)
	r.Attrs(func(a slog.Attr) bool {
		h.add(&line, h.prefix, a)
		return true
	})
	line.WriteByte('\n')
	_, err := io.WriteString(h.out, line.String())
	return err
}

func (h *textHandler) coloured(colour, text string) string {
	if !h.colours || colour == "" {
		return text
	}
	return colour + text + plainC
}

// add writes an attribute. A group becomes the start of the names in it.
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
	line.WriteString(" " + h.coloured(dim, prefix+a.Key+"=") + text)
}

// WithAttrs gives a handler whose lines all have attributes.
func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	made := *h
	var before strings.Builder
	for _, a := range attrs {
		h.add(&before, h.prefix, a)
	}
	made.before += before.String()
	return &made
}

// WithGroup gives a handler whose names begin with that of a group.
func (h *textHandler) WithGroup(name string) slog.Handler {
	made := *h
	made.prefix += name + "."
	return &made
}
