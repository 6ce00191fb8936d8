package resolvers

import (
	"context"
	"strings"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// externalGroupRoleMappings resolves the fields of mappings.
type externalGroupRoleMappings struct {
	viewerFields[*iam.ExternalGroupRoleMapping]
}

func (r root) ExternalGroupRoleMapping() graph.ExternalGroupRoleMappingResolver {
	return externalGroupRoleMappings{newViewerFields(r.p.ExternalGroupRoleMappings)}
}

func (r *reads) externalGroupRoleMappings() *loader[core.UID, *iam.ExternalGroupRoleMapping] {
	return loaderOf(r, r.p.ExternalGroupRoleMappings.GetMany)
}

func (q queries) ExternalGroupRoleMapping(ctx context.Context, uid core.UID) (*iam.ExternalGroupRoleMapping, error) {
	return readsOf(ctx).externalGroupRoleMappings().load(ctx, uid)
}

func (q queries) ExternalGroupRoleMappings(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.ExternalGroupRoleMappingFilter) (*scalar.ExternalGroupRoleMappingConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.ExternalGroupRoleMappings.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.ExternalGroupRoleMappingFilter, window)))
}

func (m mutations) CreateExternalGroupRoleMapping(ctx context.Context, input map[string]any) (*scalar.CreateExternalGroupRoleMappingPayload, error) {
	parent, in := decodeInput[*iam.ExternalGroupRoleMapping](input)
	made, err := m.p.ExternalGroupRoleMappings.Create(withConditions(ctx, input), parent, in)
	return newCreated(ctx, m.p.ExternalGroupRoleMappings.ListEach, parent, made, err)
}

func (m mutations) DeleteExternalGroupRoleMapping(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("ExternalGroupRoleMapping", input, m.p.ExternalGroupRoleMappings.Delete(withDeletionConditions(ctx, input), input.UID))
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

func (e entities) FindManyExternalGroupRoleMappingByUIDs(ctx context.Context, reps []*graph.ExternalGroupRoleMappingByUIDsInput) ([]*iam.ExternalGroupRoleMapping, error) {
	return readRepresentations(ctx, readsOf(ctx).externalGroupRoleMappings(), mapEach(reps, func(r *graph.ExternalGroupRoleMappingByUIDsInput) core.UID { return r.UID }))
}

func (externalGroupRoleMappings) IdentityProvider(ctx context.Context, all []*iam.ExternalGroupRoleMapping) ([]*iam.IdentityProvider, error) {
	return follow(ctx, all, readsOf(ctx).identityProviders(), func(m *iam.ExternalGroupRoleMapping) core.UID { return m.IdentityProviderUID })
}

func (externalGroupRoleMappings) Role(ctx context.Context, all []*iam.ExternalGroupRoleMapping) ([]*iam.Role, error) {
	return follow(ctx, all, readsOf(ctx).roles(), func(m *iam.ExternalGroupRoleMapping) core.UID { return m.RoleUID })
}

func (externalGroupRoleMappings) Scope(ctx context.Context, all []*iam.ExternalGroupRoleMapping) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(m *iam.ExternalGroupRoleMapping) core.UID { return m.Scope })
}
