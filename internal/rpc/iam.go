package rpc

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"

	iamv2 "atrium/gen/platform/iam/v2"
	"atrium/gen/platform/iam/v2/iamv2connect"
	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

func iamServices(p *platform.Platform, o connect.HandlerOption) []service {
	return []service{
		newService(iamv2connect.NewAccessServiceHandler(access{p, wire.New(p)}, o)),
		newService(iamv2connect.NewIdentityBatchesServiceHandler(iamBatches{wire.New(p)}, o)),
		newService(iamv2connect.NewAccountAssociationsServiceHandler(accountAssociations{p.AccountAssociations}, o)),
		newService(iamv2connect.NewExternalGroupRoleMappingsServiceHandler(externalGroupRoleMappings{p.ExternalGroupRoleMappings}, o)),
		newService(iamv2connect.NewGroupInvitesServiceHandler(groupInvites{p.GroupInvites}, o)),
		newService(iamv2connect.NewGroupsServiceHandler(groups{p.Groups}, o)),
		newService(iamv2connect.NewIdentitiesServiceHandler(identities{p.Identities}, o)),
		newService(iamv2connect.NewIdentityProvidersServiceHandler(identityProviders{p.IdentityProviders}, o)),
		newService(iamv2connect.NewRoleBindingsServiceHandler(roleBindings{p.RoleBindings}, o)),
		newService(iamv2connect.NewRolesServiceHandler(roles{p.Roles}, o)),
		newService(iamv2connect.NewTermsServiceHandler(terms{p.Terms}, o)),
	}
}

type groups struct{ operations iam.Groups }

