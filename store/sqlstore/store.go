// Package sqlstore keeps the platform's state in a SQL database: one schema
// and one SQL text for every engine. What engines spell differently is a
// Dialect; what they do differently, an Engine.
//
// It must not decide who may read or change a row: it is given scopes and keys
// that only package platform can make.
package sqlstore

import (
	"context"
	"reflect"

	"atrium/platform"
)

// Store is a platform.Store over an engine.
type Store struct {
	tables
	engine  Engine
	changed changed
	stored  chan struct{} // for Follow: holds one where an event is there that no other process was told of
}

var _ platform.Store = (*Store)(nil)

// New makes a store of an engine whose schema is up to date. The observers hear
// of each round trip.
func New(engine Engine, observers ...Observer) *Store {
	engine = shareOf(observed{engine, observers})
	return &Store{tables: tables{measured{gathering{proving{engine, engine.Dialect()}}}, engine.Dialect()}, engine: engine, stored: make(chan struct{}, 1)}
}

// Follow tells Changed of what other processes store, and them of what this
// one does.
func (s *Store) Follow(ctx context.Context, deaf func(error)) {
	s.engine.Follow(ctx, s.stored, s.changed.tell, deaf)
}

// Pool tells how the connections are used.
func (s *Store) Pool() PoolState { return s.engine.Pool() }

// Close ends every connection.
func (s *Store) Close() error { return s.engine.Close() }

// tables reads every kind through one connection.
type tables struct {
	conn    Conn
	dialect *Dialect
}

func read[T, F any](t *table[T, F], s tables) reader[T, F] { return reader[T, F]{t, s.conn, s.dialect} }

// A kindTable is a table of any kind.
type kindTable interface {
	row() reflect.Type
	reading(s tables) any
	writing(tx *transaction) any
	asCounted() (_ countedTable, counted bool)
	searching(found *statement, q platform.SearchQuery, scopes map[byte]platform.Scope)
}

func (*table[T, F]) row() reflect.Type { return reflect.TypeFor[T]() }

func (t *table[T, F]) reading(s tables) any { return read(t, s) }

func (t *table[T, F]) writing(tx *transaction) any { return writer[T, F]{read(t, tx.tables), tx} }

// newTable makes the table of a kind of platform, whose number its rows are counted
// under.
func newTable[T, F any](t table[T, F]) *table[T, F] {
	for _, kind := range platform.Kinds() {
		if kind.Row == t.row() {
			t.number = kind.Number
		}
	}
	return &t
}

// kinds are the tables of all kinds.
var kinds = []kindTable{
	groups, identities, roles, roleBindings, repos, tags, advisories, vulnerabilities, subscriptions, deliveries,
	artifacts, artifactVersions, identityProviders, accountAssociations, groupInvites, externalGroupRoleMappings, terms,
}

var kindsByRow = indexByRow(kinds)

func indexByRow(all []kindTable) map[reflect.Type]kindTable {
	index := make(map[reflect.Type]kindTable, len(all))
	for _, t := range all {
		index[t.row()] = t
	}
	return index
}

// Table gives the table of a kind.
func (s tables) Table(row reflect.Type) any {
	if t, known := kindsByRow[row]; known {
		return t.reading(s)
	}
	return nil
}

// counted lists the tables that counters count.
func (tables) counted() []countedTable {
	all := make([]countedTable, 0, len(kinds))
	for _, t := range kinds {
		if counter, counted := t.asCounted(); counted {
			all = append(all, counter)
		}
	}
	return all
}

// Exists looks for a UID in every kind.
func (s tables) Exists(ctx context.Context, uid platform.UID) (bool, error) {
	q, found := s.dialect.statement(), false
	for _, t := range s.counted() {
		if len(q.args) > 0 {
			q.add(" UNION ALL ")
		}
		q.add("SELECT 1 FROM "+t.name+" WHERE uid = ?", t.key(uid))
	}
	err := s.conn.Run(ctx, q.done(func(func(...any) error) error { found = true; return nil }))
	return found, err
}

// A transaction collects what is written last: counters and events.
type transaction struct {
	tables
	conn   TxConn
	slot   int
	deltas deltas
	events []*platform.Event
}

// Write runs unit in a transaction, once it is proven who the caller is.
func (s *Store) Write(ctx context.Context, unit func(platform.Tx) error) error {
	if err := platform.Prove(ctx); err != nil {
		return err
	}
	recorded := 0
	err := s.engine.Write(ctx, func(conn TxConn) error {
		tx := &transaction{tables: tables{conn, s.dialect}, conn: conn, slot: randomSlot(s.dialect), deltas: deltas{}}
		if err := unit(tx); err != nil {
			return err
		}
		recorded = 0
		for _, e := range tx.events {
			if e.Denied == "" { // nobody waits for a denial
				recorded++
			}
		}
		return tx.finish(ctx)
	})
	if err == nil && recorded > 0 {
		s.tell()
	}
	return err
}

// finish writes events and counters in one round trip, the counters last:
// they are what concurrent writers wait for.
func (tx *transaction) finish(ctx context.Context) error {
	run, err := tx.recordEvents(ctx)
	if err != nil {
		return err
	}
	run = append(run, tx.deltas.statements(tx.dialect)...)
	if len(run) == 0 {
		return nil
	}
	return tx.conn.Run(ctx, run...)
}

// Lock makes transactions that change who may do what in an organisation wait
// for each other.
func (tx *transaction) Lock(ctx context.Context, root platform.UID) error {
	return tx.conn.Lock(ctx, string(root))
}

// LockShared makes a transaction wait for those that Lock the same name, and
// them for it, but not for others that share the lock.
func (tx *transaction) LockShared(ctx context.Context, root platform.UID) error {
	return tx.conn.LockShared(ctx, string(root))
}

// Rows changes the rows of a kind.
func (tx *transaction) Rows(row reflect.Type) any {
	if t, known := kindsByRow[row]; known {
		return t.writing(tx)
	}
	return nil
}
