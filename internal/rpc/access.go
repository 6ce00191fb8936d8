package rpc

import (
	"context"

	eventsv2 "atrium/gen/platform/events/v2"
	iamv2 "atrium/gen/platform/iam/v2"
	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

type access struct {
	p *platform.Platform
	wire.Operations
}

func (s access) ListEffectiveRoleBindings(ctx context.Context, r *iamv2.ListEffectiveRoleBindingsRequest) (*iamv2.ListEffectiveRoleBindingsResponse, error) {
	capability, _ := core.ParseCapability(r.GetCapability().String()) // no capability, if none is given
	page, err := wire.EffectiveBindings{RoleBindings: s.p.RoleBindings}.ListOn(ctx, core.UID(r.GetGroup()), list(r, &iam.RoleBindingFilter{
		Capability: capability, Identity: core.UID(r.GetIdentity()), Role: core.UID(r.GetRole()),
	}, checkNotEmpty("identity", r.Identity), checkNotEmpty("role", r.Role)))
	return &iamv2.ListEffectiveRoleBindingsResponse{
		RoleBindings:  convertEach(page.Items, roleBinding),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s access) GetEffectiveCapabilities(ctx context.Context, r *iamv2.GetEffectiveCapabilitiesRequest) (*iamv2.GetEffectiveCapabilitiesResponse, error) {
	return ask[iamv2.GetEffectiveCapabilitiesResponse](ctx, r, s.Operations.GetEffectiveCapabilities)
}

func (s access) GetAccessAt(ctx context.Context, r *iamv2.GetAccessAtRequest) (*iamv2.GetAccessAtResponse, error) {
	return ask[iamv2.GetAccessAtResponse](ctx, r, s.Operations.GetAccessAt)
}

func (s access) GetAccessChanges(ctx context.Context, r *iamv2.GetAccessChangesRequest) (*iamv2.GetAccessChangesResponse, error) {
	return ask[iamv2.GetAccessChangesResponse](ctx, r, s.Operations.GetAccessChanges)
}

func (s access) ConfirmRoleBindings(ctx context.Context, r *iamv2.ConfirmRoleBindingsRequest) (*iamv2.ConfirmRoleBindingsResponse, error) {
	return ask[iamv2.ConfirmRoleBindingsResponse](ctx, r, s.Operations.ConfirmRoleBindings)
}

func (s access) BatchDeleteRoleBindings(ctx context.Context, r *iamv2.BatchDeleteRoleBindingsRequest) (*iamv2.UIDs, error) {
	return ask[iamv2.UIDs](ctx, r, s.Operations.BatchDeleteRoleBindings)
}

func (s access) Search(ctx context.Context, r *iamv2.SearchRequest) (*iamv2.SearchResponse, error) {
	return ask[iamv2.SearchResponse](ctx, r, s.Operations.Search)
}

type events struct{ wire.Operations }

func (s events) GetAuditLog(ctx context.Context, r *eventsv2.GetAuditLogRequest) (*eventsv2.GetAuditLogResponse, error) {
	return ask[eventsv2.GetAuditLogResponse](ctx, r, s.Operations.GetAuditLog)
}

func (s events) GetAuditLogRuns(ctx context.Context, r *eventsv2.GetAuditLogRunsRequest) (*eventsv2.GetAuditLogRunsResponse, error) {
	return ask[eventsv2.GetAuditLogRunsResponse](ctx, r, s.Operations.GetAuditLogRuns)
}

func (s events) GetAuditLogSummary(ctx context.Context, r *eventsv2.GetAuditLogSummaryRequest) (*eventsv2.AuditLogSummary, error) {
	return ask[eventsv2.AuditLogSummary](ctx, r, s.Operations.GetAuditLogSummary)
}

func (s events) GetEventActivity(ctx context.Context, r *eventsv2.GetEventActivityRequest) (*eventsv2.GetEventActivityResponse, error) {
	return ask[eventsv2.GetEventActivityResponse](ctx, r, s.Operations.GetEventActivity)
}

func (s events) Redeliver(ctx context.Context, r *eventsv2.RedeliverRequest) (*eventsv2.RedeliverResponse, error) {
	return ask[eventsv2.RedeliverResponse](ctx, r, s.Operations.Redeliver)
}

func (s events) RotateSubscriptionSecret(ctx context.Context, r *eventsv2.RotateSubscriptionSecretRequest) (*eventsv2.Subscription, error) {
	return ask[eventsv2.Subscription](ctx, r, s.Operations.RotateSubscriptionSecret)
}

func (s events) EnableSubscription(ctx context.Context, r *eventsv2.EnableSubscriptionRequest) (*eventsv2.Subscription, error) {
	return ask[eventsv2.Subscription](ctx, r, s.Operations.EnableSubscription)
}
