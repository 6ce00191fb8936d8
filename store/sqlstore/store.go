package sqlstore

import (
	"context"
	"slices"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/eventlog"
	"atrium/store/sqlstore/partition"
	"atrium/store/sqlstore/table"
)

// Store is a platform.Store over an engine.
type Store struct {
	tables
	eventlog.Log
	engine     *dbconn.Database
	partitions partition.Partitions
	changed    notifier
	stored     chan struct{} // holds one element if Follow must notify other processes of an event
}

var _ platform.Store = (*Store)(nil)

// New makes a store of an engine whose schema is up to date. The observers are
// notified of each round trip.
func New(engine dbconn.Engine, observers ...dbconn.Observer) *Store {
	return newStore(dbconn.New(engine, prover{engine.Dialect()}, observers, ""))
}

// NewWithout makes a store that leaves out one of Wrappers, to find out whether it is the cause
// of a fault. It answers the same.
func NewWithout(engine dbconn.Engine, wrapper string) *Store {
	return newStore(dbconn.New(engine, prover{engine.Dialect()}, nil, wrapper))
}

func newStore(d *dbconn.Database) *Store {
	source := table.Source{Conn: d, Reads: d.Reads(), Dialect: d.Dialect()}
	return &Store{tables: tables{source}, Log: eventlog.New(source), engine: d, partitions: partition.New(d), stored: make(chan struct{}, 1)}
}

// Follow exchanges notifications of stored events with other processes.
func (s *Store) Follow(ctx context.Context, onLost func(error)) {
	s.engine.Follow(ctx, s.stored, s.changed.notify, onLost)
}

// Gather lets n concurrent calls for one response share their round trips.
func (s *Store) Gather(n int) (join func(context.Context) context.Context, end func()) {
	return s.engine.Gather(n)
}

// AwaitOther calls wait while a call waits for the read of another call.
func (*Store) AwaitOther(ctx context.Context, wait func()) { dbconn.AwaitOther(ctx, wait) }

// AllowStandby lets standbys answer the reads of a request that changes nothing.
func (s *Store) AllowStandby(ctx context.Context) context.Context { return s.engine.AllowStandby(ctx) }

// Pool describes the use of the connections.
func (s *Store) Pool() dbconn.PoolState { return s.engine.Pool() }

// ConnectionsForRequests returns how many connections work in the background and reads that share round trips leave to requests.
func (s *Store) ConnectionsForRequests() int { return s.engine.ForRequests() }

// Standbys describes the standbys that answer reads, and counts by reason the reads that
// the primary had to answer instead. Both are nil if there are no standbys.
func (s *Store) Standbys() ([]dbconn.StandbyState, map[string]int64) {
	standbys := s.engine.Standbys()
	if standbys == nil {
		return nil, nil
	}
	return standbys.States(), standbys.Fallbacks()
}

// PartitionEvents makes the partitions of the coming events.
func (s *Store) PartitionEvents(ctx context.Context, now core.Time, width time.Duration) (used core.Time, err error) {
	return s.partitions.PartitionEvents(ctx, now, width)
}

// PartitionDeliveries makes the partitions of the deliveries that will end.
func (s *Store) PartitionDeliveries(ctx context.Context, now core.Time, width time.Duration) error {
	return s.partitions.PartitionDeliveries(ctx, now, width)
}

// Close ends every connection.
func (s *Store) Close() error { return s.engine.Close() }

// tables reads every kind, from a database or in a transaction.
type tables struct{ table.Source }

// Session makes a store a core.Conn.
func (s *Store) Session() any { return s }

// Session makes tables a core.Conn.
func (s tables) Session() any { return s }

// Session makes a transaction a core.Tx.
func (tx *transaction) Session() any { return tx }

// tablesOf returns what reads through a store or a transaction.
func tablesOf(on core.Conn) tables { return tables{table.SourceOf(on)} }

// transactionOf returns the transaction of a core.Tx.
func transactionOf(in core.Tx) *transaction {
	if tx, ok := in.Session().(*transaction); ok {
		return tx
	}
	panic("sqlstore: the transaction belongs to another store")
}

