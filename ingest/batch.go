package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"atrium/platform"
)

// A commit holds SQLite's only writer, so none may take long: beside the
// import a server wants to write. Batches shrink and grow to stay between.
const (
	firstBatch    = platform.ImportBatch / 4
	smallestBatch = 10
	longCommit    = 250 * time.Millisecond
	shortCommit   = 100 * time.Millisecond
)

// maxBatchBytes bounds the input that one batch holds in memory.
const maxBatchBytes = 8 << 20

// A batch collects records of one kind and imports them in one transaction.
type batch[T any] struct {
	kind  Kind
	write func(context.Context, []*T) (platform.Imported, error)
	// key tells records apart. The core refuses two of a kind in one batch,
	// so the second one goes into the next.
	key func(*T) any
	log *log

	records []*T
	places  []Place
	keys    map[any]bool
	bytes   int
	size    int // how many records fill it
}

func newBatch[T any](kind string, l *log, write func(context.Context, []*T) (platform.Imported, error), key func(*T) any) *batch[T] {
	return &batch[T]{kind: Kind{Name: kind}, write: write, key: key, log: l, keys: map[any]bool{}, size: firstBatch}
}

// add takes a record that came from bytes of input.
func (b *batch[T]) add(ctx context.Context, record *T, at Place, bytes int) error {
	key := b.key(record)
	if b.keys[key] {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.records, b.places, b.keys[key] = append(b.records, record), append(b.places, at), true
	b.bytes += bytes
	if len(b.records) < b.size && b.bytes < maxBatchBytes {
		return nil
	}
	return b.flush(ctx)
}

// fail counts a record that never got into a batch.
func (b *batch[T]) fail(at Place, why error) {
	b.kind.Failed++
	b.log.bad(at, why)
}

// flush imports what was collected.
func (b *batch[T]) flush(ctx context.Context) error {
	if len(b.records) == 0 {
		return nil
	}
	start := time.Now()
	done, err := b.write(ctx, b.records)
	if err != nil {
		return fmt.Errorf("import %s: %w", b.kind.Name, err)
	}
	b.fit(time.Since(start))
	b.kind.Added += done.Added
	b.kind.Updated += done.Updated
	b.kind.Unchanged += done.Unchanged
	for _, i := range slices.Sorted(maps.Keys(done.Rejected)) {
		b.fail(b.places[i], done.Rejected[i])
	}
	clear(b.records) // what it held may go
	clear(b.keys)
	b.records, b.places, b.bytes = b.records[:0], b.places[:0], 0
	return nil
}

// fit sets the size of the next batch by how long this one took.
func (b *batch[T]) fit(took time.Duration) {
	switch {
	case took > longCommit:
		b.size = max(b.size/2, smallestBatch)
	case took < shortCommit:
		b.size = min(b.size*2, platform.ImportBatch)
	}
}
