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
	repoConnections           root
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
	holderConnections         root
	holderEdges               root
	events                    root
	eventActors               root
)

func (r root) Query() graph.QueryResolver                           { return queries(r) }
func (r root) Mutation() graph.MutationResolver                     { return mutations(r) }
func (r root) Subscription() graph.SubscriptionResolver             { return feeds(r) }
func (r root) Entity() graph.EntityResolver                         { return entities(r) }
func (r root) RepoConnection() graph.RepoConnectionResolver         { return repoConnections(r) }
func (r root) Image() graph.ImageResolver                           { return images(r) }
func (r root) Viewer() graph.ViewerResolver                         { return viewers(r) }
func (r root) GitHubAccount() graph.GitHubAccountResolver           { return gitHubAccounts(r) }
func (r root) TermsAcceptance() graph.TermsAcceptanceResolver       { return terms(r) }
func (r root) AcceptTermsPayload() graph.AcceptTermsPayloadResolver { return acceptedTerms(r) }

func (r root) HolderConnection() graph.HolderConnectionResolver { return holderConnections(r) }
func (r root) Event() graph.EventResolver                       { return events(r) }
func (r root) EventActor() graph.EventActorResolver             { return eventActors(r) }
func (r root) HolderEdge() graph.HolderEdgeResolver             { return holderEdges(r) }

// Objects with a uid: what leads from them, and what the caller may do on them.
type (
	viewedGroup struct {
		groups
		viewed[platform.Group]
	}
	viewedIdentity struct {
		identities
		viewed[platform.Identity]
	}
	viewedRole struct {
		roles
		viewed[platform.Role]
	}
	viewedRoleBinding struct {
		roleBindings
		viewed[platform.RoleBinding]
	}
	viewedRepo struct {
		repos
		viewed[platform.Repo]
	}
	viewedTag struct {
		tags
		viewed[platform.Tag]
	}
	viewedAdvisory struct {
		advisories
		viewed[platform.Advisory]
	}
	viewedSubscription struct {
		sinks
		viewed[platform.Subscription]
	}
	viewedDelivery struct {
		deliveries
		viewed[platform.Delivery]
	}
	viewedArtifact struct {
		artifacts
		viewed[platform.Artifact]
	}
	viewedArtifactVersion struct {
		releases
		viewed[platform.ArtifactVersion]
	}
	viewedIdentityProvider struct {
		identityProviders
		viewed[platform.IdentityProvider]
	}
	viewedAccountAssociation struct {
		accountAssociations
		viewed[platform.AccountAssociation]
	}
	viewedGroupInvite struct {
		groupInvites
		viewed[platform.GroupInvite]
	}
	viewedExternalGroupRoleMapping struct {
		externalGroupRoleMappings
		viewed[platform.ExternalGroupRoleMapping]
	}
)

func (r root) Group() graph.GroupResolver { return viewedGroup{groups(r), viewedBy(r.p.Groups)} }
func (r root) Identity() graph.IdentityResolver {
	return viewedIdentity{identities(r), viewedBy(r.p.Identities)}
}
func (r root) Role() graph.RoleResolver { return viewedRole{roles(r), viewedBy(r.p.Roles)} }
func (r root) RoleBinding() graph.RoleBindingResolver {
	return viewedRoleBinding{roleBindings(r), viewedBy(r.p.RoleBindings)}
}
func (r root) Repo() graph.RepoResolver { return viewedRepo{repos(r), viewedBy(r.p.Repos)} }
func (r root) Tag() graph.TagResolver   { return viewedTag{tags(r), viewedBy(r.p.Tags)} }
func (r root) Advisory() graph.AdvisoryResolver {
	return viewedAdvisory{advisories(r), viewedBy(r.p.Advisories)}
}
func (r root) EventSubscription() graph.EventSubscriptionResolver {
	return viewedSubscription{sinks(r), viewedBy(r.p.Subscriptions)}
}
func (r root) Delivery() graph.DeliveryResolver {
	return viewedDelivery{deliveries(r), viewedBy(r.p.Deliveries)}
}
func (r root) Artifact() graph.ArtifactResolver {
	return viewedArtifact{artifacts(r), viewedBy(r.p.Artifacts)}
}
func (r root) ArtifactVersion() graph.ArtifactVersionResolver {
	return viewedArtifactVersion{releases(r), viewedBy(r.p.ArtifactVersions)}
}
func (r root) IdentityProvider() graph.IdentityProviderResolver {
	return viewedIdentityProvider{identityProviders(r), viewedBy(r.p.IdentityProviders)}
}
func (r root) AccountAssociation() graph.AccountAssociationResolver {
	return viewedAccountAssociation{accountAssociations(r), viewedBy(r.p.AccountAssociations)}
}
func (r root) GroupInvite() graph.GroupInviteResolver {
	return viewedGroupInvite{groupInvites(r), viewedBy(r.p.GroupInvites)}
}
func (r root) ExternalGroupRoleMapping() graph.ExternalGroupRoleMappingResolver {
	return viewedExternalGroupRoleMapping{externalGroupRoleMappings(r), viewedBy(r.p.ExternalGroupRoleMappings)}
}

func (q queries) Ping(ctx context.Context) (string, error) { return q.p.Ping(ctx), nil }
