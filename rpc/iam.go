package rpc

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"atrium/platform"
	iamv2 "atrium/rpc/gen/platform/iam/v2"
)

type groups struct{ of platform.Groups }

func (s groups) GetGroup(ctx context.Context, r *iamv2.GetGroupRequest) (*iamv2.Group, error) {
	return convert(group)(s.of.Get(ctx, platform.UID(r.GetUid())))
}

func (s groups) DeleteGroup(ctx context.Context, r *iamv2.DeleteGroupRequest) (*emptypb.Empty, error) {
	return emptyResult(s.of.Delete(ctx, platform.UID(r.GetUid())))
}

func (s groups) ListGroups(ctx context.Context, r *iamv2.ListGroupsRequest) (*iamv2.ListGroupsResponse, error) {
	page, err := s.of.List(ctx, list(r, platform.GroupFilter{Name: r.GetName(), Query: r.GetQuery()}, notEmpty("query", r.Query)))
	return &iamv2.ListGroupsResponse{
		Groups:        convertEach(page.Items, group),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s groups) CreateGroup(ctx context.Context, r *iamv2.CreateGroupRequest) (*iamv2.Group, error) {
	return convert(group)(s.of.Create(ctx, platform.UID(r.GetParent()), input[platform.Group](r.GetGroup(), nil)))
}

func (s groups) UpdateGroup(ctx context.Context, r *iamv2.UpdateGroupRequest) (*iamv2.Group, error) {
	return convert(group)(s.of.Update(ctx, platform.UID(r.GetGroup().GetUid()), input[platform.Group](r.GetGroup(), r.GetUpdateMask())))
}

type identities struct{ of platform.Identities }

func (s identities) CreateIdentity(ctx context.Context, r *iamv2.CreateIdentityRequest) (*iamv2.Identity, error) {
	return convert(identity)(s.of.Create(ctx, platform.UID(r.GetParent()), input[platform.Identity](r.GetIdentity(), nil)))
}

func (s identities) GetIdentity(ctx context.Context, r *iamv2.GetIdentityRequest) (*iamv2.Identity, error) {
	return convert(identity)(s.of.Get(ctx, platform.UID(r.GetUid())))
}

func (s identities) DeleteIdentity(ctx context.Context, r *iamv2.DeleteIdentityRequest) (*emptypb.Empty, error) {
	return emptyResult(s.of.Delete(ctx, platform.UID(r.GetUid())))
}

func (s identities) UpdateIdentity(ctx context.Context, r *iamv2.UpdateIdentityRequest) (*iamv2.Identity, error) {
	return convert(identity)(s.of.Update(ctx, platform.UID(r.GetIdentity().GetUid()), input[platform.Identity](r.GetIdentity(), r.GetUpdateMask())))
}

func (s identities) ListIdentities(ctx context.Context, r *iamv2.ListIdentitiesRequest) (*iamv2.ListIdentitiesResponse, error) {
	page, err := s.of.List(ctx, list(r, platform.IdentityFilter{
		Name: r.GetName(), RelationshipType: name[platform.RelationshipType](r.GetRelationshipType()), Query: r.GetQuery(),
	}, notEmpty("query", r.Query)))
	return &iamv2.ListIdentitiesResponse{
		Identities:    convertEach(page.Items, identity),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s identities) LookupIdentity(ctx context.Context, r *iamv2.LookupIdentityRequest) (*iamv2.LookupIdentityResponse, error) {
	uid, err := s.of.Lookup(ctx, r.GetIssuer(), r.GetSubject())
	return &iamv2.LookupIdentityResponse{Uid: string(uid)}, err
}

type roles struct{ of platform.Roles }

func (s roles) GetRole(ctx context.Context, r *iamv2.GetRoleRequest) (*iamv2.Role, error) {
	return convert(role)(s.of.Get(ctx, platform.UID(r.GetUid())))
}

func (s roles) ListRoles(ctx context.Context, r *iamv2.ListRolesRequest) (*iamv2.ListRolesResponse, error) {
	page, err := s.of.List(ctx, list(r, platform.RoleFilter{Name: r.GetName(), Query: r.GetQuery()}, notEmpty("query", r.Query)))
	return &iamv2.ListRolesResponse{
		Roles:         convertEach(page.Items, role),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s roles) CreateRole(ctx context.Context, r *iamv2.CreateRoleRequest) (*iamv2.Role, error) {
	return convert(role)(s.of.Create(ctx, platform.UID(r.GetParent()), input[platform.Role](r.GetRole(), nil)))
}

func (s roles) UpdateRole(ctx context.Context, r *iamv2.UpdateRoleRequest) (*iamv2.Role, error) {
	return convert(role)(s.of.Update(ctx, platform.UID(r.GetRole().GetUid()), input[platform.Role](r.GetRole(), r.GetUpdateMask())))
}

func (s roles) DeleteRole(ctx context.Context, r *iamv2.DeleteRoleRequest) (*emptypb.Empty, error) {
	return emptyResult(s.of.Delete(ctx, platform.UID(r.GetUid())))
}

type roleBindings struct{ of platform.RoleBindings }

func (s roleBindings) GetRoleBinding(ctx context.Context, r *iamv2.GetRoleBindingRequest) (*iamv2.RoleBinding, error) {
	return convert(roleBinding)(s.of.Get(ctx, platform.UID(r.GetUid())))
}

func (s roleBindings) CreateRoleBinding(ctx context.Context, r *iamv2.CreateRoleBindingRequest) (*iamv2.RoleBinding, error) {
	return convert(roleBinding)(s.of.Create(ctx, platform.UID(r.GetParent()), input[platform.RoleBinding](r.GetRoleBinding(), nil)))
}

func (s roleBindings) DeleteRoleBinding(ctx context.Context, r *iamv2.DeleteRoleBindingRequest) (*emptypb.Empty, error) {
	return emptyResult(s.of.Delete(ctx, platform.UID(r.GetUid())))
}

func (s roleBindings) ListRoleBindings(ctx context.Context, r *iamv2.ListRoleBindingsRequest) (*iamv2.ListRoleBindingsResponse, error) {
	page, err := s.of.List(ctx, list(r, platform.RoleBindingFilter{
		Identity: platform.UID(r.GetIdentity()), Group: platform.UID(r.GetGroup()), Role: platform.UID(r.GetRole()),
	}))
	return &iamv2.ListRoleBindingsResponse{
		RoleBindings:  convertEach(page.Items, roleBinding),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s roleBindings) UpdateRoleBinding(ctx context.Context, r *iamv2.UpdateRoleBindingRequest) (*iamv2.RoleBinding, error) {
	return convert(roleBinding)(s.of.Update(ctx, platform.UID(r.GetRoleBinding().GetUid()), input[platform.RoleBinding](r.GetRoleBinding(), r.GetUpdateMask())))
}

func (s roleBindings) BatchCreateRoleBindings(ctx context.Context, r *iamv2.BatchCreateRoleBindingsRequest) (*iamv2.BatchCreateRoleBindingsResponse, error) {
	inputs, malformed := batch(r)
	if len(malformed) > 0 {
		return nil, platform.Invalid(malformed...)
	}
	made, err := s.of.CreateBatch(ctx, platform.UID(r.GetParent()), inputs)
	return &iamv2.BatchCreateRoleBindingsResponse{RoleBindings: convertEach(made, roleBinding)}, err
}

// batch gives the role of a batch to those of its bindings that have none.
func batch(r *iamv2.BatchCreateRoleBindingsRequest) (inputs []platform.Input[platform.RoleBinding], malformed []platform.Violation) {
	inputs = make([]platform.Input[platform.RoleBinding], len(r.GetRequests()))
	if len(inputs) > platform.MaxBatch {
		return inputs, nil // which the operation refuses unseen
	}
	for i, one := range r.GetRequests() {
		if own := one.GetParent(); own != "" && own != r.GetParent() {
			malformed = append(malformed, platform.Violation{
				Field: fmt.Sprintf("requests[%d].parent", i), Description: "must be the parent of the batch",
			})
		}
		binding := &iamv2.RoleBinding{RoleUid: r.GetRoleUid()}
		proto.Merge(binding, one.GetRoleBinding())
		inputs[i] = input[platform.RoleBinding](binding, nil)
	}
	return inputs, malformed
}
