package ingest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"atrium/platform/core"
)

// SQLite has a single writer, which a commit occupies while a server may want to
// write too. So the number of records in a batch adapts, to keep the time of its
// statements between shortCommit and longCommit.
const (
	initialBatchSize = core.ImportBatch / 4
	minBatchSize     = 10
	longCommit       = 250 * time.Millisecond
	shortCommit      = 100 * time.Millisecond
)

// maxBatchBytes limits the input that one batch holds in memory.
const maxBatchBytes = 8 << 20

// A pipeline imports batches, while the records of the next ones are read. Batches share a
// turn if several of their kind may be imported at the same time, and otherwise have it for
// themselves.
type pipeline struct {
	turn    sync.RWMutex
	batches []interface {
		settle() error
		firstUnsaved() unsaved
	}
}

// An unsaved record is the first of a batch that is not imported. Its number counts the records of all batches from 1, in the order
// in which they were read; 0 means that there is none.
type unsaved struct {
	number int
	at     Place
}

// A batch collects records of one kind and imports them in one transaction.
type batch[T any, K comparable] struct {
	kind  KindCounts
	write func(context.Context, []*T) (core.Imported, error)
	// key identifies a record. The core refuses two records with the same key in
	// one batch, so the second one goes into the next batch.
	key      func(*T) K
	reporter *reporter

	records []*T
	places  []Place
	keys    map[K]bool
	first   int // number of the first collected record
	bytes   int
	size    int                  // number of records at which the batch is sent
	atOnce  int                  // number of batches of the kind that may be imported at the same time
	sent    []*sentRecords[T, K] // batches that are being imported, the oldest first
	lost    unsaved              // the first record of the first batch that failed
}

// sentRecords are being imported until ended is closed.
type sentRecords[T any, K comparable] struct {
	records []*T
	places  []Place
	keys    map[K]bool
	first   int
	ended   chan struct{}
	done    core.Imported
	took    time.Duration // time of its statements
	err     error
}

func newBatch[T any, K comparable](kind string, l *reporter, write func(context.Context, []*T) (core.Imported, error), key func(*T) K) *batch[T, K] {
	b := &batch[T, K]{kind: KindCounts{Name: kind}, write: write, key: key, reporter: l, keys: map[K]bool{}, size: initialBatchSize, atOnce: 1}
	l.pipeline.batches = append(l.pipeline.batches, b)
	return b
}

// add adds a record that was read from that many bytes of input. The batch owns the
// record until the next call of flush.
func (b *batch[T, K]) add(ctx context.Context, record *T, at Place, bytes int) error {
	key := b.key(record)
	b.reporter.collected++
	number := b.reporter.collected
	if b.keys[key] {
		if err := b.send(ctx); err != nil {
			return err
		}
	}
	if len(b.records) == 0 {
		b.first = number
	}
	b.records, b.places, b.keys[key] = append(b.records, record), append(b.places, at), true
	b.bytes += bytes
	if len(b.records) < b.size && b.bytes < maxBatchBytes {
		return nil
	}
	return b.send(ctx)
}

// fail counts and reports a record that was not imported.
func (b *batch[T, K]) fail(at Place, reason error) {
	b.kind.Failed++
	b.reporter.reportProblem(at, reason)
}

// flush imports the collected records, and returns when they are imported.
func (b *batch[T, K]) flush(ctx context.Context) error {
	if err := b.send(ctx); err != nil {
		return err
	}
	return b.settle()
}

// send starts to import the collected records. Before that, it waits for earlier ones if as
// many batches as may be are being imported, or one that has a record with the same key.
func (b *batch[T, K]) send(ctx context.Context) error {
	if len(b.records) == 0 {
		return nil
	}
	for len(b.sent) >= b.atOnce || b.hasSentKey() {
		if err := b.settleOldest(); err != nil {
			return err
		}
	}
	s := &sentRecords[T, K]{records: b.records, places: b.places, keys: b.keys, first: b.first, ended: make(chan struct{})}
	b.records, b.places, b.keys, b.bytes, b.sent = nil, nil, map[K]bool{}, 0, append(b.sent, s)
	go func() {
		defer close(s.ended)
		defer b.takeTurn()()
		var spent core.Trace // a transaction that waits for its turn is not a long one
		s.done, s.err = b.write(core.WithTrace(ctx, &spent), s.records)
		s.took = time.Duration(spent.Waited.Load())
	}()
	return nil
}

// takeTurn waits for the turn of a batch, which the returned function ends.
func (b *batch[T, K]) takeTurn() (end func()) {
	turn := &b.reporter.pipeline.turn
	if b.atOnce > 1 {
		turn.RLock()
		return turn.RUnlock
	}
	turn.Lock()
	return turn.Unlock
}

// hasSentKey reports whether a collected record has the key of one that is being imported.
func (b *batch[T, K]) hasSentKey() bool {
	for _, s := range b.sent {
		for key := range b.keys {
			if s.keys[key] {
				return true
			}
		}
	}
	return false
}

// settle waits for all records that are being imported, and counts them. It returns the
// first error.
func (b *batch[T, K]) settle() (first error) {
	for len(b.sent) > 0 {
		if err := b.settleOldest(); first == nil {
			first = err
		}
	}
	return first
}

// firstUnsaved returns the first record that was read and is not imported. No batch is being imported.
func (b *batch[T, K]) firstUnsaved() unsaved {
	if b.lost.number == 0 && len(b.records) > 0 {
		return unsaved{b.first, b.places[0]}
	}
	return b.lost
}

// settleOldest waits for the records that have been imported for the longest time, and
// counts them.
func (b *batch[T, K]) settleOldest() error {
	s := b.sent[0]
	b.sent = b.sent[1:]
	<-s.ended
	if s.err != nil {
		if b.lost.number == 0 {
			b.lost = unsaved{s.first, s.places[0]}
		}
		return fmt.Errorf("import %s: %w", b.kind.Name, s.err)
	}
	b.adaptSize(s.took)
	b.kind.Added += s.done.Added
	b.kind.Updated += s.done.Updated
	b.kind.Unchanged += s.done.Unchanged
	for _, i := range slices.Sorted(maps.Keys(s.done.Rejected)) {
		b.fail(s.places[i], s.done.Rejected[i])
	}
	return nil
}

// adaptSize sets the size of the next batch, given how long this one took.
func (b *batch[T, K]) adaptSize(took time.Duration) {
	switch {
	case took > longCommit:
		b.size = max(b.size/2, minBatchSize)
	case took < shortCommit:
		b.size = min(b.size*2, core.ImportBatch)
	}
}
