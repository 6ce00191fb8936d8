package sqlstore

import (
	"context"
	"time"

	"atrium/platform"
)

// An Observer is notified of each round trip to the database.
type Observer interface {
	// RoundTrip is called with the statements that were sent together. It must not
	// show their arguments, which contain user data.
	RoundTrip(ctx context.Context, statements []*Statement, took time.Duration, err error)
}

// An observedEngine reports the duration of round trips to observers and to the
// trace of the request.
type observedEngine struct {
	Engine
	observers []Observer
}

// Run reads outside of any transaction.
func (o observedEngine) Run(ctx context.Context, statements ...*Statement) error {
	start := time.Now()
	err := o.Engine.Run(ctx, statements...)
	o.report(ctx, statements, start, err)
	return err
}

// Write runs unit in a transaction.
func (o observedEngine) Write(ctx context.Context, unit func(TxConn) error) error {
	return o.Engine.Write(ctx, func(conn TxConn) error { return unit(observedTx{conn, o}) })
}

// report notifies the observers of a round trip that has just ended.
func (o observedEngine) report(ctx context.Context, statements []*Statement, start time.Time, err error) {
	took := time.Since(start)
	platform.TraceOf(ctx).NoteWait(took)
	for _, observer := range o.observers {
		observer.RoundTrip(ctx, statements, took, err)
	}
}

type observedTx struct {
	TxConn
	engine observedEngine
}

// Run runs statements in the transaction.
func (t observedTx) Run(ctx context.Context, statements ...*Statement) error {
	start := time.Now()
	err := t.TxConn.Run(ctx, statements...)
	t.engine.report(ctx, statements, start, err)
	return err
}

// Copy adds many rows.
func (t observedTx) Copy(ctx context.Context, table string, columns []string, rows [][]any) error {
	start := time.Now()
	err := t.TxConn.Copy(ctx, table, columns, rows)
	t.engine.report(ctx, []*Statement{{SQL: "COPY " + table}}, start, err)
	return err
}
