package resolvers

import (
	"context"

	"atrium/graph/scalar"
	"atrium/platform"
)

func (images) Size(_ context.Context, all []*platform.Image, architecture *string) ([]*int64, error) {
	return mapEach(all, func(i *platform.Image) *int64 {
		size, _ := i.Size(valueOrZero(architecture))
		return &size.Size
	}), nil
}

func (images) Repo(ctx context.Context, all []*platform.Image) ([]*platform.Repo, error) {
	return follow(ctx, all, readsOf(ctx).repos(), func(i *platform.Image) platform.UID { return i.Repo })
}

func (r images) Tags(ctx context.Context, all []*platform.Image, where *scalar.TagFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.TagConnection, error) {
	return listTagsOfImages(ctx, r.p, mapEach(all, (*platform.Image).Key), where, window{orderBy, first, after, last, before, skip})
}

func (r images) Findings(ctx context.Context, all []*platform.Image, where *scalar.FindingFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.FindingConnection, error) {
	return listFindingsOfImages(ctx, r.p, mapEach(all, (*platform.Image).Key), where, window{orderBy, first, after, last, before, skip})
}

func (r images) FindingSummary(ctx context.Context, all []*platform.Image) ([]*platform.FindingSummary, error) {
	return summarizeImages(ctx, r.p, mapEach(all, (*platform.Image).Key))
}
