package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// roles resolves the fields of roles.
type roles struct {
	p *platform.Platform
	viewerFields[*iam.Role]
}

func (r root) Role() graph.RoleResolver { return roles{r.p, newViewerFields(r.p.Roles)} }

func (r *reads) roles() *loader[core.UID, *iam.Role] { return loaderOf(r, r.p.Roles.GetMany) }

func (q queries) Role(ctx context.Context, uid core.UID) (*iam.Role, error) {
	return readsOf(ctx).roles().load(ctx, uid)
}

func (q queries) Roles(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.RoleFilter) (*scalar.RoleConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Roles.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.RoleFilter, window)))
}

func (m mutations) CreateRole(ctx context.Context, input map[string]any) (*scalar.CreateRolePayload, error) {
	parent, in := decodeInput[*iam.Role](input)
	made, err := m.p.Roles.Create(withConditions(ctx, input), parent, in)
	return newCreated(ctx, m.p.Roles.ListEach, parent, made, err)
}

func (m mutations) UpdateRole(ctx context.Context, input map[string]any) (*scalar.UpdateRolePayload, error) {
	uid, in := decodeInput[*iam.Role](input)
	return newUpdated(m.p.Roles.Update(withConditions(ctx, input), uid, in))
}

func (m mutations) DeleteRole(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("Role", input, m.p.Roles.Delete(withDeletionConditions(ctx, input), input.UID))
}

func (e entities) FindManyRoleByUIDs(ctx context.Context, reps []*graph.RoleByUIDsInput) ([]*iam.Role, error) {
	return readRepresentations(ctx, readsOf(ctx).roles(), mapEach(reps, func(r *graph.RoleByUIDsInput) core.UID { return r.UID }))
}

func (roles) Group(ctx context.Context, all []*iam.Role) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(r *iam.Role) core.UID { return r.UID.Parent() })
}

func (r roles) RoleBindings(ctx context.Context, all []*iam.Role, window scalar.Window, where *scalar.RoleBindingFilter) ([]*scalar.RoleBindingConnection, error) {
	f := valueOrZero(where)
	req := request(ctx, core.UIDFilter{IDs: f.UIDs}, &f.RoleBindingFilter, window)
	return newConnections(r.p.RoleBindings.ListOfRoles(ctx, req, mapEach(all, func(r *iam.Role) core.UID { return r.UID })))
}
