package rpc

import (
	"context"

	eventsv2 "atrium/gen/platform/events/v2"
	iamv2 "atrium/gen/platform/iam/v2"
	registryv2 "atrium/gen/platform/registry/v2"
	"atrium/internal/wire"
)

type (
	iamBatches      struct{ wire.Operations }
	registryBatches struct{ wire.Operations }
	eventsBatches   struct{ wire.Operations }
)

func (s iamBatches) BatchCreateIdentities(ctx context.Context, r *iamv2.BatchCreateIdentitiesRequest) (*iamv2.BatchCreateIdentitiesResponse, error) {
	return ask[iamv2.BatchCreateIdentitiesResponse](ctx, r, s.Operations.BatchCreateIdentities)
}

func (s iamBatches) BatchDeleteIdentities(ctx context.Context, r *iamv2.BatchDeleteIdentitiesRequest) (*iamv2.UIDs, error) {
	return ask[iamv2.UIDs](ctx, r, s.Operations.BatchDeleteIdentities)
}

func (s iamBatches) BatchCreateGroupInvites(ctx context.Context, r *iamv2.BatchCreateGroupInvitesRequest) (*iamv2.BatchCreateGroupInvitesResponse, error) {
	return ask[iamv2.BatchCreateGroupInvitesResponse](ctx, r, s.Operations.BatchCreateGroupInvites)
}

func (s iamBatches) BatchDeleteGroupInvites(ctx context.Context, r *iamv2.BatchDeleteGroupInvitesRequest) (*iamv2.UIDs, error) {
	return ask[iamv2.UIDs](ctx, r, s.Operations.BatchDeleteGroupInvites)
}

func (s registryBatches) BatchUpdateRepos(ctx context.Context, r *registryv2.BatchUpdateReposRequest) (*registryv2.BatchUpdateReposResponse, error) {
	return ask[registryv2.BatchUpdateReposResponse](ctx, r, s.Operations.BatchUpdateRepos)
}

func (s registryBatches) BatchCreateTags(ctx context.Context, r *registryv2.BatchCreateTagsRequest) (*registryv2.BatchCreateTagsResponse, error) {
	return ask[registryv2.BatchCreateTagsResponse](ctx, r, s.Operations.BatchCreateTags)
}

func (s registryBatches) BatchDeleteTags(ctx context.Context, r *registryv2.BatchDeleteTagsRequest) (*registryv2.UIDs, error) {
	return ask[registryv2.UIDs](ctx, r, s.Operations.BatchDeleteTags)
}

func (s registryBatches) CompareImages(ctx context.Context, r *registryv2.CompareImagesRequest) (*registryv2.ImageComparison, error) {
	return ask[registryv2.ImageComparison](ctx, r, s.Operations.CompareImages)
}

func (s eventsBatches) BatchCreateSubscriptions(ctx context.Context, r *eventsv2.BatchCreateSubscriptionsRequest) (*eventsv2.BatchCreateSubscriptionsResponse, error) {
	return ask[eventsv2.BatchCreateSubscriptionsResponse](ctx, r, s.Operations.BatchCreateSubscriptions)
}

func (s eventsBatches) BatchDeleteSubscriptions(ctx context.Context, r *eventsv2.BatchDeleteSubscriptionsRequest) (*eventsv2.UIDs, error) {
	return ask[eventsv2.UIDs](ctx, r, s.Operations.BatchDeleteSubscriptions)
}
