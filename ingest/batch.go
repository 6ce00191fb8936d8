package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"atrium/platform"
)

// SQLite has a single writer, which a commit occupies while a server may want to
// write too. So the number of records in a batch adapts, to keep the time of a
// commit between shortCommit and longCommit.
const (
	initialBatchSize = platform.ImportBatch / 4
	minBatchSize     = 10
	longCommit       = 250 * time.Millisecond
	shortCommit      = 100 * time.Millisecond
)

// maxBatchBytes limits the input that one batch holds in memory.
const maxBatchBytes = 8 << 20

// A batch collects records of one kind and imports them in one transaction.
type batch[T any] struct {
	kind  KindCounts
	write func(context.Context, []*T) (platform.Imported, error)
	// key identifies a record. The core refuses two records with the same key in
	// one batch, so the second one goes into the next batch.
	key      func(*T) any
	reporter *reporter

	records []*T
	places  []Place
	keys    map[any]bool
	bytes   int
	size    int // number of records at which the batch is flushed
}

func newBatch[T any](kind string, l *reporter, write func(context.Context, []*T) (platform.Imported, error), key func(*T) any) *batch[T] {
	return &batch[T]{kind: KindCounts{Name: kind}, write: write, key: key, reporter: l, keys: map[any]bool{}, size: initialBatchSize}
}

// add adds a record that was read from that many bytes of input.
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

// fail counts and reports a record that was not imported.
func (b *batch[T]) fail(at Place, reason error) {
	b.kind.Failed++
	b.reporter.reportProblem(at, reason)
}

// flush imports the collected records.
func (b *batch[T]) flush(ctx context.Context) error {
	if len(b.records) == 0 {
		return nil
	}
	start := time.Now()
	done, err := b.write(ctx, b.records)
	if err != nil {
		return fmt.Errorf("import %s: %w", b.kind.Name, err)
	}
	b.adaptSize(time.Since(start))
	b.kind.Added += done.Added
	b.kind.Updated += done.Updated
	b.kind.Unchanged += done.Unchanged
	for _, i := range slices.Sorted(maps.Keys(done.Rejected)) {
		b.fail(b.places[i], done.Rejected[i])
	}
	clear(b.records) // lets the records be freed
	clear(b.keys)
	b.records, b.places, b.bytes = b.records[:0], b.places[:0], 0
	return nil
}

// adaptSize sets the size of the next batch, given how long this one took.
func (b *batch[T]) adaptSize(took time.Duration) {
	switch {
	case took > longCommit:
		b.size = max(b.size/2, minBatchSize)
	case took < shortCommit:
		b.size = min(b.size*2, platform.ImportBatch)
	}
}
