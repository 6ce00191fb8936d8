package dbconn

import (
	"context"
	"slices"
)

// A Database is the way of a Store to its engine. Reads pass wrappers, each of which has one
// concern and a file of its own, and hands the statements to the next one. A wrapper can be
// left out: then nobody serves its concern, and the answers are the same.
type Database struct {
	Engine
	primary Conn // reads from the primary
	reads   Conn // reads that a standby may answer

	observers observers
	prover    Prover
	slots     backgroundSlots
}

// A wrapper returns a Conn that serves one concern, and hands the statements to next.
type wrapper struct {
	name string
	wrap func(d *Database, next Conn) Conn
}

// The wrappers, from the engine outwards.
var (
	// These send what they get to the primary.
	primaryWrappers = []wrapper{
		{"observe", newObserved},   // observe.go: observers get each round trip
		{"turn", newInTurn},        // turn.go: a read waits until its request, or work in the background, may use a connection
		{"share", newSharing},      // quick.go: reads by key of several requests share a round trip
		{"standby", newPositioned}, // standby.go: the primary tells what a standby must have reached
		{"prove", newProving},      // prove.go: the first statements of a request prove its caller
	}
	// This one may send what it gets to a standby.
	standbyWrapper = wrapper{"standby", newStandbyReader} // standby.go
	// These get the statements of one call.
	callWrappers = []wrapper{
		{"gather", newGathering}, // level.go: concurrent calls for one response share a round trip
		{"measure", newMeasured}, // measure.go: a response reads no more than its limit
	}
)

// Wrappers lists the names of the wrappers.
func Wrappers() (names []string) {
	for _, w := range slices.Concat(primaryWrappers, callWrappers) {
		names = append(names, w.name)
	}
	return names
}

// New returns the way to an engine, with all wrappers except one; "" leaves out none. by
// may be nil if there are no requests whose callers must be proven. The observers are notified
// of each round trip.
func New(e Engine, by Prover, all []Observer, without string) *Database {
	d := &Database{Engine: e, prover: by, observers: all, slots: newBackgroundSlots(e)}
	wrap := func(conn Conn, wrappers ...wrapper) Conn {
		for _, w := range wrappers {
			if w.name != without {
				conn = w.wrap(d, conn)
			}
		}
		return conn
	}
	primary := wrap(e, primaryWrappers...)
	d.primary = wrap(primary, callWrappers...)
	d.reads = wrap(wrap(primary, standbyWrapper), callWrappers...)
	return d
}

// Reads returns the Conn of reads that a standby may answer.
func (d *Database) Reads() Conn { return d.reads }

// Run reads from the primary, outside of any transaction.
func (d *Database) Run(ctx context.Context, statements ...*Statement) error {
	return d.primary.Run(ctx, statements...)
}

// Write runs unit in a transaction. It waits for a connection as reads do, reports the round trips,
// and keeps the later reads of the request from standbys.
func (d *Database) Write(ctx context.Context, unit func(*Tx) error) error {
	NoteWrite(ctx)
	end, err := d.slots.await(ctx)
	if err != nil {
		return err
	}
	defer end()
	return d.Engine.Write(ctx, func(conn TxConn) error {
		return unit(&Tx{TxConn: observedTx{conn, d.observers}, dialect: d.Dialect(), prover: d.prover})
	})
}
