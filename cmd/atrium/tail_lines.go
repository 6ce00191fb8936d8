package main

import (
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"atrium/platform/events"
)

// newPrinter returns a function that prints an event as one line, as JSON or in columns.
func newPrinter(output string, p program) func(json.RawMessage, *receivedEvent) error {
	if output == "json" {
		return func(raw json.RawMessage, _ *receivedEvent) error { return writeLine(p.stdout, raw) }
	}
	lines := &eventLines{
		out: terminalOf(p.stdout), color: isTerminal(p.stdout) && p.env("NO_COLOR") == "",
		widths: [...]int{len(eventTime), 30, 57, 8, 0},
	}
	return func(_ json.RawMessage, c *receivedEvent) error { return lines.write(c) }
}

// eventLines writes events in columns. A column is as wide as the widest value so far, and
// at least as wide as usual values.
type eventLines struct {
	out    io.Writer
	color  bool
	widths [5]int
}

const eventTime = "2006-01-02T15:04:05.000Z"

func (l *eventLines) write(c *receivedEvent) error {
	kind := events.ShortEventType(c.Type)
	cells := [...]string{c.Time.UTC().Format(eventTime), kind, c.Subject, who(c), nameOf(c.Body)}
	styles := [...]string{"2", verbStyle(kind), "", "", "1"}
	var line strings.Builder
	gap := 0
	for i, cell := range cells {
		cell = escapeLine(cell)
		width := utf8.RuneCountInString(cell)
		l.widths[i] = max(l.widths[i], width)
		if cell != "" {
			line.WriteString(strings.Repeat(" ", gap) + l.style(cell, styles[i]))
			gap = 0
		}
		gap += l.widths[i] - width + 2
	}
	line.WriteByte('\n')
	_, err := io.WriteString(l.out, line.String())
	return err
}

func (l *eventLines) style(text, style string) string {
	if !l.color || style == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// verbStyle returns the color for the verb of an event type.
func verbStyle(kind string) string {
	switch {
	case strings.Contains(kind, ".created"):
		return "32"
	case strings.Contains(kind, ".updated"):
		return "33"
	case strings.Contains(kind, ".deleted"):
		return "31"
	}
	return "36"
}

// who returns the email of an actor, or else its subject.
func who(c *receivedEvent) string {
	for _, claim := range []string{"email", "sub"} {
		if name := c.Actor.Act[claim]; name != "" {
			return name
		}
	}
	return c.Actor.Subject
}

// nameOf returns the name of the changed resource, or "".
func nameOf(body json.RawMessage) string {
	var named struct{ Name string }
	if json.Unmarshal(body, &named) != nil {
		return "" // other bodies have no name
	}
	return named.Name
}
