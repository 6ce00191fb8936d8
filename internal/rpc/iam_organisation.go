package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	iamv2 "atrium/gen/platform/iam/v2"
	"atrium/platform"
)

type groupInvites struct{ operations platform.GroupInvites }

func (s groupInvites) CreateGroupInvite(ctx context.Context, r *iamv2.CreateGroupInviteRequest) (*iamv2.GroupInvite, error) {
	return convert(groupInvite)(s.operations.Create(ctx, platform.UID(r.GetParent()), input[*platform.GroupInvite](r.GetGroupInvite(), nil)))
}

func (s groupInvites) GetGroupInvite(ctx context.Context, r *iamv2.GetGroupInviteRequest) (*iamv2.GroupInvite, error) {
	return convert(groupInvite)(s.operations.Get(ctx, platform.UID(r.GetUid())))
}

func (s groupInvites) DeleteGroupInvite(ctx context.Context, r *iamv2.DeleteGroupInviteRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, platform.UID(r.GetUid())))
}

func (s groupInvites) ListGroupInvites(ctx context.Context, r *iamv2.ListGroupInvitesRequest) (*iamv2.ListGroupInvitesResponse, error) {
	page, err := s.operations.List(ctx, list(r, &platform.GroupInviteFilter{KeyID: r.GetKeyId()}))
	return &iamv2.ListGroupInvitesResponse{
		GroupInvites:  convertEach(page.Items, groupInvite),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s groupInvites) AcceptGroupInvite(ctx context.Context, r *iamv2.AcceptGroupInviteRequest) (*iamv2.RoleBinding, error) {
	return convert(roleBinding)(s.operations.Accept(ctx, r.GetCode()))
}

func groupInvite(i *platform.GroupInvite) *iamv2.GroupInvite {
	return &iamv2.GroupInvite{
		Uid: string(i.UID), RoleUid: string(i.RoleUID), Email: i.Email, ExpirationTime: timestamp(i.ExpirationTime),
		SingleUse: i.SingleUse, Code: i.Code, KeyId: i.KeyID, CreateTime: timestamp(i.CreateTime),
		Role: &iamv2.GroupInviteRole{
			Uid: string(i.Role.UID), Name: i.Role.Name, Description: i.Role.Description, Capabilities: capabilities(i.Role.Capabilities),
		},
	}
}

type terms struct{ operations platform.Terms }

func (s terms) AcceptTerms(ctx context.Context, r *iamv2.AcceptTermsRequest) (*iamv2.AcceptTermsResponse, error) {
	return convert(acceptedTerms)(s.operations.Accept(ctx, platform.UID(r.GetGroup()), r.GetDocumentIds()))
}

func (s terms) ListTermsAcceptances(ctx context.Context, r *iamv2.ListTermsAcceptancesRequest) (*iamv2.ListTermsAcceptancesResponse, error) {
	page, err := s.operations.ListOf(ctx, platform.UID(r.GetGroup()), list(r, &platform.TermsFilter{}))
	return &iamv2.ListTermsAcceptancesResponse{
		TermsAcceptances: convertEach(page.Items, termsAcceptance),
		NextPageToken:    page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func acceptedTerms(a *platform.AcceptedTerms) *iamv2.AcceptTermsResponse {
	return &iamv2.AcceptTermsResponse{Group: string(a.Group), DocumentIds: a.DocumentIDs}
}

func termsAcceptance(a *platform.TermsAcceptance) *iamv2.TermsAcceptance {
	return &iamv2.TermsAcceptance{DocId: a.DocID, AcceptedBy: a.AcceptedBy, OrgUid: string(a.OrgUID), CreateTime: timestamp(a.CreateTime)}
}

type accountAssociations struct{ operations platform.AccountAssociations }

func (s accountAssociations) GetAccountAssociation(ctx context.Context, r *iamv2.GetAccountAssociationRequest) (*iamv2.AccountAssociation, error) {
	return convert(accountAssociation)(s.operations.Get(ctx, platform.UID(r.GetUid())))
}

func (s accountAssociations) CreateAccountAssociation(ctx context.Context, r *iamv2.CreateAccountAssociationRequest) (*iamv2.AccountAssociation, error) {
	return convert(accountAssociation)(s.operations.Create(ctx, platform.UID(r.GetParent()), input[*platform.AccountAssociation](r.GetAccountAssociation(), nil)))
}

func (s accountAssociations) DeleteAccountAssociation(ctx context.Context, r *iamv2.DeleteAccountAssociationRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, platform.UID(r.GetUid())))
}

func (s accountAssociations) ListAccountAssociations(ctx context.Context, r *iamv2.ListAccountAssociationsRequest) (*iamv2.ListAccountAssociationsResponse, error) {
	page, err := s.operations.List(ctx, list(r, &platform.AccountAssociationFilter{Name: r.GetName()}))
	return &iamv2.ListAccountAssociationsResponse{
		AccountAssociations: convertEach(page.Items, accountAssociation),
		NextPageToken:       page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s accountAssociations) UpdateAccountAssociation(ctx context.Context, r *iamv2.UpdateAccountAssociationRequest) (*iamv2.AccountAssociation, error) {
	changed := r.GetAccountAssociation()
	return convert(accountAssociation)(s.operations.Update(ctx, platform.UID(changed.GetUid()), input[*platform.AccountAssociation](changed, r.GetUpdateMask())))
}

func accountAssociation(a *platform.AccountAssociation) *iamv2.AccountAssociation {
	m := &iamv2.AccountAssociation{
		Uid: string(a.UID), Name: a.Name, Description: a.Description, CreateTime: timestamp(a.CreateTime), UpdateTime: timestamp(a.UpdateTime),
	}
	if a.Amazon != nil {
		m.Amazon = &iamv2.AccountAssociation_Amazon{Account: a.Amazon.Account}
	}
	if a.Google != nil {
		m.Google = &iamv2.AccountAssociation_Google{ProjectId: a.Google.ProjectID, ProjectNumber: a.Google.ProjectNumber}
	}
	if a.Platform != nil {
		m.Platform = &iamv2.AccountAssociation_PlatformServices{ServiceBindings: a.Platform.ServiceBindings}
	}
	if a.Azure != nil {
		m.Azure = &iamv2.AccountAssociation_Azure{TenantId: a.Azure.TenantID, ClientIds: a.Azure.ClientIDs}
	}
	if a.GitHub != nil {
		m.Github = gitHub(a.GitHub)
	}
	return m
}

func gitHub(g *platform.GitHubAccount) *iamv2.AccountAssociation_GitHub {
	m := &iamv2.AccountAssociation_GitHub{AppInstallations: make(map[int64]*iamv2.AccountAssociation_GitHubAppInstallations, len(g.AppInstallations))}
	for app, installed := range g.AppInstallations {
		m.AppInstallations[app] = &iamv2.AccountAssociation_GitHubAppInstallations{Installations: convertValues(installed.Installations, gitHubInstallation)}
	}
	return m
}

func gitHubInstallation(i *platform.GitHubInstallation) *iamv2.AccountAssociation_GitHubInstallation {
	return &iamv2.AccountAssociation_GitHubInstallation{InstallationId: int64(i.InstallationID), Name: i.Name}
}
