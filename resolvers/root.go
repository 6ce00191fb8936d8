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
	queries               root
	mutations             root
	liveFeeds             root // the resolvers of Subscription
	entities              root
	repoConnections       root
	findingConnections    root
	packageConnections    root
	imagePackages         root
	introducingPackages   root
	imageSBOMs            root
	vulnerabilities       root
	vulnerabilityMetadata root
	roleBindingLists      root // the resolvers of RoleBindingConnection
	identityLists         root // the resolvers of IdentityConnection
	tagLists              root // the resolvers of TagConnection
	repoFacets            root
	roleFacets            root
	groupFacets           root
	identityFacets        root
	images                root
	viewers               root
	gitHubAccounts        root
	terms                 root // the resolvers of TermsAcceptance
	acceptedTerms         root // the resolvers of AcceptTermsPayload
	holderConnections     root
	holderEdges           root
	eventFields           root
	eventActors           root
)

func (r root) Query() graph.QueryResolver                                 { return queries(r) }
func (r root) Mutation() graph.MutationResolver                           { return mutations(r) }
func (r root) Subscription() graph.SubscriptionResolver                   { return liveFeeds(r) }
func (r root) Entity() graph.EntityResolver                               { return entities(r) }
func (r root) RepoConnection() graph.RepoConnectionResolver               { return repoConnections(r) }
func (r root) FindingConnection() graph.FindingConnectionResolver         { return findingConnections(r) }
func (r root) PackageConnection() graph.PackageConnectionResolver         { return packageConnections(r) }
func (r root) RoleBindingConnection() graph.RoleBindingConnectionResolver { return roleBindingLists(r) }
func (r root) IdentityConnection() graph.IdentityConnectionResolver       { return identityLists(r) }
func (r root) TagConnection() graph.TagConnectionResolver                 { return tagLists(r) }
func (r root) RepoFacet() graph.RepoFacetResolver                         { return repoFacets(r) }
func (r root) RoleFacet() graph.RoleFacetResolver                         { return roleFacets(r) }
func (r root) GroupFacet() graph.GroupFacetResolver                       { return groupFacets(r) }
func (r root) IdentityFacet() graph.IdentityFacetResolver                 { return identityFacets(r) }
func (r root) ImageSbom() graph.ImageSbomResolver                         { return imageSBOMs(r) }
func (r root) IntroducingPackage() graph.IntroducingPackageResolver       { return introducingPackages(r) }
func (r root) ImagePackage() graph.ImagePackageResolver                   { return imagePackages(r) }
func (r root) VulnerabilityExposure() graph.VulnerabilityExposureResolver { return vulnerabilities(r) }
func (r root) VulnerabilityMetadata() graph.VulnerabilityMetadataResolver {
	return vulnerabilityMetadata(r)
}
func (r root) Image() graph.ImageResolver                           { return images(r) }
func (r root) Viewer() graph.ViewerResolver                         { return viewers(r) }
func (r root) GitHubAccount() graph.GitHubAccountResolver           { return gitHubAccounts(r) }
func (r root) TermsAcceptance() graph.TermsAcceptanceResolver       { return terms(r) }
func (r root) AcceptTermsPayload() graph.AcceptTermsPayloadResolver { return acceptedTerms(r) }

func (r root) HolderConnection() graph.HolderConnectionResolver { return holderConnections(r) }
func (r root) Event() graph.EventResolver                       { return eventFields(r) }
func (r root) EventActor() graph.EventActorResolver             { return eventActors(r) }
func (r root) HolderEdge() graph.HolderEdgeResolver             { return holderEdges(r) }

func (q queries) Ping(ctx context.Context) (string, error) { return q.p.Ping(ctx), nil }