// Now reads the clock that all processes share.
func (s tables) Now(ctx context.Context) (now core.Time, err error) {
	q := table.NewStatement(s.Dialect).Add("SELECT " + s.Dialect.Now)
	err = s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error { return scan(table.TimeOf(&now)) }))
	return now, err
}

// Exists looks for a UID in every kind.
func (s tables) Exists(ctx context.Context, uid core.UID) (bool, error) {
	return table.Exists(ctx, s.Source, kinds, uid)
}

// FoldText returns the form in which searches compare texts.
func (tables) FoldText(text string) string { return table.Fold(text) }

// Recount corrects the counters from the rows and returns how many were wrong.
func (s *Store) Recount(ctx context.Context) (wrong int64, err error) {
	err = s.engine.Write(ctx, func(tx *dbconn.Tx) error {
		if wrong, err = table.Recount(ctx, tx, s.Dialect, kinds); err != nil {
			return err
		}
		counts, err := recountFindings(ctx, tx, s.Dialect)
		wrong += counts
		return err
	})
	return wrong, err
}

// ExistingGroups reads which of the UIDs are those of groups.
func (s tables) ExistingGroups(ctx context.Context, uids []core.UID) (found []core.UID, err error) {
	q := table.NewStatement(s.Dialect).Add("SELECT t.uid FROM grp t WHERE t.uid ?", table.UIDKeys(uids))
	err = s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var uid core.UID
		err := scan(table.UIDOf(&uid))
		found = append(found, uid)
		return err
	}))
	return found, err
}

// A transaction collects the counters and events, which are written last.
type transaction struct {
	tables
	table.Tx
	events []*core.Event
	tasks  []inventory.FindingTask

	addsTasks bool // whether other statements add tasks
}

// WritesAtOnce follows from the slots of busy counters, which one writer does not need.
func (s *Store) WritesAtOnce() bool { return s.Dialect.Slots > 1 }

// Write runs unit in a transaction. Its first statements prove the presumption about the
// caller, and it commits nothing for one who is not proven.
func (s *Store) Write(ctx context.Context, unit func(core.Tx) error) error {
	recorded, left := 0, false
	err := s.engine.Write(ctx, func(conn *dbconn.Tx) error {
		tx := &transaction{tables: tables{table.Source{Conn: conn, Reads: conn, Dialect: s.Dialect}}, Tx: table.NewTx(conn, s.Dialect)}
		if err := unit(tx); err != nil {
			return err
		}
		if err := core.Prove(ctx); err != nil { // unless the statements of unit have proven the caller
			return err
		}
		recorded = 0
		for _, e := range tx.events {
			if e.Denied == "" { // nobody waits for denials
				recorded++
			}
		}
		left = len(tx.tasks) > 0 || tx.addsTasks
		return tx.finish(ctx)
	})
	if err == nil && left {
		core.TraceOf(ctx).NoteLeftFindings()
	}
	if err == nil && recorded > 0 {
		s.notifyStored()
	}
	return err
}

// finish writes events and counters in one round trip, and commits. The counters come last,
// because concurrent writers wait for them.
func (tx *transaction) finish(ctx context.Context) error {
	run, err := tx.recordEvents(ctx)
	if err != nil {
		return err
	}
	added, err := tx.insertTasks(ctx, tx.tasks)
	if err != nil {
		return err
	}
	return tx.Conn.Commit(ctx, slices.Concat(run, added, tx.CounterStatements(tx.Dialect))...)
}

// RunTogether runs functions that do not depend on one another's results, and lets them share round trips.
func (tx *transaction) RunTogether(ctx context.Context, functions ...func(context.Context) error) error {
	return tx.Conn.RunTogether(ctx, functions...)
}

// Lock locks an organization exclusively until the transaction ends.
func (tx *transaction) Lock(root core.UID) { tx.Conn.Lock(string(root)) }

// LockShared locks an organization shared until the transaction ends.
func (tx *transaction) LockShared(root core.UID) { tx.Conn.LockShared(string(root)) }
