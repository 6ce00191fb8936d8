package ingest

import (
	"context"
	"slices"
	"testing"
	"time"

	"atrium/platform"
)

func TestABatchFitsTheTimeOfACommit(t *testing.T) {
	t.Parallel()
	b := newBatch("repos", &reporter{}, nil, func(*platform.ImportedRepo) any { return nil })
	for _, step := range []struct {
		took time.Duration
		size int
	}{{time.Millisecond, 500}, {time.Millisecond, 1000}, {time.Millisecond, 1000}, {200 * time.Millisecond, 1000}, {time.Second, 500}} {
		if b.adaptSize(step.took); b.size != step.size {
			t.Errorf("after %v: %d records, want %d", step.took, b.size, step.size)
		}
	}
	for range 20 {
		b.adaptSize(time.Minute)
	}
	if b.size != minBatchSize {
		t.Errorf("at least %d records, not %d", minBatchSize, b.size)
	}
}

func TestABatchIsLimitedInBytesAndContainsNoKeyTwice(t *testing.T) {
	t.Parallel()
	var written []int
	write := func(_ context.Context, rows []*string) (platform.Imported, error) {
		written = append(written, len(rows))
		return platform.Imported{Added: len(rows)}, nil
	}
	b := newBatch("texts", &reporter{}, write, func(s *string) any { return *s })
	add := func(s string, bytes int) {
		if err := b.add(t.Context(), &s, Place{}, bytes); err != nil {
			t.Fatal(err)
		}
	}
	add("a", 1)
	add("b", 1)
	add("a", 1)             // A repeated key flushes the batch.
	add("c", maxBatchBytes) // This reaches the limit of bytes.
	add("c", 1)
	if !slices.Equal(written, []int{2, 2}) || len(b.records) != 1 || b.kind.Added != 4 {
		t.Errorf("wrote %v, holds %d, want 1", written, len(b.records))
	}
}
