package lru_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"atrium/internal/lru"
)

// The cache behaves as a list that every call searches from its start.
func TestTheCacheHoldsWhatWasUsedLast(t *testing.T) {
	t.Parallel()
	const size = 5
	random := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // the same steps each time
	var dropped, wantDropped []int
	c := lru.New(size, func(key, value int) { dropped = append(dropped, key, value) })
	var want [][2]int // keys and values, the oldest first
	position := func(key int) int { return slices.IndexFunc(want, func(e [2]int) bool { return e[0] == key }) }
	drop := func(i int) {
		wantDropped = append(wantDropped, want[i][0], want[i][1])
		want = slices.Delete(want, i, i+1)
	}
	for step := range 20_000 {
		key := random.IntN(2 * size)
		i := position(key)
		switch call := random.IntN(100); {
		case call < 40:
			c.Add(key, step)
			if i >= 0 {
				want = slices.Delete(want, i, i+1)
			}
			if want = append(want, [2]int{key, step}); len(want) > size {
				drop(0)
			}
		case call < 75:
			value, found := c.Get(key)
			if found != (i >= 0) || found && value != want[i][1] {
				t.Fatalf("step %d: Get(%d) = %d, %t; the cache should hold %v", step, key, value, found, want)
			}
			if found {
				want = append(slices.Delete(want, i, i+1), [2]int{key, value})
			}
		case call < 85:
			if value, found := c.Peek(key); found != (i >= 0) || found && value != want[i][1] {
				t.Fatalf("step %d: Peek(%d) = %d, %t; the cache should hold %v", step, key, value, found, want)
			}
		case call < 93:
			if c.Remove(key); i >= 0 {
				drop(i)
			}
		case call < 99:
			if c.RemoveOldest(); len(want) > 0 {
				drop(0)
			}
		default:
			for c.Clear(); len(want) > 0; {
				drop(0)
			}
		}
		var values []int
		for _, e := range want {
			values = append(values, e[1])
		}
		if got := slices.Collect(c.Values()); !slices.Equal(got, values) || c.Len() != len(want) || !slices.Equal(dropped, wantDropped) {
			t.Fatalf("step %d: the cache holds %v (%d), want %v", step, got, c.Len(), want)
		}
	}
}

// The race detector finds an access without the lock.
func TestASharedCacheIsSafe(t *testing.T) {
	t.Parallel()
	c := lru.NewShared[int, int](10)
	var group sync.WaitGroup
	for caller := range 4 {
		group.Go(func() {
			for i := range 1000 {
				key := (i + caller) % 20
				c.Add(key, 2*key)
				if value, found := c.Get(key); found && value != 2*key {
					t.Errorf("Get(%d) = %d", key, value)
				}
			}
		})
	}
	group.Wait()
}
