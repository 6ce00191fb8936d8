package main

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// written counts what reaches the log.
type written struct {
	mu    sync.Mutex
	bytes bytes.Buffer
	calls int
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls++
	return w.bytes.Write(b)
}

func (w *written) lines() (lines, calls int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.bytes.String(), "\n"), w.calls
}

func (w *written) want(t *testing.T, lines, calls int) {
	t.Helper()
	if l, c := w.lines(); l != lines || c != calls {
		t.Errorf("%d lines were written by %d calls, want %d by %d", l, c, lines, calls)
	}
}

func TestLinesOfTheLogAreWrittenTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out written
		logger := jsonLogger(newLogBuffer(&out))
		for range 50 {
			logger.Info("request", "status", 200)
		}
		out.want(t, 0, 0)
		time.Sleep(logPause)
		synctest.Wait()
		out.want(t, 50, 1)
		time.Sleep(time.Hour)
		logger.Info("request")
		out.want(t, 50, 1)
		time.Sleep(logPause)
		synctest.Wait()
		out.want(t, 51, 2)
	})
}

func TestAWarningIsWrittenAtOnceWithWhatCameBefore(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(*slog.Logger) *slog.Logger{
		"plain":      func(l *slog.Logger) *slog.Logger { return l },
		"attributes": func(l *slog.Logger) *slog.Logger { return l.With("a", 1) },
		"group":      func(l *slog.Logger) *slog.Logger { return l.WithGroup("g") },
	} {
		var out written
		buffer := newLogBuffer(&out)
		logger := with(jsonLogger(buffer))
		logger.Info("request")
		logger.Warn("about to fail", "a", 1)
		if lines, _ := out.lines(); lines != 2 {
			t.Errorf("%s: %d lines after a warning, want 2", name, lines)
		}
	}
}

func TestTheLogWaitsForSoManyBytesOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out written
		logger := jsonLogger(newLogBuffer(&out))
		for range 1000 {
			logger.Info("request", "path", strings.Repeat("x", 100))
		}
		if lines, calls := out.lines(); lines < 700 || calls > 10 {
			t.Errorf("%d lines were written by %d calls", lines, calls)
		}
	})
}

// jsonLogger logs to a buffer as a server does that is not on a terminal.
func jsonLogger(to *logBuffer) *slog.Logger {
	return (&observeFlags{LogFormat: "auto"}).logger(to, false)
}
