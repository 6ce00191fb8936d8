package storetest_test

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/store/sqlstore"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// A waitingEngine notes which statements of its transactions wait for a lock.
type waitingEngine struct {
	dbconn.Engine
	waits [][]bool // by round trip
}

func (e *waitingEngine) Write(ctx context.Context, unit func(dbconn.TxConn) error) error {
	return e.Engine.Write(ctx, func(tx dbconn.TxConn) error { return unit(waitingTx{tx, e}) })
}

type waitingTx struct {
	dbconn.TxConn
	engine *waitingEngine
}

func (tx waitingTx) Run(ctx context.Context, statements ...*dbconn.Statement) error {
	waits := make([]bool, len(statements))
	for i, s := range statements {
		waits[i] = s.Waits
	}
	tx.engine.waits = append(tx.engine.waits, waits)
	return tx.TxConn.Run(ctx, statements...)
}

// Locks are sent with the statement that follows them, and have their own time. Without their mark, all of them
// together would have that of one statement.
func TestLocksAreSentWithTheNextStatementAndMarked(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		engine := &waitingEngine{Engine: openEngine(t, w.url)}
		err := sqlstore.New(engine).Write(t.Context(), func(tx core.Tx) error {
			tx.Lock("a")
			tx.Lock("b")
			tx.LockShared("c")
			tx.Lock("a")
			_, err := tx.Exists(t.Context(), "a")
			if err == nil {
				tx.Lock("b")
				_, err = tx.Exists(t.Context(), "a")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		want := [][]bool{{true, true, true, false}, {false}}
		if w.onSQLite() { // It has one writer at a time.
			want = [][]bool{{false}, {false}}
		}
		if !slices.EqualFunc(engine.waits, want, slices.Equal) {
			t.Errorf("the round trips wait %v, want %v", engine.waits, want)
		}
	})
}

// Another connection holds one of two locks that a transaction needs.
func TestATransactionThatWaitsForALockTooLongChangesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.onSQLite() {
			t.Skip("there is one writer at a time")
		}
		impatient := storetest.Open(t, addParameters(t, w.url, url.Values{"lock_timeout": {"20ms"}}))
		write := func() error {
			return impatient.Write(t.Context(), func(tx core.Tx) error {
				tx.Record(&core.Event{ID: "waited", Body: []byte("{}")})
				tx.Lock("free")
				tx.Lock("held")
				_, err := tx.Exists(t.Context(), "a")
				return err
			})
		}
		err := w.store.Write(t.Context(), func(tx core.Tx) error {
			tx.Lock("held")
			if _, err := tx.Exists(t.Context(), "a"); err != nil {
				return err
			}
			if err := write(); !errors.Is(err, core.ErrLocked) {
				t.Errorf("while another connection holds the lock, a write ends with %v, want %v", err, core.ErrLocked)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(w.recordedTypes()); n != 0 {
			t.Errorf("the write that was locked out has recorded %d events", n)
		}
		if err := write(); err != nil {
			t.Errorf("once the lock is free, a write ends with %v", err)
		}
		if n := len(w.recordedTypes()); n != 1 {
			t.Errorf("%d events are recorded, want 1", n)
		}
	})
}
