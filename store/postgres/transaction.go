package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// A transaction is a dbconn.TxConn. It begins together with its first statements, and ends
// together with its last ones, so that a small one takes two round trips.
type transaction struct {
	engine  *Engine
	pooled  *pgxpool.Conn // nil until it has begun
	timeout time.Duration // maximum time without a response; 0 means no limit
	failed  error         // the first error of a statement, after which PostgreSQL accepts no other
	isDone  bool          // whether a COMMIT was sent
}

// Run sends all statements at once and reads their results.
func (t *transaction) Run(ctx context.Context, statements ...*dbconn.Statement) error {
	core.TraceOf(ctx).NoteStatements(len(statements))
	w := t.engine.breaker.await(ctx, t.limit(statements))
	defer w.cancel()
	if t.pooled != nil {
		_, err := t.send(w.within, t.plan(statements))
		return w.end(translate(err))
	}
	return w.end(translate(t.begin(w.within, t.plan(statements))))
}

// limit returns the maximum time without a response to statements. PostgreSQL limits the wait for each
// lock by itself, also for the one with which a transaction begins.
func (t *transaction) limit(statements []*dbconn.Statement) time.Duration {
	limit := t.timeout
	if limit == 0 {
		return 0
	}
	if t.pooled == nil {
		limit += t.engine.lockTimeout
	}
	for _, s := range statements {
		if s.Waits {
			limit += t.engine.lockTimeout
		}
	}
	return limit
}

// begin begins the transaction and sends its first statements. If the connection is lost before
// any row has arrived, or a migration has outdated its prepared statements, it does so again with a new one.
func (t *transaction) begin(ctx context.Context, statements []*dbconn.Statement) error {
	first := append([]*dbconn.Statement{{SQL: beginTransaction}, {SQL: t.engine.begin}}, statements...)
	rows, err := t.beginOn(ctx, first)
	if rows == 0 && (isConnectionLost(translate(err)) || isOutgrown(err)) {
		t.engine.pool.Reset() // the others are likely to be lost or outdated too
		t.release()
		_, err = t.beginOn(ctx, first)
	}
	t.failed = translate(err) // also if there is no connection: nothing may begin again without these statements
	return err
}

// beginOn sends the first statements on a connection of the pool.
func (t *transaction) beginOn(ctx context.Context, first []*dbconn.Statement) (rows int, err error) {
	if t.pooled, err = t.engine.pool.Acquire(ctx); err != nil {
		t.pooled = nil
		return 0, err
	}
	return t.send(ctx, first)
}

// send sends statements on the connection of the transaction. It returns the number of rows.
func (t *transaction) send(ctx context.Context, statements []*dbconn.Statement) (rows int, err error) {
	if t.failed != nil {
		return 0, t.failed
	}
	rows, err = conn{querier: t.pooled.Conn()}.send(ctx, statements)
	t.failed = translate(err)
	return rows, err
}

// Copy adds rows by COPY.
func (t *transaction) Copy(ctx context.Context, table string, columns []string, rows [][]any) error {
	if t.pooled == nil {
		if err := t.Run(ctx); err != nil {
			return err
		}
	}
	core.TraceOf(ctx).NoteStatements(1)
	bound := make([]any, 0, len(columns)) // pgx encodes the values of a row before it asks for the next row
	from := pgx.CopyFromSlice(len(rows), func(i int) ([]any, error) {
		bound = appendBound(bound[:0], rows[i])
		return bound, nil
	})
	w := t.engine.breaker.await(ctx, t.timeout)
	defer w.cancel()
	if t.failed == nil {
		_, err := t.pooled.Conn().CopyFrom(w.within, pgx.Identifier{table}, columns, from)
		t.failed = translate(err)
	}
	return w.end(t.failed)
}

// LockCounters waits for all transactions that change counters, and blocks new
// ones. It also removes the time limits, because counting all rows can
// take long.
func (t *transaction) LockCounters(ctx context.Context) error {
	if err := t.Run(ctx, &dbconn.Statement{SQL: removeLimits}); err != nil {
		return err
	}
	t.timeout = 0
	return t.Run(ctx, &dbconn.Statement{SQL: "LOCK TABLE counter IN SHARE ROW EXCLUSIVE MODE"})
}

// Commit sends statements and COMMIT at once. They do not begin a transaction too: a connection
// that is already lost would leave open whether it was committed. Without anything to
// commit, nothing is sent.
func (t *transaction) Commit(ctx context.Context, statements ...*dbconn.Statement) error {
	switch {
	case t.isDone || t.pooled == nil && len(statements) == 0:
		return nil
	case t.pooled == nil:
		if err := t.Run(ctx, statements...); err != nil {
			return err
		}
		statements = nil
	case t.failed != nil: // the unit has gone on after an error
		return t.failed
	}
	core.TraceOf(ctx).NoteStatements(len(statements))
	w := t.engine.breaker.await(ctx, t.timeout)
	defer w.cancel()
	t.isDone = true
	_, err := t.send(w.within, append(t.plan(statements), &dbconn.Statement{SQL: "COMMIT"}))
	ended := w.end(translate(err))
	if isUncertain(err) && !errors.Is(ctx.Err(), context.Canceled) { // else nobody waits for the error
		return core.Uncertain(err)
	}
	return ended
}

// end gives the connection back. It undoes a transaction that was not committed.
func (t *transaction) end(ctx context.Context) {
	if t.isOpen() {
		w := t.engine.breaker.await(ctx, t.engine.responseTimeout)
		defer w.cancel()
		_, err := t.pooled.Exec(w.within, "ROLLBACK")
		_ = w.end(translate(err))
	}
	t.release()
}

// isOpen reports whether the server may still be in the transaction.
func (t *transaction) isOpen() bool {
	if t.pooled == nil {
		return false
	}
	server := t.pooled.Conn().PgConn()
	return !server.IsClosed() && server.TxStatus() != isIdle
}

// isIdle is the status of a connection without a transaction.
const isIdle = 'I'

// release gives the connection back, if there is one. The pool closes one that is still in a transaction.
func (t *transaction) release() {
	if t.pooled != nil {
		t.engine.pool.Release(t.pooled)
	}
	t.pooled, t.failed = nil, nil
}
