package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atrium/platform/core"
)

var errGone = errors.New("the database is gone")

// stopAfter lets a destination store so many batches of a kind, and then fails.
func stopAfter[T any](batches int, write func(context.Context, []T) (core.Imported, error)) func(context.Context, []T) (core.Imported, error) {
	return func(ctx context.Context, rows []T) (core.Imported, error) {
		if batches--; batches < 0 {
			return core.Imported{}, errGone
		}
		return write(ctx, rows)
	}
}

// An import that cannot go on names the first record that is not stored, of whatever kind it is, and a second one imports the rest.
func TestAnImportSaysWhereItStopped(t *testing.T) {
	t.Parallel()
	const tags = 2 * initialBatchSize
	var lines strings.Builder
	fmt.Fprintln(&lines, `{"kind": "repo", "name": "r"}`)
	for i := range tags {
		fmt.Fprintf(&lines, `{"kind": "tag", "repo": "r", "name": "t%d", "digest": "sha256:%064d"}`+"\n", i, i)
		if i == 10 {
			fmt.Fprintf(&lines, `{"kind": "image", "repo": "r", "digest": "sha256:%064d"}`+"\n", i)
		}
	}
	file := filepath.Join(t.TempDir(), "r.jsonl")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fail  func(d *destination)
		place string
		added int // tags
	}{
		"repos":  {func(d *destination) { d.repos = stopAfter(0, d.repos) }, ":1", 0},
		"tags":   {func(d *destination) { d.tags = stopAfter(0, d.tags) }, ":2", 0},
		"later":  {func(d *destination) { d.tags = stopAfter(1, d.tags) }, fmt.Sprint(":", initialBatchSize+3), initialBatchSize},
		"images": {func(d *destination) { d.images = stopAfter(0, d.images) }, ":2", 0}, // tags come after images
	} {
		core := newFakeCore()
		d := core.destination()
		c.fail(&d)
		sum, err := importRegistry(t.Context(), d, file, Options{})
		var stopped *StoppedError
		if !errors.As(err, &stopped) || !errors.Is(err, errGone) || stopped.At.String() != file+c.place {
			t.Errorf("%s: got %v, want that it stopped at %s", name, err, file+c.place)
		}
		if added := sum.Kinds[1].Added; added != c.added || len(core.tags) != c.added {
			t.Errorf("%s: %d tags are added and %d counted, want %d", name, len(core.tags), added, c.added)
		}
		again, err := importRegistry(t.Context(), core.destination(), file, Options{})
		if err != nil || again.Kinds[1].Unchanged != c.added || len(core.tags) != tags {
			t.Errorf("%s: again, %+v (%v), want %d unchanged tags", name, again, err, c.added)
		}
	}
}

// An interrupted import names what it has read last if all before is stored.
func TestAnInterruptedImportSaysWhereItStopped(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for i := range 3 {
		record := fmt.Sprintf(`{"id": "A-%d", "modified": "2026-01-01T00:00:00Z", "affected": [{"package": {"ecosystem": "Go", "name": "p"}}]}`, i)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.json", i)), []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for at, want := range []string{"0.json", "0.json"} { // nothing is stored before the end
		ctx, interrupt := context.WithCancel(t.Context())
		_, err := importOSV(ctx, newFakeCore().destination(), []string{folder}, Options{ReportProgress: func(p Progress) {
			if p.Records == at+1 {
				interrupt()
			}
		}})
		interrupt()
		var stopped *StoppedError
		if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || stopped.At.File != filepath.Join(folder, want) {
			t.Errorf("interrupted at %d: got %v, want that it stopped at %s", at, err, want)
		}
	}
	if _, err := importOSV(t.Context(), newFakeCore().destination(), []string{filepath.Join(folder, "none")}, Options{}); err == nil || errors.As(err, new(*StoppedError)) {
		t.Errorf("got %v, want an error without a place", err)
	}
}
