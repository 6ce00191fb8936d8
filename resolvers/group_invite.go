package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// groupInvites resolves the fields of invites.
type groupInvites struct {
	viewerFields[*iam.GroupInvite]
}

func (r root) GroupInvite() graph.GroupInviteResolver {
	return groupInvites{newViewerFields(r.p.GroupInvites)}
}

func (r *reads) groupInvites() *loader[core.UID, *iam.GroupInvite] {
	return loaderOf(r, r.p.GroupInvites.GetMany)
}

func (q queries) GroupInvite(ctx context.Context, uid core.UID) (*iam.GroupInvite, error) {
	return readsOf(ctx).groupInvites().load(ctx, uid)
}

func (q queries) GroupInvites(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.GroupInviteFilter) (*scalar.GroupInviteConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.GroupInvites.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.GroupInviteFilter, window)))
}

// CreateGroupInvite creates an invite. Its response is the only one that shows the code.
func (m mutations) CreateGroupInvite(ctx context.Context, input map[string]any) (*scalar.CreateGroupInvitePayload, error) {
	parent, in := decodeInput[*iam.GroupInvite](input)
	made, err := m.p.GroupInvites.Create(withConditions(ctx, input), parent, in)
	return newCreated(ctx, m.p.GroupInvites.ListEach, parent, made, err)
}

func (m mutations) DeleteGroupInvite(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("GroupInvite", input, m.p.GroupInvites.Delete(withDeletionConditions(ctx, input), input.UID))
}

func (m mutations) BatchCreateGroupInvites(ctx context.Context, input map[string]any) (*graph.BatchCreateGroupInvitesPayload, error) {
	made, err := m.p.GroupInvites.CreateBatch(ctx, decodeBatchRequests[*iam.GroupInvite](input))
	if err != nil {
		return nil, err
	}
	return &graph.BatchCreateGroupInvitesPayload{GroupInvites: made}, nil
}

func (m mutations) BatchDeleteGroupInvites(ctx context.Context, input graph.BatchDeleteGroupInvitesInput) (*graph.BatchDeleteGroupInvitesPayload, error) {
	if err := m.p.GroupInvites.DeleteBatch(ctx, input.Uids); err != nil {
		return nil, err
	}
	return &graph.BatchDeleteGroupInvitesPayload{DeletedIds: globalIDs("GroupInvite", input.Uids), DeletedUids: input.Uids}, nil
}

func (m mutations) AcceptGroupInvite(ctx context.Context, input graph.AcceptGroupInviteInput) (*scalar.AcceptGroupInvitePayload, error) {
	bound, err := m.p.GroupInvites.Accept(ctx, input.Code)
	if err != nil {
		return nil, err
	}
	return &scalar.AcceptGroupInvitePayload{Node: bound, Edge: newEdges(ctx, m.p.RoleBindings.ListEach, bound.Group.UID, bound)[0]}, nil
}

func (e entities) FindManyGroupInviteByUIDs(ctx context.Context, reps []*graph.GroupInviteByUIDsInput) ([]*iam.GroupInvite, error) {
	return readRepresentations(ctx, readsOf(ctx).groupInvites(), mapEach(reps, func(r *graph.GroupInviteByUIDsInput) core.UID { return r.UID }))
}

func (groupInvites) Group(ctx context.Context, all []*iam.GroupInvite) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(i *iam.GroupInvite) core.UID { return i.UID.Parent() })
}

func (groupInvites) Role(ctx context.Context, all []*iam.GroupInvite) ([]*iam.Role, error) {
	return follow(ctx, all, readsOf(ctx).roles(), func(i *iam.GroupInvite) core.UID { return i.RoleUID })
}
