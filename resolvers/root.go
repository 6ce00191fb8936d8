package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/platform"
)

// root implements the resolvers of all types that have more than plain fields.
// Each resolver type wraps the same platform. They are separate types because
// fields with the same name differ from type to type.
type root struct{ p *platform.Platform }

var _ graph.ResolverRoot = root{}

type (
	queries                   root
	mutations                 root
	feeds                     root // resolves Subscription
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
	eventSubscriptions        root // EventSubscription
	deliveries                root
	viewers                   root
	artifacts                 root
	artifactVersions          root // ArtifactVersion
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

// These types resolve objects with a uid: their edges, and the fields that tell
// what the caller may do on them.
type (
	groupResolver struct {
		groups
		viewerFields[platform.Group]
	}
	identityResolver struct {
		identities
		viewerFields[platform.Identity]
	}
	roleResolver struct {
		roles
		viewerFields[platform.Role]
	}
	roleBindingResolver struct {
		roleBindings
		viewerFields[platform.RoleBinding]
	}
	repoResolver struct {
		repos
		viewerFields[platform.Repo]
	}
	tagResolver struct {
		tags
		viewerFields[platform.Tag]
	}
	advisoryResolver struct {
		advisories
		viewerFields[platform.Advisory]
	}
	eventSubscriptionResolver struct {
		eventSubscriptions
		viewerFields[platform.Subscription]
	}
	deliveryResolver struct {
		deliveries
		viewerFields[platform.Delivery]
	}
	artifactResolver struct {
		artifacts
		viewerFields[platform.Artifact]
	}
	artifactVersionResolver struct {
		artifactVersions
		viewerFields[platform.ArtifactVersion]
	}
	identityProviderResolver struct {
		identityProviders
		viewerFields[platform.IdentityProvider]
	}
	accountAssociationResolver struct {
		accountAssociations
		viewerFields[platform.AccountAssociation]
	}
	groupInviteResolver struct {
		groupInvites
		viewerFields[platform.GroupInvite]
	}
	externalGroupRoleMappingResolver struct {
		externalGroupRoleMappings
		viewerFields[platform.ExternalGroupRoleMapping]
	}
)

func (r root) Group() graph.GroupResolver {
	return groupResolver{groups(r), newViewerFields(r.p.Groups)}
}
func (r root) Identity() graph.IdentityResolver {
	return identityResolver{identities(r), newViewerFields(r.p.Identities)}
}
func (r root) Role() graph.RoleResolver { return roleResolver{roles(r), newViewerFields(r.p.Roles)} }
func (r root) RoleBinding() graph.RoleBindingResolver {
	return roleBindingResolver{roleBindings(r), newViewerFields(r.p.RoleBindings)}
}
func (r root) Repo() graph.RepoResolver { return repoResolver{repos(r), newViewerFields(r.p.Repos)} }
func (r root) Tag() graph.TagResolver   { return tagResolver{tags(r), newViewerFields(r.p.Tags)} }
func (r root) Advisory() graph.AdvisoryResolver {
	return advisoryResolver{advisories(r), newViewerFields(r.p.Advisories)}
}
func (r root) EventSubscription() graph.EventSubscriptionResolver {
	return eventSubscriptionResolver{eventSubscriptions(r), newViewerFields(r.p.Subscriptions)}
}
func (r root) Delivery() graph.DeliveryResolver {
	return deliveryResolver{deliveries(r), newViewerFields(r.p.Deliveries)}
}
func (r root) Artifact() graph.ArtifactResolver {
	return artifactResolver{artifacts(r), newViewerFields(r.p.Artifacts)}
}
func (r root) ArtifactVersion() graph.ArtifactVersionResolver {
	return artifactVersionResolver{artifactVersions(r), newViewerFields(r.p.ArtifactVersions)}
}
func (r root) IdentityProvider() graph.IdentityProviderResolver {
	return identityProviderResolver{identityProviders(r), newViewerFields(r.p.IdentityProviders)}
}
func (r root) AccountAssociation() graph.AccountAssociationResolver {
	return accountAssociationResolver{accountAssociations(r), newViewerFields(r.p.AccountAssociations)}
}
func (r root) GroupInvite() graph.GroupInviteResolver {
	return groupInviteResolver{groupInvites(r), newViewerFields(r.p.GroupInvites)}
}
func (r root) ExternalGroupRoleMapping() graph.ExternalGroupRoleMappingResolver {
	return externalGroupRoleMappingResolver{externalGroupRoleMappings(r), newViewerFields(r.p.ExternalGroupRoleMappings)}
}

func (q queries) Ping(ctx context.Context) (string, error) { return q.p.Ping(ctx), nil }
