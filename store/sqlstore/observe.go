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
	return o.observe(ctx, statements, func() error { return o.Engine.Run(ctx, statements...) })
}

// Write runs unit in a transaction.
func (o observedEngine) Write(ctx context.Context, unit func(TxConn) error) error {
	return o.Engine.Write(ctx, func(conn TxConn) error { return unit(observedTx{conn, o}) })
}

func (o observedEngine) observe(ctx context.Context, statements []*Statement, run func() error) error {
	start := time.Now()
	err := run()
	took := time.Since(start)
	platform.TraceOf(ctx).NoteWait(took)
	for _, observer := range o.observers {
		observer.RoundTrip(ctx, statements, took, err)
	}
	return err
}

type observedTx struct {
	TxConn
	engine observedEngine
}

// Run runs statements in the transaction.
func (t observedTx) Run(ctx context.Context, statements ...*Statement) error {
	return t.engine.observe(ctx, statements, func() error { return t.TxConn.Run(ctx, statements...) })
}

// Copy adds many rows.
func (t observedTx) Copy(ctx context.Context, table string, columns []string, rows [][]any) error {
	copied := []*Statement{{SQL: "COPY " + table}}
	return t.engine.observe(ctx, copied, func() error { return t.TxConn.Copy(ctx, table, columns, rows) })
}
