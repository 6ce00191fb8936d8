package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/platform"
)

// root tells which type resolves the fields of each object that are no plain
// values of it. All of them are the platform under different names, since a
// field of one name means something else on each object.
type root struct{ p *platform.Platform }

var _ graph.ResolverRoot = root{}

type (
	queries                   root
	mutations                 root
	feeds                     root // Subscription
	entities                  root
	groups                    root
	identities                root
	roles                     root
	roleBindings              root
	repos                     root
	tags                      root
	images                    root
	advisories                root
	sinks                     root // EventSubscription
	deliveries                root
	viewers                   root
	artifacts                 root
	releases                  root // ArtifactVersion
	identityProviders         root
	accountAssociations       root
	gitHubAccounts            root
	groupInvites              root
	externalGroupRoleMappings root
	terms                     root // TermsAcceptance
	acceptedTerms             root // AcceptTermsPayload
)

func (r root) Query() graph.QueryResolver                           { return queries(r) }
func (r root) Mutation() graph.MutationResolver                     { return mutations(r) }
func (r root) Subscription() graph.SubscriptionResolver             { return feeds(r) }
func (r root) Entity() graph.EntityResolver                         { return entities(r) }
func (r root) Group() graph.GroupResolver                           { return groups(r) }
func (r root) Identity() graph.IdentityResolver                     { return identities(r) }
func (r root) Role() graph.RoleResolver                             { return roles(r) }
func (r root) RoleBinding() graph.RoleBindingResolver               { return roleBindings(r) }
func (r root) Repo() graph.RepoResolver                             { return repos(r) }
func (r root) Tag() graph.TagResolver                               { return tags(r) }
func (r root) Image() graph.ImageResolver                           { return images(r) }
func (r root) Advisory() graph.AdvisoryResolver                     { return advisories(r) }
func (r root) EventSubscription() graph.EventSubscriptionResolver   { return sinks(r) }
func (r root) Delivery() graph.DeliveryResolver                     { return deliveries(r) }
func (r root) Artifact() graph.ArtifactResolver                     { return artifacts(r) }
func (r root) ArtifactVersion() graph.ArtifactVersionResolver       { return releases(r) }
func (r root) Viewer() graph.ViewerResolver                         { return viewers(r) }
func (r root) IdentityProvider() graph.IdentityProviderResolver     { return identityProviders(r) }
func (r root) AccountAssociation() graph.AccountAssociationResolver { return accountAssociations(r) }
func (r root) GitHubAccount() graph.GitHubAccountResolver           { return gitHubAccounts(r) }
func (r root) GroupInvite() graph.GroupInviteResolver               { return groupInvites(r) }
func (r root) ExternalGroupRoleMapping() graph.ExternalGroupRoleMappingResolver {
	return externalGroupRoleMappings(r)
}
func (r root) TermsAcceptance() graph.TermsAcceptanceResolver       { return terms(r) }
func (r root) AcceptTermsPayload() graph.AcceptTermsPayloadResolver { return acceptedTerms(r) }

func (q queries) Ping(ctx context.Context) (string, error) { return q.p.Ping(ctx), nil }
