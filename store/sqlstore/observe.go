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

// report notifies the observers of a round trip that has just ended.
func (d *database) report(ctx context.Context, statements []*Statement, start time.Time, err error) {
	took := time.Since(start)
	platform.TraceOf(ctx).NoteWait(took)
	for _, observer := range d.observers {
		observer.RoundTrip(ctx, statements, took, err)
	}
}

// An observedTx reports the round trips of a transaction.
type observedTx struct {
	TxConn
	database *database
}

// Run runs statements in the transaction.
func (t observedTx) Run(ctx context.Context, statements ...*Statement) error {
	start := time.Now()
	err := t.TxConn.Run(ctx, statements...)
	t.database.report(ctx, statements, start, err)
	return err
}

// Copy adds many rows.
func (t observedTx) Copy(ctx context.Context, table string, columns []string, rows [][]any) error {
	start := time.Now()
	err := t.TxConn.Copy(ctx, table, columns, rows)
	t.database.report(ctx, []*Statement{{SQL: "COPY " + table}}, start, err)
	return err
}