func (s groups) GetGroup(ctx context.Context, r *iamv2.GetGroupRequest) (*iamv2.Group, error) {
	return convert(group)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s groups) DeleteGroup(ctx context.Context, r *iamv2.DeleteGroupRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

func (s groups) ListGroups(ctx context.Context, r *iamv2.ListGroupsRequest) (*iamv2.ListGroupsResponse, error) {
	page, err := s.operations.List(ctx, list(r, &iam.GroupFilter{
		Name: r.GetName(), Query: r.GetQuery(), LabelFilter: labelFilter(r.GetLabels()),
	}, checkNotEmpty("query", r.Query)))
	return &iamv2.ListGroupsResponse{
		Groups:        convertEach(page.Items, group),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s groups) CreateGroup(ctx context.Context, r *iamv2.CreateGroupRequest) (*iamv2.Group, error) {
	return convert(group)(s.operations.Create(ctx, core.UID(r.GetParent()), input[*iam.Group](r.GetGroup(), nil)))
}

func (s groups) UpdateGroup(ctx context.Context, r *iamv2.UpdateGroupRequest) (*iamv2.Group, error) {
	return convert(group)(s.operations.Update(ctx, core.UID(r.GetGroup().GetUid()), input[*iam.Group](r.GetGroup(), r.GetUpdateMask())))
}

type identities struct{ operations iam.Identities }

func (s identities) CreateIdentity(ctx context.Context, r *iamv2.CreateIdentityRequest) (*iamv2.Identity, error) {
	return convert(identity)(s.operations.Create(ctx, core.UID(r.GetParent()), input[*iam.Identity](r.GetIdentity(), nil)))
}

func (s identities) GetIdentity(ctx context.Context, r *iamv2.GetIdentityRequest) (*iamv2.Identity, error) {
	return convert(identity)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s identities) DeleteIdentity(ctx context.Context, r *iamv2.DeleteIdentityRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

func (s identities) UpdateIdentity(ctx context.Context, r *iamv2.UpdateIdentityRequest) (*iamv2.Identity, error) {
	return convert(identity)(s.operations.Update(ctx, core.UID(r.GetIdentity().GetUid()), input[*iam.Identity](r.GetIdentity(), r.GetUpdateMask())))
}

func (s identities) ListIdentities(ctx context.Context, r *iamv2.ListIdentitiesRequest) (*iamv2.ListIdentitiesResponse, error) {
	page, err := s.operations.List(ctx, list(r, &iam.IdentityFilter{
		Name: r.GetName(), RelationshipType: name[iam.RelationshipType](r.GetRelationshipType()), Query: r.GetQuery(),
	}, checkNotEmpty("query", r.Query)))
	return &iamv2.ListIdentitiesResponse{
		Identities:    convertEach(page.Items, identity),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s identities) LookupIdentity(ctx context.Context, r *iamv2.LookupIdentityRequest) (*iamv2.LookupIdentityResponse, error) {
	uid, err := s.operations.Lookup(ctx, r.GetIssuer(), r.GetSubject())
	return &iamv2.LookupIdentityResponse{Uid: string(uid)}, err
}

type roles struct{ operations iam.Roles }

func (s roles) GetRole(ctx context.Context, r *iamv2.GetRoleRequest) (*iamv2.Role, error) {
	return convert(role)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s roles) ListRoles(ctx context.Context, r *iamv2.ListRolesRequest) (*iamv2.ListRolesResponse, error) {
	page, err := s.operations.List(ctx, list(r, &iam.RoleFilter{Name: r.GetName(), Query: r.GetQuery()}, checkNotEmpty("query", r.Query)))
	return &iamv2.ListRolesResponse{
		Roles:         convertEach(page.Items, role),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s roles) CreateRole(ctx context.Context, r *iamv2.CreateRoleRequest) (*iamv2.Role, error) {
	return convert(role)(s.operations.Create(ctx, core.UID(r.GetParent()), input[*iam.Role](r.GetRole(), nil)))
}

func (s roles) UpdateRole(ctx context.Context, r *iamv2.UpdateRoleRequest) (*iamv2.Role, error) {
	return convert(role)(s.operations.Update(ctx, core.UID(r.GetRole().GetUid()), input[*iam.Role](r.GetRole(), r.GetUpdateMask())))
}

func (s roles) DeleteRole(ctx context.Context, r *iamv2.DeleteRoleRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

type roleBindings struct{ operations iam.RoleBindings }

func (s roleBindings) GetRoleBinding(ctx context.Context, r *iamv2.GetRoleBindingRequest) (*iamv2.RoleBinding, error) {
	return convert(roleBinding)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s roleBindings) CreateRoleBinding(ctx context.Context, r *iamv2.CreateRoleBindingRequest) (*iamv2.RoleBinding, error) {
	return convert(roleBinding)(s.operations.Create(ctx, core.UID(r.GetParent()), input[*iam.RoleBinding](r.GetRoleBinding(), nil)))
}

func (s roleBindings) DeleteRoleBinding(ctx context.Context, r *iamv2.DeleteRoleBindingRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

func (s roleBindings) ListRoleBindings(ctx context.Context, r *iamv2.ListRoleBindingsRequest) (*iamv2.ListRoleBindingsResponse, error) {
	page, err := s.operations.List(ctx, list(r, &iam.RoleBindingFilter{
		Identity: core.UID(r.GetIdentity()), Group: core.UID(r.GetGroup()), Role: core.UID(r.GetRole()),
	}))
	return &iamv2.ListRoleBindingsResponse{
		RoleBindings:  convertEach(page.Items, roleBinding),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s roleBindings) UpdateRoleBinding(ctx context.Context, r *iamv2.UpdateRoleBindingRequest) (*iamv2.RoleBinding, error) {
	return convert(roleBinding)(s.operations.Update(ctx, core.UID(r.GetRoleBinding().GetUid()), input[*iam.RoleBinding](r.GetRoleBinding(), r.GetUpdateMask())))
}

func (s roleBindings) BatchCreateRoleBindings(ctx context.Context, r *iamv2.BatchCreateRoleBindingsRequest) (*iamv2.BatchCreateRoleBindingsResponse, error) {
	made, err := s.operations.CreateBatch(ctx, readBatch(r))
	return &iamv2.BatchCreateRoleBindingsResponse{RoleBindings: convertEach(made, roleBinding)}, err
}

// readBatch converts a batch.
func readBatch(r *iamv2.BatchCreateRoleBindingsRequest) iam.BindingBatch {
	batch := iam.BindingBatch{
		Parent: core.UID(r.GetParent()), RoleUID: core.UID(r.GetRoleUid()),
		Requests: make([]core.BatchRequest[*iam.RoleBinding], len(r.GetRequests())),
	}
	if len(batch.Requests) > iam.MaxBatchBindings {
		return batch // the operation rejects so many without reading them
	}
	for i, one := range r.GetRequests() {
		batch.Requests[i] = core.BatchRequest[*iam.RoleBinding]{UID: core.UID(one.GetParent()), Input: input[*iam.RoleBinding](one.GetRoleBinding(), nil)}
	}
	return batch
}

func group(g *iam.Group) *iamv2.Group {
	return &iamv2.Group{
		Uid: string(g.UID), Name: g.Name, Description: g.Description, ResourceLimits: limits(g.ResourceLimits), Verified: g.Verified,
		CreateTime: timestamp(g.CreateTime), UpdateTime: timestamp(g.UpdateTime),
		Labels: g.Labels, Kind: enumValue[iamv2.OrgKind](iamv2.OrgKind_value, g.Kind), Status: enumValue[iamv2.OrgStatus](iamv2.OrgStatus_value, g.Status),
	}
}

func limits(all map[string]int) map[string]int32 {
	if len(all) == 0 {
		return nil
	}
	message := make(map[string]int32, len(all))
	for kind, limit := range all {
		message[kind] = int32(limit)
	}
	return message
}

func identity(i *iam.Identity) *iamv2.Identity {
	m := &iamv2.Identity{
		Uid: string(i.UID), Name: i.Name, Description: i.Description, Email: i.Email, EmailUnverified: i.EmailUnverified, Company: i.Company,
		LastSeenTime: timestamp(i.LastSeenTime), CreateTime: timestamp(i.CreateTime), UpdateTime: timestamp(i.UpdateTime),
	}
	switch {
	case i.ClaimMatch != nil:
		m.Relationship = &iamv2.Identity_ClaimMatch_{ClaimMatch: claimMatch(i.ClaimMatch)}
	case i.StaticKeys != nil:
		m.Relationship = &iamv2.Identity_StaticKeys_{StaticKeys: staticKeys(i.StaticKeys)}
	}
	return m
}

func claimMatch(c *iam.ClaimMatch) *iamv2.Identity_ClaimMatch {
	m := &iamv2.Identity_ClaimMatch{Claims: c.Claims, ClaimPatterns: c.ClaimPatterns}
	switch {
	case c.Issuer != "":
		m.Iss = &iamv2.Identity_ClaimMatch_Issuer{Issuer: c.Issuer}
	case c.IssuerPattern != "":
		m.Iss = &iamv2.Identity_ClaimMatch_IssuerPattern{IssuerPattern: c.IssuerPattern}
	}
	switch {
	case c.Subject != "":
		m.Sub = &iamv2.Identity_ClaimMatch_Subject{Subject: c.Subject}
	case c.SubjectPattern != "":
		m.Sub = &iamv2.Identity_ClaimMatch_SubjectPattern{SubjectPattern: c.SubjectPattern}
	}
	switch {
	case c.Audience != "":
		m.Aud = &iamv2.Identity_ClaimMatch_Audience{Audience: c.Audience}
	case c.AudiencePattern != "":
		m.Aud = &iamv2.Identity_ClaimMatch_AudiencePattern{AudiencePattern: c.AudiencePattern}
	}
	return m
}

func staticKeys(k *iam.StaticKeys) *iamv2.Identity_StaticKeys {
	return &iamv2.Identity_StaticKeys{
		Issuer: k.Issuer, Subject: k.Subject, IssuerKeys: k.IssuerKeys, ExpirationTime: timestamp(k.ExpirationTime), Audiences: k.Audiences,
	}
}

func role(r *iam.Role) *iamv2.Role {
	r = r.Outline()
	return &iamv2.Role{
		Uid: string(r.UID), Name: r.Name, Description: r.Description, Capabilities: capabilities(r.Capabilities),
		CreateTime: timestamp(r.CreateTime), UpdateTime: timestamp(r.UpdateTime),
	}
}

func capabilities(all []core.Capability) []iamv2.Capability {
	messages := make([]iamv2.Capability, len(all))
	for i, c := range all {
		messages[i] = iamv2.Capability(c.Number())
	}
	return messages
}

func roleBinding(b *iam.RoleBinding) *iamv2.RoleBinding {
	return &iamv2.RoleBinding{
		Uid: string(b.UID), CreateTime: timestamp(b.CreateTime), ExpireTime: timestamp(b.ExpireTime),
		ReviewTime: timestamp(b.ReviewTime), Reviewer: b.Reviewer, ReviewNote: b.ReviewNote,
		IdentityUid: string(b.IdentityUID), RoleUid: string(b.RoleUID),
		Identity: &iamv2.RoleBindingIdentity{
			Uid: string(b.Identity.UID), Name: b.Identity.Name, Description: b.Identity.Description,
			Subject: b.Identity.Subject, Issuer: b.Identity.Issuer, Email: b.Identity.Email,
		},
		Group: &iamv2.RoleBindingGroup{Uid: string(b.Group.UID), Name: b.Group.Name, Description: b.Group.Description},
		Role:  &iamv2.RoleBindingRole{Uid: string(b.Role.UID), Name: b.Role.Name, Description: b.Role.Description},
	}
}
