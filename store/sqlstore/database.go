package sqlstore

import (
	"context"
	"time"

	"atrium/platform"
)

// A database sends the statements of a Store to its engine. It gathers the statements
// of concurrent calls, proves who the caller is, reserves connections for requests, and
// notifies observers.
type database struct {
	Engine
	standbys  Standbys // nil means that there are none
	observers []Observer
	quick     *quickReader
	slots     chan struct{} // holds one element for each statement or transaction in the background
}

// newDatabase returns a database that limits background work to half of the
// connections of an engine. Requests may use all of them.
func newDatabase(e Engine, observers []Observer) *database {
	d := &database{Engine: e, standbys: e.Standbys(), observers: observers, slots: make(chan struct{}, max(1, e.Connections()/2))}
	d.quick = newQuickReader(d)
	return d
}

// A sender sends statements in one round trip.
type sender interface {
	send(ctx context.Context, statements []*Statement) error
}

// Run reads from the primary, outside of any transaction.
func (d *database) Run(ctx context.Context, statements ...*Statement) error {
	return read(ctx, d, statements)
}

// read runs statements of a response, whose rows it measures. A call of a level waits for
// the other calls of the level.
func read(ctx context.Context, to sender, statements []*Statement) (err error) {
	answer := measureRows(ctx, statements)
	if l := levelOf(ctx); l != nil {
		err = l.run(newPendingCall(ctx, to, statements))
	} else {
		err = to.send(ctx, statements)
	}
	if err != nil {
		return err
	}
	return answer.Read(ctx, 0)
}

// send sends statements to the primary in one round trip. If nothing has proven the
// presumption about the caller yet, the statement that proves it comes first. For a
// request that only reads, the last statement asks for the position of the primary.
func (d *database) send(ctx context.Context, statements []*Statement) error {
	proof, err := takeProof(ctx, d.Dialect())
	if err != nil {
		return err
	}
	release, err := d.acquire(ctx)
	defer release()
	if err == nil {
		sent, note := d.addPosition(ctx, proof.addTo(statements))
		if d.quick.accepts(ctx, sent) {
			err = d.quick.run(ctx, sent)
		} else {
			err = d.runAlone(ctx, sent)
		}
		note()
	}
	return proof.resolve(ctx, d, err)
}

// runAlone runs statements in a round trip of their own.
func (d *database) runAlone(ctx context.Context, statements []*Statement) error {
	start := time.Now()
	err := d.Engine.Run(ctx, statements...)
	d.report(ctx, statements, start, err)
	return err
}

// Write runs unit in a transaction.
func (d *database) Write(ctx context.Context, unit func(TxConn) error) error {
	noteWrite(ctx)
	release, err := d.acquire(ctx)
	defer release()
	if err != nil {
		return err
	}
	return d.Engine.Write(ctx, func(conn TxConn) error { return unit(observedTx{conn, d}) })
}

// acquire takes a slot for background work, and waits until one is free. Requests
// need none. The caller calls release in any case.
func (d *database) acquire(ctx context.Context) (release func(), err error) {
	if !platform.IsBackground(ctx) {
		return func() {}, nil
	}
	select {
	case d.slots <- struct{}{}:
		return func() { <-d.slots }, nil
	case <-ctx.Done():
		return func() {}, ctx.Err()
	}
}
