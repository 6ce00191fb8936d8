package dbconn

import (
	"context"
	"time"

	"atrium/platform/core"
)

// An Observer is notified of each round trip to the database.
type Observer interface {
	// RoundTrip is called with the statements that were sent together. It must not
	// show their arguments, which contain user data.
	RoundTrip(ctx context.Context, statements []*Statement, took time.Duration, err error)
}

type observers []Observer

// report notifies the observers of a round trip that has just ended.
func (o observers) report(ctx context.Context, statements []*Statement, start time.Time, err error) {
	took := time.Since(start)
	core.TraceOf(ctx).NoteWait(took)
	for _, observer := range o {
		observer.RoundTrip(ctx, statements, took, err)
	}
}

// observed reports each round trip.
type observed struct {
	next      Conn
	observers observers
}

func newObserved(d *Database, next Conn) Conn { return &observed{next, d.observers} }

// Run runs statements.
func (o *observed) Run(ctx context.Context, statements ...*Statement) error {
	start := time.Now()
	err := o.next.Run(ctx, statements...)
	o.observers.report(ctx, statements, start, err)
	return err
}

// An observedTx reports the round trips of a transaction.
type observedTx struct {
	TxConn
	observers observers
}

// Run runs statements in the transaction.
func (t observedTx) Run(ctx context.Context, statements ...*Statement) error {
	start := time.Now()
	err := t.TxConn.Run(ctx, statements...)
	t.observers.report(ctx, statements, start, err)
	return err
}

// Commit runs statements and ends the transaction.
func (t observedTx) Commit(ctx context.Context, statements ...*Statement) error {
	start := time.Now()
	err := t.TxConn.Commit(ctx, statements...)
	if len(statements) == 0 { // the round trip is that of the commit alone
		statements = []*Statement{{SQL: "COMMIT"}}
	}
	t.observers.report(ctx, statements, start, err)
	return err
}

// Copy adds many rows.
func (t observedTx) Copy(ctx context.Context, table string, columns []string, rows [][]any) error {
	start := time.Now()
	err := t.TxConn.Copy(ctx, table, columns, rows)
	t.observers.report(ctx, []*Statement{{SQL: "COPY " + table}}, start, err)
	return err
}
