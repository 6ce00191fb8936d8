package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"atrium/internal/ingest"
)

// A meter shows the progress of an import: on a terminal as one line that it redraws,
// otherwise as a new line from time to time.
type meter struct {
	out      io.Writer
	terminal bool
	start    time.Time
	shown    time.Time
	last     ingest.Progress
}

const (
	redrawEvery = 100 * time.Millisecond
	lineEvery   = 5 * time.Second
	clearLine   = "\r\x1b[K"
)

func newMeter(out io.Writer) *meter {
	now := time.Now()
	return &meter{out: terminalOf(out), terminal: isTerminal(out), start: now, shown: now}
}

func isTerminal(out io.Writer) bool {
	file, ok := terminalOf(out).(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show shows the progress, unless it did so very recently.
func (m *meter) show(p ingest.Progress) {
	m.last = p
	every := lineEvery
	if m.terminal {
		every = redrawEvery
	}
	now := time.Now()
	if now.Sub(m.shown) < every {
		return
	}
	m.shown = now
	if text := progressText(p, now.Sub(m.start)); m.terminal {
		m.write(clearLine + text)
	} else {
		m.write(text + "\n")
	}
}

// print writes a line that is not overwritten.
func (m *meter) print(line string) {
	line = escape(line)
	if m.terminal {
		line = clearLine + line
	}
	m.write(line + "\n")
}

// write ignores errors, because the import must continue without a terminal.
func (m *meter) write(text string) { _, _ = io.WriteString(m.out, text) }

// finish writes the number of records, the duration and the rate of the import.
func (m *meter) finish() {
	took := time.Since(m.start)
	m.print(fmt.Sprintf("%d records in %v, %d/s", m.last.Records, took.Round(time.Millisecond), perSecond(m.last.Records, took)))
}

// progressText returns the number of records, the rate, and the remaining time, which it
// estimates from the unread bytes.
func progressText(p ingest.Progress, took time.Duration) string {
	text := fmt.Sprintf("%d records, %d/s", p.Records, perSecond(p.Records, took))
	if p.Total == 0 || p.Read == 0 {
		return text
	}
	done := min(float64(p.Read)/float64(p.Total), 1)
	left := time.Duration(float64(took) * (1 - done) / done)
	return fmt.Sprintf("%s, %.0f%%, %v left", text, 100*done, left.Round(time.Second))
}

func perSecond(n int, took time.Duration) int {
	return int(math.Round(float64(n) / max(took.Seconds(), 0.001)))
}
