package resolvers

import (
	"context"
	"slices"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// identities resolves the fields of identities.
type identities struct {
	p *platform.Platform
	viewerFields[*iam.Identity]
}

func (r root) Identity() graph.IdentityResolver {
	return identities{r.p, newViewerFields(r.p.Identities)}
}

func (r *reads) identities() *loader[core.UID, *iam.Identity] {
	return loaderOf(r, func(ctx context.Context, keys []core.UID) ([]*iam.Identity, []error) {
		return r.p.Identities.GetManyWithout(ctx, keys, r.without)
	})
}

// effectiveGrants returns the loader of what identities hold. Fields that ask about
// different resources share it.
func (r *reads) effectiveGrants() *loader[core.UID, *iam.EffectiveGrants] {
	return loaderOf(r, r.p.Identities.EffectiveGrants)
}

// followActor reads the identity that each object names. It is nil if that is none, but an operator, the subject of a token, or nobody.
func followActor[T any](ctx context.Context, objects []T, name func(T) string) ([]*iam.Identity, error) {
	found, err := follow(ctx, objects, readsOf(ctx).identities(), func(object T) core.UID { return identityUID(name(object)) })
	return found, filterErrors(err, ignoreNotFound)
}

// identityUID returns the UID in the name of an actor, or "" if it is no identity.
func identityUID(name string) core.UID {
	if uid := core.UID(name); uid.Valid() {
		return uid
	}
	return ""
}

func (q queries) Identity(ctx context.Context, uid core.UID) (*iam.Identity, error) {
	return readsOf(ctx).identities().load(ctx, uid)
}

func (q queries) Identities(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.IdentityFilter) (*scalar.IdentityConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Identities.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.IdentityFilter, window)))
}

func (m mutations) CreateIdentity(ctx context.Context, input map[string]any) (*scalar.CreateIdentityPayload, error) {
	parent, in := decodeInput[*iam.Identity](input)
	made, err := m.p.Identities.Create(withConditions(ctx, input), parent, in)
	return newCreated(ctx, m.p.Identities.ListEach, parent, made, err)
}

func (m mutations) UpdateIdentity(ctx context.Context, input map[string]any) (*scalar.UpdateIdentityPayload, error) {
	uid, in := decodeInput[*iam.Identity](input)
	return newUpdated(m.p.Identities.Update(withConditions(ctx, input), uid, in))
}

func (m mutations) DeleteIdentity(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("Identity", input, m.p.Identities.Delete(withDeletionConditions(ctx, input), input.UID))
}

func (m mutations) BatchCreateIdentities(ctx context.Context, input map[string]any) (*graph.BatchCreateIdentitiesPayload, error) {
	made, err := m.p.Identities.CreateBatch(ctx, decodeBatchRequests[*iam.Identity](input))
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

func (e entities) FindManyIdentityByUIDs(ctx context.Context, reps []*graph.IdentityByUIDsInput) ([]*iam.Identity, error) {
	return readRepresentations(ctx, readsOf(ctx).identities(), mapEach(reps, func(r *graph.IdentityByUIDsInput) core.UID { return r.UID }))
}

func (q queries) LookupIdentity(ctx context.Context, issuer, subject string) (*core.UID, error) {
	uid, err := q.p.Identities.Lookup(ctx, issuer, subject)
	return &uid, err
}

func (identities) Group(ctx context.Context, all []*iam.Identity) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(i *iam.Identity) core.UID { return i.UID.Parent() })
}

func (r identities) RoleBindings(ctx context.Context, all []*iam.Identity, window scalar.Window, where *scalar.RoleBindingFilter) ([]*scalar.RoleBindingConnection, error) {
	f := valueOrZero(where)
	req := request(ctx, core.UIDFilter{IDs: f.UIDs}, &f.RoleBindingFilter, window)
	return newConnections(r.p.RoleBindings.ListOfIdentities(ctx, req, mapEach(all, func(i *iam.Identity) core.UID { return i.UID })))
}

func (identities) EffectiveCapabilities(ctx context.Context, all []*iam.Identity, within core.UID) ([][]core.Capability, error) {
	if err := iam.CheckOn(within); err != nil {
		return nil, err
	}
	grants, err := follow(ctx, all, readsOf(ctx).effectiveGrants(), func(i *iam.Identity) core.UID { return i.UID })
	return mapEach(grants, func(g *iam.EffectiveGrants) []core.Capability { return g.CapabilitiesOn(within) }), err
}

func (r identities) Can(ctx context.Context, all []*iam.Identity, capability core.Capability, within core.UID) ([]*bool, error) {
	held, err := r.EffectiveCapabilities(ctx, all, within)
	return mapEach(held, func(h []core.Capability) *bool { can := slices.Contains(h, capability); return &can }), err
}
