package sqlstore

import (
	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

// A source is where rows are read: a database or a transaction.
type source struct {
	conn    dbconn.Conn // the primary or the transaction
	reads   dbconn.Conn // runs the reads that a standby may answer; in a transaction it is conn
	dialect *dbconn.Dialect
}

func (s source) asSource() source { return s }

// A counterTx is a transaction with the changes of counters, which are written last.
type counterTx struct {
	conn   *dbconn.Tx
	slot   int
	deltas deltas
}

// newCounterTx returns a transaction that has changed no counter.
func newCounterTx(conn *dbconn.Tx, d *dbconn.Dialect) counterTx {
	return counterTx{conn, randomSlot(d), deltas{}}
}

func (tx *counterTx) asCounterTx() *counterTx { return tx }

// errForeign is what a table panics with if it is given the connection of another store.
const errForeign = "sqlstore: the connection belongs to another store"

// sourceOf returns the source that the session of a connection has.
func sourceOf(on platform.Conn) source {
	if s, ok := on.Session().(interface{ asSource() source }); ok {
		return s.asSource()
	}
	panic(errForeign)
}

// counterTxOf returns the transaction that the session of another one has.
func counterTxOf(in platform.Tx) *counterTx {
	if tx, ok := in.Session().(interface{ asCounterTx() *counterTx }); ok {
		return tx.asCounterTx()
	}
	panic(errForeign)
}

// count adds by to a counter of the scopes that contain uid. isQuiet means that its parent has few writers at once.
func (tx *counterTx) count(number byte, uid platform.UID, isQuiet bool, by int64) {
	tx.deltas.count(number, uid, isQuiet, tx.slot, by)
}

// counterStatements returns the statements that write the changes.
func (tx *counterTx) counterStatements(d *dbconn.Dialect) []*dbconn.Statement {
	return tx.deltas.statements(d)
}
