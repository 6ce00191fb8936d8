package sqlstore

import (
	"context"

	"atrium/platform"
)

// queries reads and writes in other ways than the tables do.
type queries struct{}

// Tables returns the tables of every store. They have no state.
func Tables() platform.Tables {
	return platform.Tables{
		IAMTables: platform.IAMTables{
			Groups: groups, Identities: identities, Roles: roles, RoleBindings: roleBindings,
			IdentityProviders: identityProviders, AccountAssociations: accountAssociations, GroupInvites: groupInvites,
			ExternalGroupRoleMappings: externalGroupRoleMappings, TermsAcceptances: terms,
			GroupQueries: queries{}, IdentityQueries: queries{}, RoleBindingQueries: queries{}, IdentityProviderQueries: queries{},
			IssuerQueries: queries{}, SignInQueries: queries{}, TermsAcceptanceQueries: queries{},
		},
		InventoryTables: platform.InventoryTables{
			Repos: repos, Tags: tags, ImageLists: imageTable{}, Packages: packages, PackageVersions: packageVersions,
			Advisories: advisories, Vulnerabilities: vulnerabilities, Findings: findings,
			RepoQueries: queries{}, TagQueries: queries{}, ImageQueries: queries{}, SBOMQueries: queries{}, PackageQueries: queries{},
			PackageVersionQueries: queries{}, AdvisoryQueries: queries{}, ExploitationQueries: queries{}, FindingQueries: queries{},
			TriageRuleQueries: queries{},
		},
		LibraryTables:      platform.LibraryTables{Artifacts: artifacts, ArtifactVersions: artifactVersions},
		EventQueries:       queries{},
		SubscriptionTables: platform.SubscriptionTables{Subscriptions: subscriptions, Deliveries: deliveries, SubscriptionQueries: queries{}, WebhookQueries: queries{}},
		KeyQueries:         queries{},
		SearchQueries:      queries{},
	}
}

// Tables returns the tables of the store.
func (*Store) Tables() platform.Tables { return Tables() }

// reader returns what reads a kind through a store or a transaction.
func (k storedKind[T, F]) reader(c platform.Conn) *reader[T, F] {
	s := tablesOf(c)
	return &reader[T, F]{table: k.table, conn: s.reads, dialect: s.dialect}
}

// writer returns what changes a kind in a transaction.
func (k storedKind[T, F]) writer(tx platform.Tx) *writer[T, F] {
	return &writer[T, F]{k.reader(tx), transactionOf(tx)}
}

func (k storedKind[T, F]) Get(ctx context.Context, on platform.Conn, keys platform.Keys) ([]T, error) {
	return k.reader(on).Get(ctx, keys)
}

func (k storedKind[T, F]) List(ctx context.Context, on platform.Conn, q platform.Query[F]) (platform.Rows[T], error) {
	return k.reader(on).List(ctx, q)
}

func (k storedKind[T, F]) ListEach(ctx context.Context, on platform.Conn, q platform.Query[F], scopes []platform.Scope) ([]platform.Rows[T], error) {
	return k.reader(on).ListEach(ctx, q, scopes)
}

func (k storedKind[T, F]) Insert(ctx context.Context, tx platform.Tx, rows ...T) error {
	return k.writer(tx).Insert(ctx, rows...)
}

func (k storedKind[T, F]) InsertShown(ctx context.Context, tx platform.Tx, rows ...T) error {
	return k.writer(tx).InsertShown(ctx, rows...)
}

func (k storedKind[T, F]) Update(ctx context.Context, tx platform.Tx, row T, fields ...string) error {
	return k.writer(tx).Update(ctx, row, fields...)
}

func (k storedKind[T, F]) UpdateAll(ctx context.Context, tx platform.Tx, changes ...platform.RowChange[T]) ([]T, error) {
	return k.writer(tx).UpdateAll(ctx, changes...)
}

func (k storedKind[T, F]) GetForUpdate(ctx context.Context, tx platform.Tx, uid platform.UID) (T, error) {
	return k.writer(tx).GetForUpdate(ctx, uid)
}

func (k storedKind[T, F]) Delete(ctx context.Context, tx platform.Tx, uid platform.UID) (T, error) {
	return k.writer(tx).Delete(ctx, uid)
}

func (k storedKind[T, F]) DeleteAll(ctx context.Context, tx platform.Tx, uids []platform.UID) ([]T, error) {
	return k.writer(tx).DeleteAll(ctx, uids)
}
