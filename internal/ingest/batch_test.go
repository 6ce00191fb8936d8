package ingest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/registry"
)

func TestABatchFitsTheTimeOfACommit(t *testing.T) {
	t.Parallel()
	b := newBatch("repos", &reporter{}, nil, func(*registry.ImportedRepo) string { return "" })
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
	write := func(_ context.Context, rows []*string) (core.Imported, error) {
		written = append(written, len(rows))
		return core.Imported{Added: len(rows)}, nil
	}
	b := newBatch("texts", &reporter{}, write, func(s *string) string { return *s })
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
	if err := b.settle(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(written, []int{2, 2}) || len(b.records) != 1 || b.kind.Added != 4 {
		t.Errorf("wrote %v, holds %d, want 1", written, len(b.records))
	}
}

// Records are read while others are imported, and what was sent is counted even if the
// import fails elsewhere.
func TestABatchIsImportedWhileTheNextIsRead(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	l := &reporter{}
	b := newBatch("texts", l, func(_ context.Context, rows []*string) (core.Imported, error) {
		<-read // The test blocks if the records of the next batch are not accepted before this one has ended.
		return core.Imported{Added: len(rows)}, nil
	}, func(s *string) string { return *s })
	for _, s := range []string{"a", "b"} {
		if err := b.add(t.Context(), &s, Place{}, maxBatchBytes/2+1); err != nil {
			t.Fatal(err)
		}
	}
	next := "c"
	if err := b.add(t.Context(), &next, Place{}, 1); err != nil {
		t.Fatal(err)
	}
	close(read)
	failed := errors.New("the file ends early")
	if err := l.finish(failed); !errors.Is(err, failed) || b.kind.Added != 2 || len(b.records) != 1 {
		t.Errorf("error %v, added %d, %d records are left, want %v, 2 and 1", err, b.kind.Added, len(b.records), failed)
	}
}

// Batches of several kinds take turns, because SQLite has a single writer.
func TestBatchesAreImportedOneAtATime(t *testing.T) {
	t.Parallel()
	l := &reporter{}
	var running, most atomic.Int32
	write := func(_ context.Context, rows []*int) (core.Imported, error) {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		runtime.Gosched()
		return core.Imported{Added: len(rows)}, nil
	}
	kinds := []*batch[int, int]{newBatch("a", l, write, func(i *int) int { return *i }), newBatch("b", l, write, func(i *int) int { return *i })}
	for i := range 1000 {
		if err := kinds[i%2].add(t.Context(), &i, Place{}, maxBatchBytes/3); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(kinds[0].flush(t.Context()), kinds[1].flush(t.Context())); err != nil || most.Load() != 1 || kinds[0].kind.Added+kinds[1].kind.Added != 1000 {
		t.Errorf("%d at once, added %d and %d (%v), want 1 at once and 1000 in all", most.Load(), kinds[0].kind.Added, kinds[1].kind.Added, err)
	}
}

// Two batches of a kind are imported at the same time if they have no key in common.
func TestBatchesOfAKindAreImportedAtTheSameTime(t *testing.T) {
	t.Parallel()
	const atOnce = 2
	l := &reporter{}
	both := make(chan struct{}, atOnce)
	var order []string
	var lock sync.Mutex
	b := newBatch("texts", l, func(_ context.Context, rows []*string) (core.Imported, error) {
		lock.Lock()
		order = append(order, *rows[0])
		lock.Unlock()
		if *rows[0] == "a" || *rows[0] == "b" { // Each blocks until the other one has begun.
			both <- struct{}{}
			for len(both) < atOnce {
				runtime.Gosched()
			}
		}
		if *rows[0] == "fails" {
			return core.Imported{}, errors.New("the database is gone")
		}
		return core.Imported{Added: len(rows)}, nil
	}, func(s *string) string { return *s })
	b.atOnce = atOnce
	add := func(s string) error { return b.add(t.Context(), &s, Place{}, maxBatchBytes) }
	for _, s := range []string{"a", "b", "c", "c", "c"} { // An equal key waits for the record before.
		if err := add(s); err != nil {
			t.Fatal(err)
		}
		if s == "c" && len(b.sent) == atOnce && b.sent[0].keys["c"] {
			t.Error("two records with the same key are imported at the same time")
		}
	}
	if err := b.flush(t.Context()); err != nil || b.kind.Added != 5 || len(order) != 5 {
		t.Errorf("added %d of %v (%v), want 5", b.kind.Added, order, err)
	}
	if err := errors.Join(add("fails"), add("d")); err != nil {
		t.Fatal(err)
	}
	if err := b.flush(t.Context()); err == nil || b.kind.Added != 6 || len(b.sent) != 0 {
		t.Errorf("after an error %d are added, %d are not counted (%v), want 6, 0 and the error", b.kind.Added, len(b.sent), err)
	}
}
