package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// roleBindings resolves the fields of role bindings.
type roleBindings struct {
	p *platform.Platform
	viewerFields[*iam.RoleBinding]
}

func (r root) RoleBinding() graph.RoleBindingResolver {
	return roleBindings{r.p, newViewerFields(r.p.RoleBindings)}
}

func (r *reads) roleBindings() *loader[core.UID, *iam.RoleBinding] {
	return loaderOf(r, func(ctx context.Context, keys []core.UID) ([]*iam.RoleBinding, []error) {
		return r.p.RoleBindings.GetManyWithout(ctx, keys, r.without)
	})
}

func (q queries) RoleBinding(ctx context.Context, uid core.UID) (*iam.RoleBinding, error) {
	return readsOf(ctx).roleBindings().load(ctx, uid)
}

func (q queries) RoleBindings(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.RoleBindingFilter) (*scalar.RoleBindingConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.RoleBindings.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.RoleBindingFilter, window)))
}

func (m mutations) CreateRoleBinding(ctx context.Context, input map[string]any) (*scalar.CreateRoleBindingPayload, error) {
	parent, in := decodeInput[*iam.RoleBinding](input)
	made, err := m.p.RoleBindings.Create(withConditions(ctx, input), parent, in)
	return newCreated(ctx, m.p.RoleBindings.ListEach, parent, made, err)
}

func (m mutations) UpdateRoleBinding(ctx context.Context, input map[string]any) (*scalar.UpdateRoleBindingPayload, error) {
	uid, in := decodeInput[*iam.RoleBinding](input)
	return newUpdated(m.p.RoleBindings.Update(withConditions(ctx, input), uid, in))
}

func (m mutations) DeleteRoleBinding(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("RoleBinding", input, m.p.RoleBindings.Delete(withDeletionConditions(ctx, input), input.UID))
}

func (m mutations) BatchCreateRoleBindings(ctx context.Context, input graph.BatchCreateRoleBindingsInput) (*graph.BatchCreateRoleBindingsPayload, error) {
	made, err := m.p.RoleBindings.CreateBatch(ctx, decodeBatch(input))
	if err != nil {
		return nil, err
	}
	return &graph.BatchCreateRoleBindingsPayload{
		RoleBindings: made, RoleBindingEdges: newEdges(ctx, m.p.RoleBindings.ListEach, input.Parent, made...),
	}, nil
}

// decodeBatch converts a batch.
func decodeBatch(input graph.BatchCreateRoleBindingsInput) iam.BindingBatch {
	batch := iam.BindingBatch{Parent: input.Parent, RoleUID: valueOrZero(input.RoleUID)}
	for _, r := range input.Requests {
		_, in := decodeInput[*iam.RoleBinding](r.RoleBinding)
		batch.Requests = append(batch.Requests, core.BatchRequest[*iam.RoleBinding]{UID: valueOrZero(r.Parent), Input: in.Malformed(refuseConditions(r.RoleBinding)...)})
	}
	return batch
}

func (m mutations) BatchDeleteRoleBindings(ctx context.Context, input graph.BatchDeleteRoleBindingsInput) (*graph.BatchDeleteRoleBindingsPayload, error) {
	if err := m.p.RoleBindings.DeleteBatch(ctx, input.Uids, valueOrZero(input.Note)); err != nil {
		return nil, err
	}
	return &graph.BatchDeleteRoleBindingsPayload{DeletedIds: globalIDs("RoleBinding", input.Uids), DeletedUids: input.Uids}, nil
}

func (m mutations) ConfirmRoleBindings(ctx context.Context, input map[string]any) (*graph.ConfirmRoleBindingsPayload, error) {
	note, _ := input["note"].(*string)
	confirmed, err := m.p.RoleBindings.Confirm(ctx, decodeBatchRequests[*iam.RoleBinding](input), valueOrZero(note))
	if err != nil {
		return nil, err
	}
	return &graph.ConfirmRoleBindingsPayload{RoleBindings: confirmed}, nil
}

func (e entities) FindManyRoleBindingByUIDs(ctx context.Context, reps []*graph.RoleBindingByUIDsInput) ([]*iam.RoleBinding, error) {
	return readRepresentations(ctx, readsOf(ctx).roleBindings(), mapEach(reps, func(r *graph.RoleBindingByUIDsInput) core.UID { return r.UID }))
}

func (r roleBindings) Identity(ctx context.Context, all []*iam.RoleBinding) ([]*iam.Identity, error) {
	uid := func(b *iam.RoleBinding) core.UID { return b.Identity.UID }
	if !bindingHasSelection(ctx) {
		return follow(ctx, all, readsOf(ctx).identities(), uid)
	}
	return answerFromBindings(ctx, all, uid, r.p.Identities.CheckReadable, func(b *iam.RoleBinding) iam.Identity {
		return iam.Identity{UID: b.Identity.UID, Name: b.Identity.Name, Description: b.Identity.Description}
	})
}

func (r roleBindings) Group(ctx context.Context, all []*iam.RoleBinding) ([]*iam.Group, error) {
	uid := func(b *iam.RoleBinding) core.UID { return b.Group.UID }
	if !bindingHasSelection(ctx) {
		return follow(ctx, all, readsOf(ctx).groups(), uid)
	}
	return answerFromBindings(ctx, all, uid, r.p.Groups.CheckReadable, func(b *iam.RoleBinding) iam.Group {
		return iam.Group{UID: b.Group.UID, Name: b.Group.Name, Description: b.Group.Description}
	})
}

func (r roleBindings) Role(ctx context.Context, all []*iam.RoleBinding) ([]*iam.Role, error) {
	uid := func(b *iam.RoleBinding) core.UID { return b.Role.UID }
	if !bindingHasSelection(ctx) {
		return follow(ctx, all, readsOf(ctx).roles(), uid)
	}
	return answerFromBindings(ctx, all, uid, r.p.Roles.CheckReadable, func(b *iam.RoleBinding) iam.Role {
		return iam.Role{UID: b.Role.UID, Name: b.Role.Name, Description: b.Role.Description}
	})
}

func (roleBindings) Reviewer(ctx context.Context, all []*iam.RoleBinding) ([]*iam.Identity, error) {
	return follow(ctx, all, readsOf(ctx).identities(), func(b *iam.RoleBinding) core.UID {
		by := core.EventActor{Subject: b.Reviewer}
		return by.Identity()
	})
}
