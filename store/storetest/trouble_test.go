package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"atrium/platform"
)

// Two units that wait for each other: one is undone, and run again.
func TestUnitsThatLostAreRunAgainAsAWhole(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.found("acme")
		pair := w.repos(org.Group.UID, 2)
		var runs atomic.Int32
		var started sync.WaitGroup
		started.Add(2)
		together(t, 2, func(i int) error {
			return w.store.Write(ctx, func(tx platform.Tx) error {
				run := runs.Add(1)
				for n, at := range []int{i, 1 - i} {
					r := &platform.Repo{UID: pair[at].UID, Description: fmt.Sprint("by ", i), UpdateTime: platform.At(w.now())}
					if err := platform.RowsOf[platform.Repo](tx).Update(ctx, r, "description"); err != nil {
						return err
					}
					if !w.onSQLite() && run <= 2 && n == 0 { // until the other has its first
						started.Done()
						started.Wait()
					}
				}
				tx.Record(&platform.Event{ID: fmt.Sprint("of ", i), Body: []byte("{}")})
				return platform.RowsOf[platform.Tag](tx).Insert(ctx, &platform.Tag{UID: newDice(uint64(i)).below(pair[i].UID), Name: "t"})
			})
		})
		if n := runs.Load(); !w.onSQLite() && n != 3 {
			t.Errorf("the units ran %d times, want 3", n)
		}
		first, second := must[*platform.Repo](t)(w.p.Repos.Get(ctx, pair[0].UID)), must[*platform.Repo](t)(w.p.Repos.Get(ctx, pair[1].UID))
		if first.Description == "" || first.Description != second.Description {
			t.Errorf("the two are %q and %q, want the same", first.Description, second.Description)
		}
		if n := len(w.recordedTypes()); n != 3+2 {
			t.Errorf("%d events are there, want 5", n)
		}
		w.recounts(t, 0)
	})
}

func TestWorkWhoseTimeIsUpChangesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.found("acme")
		repo := w.repos(org.Group.UID, 1)[0].UID
		short, cancel := context.WithCancel(ctx)
		err := w.store.Write(short, func(tx platform.Tx) error {
			if err := tx.SetReadme(short, repo, "half"); err != nil {
				return err
			}
			cancel()
			return tx.SetReadme(short, repo, "whole")
		})
		if code := platform.AsError(err).Code; code != platform.CodeDeadlineExceeded {
			t.Errorf("got %v (%v), want DEADLINE_EXCEEDED", code, err)
		}
		if _, err := w.p.Repos.List(short, platform.ListRequest[platform.RepoFilter]{}); platform.AsError(err).Code != platform.CodeDeadlineExceeded {
			t.Errorf("a list answers %v", err)
		}
		if got := must[*platform.Readme](t)(w.p.Repos.Readme(ctx, repo)); got.Content != "" {
			t.Errorf("the readme is %q", got.Content)
		}
	})
}

// A server that restarts or fails over costs some requests, which may be tried
// again, and nothing else.
func TestLostConnectionsAreOpenedAgain(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.onSQLite() {
			t.Skip("there is no server to lose")
		}
		ctx, org := w.found("acme")
		together(t, 8, func(int) error { return w.p.Ready(ctx) }) // as many connections as the pool has
		w.exec(w.raw(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		for try := range 20 {
			_, err := w.p.Groups.Get(ctx, org.Group.UID)
			if err == nil {
				return
			}
			if !errors.Is(err, &platform.Error{Code: platform.CodeUnavailable}) {
				t.Fatalf("try %d: got %v, want UNAVAILABLE", try, err)
			}
		}
		t.Error("the pool did not recover")
	})
}
