package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	iamv2 "atrium/gen/platform/iam/v2"
	"atrium/platform/core"
	"atrium/platform/iam"
)

type identityProviders struct{ operations iam.IdentityProviders }

func (s identityProviders) ListIdentityProviders(ctx context.Context, r *iamv2.ListIdentityProvidersRequest) (*iamv2.ListIdentityProvidersResponse, error) {
	page, err := s.operations.List(ctx, list(r, &iam.IdentityProviderFilter{Name: r.GetName()}))
	return &iamv2.ListIdentityProvidersResponse{
		IdentityProviders: convertEach(page.Items, identityProvider),
		NextPageToken:     page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s identityProviders) GetIdentityProvider(ctx context.Context, r *iamv2.GetIdentityProviderRequest) (*iamv2.IdentityProvider, error) {
	return convert(identityProvider)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s identityProviders) CreateIdentityProvider(ctx context.Context, r *iamv2.CreateIdentityProviderRequest) (*iamv2.IdentityProvider, error) {
	return convert(identityProvider)(s.operations.Create(ctx, core.UID(r.GetParent()), input[*iam.IdentityProvider](r.GetIdentityProvider(), nil)))
}

func (s identityProviders) UpdateIdentityProvider(ctx context.Context, r *iamv2.UpdateIdentityProviderRequest) (*iamv2.IdentityProvider, error) {
	changed := r.GetIdentityProvider()
	return convert(identityProvider)(s.operations.Update(ctx, core.UID(changed.GetUid()), input[*iam.IdentityProvider](changed, r.GetUpdateMask())))
}

func (s identityProviders) VerifyIdentityProvider(ctx context.Context, r *iamv2.VerifyIdentityProviderRequest) (*iamv2.IdentityProvider, error) {
	return convert(identityProvider)(s.operations.Verify(ctx, core.UID(r.GetUid())))
}

func (s identityProviders) DeleteIdentityProvider(ctx context.Context, r *iamv2.DeleteIdentityProviderRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

func identityProvider(p *iam.IdentityProvider) *iamv2.IdentityProvider {
	m := &iamv2.IdentityProvider{
		Uid: string(p.UID), Name: p.Name, Description: p.Description, DefaultRole: string(p.DefaultRole),
		CreateTime: timestamp(p.CreateTime), UpdateTime: timestamp(p.UpdateTime),
		IssuerVerified: p.IssuerVerified, IssuerVerifyTime: timestamp(p.IssuerVerifyTime),
	}
	if p.OIDC != nil {
		m.Configuration = &iamv2.IdentityProvider_Oidc{Oidc: oidc(p.OIDC)}
	}
	return m
}

// oidc leaves out the client secret, which no response contains.
func oidc(o *iam.OIDC) *iamv2.IdentityProvider_OIDC {
	rules := iamv2.IdentityProvider_OIDC_CorrelationRule_value
	return &iamv2.IdentityProvider_OIDC{
		Issuer: o.Issuer, ClientId: o.ClientID, AdditionalScopes: o.AdditionalScopes, GroupsClaim: o.GroupsClaim,
		CorrelationRule: enumValue[iamv2.IdentityProvider_OIDC_CorrelationRule](rules, o.CorrelationRule), PkceEnabled: o.PKCEEnabled,
	}
}

type externalGroupRoleMappings struct {
	operations iam.ExternalGroupRoleMappings
}

func (s externalGroupRoleMappings) GetExternalGroupRoleMapping(ctx context.Context, r *iamv2.GetExternalGroupRoleMappingRequest) (*iamv2.ExternalGroupRoleMapping, error) {
	return convert(externalGroupRoleMapping)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s externalGroupRoleMappings) CreateExternalGroupRoleMapping(ctx context.Context, r *iamv2.CreateExternalGroupRoleMappingRequest) (*iamv2.ExternalGroupRoleMapping, error) {
	in := input[*iam.ExternalGroupRoleMapping](r.GetExternalGroupRoleMapping(), nil)
	return convert(externalGroupRoleMapping)(s.operations.Create(ctx, core.UID(r.GetParent()), in))
}

func (s externalGroupRoleMappings) DeleteExternalGroupRoleMapping(ctx context.Context, r *iamv2.DeleteExternalGroupRoleMappingRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

func (s externalGroupRoleMappings) BatchDeleteExternalGroupRoleMappings(ctx context.Context, r *iamv2.BatchDeleteExternalGroupRoleMappingsRequest) (*iamv2.BatchDeleteExternalGroupRoleMappingsResponse, error) {
	deleted, err := s.operations.DeleteBatch(ctx, core.UID(r.GetParent()), texts[core.UID](r.GetNames()))
	return &iamv2.BatchDeleteExternalGroupRoleMappingsResponse{
		Parent: r.GetParent(), ExternalGroupRoleMappings: convertEach(deleted, externalGroupRoleMapping),
	}, err
}

func (s externalGroupRoleMappings) ListExternalGroupRoleMappings(ctx context.Context, r *iamv2.ListExternalGroupRoleMappingsRequest) (*iamv2.ListExternalGroupRoleMappingsResponse, error) {
	page, err := s.operations.List(ctx, list(r, &iam.ExternalGroupRoleMappingFilter{IdentityProvider: core.UID(r.GetIdentityProviderUid())}))
	return &iamv2.ListExternalGroupRoleMappingsResponse{
		ExternalGroupRoleMappings: convertEach(page.Items, externalGroupRoleMapping),
		NextPageToken:             page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func externalGroupRoleMapping(m *iam.ExternalGroupRoleMapping) *iamv2.ExternalGroupRoleMapping {
	return &iamv2.ExternalGroupRoleMapping{
		Uid: string(m.UID), IdentityProviderUid: string(m.IdentityProviderUID), ExternalGroupId: m.ExternalGroupID,
		RoleUid: string(m.RoleUID), Scope: string(m.Scope), CreateTime: timestamp(m.CreateTime),
	}
}
