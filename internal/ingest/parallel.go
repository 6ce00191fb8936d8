package ingest

import (
	"context"
	"sync"
	"sync/atomic"
)

// runParallel calls work for all items, for at most n at the same time. It calls
// onDone for each item whose work has ended, from the goroutine of the caller. An
// error of onDone or the end of ctx stops it. When it returns, no work is running.
func runParallel[T any](ctx context.Context, n int, items []T, work func(context.Context, T), onDone func(T) error) error {
	workCtx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan T)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, len(items)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(items)) && workCtx.Err() == nil; i = next.Add(1) - 1 {
				work(workCtx, items[i])
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
			err = ctx.Err() // the work of this item was cancelled
		}
		if err == nil {
			err = onDone(item)
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
