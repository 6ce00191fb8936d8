package resolvers

import (
	"context"
	"strings"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

// externalGroupRoleMappings resolves the fields of mappings.
type externalGroupRoleMappings struct {
	viewerFields[*platform.ExternalGroupRoleMapping]
}

func (r root) ExternalGroupRoleMapping() graph.ExternalGroupRoleMappingResolver {
	return externalGroupRoleMappings{newViewerFields(r.p.ExternalGroupRoleMappings)}
}

func (r *reads) externalGroupRoleMappings() *loader[platform.UID, *platform.ExternalGroupRoleMapping] {
	return loaderOf(r, r.p.ExternalGroupRoleMappings.GetMany)
}

func (q queries) ExternalGroupRoleMapping(ctx context.Context, uid platform.UID) (*platform.ExternalGroupRoleMapping, error) {
	return readsOf(ctx).externalGroupRoleMappings().load(ctx, uid)
}

func (q queries) ExternalGroupRoleMappings(ctx context.Context, window scalar.Window, descendantsOf, childrenOf *platform.UID, where *scalar.ExternalGroupRoleMappingFilter) (*scalar.ExternalGroupRoleMappingConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.ExternalGroupRoleMappings.List(ctx, request(ctx, listScope(descendantsOf, childrenOf, f.ByUID), &f.ExternalGroupRoleMappingFilter, window)))
}

func (m mutations) CreateExternalGroupRoleMapping(ctx context.Context, input map[string]any) (*scalar.CreateExternalGroupRoleMappingPayload, error) {
	parent, in := decodeInput[*platform.ExternalGroupRoleMapping](input)
	made, err := m.p.ExternalGroupRoleMappings.Create(ctx, parent, in)
	return newCreated(ctx, m.p.ExternalGroupRoleMappings.ListEach, parent, made, err)
}

func (m mutations) DeleteExternalGroupRoleMapping(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("ExternalGroupRoleMapping", input, m.p.ExternalGroupRoleMappings.Delete(ctx, input.UID))
}

func (m mutations) BatchDeleteExternalGroupRoleMappings(ctx context.Context, input graph.BatchDeleteExternalGroupRoleMappingsInput) (*scalar.BatchDeleteExternalGroupRoleMappingsPayload, error) {
	removed, err := m.p.ExternalGroupRoleMappings.DeleteBatch(ctx, input.Parent, input.Uids)
	if err != nil {
		return nil, renameFields(err, func(field string) string {
			if index, ok := strings.CutPrefix(field, "names"); ok { // the name of the field in REST
				return "uids" + index
			}
			return field
		})
	}
	payload := &scalar.BatchDeleteExternalGroupRoleMappingsPayload{ExternalGroupRoleMappings: removed}
	for _, mapping := range removed {
		payload.DeletedIDs = append(payload.DeletedIDs, scalar.GlobalID("ExternalGroupRoleMapping", string(mapping.UID)))
		payload.DeletedUIDs = append(payload.DeletedUIDs, mapping.UID)
	}
	return payload, nil
}

func (e entities) FindManyExternalGroupRoleMappingByUIDs(ctx context.Context, reps []*graph.ExternalGroupRoleMappingByUIDsInput) ([]*platform.ExternalGroupRoleMapping, error) {
	return readRepresentations(ctx, readsOf(ctx).externalGroupRoleMappings(), mapEach(reps, func(r *graph.ExternalGroupRoleMappingByUIDsInput) platform.UID { return r.UID }))
}

func (externalGroupRoleMappings) IdentityProvider(ctx context.Context, all []*platform.ExternalGroupRoleMapping) ([]*platform.IdentityProvider, error) {
	return follow(ctx, all, readsOf(ctx).identityProviders(), func(m *platform.ExternalGroupRoleMapping) platform.UID { return m.IdentityProviderUID })
}

func (externalGroupRoleMappings) Role(ctx context.Context, all []*platform.ExternalGroupRoleMapping) ([]*platform.Role, error) {
	return follow(ctx, all, readsOf(ctx).roles(), func(m *platform.ExternalGroupRoleMapping) platform.UID { return m.RoleUID })
}

func (externalGroupRoleMappings) Scope(ctx context.Context, all []*platform.ExternalGroupRoleMapping) ([]*platform.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(m *platform.ExternalGroupRoleMapping) platform.UID { return m.Scope })
}
