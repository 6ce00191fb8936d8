package main

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A logSink counts the written lines and calls.
type logSink struct {
	fault error // This is what Write returns.
	mu    sync.Mutex
	bytes bytes.Buffer
	calls int
}

func (w *logSink) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	if w.fault != nil {
		return 0, w.fault
	}
	return w.bytes.Write(b)
}

func (w *logSink) lines() (lines, calls int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.bytes.String(), "\n"), w.calls
}

func (w *logSink) expect(t *testing.T, lines, calls int) {
	t.Helper()
	if l, c := w.lines(); l != lines || c != calls {
		t.Errorf("%d lines were written by %d calls, want %d by %d", l, c, lines, calls)
	}
}

func TestLinesOfTheLogAreWrittenTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out logSink
		logger := jsonLogger(newLogBuffer(&out))
		for range 50 {
			logger.Info("request", "status", 200)
		}
		out.expect(t, 0, 0)
		time.Sleep(logPause)
		synctest.Wait()
		out.expect(t, 50, 1)
		time.Sleep(time.Hour)
		logger.Info("request")
		out.expect(t, 50, 1)
		time.Sleep(logPause)
		synctest.Wait()
		out.expect(t, 51, 2)
	})
}

func TestAWarningIsWrittenImmediatelyWithWaitingLines(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(*slog.Logger) *slog.Logger{
		"plain":      func(l *slog.Logger) *slog.Logger { return l },
		"attributes": func(l *slog.Logger) *slog.Logger { return l.With("a", 1) },
		"group":      func(l *slog.Logger) *slog.Logger { return l.WithGroup("g") },
	} {
		var out logSink
		buffer := newLogBuffer(&out)
		logger := with(jsonLogger(buffer))
		logger.Info("request")
		logger.Warn("about to fail", "a", 1)
		if lines, _ := out.lines(); lines != 2 {
			t.Errorf("%s: %d lines after a warning, want 2", name, lines)
		}
	}
}

func TestAFullLogBufferIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out logSink
		logger := jsonLogger(newLogBuffer(&out))
		for range 1000 {
			logger.Info("request", "path", strings.Repeat("x", 100))
		}
		if lines, calls := out.lines(); lines < 700 || calls > 10 {
			t.Errorf("%d lines were written by %d calls", lines, calls)
		}
	})
}

// The attack is a full disk: the lines of that time are lost, and nothing says so.
func TestTheLogTellsHowManyLinesWereLost(t *testing.T) {
	t.Parallel()
	out := logSink{fault: syscall.ENOSPC}
	buffer := newLogBuffer(&out)
	logger := jsonLogger(buffer)
	logger.Info("lost")
	logger.Warn("lost too")
	if lost := buffer.lost.Load(); lost != 2 {
		t.Errorf("%d lines are counted as lost, want 2", lost)
	}
	out.fault = nil
	for range 3 {
		logger.Warn("written")
	}
	if got := out.bytes.String(); strings.Count(got, "are lost") != 1 || !strings.Contains(got, `are lost","lost":2}`) || strings.Count(got, "written\"") != 3 {
		t.Errorf("the log has %s, want three lines and one about two that are lost", got)
	}
}

// jsonLogger returns the logger of a server that does not run on a terminal.
func jsonLogger(to *logBuffer) *slog.Logger {
	return (&observeFlags{LogFormat: "auto"}).logger(to, false)
}
