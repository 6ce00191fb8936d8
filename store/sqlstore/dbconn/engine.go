package dbconn

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"atrium/platform/core"
)

// A Conn runs statements, all in one round trip if the engine supports it. It stops
// at the first one that fails. Arguments are string, []string, int64, bool, []byte,
// [][]byte and core.Time.
//
// The errors of Run include core.ErrDuplicate, ErrForeignKey,
// core.ErrLocked and core.Unavailable.
type Conn interface {
	Run(ctx context.Context, statements ...*Statement) error
}

// A TxConn is a Conn inside a transaction.
type TxConn interface {
	Conn

	// Copy inserts many rows at once.
	Copy(ctx context.Context, table string, columns []string, rows [][]any) error

	// LockCounters makes every transaction that changes a counter wait.
	LockCounters(ctx context.Context) error

	// Commit sends statements together with the end of the transaction. Nothing may follow.
	Commit(ctx context.Context, statements ...*Statement) error
}

// An Engine is a database of one kind, such as PostgreSQL.
type Engine interface {
	Conn // It only reads; an engine may repeat a read that has returned no row.
	Dialect() *Dialect

	// Connections returns the number of statements that can run at the same time.
	Connections() int

	// Pool describes the use of the connections.
	Pool() PoolState

	// Standbys returns the standbys that answer reads, or nil if there are none.
	Standbys() Standbys

	// Write runs unit in a transaction, and commits it unless unit has done so. An engine need
	// not begin the transaction before its first statement. It runs unit again after a
	// conflict with another transaction, but never after a commit of which it does not know whether it took effect:
	// that is core.Uncertain.
	Write(ctx context.Context, unit func(TxConn) error) error
	Ping(ctx context.Context) error
	Close() error

	// Follow notifies other processes for each element of stored, and calls changed when
	// they may have stored an event. See platform.Store for onLost.
	Follow(ctx context.Context, stored <-chan struct{}, changed func(), onLost func(error))

	// Migrator returns a Migrator for the migrations in files, which the caller must close.
	Migrator(files fs.FS) (*Migrator, error)
}

// A PoolState describes the use of an engine's connections.
type PoolState struct {
	Used, Idle, Max int           // numbers of connections
	Waits           int64         // number of statements that had to wait for a connection
	Waited          time.Duration // total waiting time
}

// ErrForeignKey is the error of a write of a row that refers to a missing row, and of
// a delete of a row that another row refers to.
var ErrForeignKey = errors.New("foreign key violation")

// NoTime represents "no time", because columns used for sorting are never NULL.
var NoTime = time.UnixMilli(0).UTC()

// StoredTime returns the stored form of t.
func StoredTime(t core.Time) time.Time {
	if t.IsZero() {
		return NoTime
	}
	return t.Time
}

// These interfaces let an engine scan the bytes of a column without a value of
// Database/sql.
type (
	// A TextScanner reads a text. AppendText converts the bytes of the column into the
	// text; nil bytes mean null.
	TextScanner interface {
		AppendText(b, src []byte) ([]byte, error)
		SetText(text string)
	}
	// A BytesScanner reads bytes. It must not keep src.
	BytesScanner interface{ ScanBytes(src []byte) error }
	// A TimeScanner reads a time in microseconds since 1970.
	TimeScanner interface{ ScanTime(micros int64) }
)
