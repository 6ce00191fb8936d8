package dbconn

import (
	"context"
	"slices"
)

// A Tx is a transaction of a Database. It sends as much as it can in one round trip: locks and queued statements
// with those that follow them, and the proof of who the caller is with the first ones.
type Tx struct {
	TxConn
	dialect *Dialect
	prover  Prover       // nil if no caller must be proven
	queued  []*Statement // to be sent before the next statements
	locked  []string     // what is locked or to be locked: the statement and the name
}

// Queue lets statements run in the round trip of the next ones, before these. That reports their errors, so they
// must be statements that break no constraint, and whose results nobody needs.
func (t *Tx) Queue(statements ...*Statement) { t.queued = append(t.queued, statements...) }

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
	t.Queue(&Statement{SQL: sql, Args: []any{name}, Waits: true})
}

// Run runs statements. The proof comes first, so that a caller who is somebody else waits for no lock.
func (t *Tx) Run(ctx context.Context, statements ...*Statement) error {
	if isTogether, err := waitTogether(ctx, statements); isTogether {
		return err
	}
	statements, t.queued = slices.Concat(t.queued, statements), nil
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
	if err := t.Run(ctx); err != nil { // the proof and what is queued
		return err
	}
	return t.TxConn.Copy(ctx, table, columns, rows)
}

// LockCounters makes every transaction that changes a counter wait.
func (t *Tx) LockCounters(ctx context.Context) error {
	if err := t.Run(ctx); err != nil { // the proof and what is queued
		return err
	}
	return t.TxConn.LockCounters(ctx)
}

// queuedWithCommit limits the queued statements that are sent with the commit: if these take too
// long, nobody knows whether it took effect.
const queuedWithCommit = 50

// Commit runs statements and ends the transaction. The caller must be proven.
func (t *Tx) Commit(ctx context.Context, statements ...*Statement) error {
	if len(t.queued) > queuedWithCommit {
		if err := t.Run(ctx); err != nil {
			return err
		}
	}
	statements, t.queued = slices.Concat(t.queued, statements), nil
	return t.TxConn.Commit(ctx, statements...)
}
