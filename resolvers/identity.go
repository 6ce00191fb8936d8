package resolvers

import (
	"context"
	"slices"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

// identities resolves the fields of identities.
type identities struct {
	p *platform.Platform
	viewerFields[*platform.Identity]
}

func (r root) Identity() graph.IdentityResolver {
	return identities{r.p, newViewerFields(r.p.Identities)}
}

func (r *reads) identities() *loader[platform.UID, *platform.Identity] {
	return loaderOf(r, func(ctx context.Context, keys []platform.UID) ([]*platform.Identity, []error) {
		return r.p.Identities.GetManyWithout(ctx, keys, r.without)
	})
}

// effectiveGrants returns the loader of what identities hold. Fields that ask about
// different resources share it.
func (r *reads) effectiveGrants() *loader[platform.UID, *platform.EffectiveGrants] {
	return loaderOf(r, r.p.Identities.EffectiveGrants)
}

func (q queries) Identity(ctx context.Context, uid platform.UID) (*platform.Identity, error) {
	return readsOf(ctx).identities().load(ctx, uid)
}

func (q queries) Identities(ctx context.Context, window scalar.Window, descendantsOf, childrenOf *platform.UID, where *scalar.IdentityFilter) (*scalar.IdentityConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Identities.List(ctx, request(ctx, listScope(descendantsOf, childrenOf, f.ByUID), &f.IdentityFilter, window)))
}

func (m mutations) CreateIdentity(ctx context.Context, input map[string]any) (*scalar.CreateIdentityPayload, error) {
	parent, in := decodeInput[*platform.Identity](input)
	made, err := m.p.Identities.Create(ctx, parent, in)
	return newCreated(ctx, m.p.Identities.ListEach, parent, made, err)
}

func (m mutations) UpdateIdentity(ctx context.Context, input map[string]any) (*scalar.UpdateIdentityPayload, error) {
	uid, in := decodeInput[*platform.Identity](input)
	return newUpdated(m.p.Identities.Update(ctx, uid, in))
}

func (m mutations) DeleteIdentity(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("Identity", input, m.p.Identities.Delete(ctx, input.UID))
}

func (m mutations) BatchCreateIdentities(ctx context.Context, input map[string]any) (*graph.BatchCreateIdentitiesPayload, error) {
	made, err := m.p.Identities.CreateBatch(ctx, decodeBatchRequests[*platform.Identity](input))
	if err != nil {
		return nil, err
	}
	return &graph.BatchCreateIdentitiesPayload{Identities: made}, nil
}

func (m mutations) BatchDeleteIdentities(ctx context.Context, input graph.BatchDeleteIdentitiesInput) (*graph.BatchDeleteIdentitiesPayload, error) {
	if err := m.p.Identities.DeleteBatch(ctx, input.Uids); err != nil {
		return nil, err
	}
	return &graph.BatchDeleteIdentitiesPayload{DeletedIds: globalIDs("Identity", input.Uids), DeletedUids: input.Uids}, nil
}

func (e entities) FindManyIdentityByUIDs(ctx context.Context, reps []*graph.IdentityByUIDsInput) ([]*platform.Identity, error) {
	return readRepresentations(ctx, readsOf(ctx).identities(), mapEach(reps, func(r *graph.IdentityByUIDsInput) platform.UID { return r.UID }))
}

func (q queries) LookupIdentity(ctx context.Context, issuer, subject string) (*platform.UID, error) {
	uid, err := q.p.Identities.Lookup(ctx, issuer, subject)
	return &uid, err
}

func (identities) Group(ctx context.Context, all []*platform.Identity) ([]*platform.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(i *platform.Identity) platform.UID { return i.UID.Parent() })
}

func (r identities) RoleBindings(ctx context.Context, all []*platform.Identity, window scalar.Window, where *scalar.RoleBindingFilter) ([]*scalar.RoleBindingConnection, error) {
	f := valueOrZero(where)
	req := request(ctx, listScope(nil, nil, f.ByUID), &f.RoleBindingFilter, window)
	return newConnections(r.p.RoleBindings.ListOfIdentities(ctx, req, mapEach(all, func(i *platform.Identity) platform.UID { return i.UID })))
}

func (identities) EffectiveCapabilities(ctx context.Context, all []*platform.Identity, on platform.UID) ([][]platform.Capability, error) {
	if err := platform.CheckOn(on); err != nil {
		return nil, err
	}
	grants, err := follow(ctx, all, readsOf(ctx).effectiveGrants(), func(i *platform.Identity) platform.UID { return i.UID })
	return mapEach(grants, func(g *platform.EffectiveGrants) []platform.Capability { return g.CapabilitiesOn(on) }), err
}

func (r identities) Can(ctx context.Context, all []*platform.Identity, capability platform.Capability, on platform.UID) ([]*bool, error) {
	held, err := r.EffectiveCapabilities(ctx, all, on)
	return mapEach(held, func(h []platform.Capability) *bool { can := slices.Contains(h, capability); return &can }), err
}
