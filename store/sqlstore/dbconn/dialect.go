package dbconn

import (
	"atrium/platform/core"
)

// A Dialect holds the parts of SQL statements that differ between engines.
type Dialect struct {
	Placeholder string // character that begins the placeholder of an argument, such as $

	// InKeys returns a comparison of the primary key with a list, whose placeholder is n.
	// The list holds texts, or UIDs as bytes. InValues does so for other columns.
	InKeys   func(n string, ofBytes bool) string
	InValues func(n string, ofBytes bool) string

	// Parents returns a table p of columns that have the same length. Its column p.i
	// numbers the rows from 1. arg adds an argument and returns its placeholder.
	Parents func(arg func(any) string, columns ...ParentColumn) string

	// PerParent returns SQL that reads, for every row of p, the rows of table that page
	// selects. They are named t, and page may use p.
	PerParent func(parents, table, columns, page string) string

	// JoinBytes returns SQL that joins an argument and a column, both of bytes.
	JoinBytes func(arg, column string) string

	// Lock and LockShared are statements that lock the name in their argument until the
	// transaction ends. They are "" if there is only one writer.
	Lock, LockShared string

	// Lateral reports whether a select in a join can refer to the tables before it.
	Lateral bool

	// KeepRow is the clause of a select that locks the row of t until the transaction
	// ends. It is "" if there is only one writer.
	KeepRow string

	// SkipLocked is the clause of a select that locks its rows, and leaves out those that
	// another transaction has locked. It is "" if there is only one writer.
	SkipLocked string

	// NoEarlierWriters is the condition that every transaction before that of an event e
	// has ended.
	NoEarlierWriters string

	// BindTime returns the argument for a time if database/sql binds it.
	BindTime func(t core.Time) any

	// Intervals returns the number of whole intervals of some seconds between an origin
	// and a column of times.
	Intervals func(column, origin, seconds string) string

	// Size is the size of the database in bytes.
	Size string

	// Clients is a statement that lists the programs that are connected to the database: name, address, number of
	// connections and start of the oldest. Replication lists its standbys: name, address, state and lag in seconds.
	// Both are "" if one process has the whole database.
	Clients, Replication string

	// Now is the time of the clock that all processes on this database share.
	Now string

	// ReadTime returns the time of a column with milliseconds since 1970 as a text.
	ReadTime func(millis string) string

	// NextTransaction is the lowest id that the next transaction can have. It is "" if
	// transactions have no ids.
	NextTransaction string

	// Slots is the number of rows in counter for a busy scope, so that writers do not
	// wait for each other.
	Slots int

	// Trigrams means that the index of search texts is a separate table, with which
	// statements must begin. Otherwise the index comes from extensions.
	Trigrams bool

	// Elements returns a table e of the values of a column that contains a list in JSON.
	Elements func(column string) string

	// TableExists is a statement that finds a row if the table in its argument exists.
	TableExists string

	// Pipelines means that statements that are sent together take one round trip.
	Pipelines bool

	// Partitions means that events and deliveries are stored as partitions by time.
	Partitions bool

	// LimitSharedWait is the first statement of a round trip that requests share. It limits
	// the wait for a lock, because the lock is on what only some of them read. It is "" if
	// requests share no round trips.
	LimitSharedWait string

	// Migrations is the folder of the schema and its changes.
	Migrations string
}

// A ParentColumn is a column of the table of Dialect.Parents. It holds texts, or bytes
// such as UIDs and keys of scopes.
type ParentColumn struct {
	Name  string
	Texts []string
	Bytes [][]byte // used if Texts is nil
}

// Len returns the number of rows.
func (c ParentColumn) Len() int { return len(c.Texts) + len(c.Bytes) }
