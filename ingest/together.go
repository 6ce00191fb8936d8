package ingest

import (
	"context"
	"sync"
	"sync/atomic"
)

// together does work on all items, on n at once, and calls after with each one
// as it is done, always from the caller's goroutine. An error of after, or the
// end of the context, ends it; nothing is under way any more when it returns.
func together[T any](ctx context.Context, n int, items []T, work func(context.Context, T), after func(T) error) error {
	within, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan T)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, len(items)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(items)) && within.Err() == nil; i = next.Add(1) - 1 {
				work(within, items[i])
				done <- items[i]
			}
		})
	}
	go func() {
		workers.Wait()
		close(done)
	}()
	var err error
	for item := range done {
		if err == nil {
			err = ctx.Err() // what was cancelled is no result
		}
		if err == nil {
			err = after(item)
		}
		if err != nil {
			stop()
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	return err
}
