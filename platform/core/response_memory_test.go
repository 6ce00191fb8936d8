package core

import (
	"context"
	"errors"
	"testing"
)

func openResponse(t *testing.T, p *MemoryPool, caller string) (context.Context, func()) {
	t.Helper()
	ctx := WithActor(t.Context(), &Actor{Identities: []UID{UID(caller)}})
	return p.Open(ctx)
}

func read(ctx context.Context, n int) error { return ResponseMemoryOf(ctx).Read(ctx, n) }

func TestAnAnswerAboveItsLimitIsRejected(t *testing.T) {
	t.Parallel()
	ctx, end := openResponse(t, NewMemoryPool(MemoryLimits{PerResponse: 1000}, nil), "ann")
	defer end()
	if err := errors.Join(read(ctx, 1000), ResponseMemoryOf(ctx).Write(ctx, 1000)); err != nil {
		t.Fatal(err)
	}
	err := AsError(read(ctx, 1))
	if err.Code != CodeInvalidArgument || err.Reason != "LIMIT_EXCEEDED" || err.Violations[0].Field != "page_size" || err.Metadata["value"] != "1000" {
		t.Errorf("one byte more is %+v", err)
	}
	if ResponseMemoryOf(ctx).WriteError() != nil {
		t.Error("the body was written")
	}
	if err := ResponseMemoryOf(ctx).Write(ctx, 1); err == nil || !errors.Is(ResponseMemoryOf(ctx).WriteError(), err) {
		t.Errorf("a byte of the body more is %v", err)
	}
}

// Bytes that are noted count like bytes that are read, from the next Read on.
func TestNotedBytesCountFromTheNextRead(t *testing.T) {
	t.Parallel()
	ctx, end := openResponse(t, NewMemoryPool(MemoryLimits{PerResponse: 1000}, nil), "ann")
	defer end()
	ResponseMemoryOf(ctx).Note(1000)
	if err := read(ctx, 0); err != nil {
		t.Fatal(err)
	}
	ResponseMemoryOf(ctx).Note(1)
	if err := read(ctx, 0); err == nil || AsError(err).Reason != "LIMIT_EXCEEDED" {
		t.Errorf("one byte more is %v", err)
	}
}

func TestACallerTakesHalfOfTheMemoryAndOthersTheRest(t *testing.T) {
	t.Parallel()
	idle := make(chan struct{}, 1)
	pool := NewMemoryPool(MemoryLimits{Total: 400 << 20}, func() { idle <- struct{}{} })
	ann, endAnn := openResponse(t, pool, "ann")
	more, endMore := openResponse(t, pool, "ann")
	bob, endBob := openResponse(t, pool, "bob")
	if err := read(ann, 99<<20); err != nil { // The read needs twice as much.
		t.Fatal(err)
	}
	if err := read(more, 60<<10/readWeight); err != nil {
		t.Errorf("a small answer: %v", err)
	}
	err := AsError(read(more, 10<<20))
	if err.Code != CodeUnavailable || err.RetryAfter == 0 {
		t.Errorf("beyond half of it: %+v", err)
	}
	if err := read(bob, 90<<20); err != nil {
		t.Errorf("another caller: %v", err)
	}
	waited := make(chan error)
	again, endAgain := openResponse(t, pool, "ann")
	go func() { waited <- read(again, 10<<20) }()
	endAnn()
	if err := <-waited; err != nil {
		t.Errorf("it is not given what was given back: %v", err)
	}
	for _, end := range []func(){endMore, endBob, endAgain, endAnn} {
		end()
	}
	<-idle
	if pool.used != 0 || len(pool.callers) != 0 || pool.waiting != 0 {
		t.Errorf("%d bytes of %v are never given back", pool.used, pool.callers)
	}
}

func TestOnlyFewResponsesWaitForMemory(t *testing.T) {
	t.Parallel()
	pool := NewMemoryPool(MemoryLimits{Total: 4 << 20}, nil)
	full, end := openResponse(t, pool, "ann")
	if err := read(full, 1<<20); err != nil {
		t.Fatal(err)
	}
	const asked = 20
	failed := make(chan error, asked)
	for range asked {
		go func() {
			ctx, end := openResponse(t, pool, "ann")
			defer end()
			failed <- read(ctx, 1<<20)
		}()
	}
	for range asked - maxWaiting { // All read at once: no memory is released before.
		if err := <-failed; AsError(err).Code != CodeUnavailable {
			t.Errorf("one of too many waits and gets %v", err)
		}
	}
	end()
	for range maxWaiting {
		<-failed
	}
	uncounted := WithoutResponseMemory(full)
	if err := read(uncounted, 1<<30); err != nil {
		t.Errorf("what is not counted: %v", err)
	}
}

func TestReadMemoryIsReleasedWhenTheBodyIsComplete(t *testing.T) {
	t.Parallel()
	pool := NewMemoryPool(MemoryLimits{Total: 400 << 20}, nil)
	ctx, end := openResponse(t, pool, "ann")
	defer end()
	answer := ResponseMemoryOf(ctx)
	if err := errors.Join(read(ctx, 40<<20), answer.Write(ctx, 10<<20)); err != nil {
		t.Fatal(err)
	}
	answer.ReleaseRead()
	if want := int64(writtenWeight*10<<20) - freeBytes; pool.used != want {
		t.Errorf("the body takes %d, want %d", pool.used, want)
	}
}
