package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// How long a line of the log may wait for others, and how many bytes may wait.
const (
	logPause = 200 * time.Millisecond
	logBytes = 32 << 10
)

// A logBuffer writes several lines of the log with one system call, because a call for
// each request costs more than the line. A line waits for at most logPause. It is safe for
// concurrent use.
type logBuffer struct {
	out io.Writer

	lock    sync.Mutex
	waiting []byte
	timer   *time.Timer // flushes the waiting lines
	failed  bool        // whether the last write failed

	lost atomic.Int64 // lines that could not be written
	tell atomic.Bool  // whether the log must tell of lost lines, because it can be written again
}

func newLogBuffer(out io.Writer) *logBuffer {
	b := &logBuffer{out: out}
	b.timer = time.AfterFunc(logPause, b.flush)
	return b
}

// Write adds one line.
func (b *logBuffer) Write(line []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if len(b.waiting) == 0 {
		b.timer.Reset(logPause)
	}
	b.waiting = append(b.waiting, line...)
	if len(b.waiting) >= logBytes {
		return len(line), b.write()
	}
	return len(line), nil
}

// flush writes the waiting lines. It ignores errors, because the server must continue
// without a log.
func (b *logBuffer) flush() {
	b.lock.Lock()
	defer b.lock.Unlock()
	_ = b.write()
}

func (b *logBuffer) write() error {
	if len(b.waiting) == 0 {
		return nil
	}
	_, err := b.out.Write(b.waiting)
	if err != nil {
		b.lost.Add(int64(bytes.Count(b.waiting, []byte("\n"))))
	} else if b.failed {
		b.tell.Store(true)
	}
	b.failed = err != nil
	b.waiting = b.waiting[:0]
	return err
}

// A promptHandler writes a warning or an error immediately, with all waiting lines. It tells of lines that were lost
// once the log can be written again.
type promptHandler struct {
	slog.Handler
	buffer *logBuffer
}

// Handle logs a record.
func (h promptHandler) Handle(ctx context.Context, r slog.Record) error {
	if h.buffer.tell.CompareAndSwap(true, false) {
		told := slog.NewRecord(r.Time, slog.LevelWarn, "lines of the log could not be written and are lost", 0)
		told.AddAttrs(slog.Int64("lost", h.buffer.lost.Load()))
		_ = h.Handler.Handle(ctx, told) // if this line is lost too, the next one tells of it
	}
	err := h.Handler.Handle(ctx, r)
	if r.Level >= slog.LevelWarn {
		h.buffer.flush()
	}
	return err
}

// WithAttrs returns a handler with attributes.
func (h promptHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return promptHandler{h.Handler.WithAttrs(attrs), h.buffer}
}

// WithGroup returns a handler with a group.
func (h promptHandler) WithGroup(name string) slog.Handler {
	return promptHandler{h.Handler.WithGroup(name), h.buffer}
}
