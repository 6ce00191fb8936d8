package table

import (
	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
)

// A Source is where rows are read: a database or a transaction.
type Source struct {
	Conn    dbconn.Conn // the primary or the transaction
	Reads   dbconn.Conn // runs the reads that a standby may answer; in a transaction it is Conn
	Dialect *dbconn.Dialect
}

func (s Source) asSource() Source { return s }

// A Tx is a transaction with the changes of counters, which are written last.
type Tx struct {
	Conn   *dbconn.Tx
	slot   int
	deltas deltas
}

// NewTx returns a transaction that has changed no counter.
func NewTx(conn *dbconn.Tx, d *dbconn.Dialect) Tx {
	return Tx{conn, randomSlot(d), deltas{}}
}

func (tx *Tx) asTx() *Tx { return tx }

// errForeign is what a table panics with if it is given the connection of another store.
const errForeign = "sqlstore: the connection belongs to another store"

// SourceOf returns the source that the session of a connection has.
func SourceOf(on core.Conn) Source {
	if s, ok := on.Session().(interface{ asSource() Source }); ok {
		return s.asSource()
	}
	panic(errForeign)
}

// txOf returns the transaction that the session of another one has.
func txOf(in core.Tx) *Tx {
	if tx, ok := in.Session().(interface{ asTx() *Tx }); ok {
		return tx.asTx()
	}
	panic(errForeign)
}

// Count adds by to a counter of the scopes that contain uid. isQuiet means that its parent has few writers at once.
func (tx *Tx) Count(number byte, uid core.UID, isQuiet bool, by int64) {
	tx.deltas.count(number, uid, isQuiet, tx.slot, by)
}

// CounterStatements returns the statements that write the changes.
func (tx *Tx) CounterStatements(d *dbconn.Dialect) []*dbconn.Statement {
	return tx.deltas.statements(d)
}
