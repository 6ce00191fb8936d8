package sqlstore

import (
	"context"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/registry"
	"atrium/platform/reports"
	"atrium/platform/webhooks"
	"atrium/store/sqlstore/idempotency"
	"atrium/store/sqlstore/operation"
	"atrium/store/sqlstore/secret"
	"atrium/store/sqlstore/table"
)

// queries reads and writes in other ways than the tables do.
type queries struct{}

// Tables returns the tables of every store. They have no state.
func Tables() platform.Tables {
	return platform.Tables{
		IAM: iam.Tables{
			Groups: groups, Identities: identities, Roles: roles, RoleBindings: roleBindings,
			IdentityProviders: identityProviders, AccountAssociations: accountAssociations, GroupInvites: groupInvites,
			ExternalGroupRoleMappings: externalGroupRoleMappings, TermsAcceptances: terms,
			GroupQueries: queries{}, IdentityQueries: queries{}, RoleBindingQueries: queries{}, IdentityProviderQueries: queries{},
			IssuerQueries: queries{}, SignInQueries: queries{}, TermsAcceptanceQueries: queries{},
		},
		Inventory: inventory.Tables{
			Repos: repos, Tags: tags, ImageLists: imageTable{}, Packages: packages, PackageVersions: packageVersions,
			Advisories: advisories, Vulnerabilities: vulnerabilities, Findings: findings,
			RepoQueries: queries{}, TagQueries: queries{}, ImageQueries: queries{}, ComponentQueries: queries{}, PackageQueries: queries{},
			PackageVersionQueries: queries{}, AdvisoryQueries: queries{}, ExploitationQueries: queries{}, FindingQueries: queries{},
			TriageRuleQueries: queries{},
		},
		Libraries: libraries.Tables{Artifacts: artifacts, ArtifactVersions: artifactVersions},
		Feeds:     feeds.Tables{Groups: groups, Advisories: advisories, Vulnerabilities: vulnerabilities, Queries: queries{}},
		Registry:  registry.Tables{Repos: repos, Tags: tags, Queries: queries{}},
		Reports:   reports.Tables{Repos: repos, Advisories: advisories, ActivityQueries: queries{}, AdvisoryDocumentQueries: queries{}, FindingQueries: queries{}, OriginQueries: queries{}, SBOMQueries: queries{}},
		Events:    queries{},
		Webhooks:  webhooks.Tables{Subscriptions: subscriptions, Deliveries: deliveries, SubscriptionQueries: queries{}, WebhookQueries: queries{}},
		Sources:   sourceTables(),
		Secrets:   secret.Queries{},
		Search:    queries{},

		Operations:  operation.Queries{},
		Idempotency: idempotency.Queries{},
	}
}

// Tables returns the tables of the store.
func (*Store) Tables() platform.Tables { return Tables() }

// kinds are the tables of all kinds.
var kinds = []table.Kind{
	groups, identities, roles, roleBindings, repos, tags, advisories, vulnerabilities, subscriptions, deliveries,
	artifacts, artifactVersions, identityProviders, accountAssociations, groupInvites, externalGroupRoleMappings, terms,
	findings, packages, packageVersions, sources,
}

// Search finds rows of several kinds, with one statement.
func (queries) Search(ctx context.Context, on core.Conn, q core.SearchQuery) ([]core.SearchPlace, error) {
	return table.Search(ctx, table.SourceOf(on), kinds, q)
}
