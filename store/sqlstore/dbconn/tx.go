package dbconn

import (
	"context"
	"slices"
)

// A Tx is a transaction of a Database. It sends as much as it can in one round trip: locks with
// the statements that follow them, and the proof of who the caller is with the first ones.
type Tx struct {
	TxConn
	dialect *Dialect
	prover  Prover       // nil if no caller must be proven
	locks   []*Statement // to be sent before the next statements
	locked  []string     // what is locked or to be locked: the statement and the name
}

// Lock makes every other transaction that locks the same name wait until this one ends. The
// lock is taken before the next statement runs, and that reports an error of the lock.
func (t *Tx) Lock(name string) { t.addLock(t.dialect.Lock, name) }

// LockShared does the same, except for transactions that also share the lock.
func (t *Tx) LockShared(name string) { t.addLock(t.dialect.LockShared, name) }

func (t *Tx) addLock(sql, name string) {
	if sql == "" || slices.Contains(t.locked, sql+name) { // there may be only one writer at a time
		return
	}
	t.locked = append(t.locked, sql+name)
	t.locks = append(t.locks, &Statement{SQL: sql, Args: []any{name}, Waits: true})
}

// Run runs statements. The proof comes first, so that a caller who is somebody else waits for no lock.
func (t *Tx) Run(ctx context.Context, statements ...*Statement) error {
	statements, t.locks = slices.Concat(t.locks, statements), nil
	switch {
	case t.prover == nil && len(statements) == 0:
		return nil
	case t.prover == nil:
		return t.TxConn.Run(ctx, statements...)
	}
	return (&proving{t.TxConn, t.prover}).Run(ctx, statements...)
}

// Copy inserts many rows at once.
func (t *Tx) Copy(ctx context.Context, table string, columns []string, rows [][]any) error {
	if err := t.Run(ctx); err != nil { // the proof and the locks
		return err
	}
	return t.TxConn.Copy(ctx, table, columns, rows)
}

// LockCounters makes every transaction that changes a counter wait.
func (t *Tx) LockCounters(ctx context.Context) error {
	if err := t.Run(ctx); err != nil { // the proof and the locks
		return err
	}
	return t.TxConn.LockCounters(ctx)
}

// Commit runs statements and ends the transaction. The caller must be proven.
func (t *Tx) Commit(ctx context.Context, statements ...*Statement) error {
	statements, t.locks = slices.Concat(t.locks, statements), nil
	return t.TxConn.Commit(ctx, statements...)
}
