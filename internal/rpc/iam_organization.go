package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	iamv2 "atrium/gen/platform/iam/v2"
	"atrium/platform/core"
	"atrium/platform/iam"
)

type groupInvites struct{ operations iam.GroupInvites }

func (s groupInvites) CreateGroupInvite(ctx context.Context, r *iamv2.CreateGroupInviteRequest) (*iamv2.GroupInvite, error) {
	return convert(groupInvite)(s.operations.Create(ctx, core.UID(r.GetParent()), input[*iam.GroupInvite](r.GetGroupInvite(), nil)))
}

func (s groupInvites) GetGroupInvite(ctx context.Context, r *iamv2.GetGroupInviteRequest) (*iamv2.GroupInvite, error) {
	return convert(groupInvite)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s groupInvites) DeleteGroupInvite(ctx context.Context, r *iamv2.DeleteGroupInviteRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

func (s groupInvites) ListGroupInvites(ctx context.Context, r *iamv2.ListGroupInvitesRequest) (*iamv2.ListGroupInvitesResponse, error) {
	page, err := s.operations.List(ctx, list(r, &iam.GroupInviteFilter{KeyID: r.GetKeyId()}))
	return &iamv2.ListGroupInvitesResponse{
		GroupInvites:  convertEach(page.Items, groupInvite),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s groupInvites) AcceptGroupInvite(ctx context.Context, r *iamv2.AcceptGroupInviteRequest) (*iamv2.RoleBinding, error) {
	return convert(roleBinding)(s.operations.Accept(ctx, r.GetCode()))
}

func groupInvite(i *iam.GroupInvite) *iamv2.GroupInvite {
	return &iamv2.GroupInvite{
		Uid: string(i.UID), RoleUid: string(i.RoleUID), Email: i.Email, ExpirationTime: timestamp(i.ExpirationTime),
		SingleUse: i.SingleUse, Code: i.Code, KeyId: i.KeyID, CreateTime: timestamp(i.CreateTime),
		Role: &iamv2.GroupInviteRole{
			Uid: string(i.Role.UID), Name: i.Role.Name, Description: i.Role.Description, Capabilities: capabilities(i.Role.Capabilities),
		},
	}
}

type terms struct{ operations iam.Terms }

func (s terms) AcceptTerms(ctx context.Context, r *iamv2.AcceptTermsRequest) (*iamv2.AcceptTermsResponse, error) {
	return convert(acceptedTerms)(s.operations.Accept(ctx, core.UID(r.GetGroup()), r.GetDocumentIds()))
}

func (s terms) ListTermsAcceptances(ctx context.Context, r *iamv2.ListTermsAcceptancesRequest) (*iamv2.ListTermsAcceptancesResponse, error) {
	page, err := s.operations.ListOf(ctx, core.UID(r.GetGroup()), list(r, &iam.TermsFilter{}))
	return &iamv2.ListTermsAcceptancesResponse{
		TermsAcceptances: convertEach(page.Items, termsAcceptance),
		NextPageToken:    page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func acceptedTerms(a *iam.AcceptedTerms) *iamv2.AcceptTermsResponse {
	return &iamv2.AcceptTermsResponse{Group: string(a.Group), DocumentIds: a.DocumentIDs}
}

func termsAcceptance(a *iam.TermsAcceptance) *iamv2.TermsAcceptance {
	return &iamv2.TermsAcceptance{DocId: a.DocID, AcceptedBy: a.AcceptedBy, OrgUid: string(a.OrgUID), CreateTime: timestamp(a.CreateTime)}
}

type accountAssociations struct{ operations iam.AccountAssociations }

func (s accountAssociations) GetAccountAssociation(ctx context.Context, r *iamv2.GetAccountAssociationRequest) (*iamv2.AccountAssociation, error) {
	return convert(accountAssociation)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s accountAssociations) CreateAccountAssociation(ctx context.Context, r *iamv2.CreateAccountAssociationRequest) (*iamv2.AccountAssociation, error) {
	return convert(accountAssociation)(s.operations.Create(ctx, core.UID(r.GetParent()), input[*iam.AccountAssociation](r.GetAccountAssociation(), nil)))
}

func (s accountAssociations) DeleteAccountAssociation(ctx context.Context, r *iamv2.DeleteAccountAssociationRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

func (s accountAssociations) ListAccountAssociations(ctx context.Context, r *iamv2.ListAccountAssociationsRequest) (*iamv2.ListAccountAssociationsResponse, error) {
	page, err := s.operations.List(ctx, list(r, &iam.AccountAssociationFilter{Name: r.GetName()}))
	return &iamv2.ListAccountAssociationsResponse{
		AccountAssociations: convertEach(page.Items, accountAssociation),
		NextPageToken:       page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s accountAssociations) UpdateAccountAssociation(ctx context.Context, r *iamv2.UpdateAccountAssociationRequest) (*iamv2.AccountAssociation, error) {
	changed := r.GetAccountAssociation()
	return convert(accountAssociation)(s.operations.Update(ctx, core.UID(changed.GetUid()), input[*iam.AccountAssociation](changed, r.GetUpdateMask())))
}

func accountAssociation(a *iam.AccountAssociation) *iamv2.AccountAssociation {
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

func gitHub(g *iam.GitHubAccount) *iamv2.AccountAssociation_GitHub {
	m := &iamv2.AccountAssociation_GitHub{AppInstallations: make(map[int64]*iamv2.AccountAssociation_GitHubAppInstallations, len(g.AppInstallations))}
	for app, installed := range g.AppInstallations {
		m.AppInstallations[app] = &iamv2.AccountAssociation_GitHubAppInstallations{Installations: convertValues(installed.Installations, gitHubInstallation)}
	}
	return m
}

func gitHubInstallation(i *iam.GitHubInstallation) *iamv2.AccountAssociation_GitHubInstallation {
	return &iamv2.AccountAssociation_GitHubInstallation{InstallationId: int64(i.InstallationID), Name: i.Name}
}
