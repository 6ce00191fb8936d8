// Package sqlstore keeps the platform's state in a SQL database: one schema
// and one SQL text for every engine. What engines spell differently is a
// Dialect; what they do differently, an Engine.
package sqlstore

import (
	"context"

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

// New makes a store of an engine whose schema is up to date.
func New(engine Engine) *Store {
	engine = shareOf(engine)
	return &Store{tables: tables{measured{engine}, engine.Dialect()}, engine: engine, stored: make(chan struct{}, 1)}
}

// Follow tells Changed of what other processes store, and them of what this
// one does.
func (s *Store) Follow(ctx context.Context, deaf func(error)) {
	s.engine.Follow(ctx, s.stored, s.changed.tell, deaf)
}

// Close ends every connection.
func (s *Store) Close() error { return s.engine.Close() }

// tables reads every kind through one connection.
type tables struct {
	conn    Conn
	dialect *Dialect
}

func read[T, F any](t *table[T, F], s tables) reader[T, F] { return reader[T, F]{t, s.conn, s.dialect} }

func (s tables) Groups() platform.Table[platform.Group, platform.GroupFilter] {
	return read(&groups, s)
}

func (s tables) Identities() platform.Table[platform.Identity, platform.IdentityFilter] {
	return read(&identities, s)
}

func (s tables) Roles() platform.Table[platform.Role, platform.RoleFilter] { return read(&roles, s) }

func (s tables) RoleBindings() platform.Table[platform.RoleBinding, platform.RoleBindingFilter] {
	return read(&roleBindings, s)
}

func (s tables) Repos() platform.Table[platform.Repo, platform.RepoFilter] { return read(&repos, s) }

func (s tables) Tags() platform.Table[platform.Tag, platform.TagFilter] { return read(&tags, s) }

func (s tables) Advisories() platform.Table[platform.Advisory, platform.AdvisoryFilter] {
	return read(&advisories, s)
}

func (s tables) Vulnerabilities() platform.Table[platform.Vulnerability, platform.VulnerabilityFilter] {
	return read(&vulnerabilities, s)
}

func (s tables) Subscriptions() platform.Table[platform.Subscription, platform.SubscriptionFilter] {
	return read(&subscriptions, s)
}

func (s tables) Deliveries() platform.Table[platform.Delivery, platform.DeliveryFilter] {
	return read(&deliveries, s)
}

func (s tables) Artifacts() platform.Table[platform.Artifact, platform.ArtifactFilter] {
	return read(&artifacts, s)
}

func (s tables) ArtifactVersions() platform.Table[platform.ArtifactVersion, platform.ArtifactVersionFilter] {
	return read(&artifactVersions, s)
}

func (s tables) IdentityProviders() platform.Table[platform.IdentityProvider, platform.IdentityProviderFilter] {
	return read(&identityProviders, s)
}

func (s tables) AccountAssociations() platform.Table[platform.AccountAssociation, platform.AccountAssociationFilter] {
	return read(&accountAssociations, s)
}

func (s tables) GroupInvites() platform.Table[platform.GroupInvite, platform.GroupInviteFilter] {
	return read(&groupInvites, s)
}

func (s tables) ExternalGroupRoleMappings() platform.Table[platform.ExternalGroupRoleMapping, platform.ExternalGroupRoleMappingFilter] {
	return read(&externalGroupRoleMappings, s)
}

func (s tables) Terms() platform.Table[platform.TermsAcceptance, platform.TermsFilter] {
	return read(&terms, s)
}

// counted lists the tables that counters count.
func (tables) counted() []countedTable {
	return []countedTable{
		groups.asCounted(), identities.asCounted(), roles.asCounted(), roleBindings.asCounted(), repos.asCounted(),
		tags.asCounted(), advisories.asCounted(), vulnerabilities.asCounted(), subscriptions.asCounted(),
		artifacts.asCounted(), artifactVersions.asCounted(),
		identityProviders.asCounted(), accountAssociations.asCounted(), groupInvites.asCounted(),
		externalGroupRoleMappings.asCounted(), terms.asCounted(),
	}
}

// Exists looks for a UID in every kind.
func (s tables) Exists(ctx context.Context, uid platform.UID) (bool, error) {
	q, found := s.dialect.statement(), false
	for _, t := range s.counted() {
		if len(q.args) > 0 {
			q.add(" UNION ALL ")
		}
		q.add("SELECT 1 FROM "+t.name+" WHERE uid = ?", string(uid))
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

// Write runs unit in a transaction.
func (s *Store) Write(ctx context.Context, unit func(platform.Tx) error) error {
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

func write[T, F any](t *table[T, F], tx *transaction) writer[T, F] {
	return writer[T, F]{read(t, tx.tables), tx}
}

func (tx *transaction) GroupRows() platform.Rower[platform.Group] { return write(&groups, tx) }

func (tx *transaction) IdentityRows() platform.Rower[platform.Identity] {
	return write(&identities, tx)
}

func (tx *transaction) RoleRows() platform.Rower[platform.Role] { return write(&roles, tx) }

func (tx *transaction) RoleBindingRows() platform.Rower[platform.RoleBinding] {
	return write(&roleBindings, tx)
}

func (tx *transaction) RepoRows() platform.Rower[platform.Repo] { return write(&repos, tx) }

func (tx *transaction) TagRows() platform.Rower[platform.Tag] { return write(&tags, tx) }

func (tx *transaction) AdvisoryRows() platform.Rower[platform.Advisory] {
	return write(&advisories, tx)
}

func (tx *transaction) VulnerabilityRows() platform.Rower[platform.Vulnerability] {
	return write(&vulnerabilities, tx)
}

func (tx *transaction) SubscriptionRows() platform.Rower[platform.Subscription] {
	return write(&subscriptions, tx)
}

func (tx *transaction) DeliveryRows() platform.Rower[platform.Delivery] {
	return write(&deliveries, tx)
}

func (tx *transaction) ArtifactRows() platform.Rower[platform.Artifact] { return write(&artifacts, tx) }

func (tx *transaction) ArtifactVersionRows() platform.Rower[platform.ArtifactVersion] {
	return write(&artifactVersions, tx)
}

func (tx *transaction) IdentityProviderRows() platform.Rower[platform.IdentityProvider] {
	return write(&identityProviders, tx)
}

func (tx *transaction) AccountAssociationRows() platform.Rower[platform.AccountAssociation] {
	return write(&accountAssociations, tx)
}

func (tx *transaction) GroupInviteRows() platform.Rower[platform.GroupInvite] {
	return write(&groupInvites, tx)
}

func (tx *transaction) ExternalGroupRoleMappingRows() platform.Rower[platform.ExternalGroupRoleMapping] {
	return write(&externalGroupRoleMappings, tx)
}

func (tx *transaction) TermsRows() platform.Rower[platform.TermsAcceptance] {
	return write(&terms, tx)
}
