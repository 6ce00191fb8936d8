package resolvers

import (
	"context"
	"fmt"
	"maps"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

func (q queries) RoleBinding(ctx context.Context, uid platform.UID) (*platform.RoleBinding, error) {
	return readsOf(ctx).roleBindings.one(ctx, uid)
}

func (q queries) RoleBindings(ctx context.Context, descendantsOf, childrenOf *platform.UID, where *scalar.RoleBindingFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.RoleBindingConnection, error) {
	f := or(where)
	return list(ctx, q.p.RoleBindings.List, within(descendantsOf, childrenOf, f.ByUID), f.RoleBindingFilter, window{orderBy, first, after, last, before, skip})
}

func (m mutations) CreateRoleBinding(ctx context.Context, input map[string]any) (*scalar.CreateRoleBindingPayload, error) {
	return create(ctx, m.p.RoleBindings.Create, m.p.RoleBindings.ListEach, input)
}

func (m mutations) UpdateRoleBinding(ctx context.Context, input map[string]any) (*scalar.UpdateRoleBindingPayload, error) {
	return update(ctx, m.p.RoleBindings.Update, input)
}

func (m mutations) DeleteRoleBinding(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return remove(ctx, m.p.RoleBindings.Delete, "RoleBinding", input)
}

func (e entities) FindManyRoleBindingByUIDs(ctx context.Context, reps []*graph.RoleBindingByUIDsInput) ([]*platform.RoleBinding, error) {
	return represented(ctx, readsOf(ctx).roleBindings, keysOf(reps, func(r *graph.RoleBindingByUIDsInput) platform.UID { return r.UID }))
}

func (m mutations) BatchCreateRoleBindings(ctx context.Context, input graph.BatchCreateRoleBindingsInput) (*graph.BatchCreateRoleBindingsPayload, error) {
	inputs, malformed := batched(input)
	if len(malformed) > 0 {
		return nil, platform.Invalid(malformed...)
	}
	made, err := m.p.RoleBindings.CreateBatch(ctx, input.Parent, inputs)
	if err != nil {
		return nil, err
	}
	remember(ctx, made)
	return &graph.BatchCreateRoleBindingsPayload{
		RoleBindings: made, RoleBindingEdges: edges(ctx, m.p.RoleBindings.ListEach, input.Parent, made...),
	}, nil
}

// batched takes a batch apart: what lies outside of the bindings themselves.
func batched(input graph.BatchCreateRoleBindingsInput) (inputs []platform.Input[platform.RoleBinding], malformed []platform.Violation) {
	for i, r := range input.Requests {
		if r.Parent != nil && *r.Parent != input.Parent {
			malformed = append(malformed, platform.Violation{Field: fmt.Sprintf("requests[%d].parent", i), Description: "must be the parent of the batch"})
		}
		binding := map[string]any{"roleUid": input.RoleUID}
		maps.Copy(binding, r.RoleBinding)
		_, in := decoded[platform.RoleBinding](binding)
		inputs = append(inputs, in)
	}
	return inputs, malformed
}

func (r roleBindings) Identity(ctx context.Context, b *platform.RoleBinding) (*platform.Identity, error) {
	bound := b.Identity
	if shown, ok, err := embedded(ctx, bound.UID, r.p.Identities.CheckReadable, platform.Identity{UID: bound.UID, Name: bound.Name, Description: bound.Description}); ok {
		return shown, err
	}
	return follow(ctx, b, readsOf(ctx).identities, func(b *platform.RoleBinding) platform.UID { return b.Identity.UID })
}

func (r roleBindings) Group(ctx context.Context, b *platform.RoleBinding) (*platform.Group, error) {
	bound := b.Group
	if shown, ok, err := embedded(ctx, bound.UID, r.p.Groups.CheckReadable, platform.Group{UID: bound.UID, Name: bound.Name, Description: bound.Description}); ok {
		return shown, err
	}
	return follow(ctx, b, readsOf(ctx).groups, func(b *platform.RoleBinding) platform.UID { return b.Group.UID })
}

func (r roleBindings) Role(ctx context.Context, b *platform.RoleBinding) (*platform.Role, error) {
	bound := b.Role
	if shown, ok, err := embedded(ctx, bound.UID, r.p.Roles.CheckReadable, platform.Role{UID: bound.UID, Name: bound.Name, Description: bound.Description}); ok {
		return shown, err
	}
	return follow(ctx, b, readsOf(ctx).roles, func(b *platform.RoleBinding) platform.UID { return b.Role.UID })
}
