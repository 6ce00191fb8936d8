package storetest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/store/storetest"
)

// In a random order, one of 150 writes would wait for more than five times as many others as
// there are writers: 27 of these. Some may, because their goroutine is not scheduled for a
// while before it waits.
func TestNoWriterOfSQLiteStarves(t *testing.T) {
	t.Parallel()
	const writers, turns, long, most = 200, 20, 5 * 200, 10
	store := storetest.Open(t, storetest.SQLite(t))
	var served, waitedLong atomic.Int64
	runTogether(t, writers, func(int) error {
		for range turns {
			came := served.Load()
			err := store.Write(t.Context(), func(core.Tx) error {
				if others := served.Add(1) - 1 - came; others > long {
					waitedLong.Add(1)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if n := waitedLong.Load(); n > most {
		t.Errorf("%d of %d writes waited for more than %d others", n, writers*turns, long)
	}
	if n := served.Load(); n != writers*turns {
		t.Errorf("%d of %d were served", n, writers*turns)
	}
}

// A writer that gives up while it waits must not keep its turn.
func TestACancelledWriterOfSQLiteDelaysNobody(t *testing.T) {
	t.Parallel()
	store := storetest.Open(t, storetest.SQLite(t))
	nothing := func(core.Tx) error { return nil }
	err := store.Write(t.Context(), func(core.Tx) error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := store.Write(ctx, nothing); err == nil {
			t.Error("two wrote at the same time")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	runTogether(t, 50, func(i int) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if i%2 == 0 {
			go cancel()
		}
		if err := store.Write(ctx, nothing); err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	})
	if err := store.Write(t.Context(), nothing); err != nil {
		t.Error(err)
	}
}
