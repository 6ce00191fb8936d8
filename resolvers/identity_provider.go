package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// identityProviders resolves the fields of identity providers.
type identityProviders struct {
	p *platform.Platform
	viewerFields[*iam.IdentityProvider]
}

func (r root) IdentityProvider() graph.IdentityProviderResolver {
	return identityProviders{r.p, newViewerFields(r.p.IdentityProviders)}
}

func (r *reads) identityProviders() *loader[core.UID, *iam.IdentityProvider] {
	return loaderOf(r, r.p.IdentityProviders.GetMany)
}

func (q queries) IdentityProvider(ctx context.Context, uid core.UID) (*iam.IdentityProvider, error) {
	return readsOf(ctx).identityProviders().load(ctx, uid)
}

func (q queries) IdentityProviders(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.IdentityProviderFilter) (*scalar.IdentityProviderConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.IdentityProviders.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.IdentityProviderFilter, window)))
}

func (m mutations) CreateIdentityProvider(ctx context.Context, input map[string]any) (*scalar.CreateIdentityProviderPayload, error) {
	parent, in := decodeInput[*iam.IdentityProvider](input)
	made, err := m.p.IdentityProviders.Create(withConditions(ctx, input), parent, in)
	return newCreated(ctx, m.p.IdentityProviders.ListEach, parent, made, err)
}

func (m mutations) UpdateIdentityProvider(ctx context.Context, input map[string]any) (*scalar.UpdateIdentityProviderPayload, error) {
	uid, in := decodeInput[*iam.IdentityProvider](input)
	return newUpdated(m.p.IdentityProviders.Update(withConditions(ctx, input), uid, in))
}

func (m mutations) VerifyIdentityProvider(ctx context.Context, input graph.VerifyIdentityProviderInput) (*graph.VerifyIdentityProviderPayload, error) {
	verified, err := m.p.IdentityProviders.Verify(ctx, input.UID)
	if err != nil {
		return nil, err
	}
	return &graph.VerifyIdentityProviderPayload{IdentityProvider: verified}, nil
}

func (m mutations) DeleteIdentityProvider(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("IdentityProvider", input, m.p.IdentityProviders.Delete(withDeletionConditions(ctx, input), input.UID))
}

func (e entities) FindManyIdentityProviderByUIDs(ctx context.Context, reps []*graph.IdentityProviderByUIDsInput) ([]*iam.IdentityProvider, error) {
	return readRepresentations(ctx, readsOf(ctx).identityProviders(), mapEach(reps, func(r *graph.IdentityProviderByUIDsInput) core.UID { return r.UID }))
}

func (identityProviders) Group(ctx context.Context, all []*iam.IdentityProvider) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(i *iam.IdentityProvider) core.UID { return i.UID.Parent() })
}

func (identityProviders) DefaultRole(ctx context.Context, all []*iam.IdentityProvider) ([]*iam.Role, error) {
	return follow(ctx, all, readsOf(ctx).roles(), func(i *iam.IdentityProvider) core.UID { return i.DefaultRole })
}

func (r identityProviders) Mappings(ctx context.Context, all []*iam.IdentityProvider, window scalar.Window, where *scalar.ExternalGroupRoleMappingFilter) ([]*scalar.ExternalGroupRoleMappingConnection, error) {
	f := valueOrZero(where)
	scopes := mapEach(all, func(i *iam.IdentityProvider) core.UIDFilter { return core.UIDFilter{ChildrenOf: i.UID, IDs: f.UIDs} })
	return newConnections(r.p.ExternalGroupRoleMappings.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.ExternalGroupRoleMappingFilter, window), scopes))
}
