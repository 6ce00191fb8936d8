package core

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestAChoreTellsWhenItFailsAndWhenItWorksAgain(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	work := Chore{Logger: slog.New(slog.NewTextHandler(&log, nil)), Warning: "rows were not swept"}
	away := errors.New("the database is away")
	for _, err := range []error{nil, away, away, nil, nil, away} {
		work.Note(t.Context(), err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	work.Note(ended, nil) // a shutdown says nothing about the database
	var told []string
	for line := range strings.Lines(log.String()) {
		_, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		told = append(told, text)
	}
	failed := `level=WARN msg="rows were not swept" error="the database is away"`
	want := []string{failed, `level=INFO msg="background work succeeds again" warning="rows were not swept"`, failed}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("the log has\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}
