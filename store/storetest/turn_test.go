package storetest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform"
	"atrium/store/storetest"
)

// The limit leaves room for writers that are not scheduled at once. In a random order,
// some writers would wait for eight times as many others as there are.
func TestNoWriterOfSQLiteStarves(t *testing.T) {
	t.Parallel()
	const writers, turns, most = 200, 20, 5 * 200
	store := storetest.Open(t, storetest.SQLite(t))
	var served, longest atomic.Int64
	runTogether(t, writers, func(int) error {
		for range turns {
			came := served.Load()
			err := store.Write(t.Context(), func(platform.Tx) error {
				others := served.Add(1) - 1 - came
				longest.Store(max(longest.Load(), others)) // There is only one writer at a time.
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if n := longest.Load(); n > most {
		t.Errorf("one of %d writers waited for %d others", writers, n)
	}
	if n := served.Load(); n != writers*turns {
		t.Errorf("%d of %d were served", n, writers*turns)
	}
}

// A writer that gives up while it waits must not keep its turn.
func TestACancelledWriterOfSQLiteDelaysNobody(t *testing.T) {
	t.Parallel()
	store := storetest.Open(t, storetest.SQLite(t))
	nothing := func(platform.Tx) error { return nil }
	err := store.Write(t.Context(), func(platform.Tx) error {
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
