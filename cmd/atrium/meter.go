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
	m.redraw(func(took time.Duration) string { return progressText(p, took) })
}

// redraw shows a text in place of the last one, unless it did so very recently.
func (m *meter) redraw(text func(took time.Duration) string) {
	every := lineEvery
	if m.terminal {
		every = redrawEvery
	}
	now := time.Now()
	if now.Sub(m.shown) < every {
		return
	}
	m.shown = now
	if text := text(now.Sub(m.start)); m.terminal {
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
	records := "records"
	if m.last.Records == 1 {
		records = "record"
	}
	m.print(fmt.Sprintf("%d %s in %v, %d/s", m.last.Records, records, took.Round(time.Millisecond), perSecond(m.last.Records, took)))
}

// A stepMeter shows how findings are updated. It says nothing of what takes little time.
type stepMeter struct {
	*meter
	steps int
}

func newStepMeter(m *meter) *stepMeter {
	m.start = time.Now()
	m.shown = m.start
	return &stepMeter{meter: m}
}

// show shows that a number of changes were looked at.
func (m *stepMeter) show(n int) {
	m.steps += n
	m.redraw(func(took time.Duration) string { return m.text(took) })
}

func (m *stepMeter) text(took time.Duration) string {
	return fmt.Sprintf("updating findings: %d changes processed in %v", m.steps, took.Round(time.Second))
}

// finish says how long it took, if that was long.
func (m *stepMeter) finish() {
	if took := time.Since(m.start); took > lineEvery {
		m.print(fmt.Sprintf("findings updated in %v: %d changes processed", took.Round(time.Millisecond), m.steps))
	} else if m.terminal && m.steps > 0 {
		m.write(clearLine)
	}
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
