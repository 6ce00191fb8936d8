package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// tags resolves the fields of tags.
type tags struct {
	p *platform.Platform
	viewerFields[*inventory.Tag]
}

func (r root) Tag() graph.TagResolver { return tags{r.p, newViewerFields(r.p.Tags)} }

func (r *reads) tags() *loader[core.UID, *inventory.Tag] { return loaderOf(r, r.p.Tags.GetMany) }

func (q queries) Tag(ctx context.Context, uid core.UID) (*inventory.Tag, error) {
	return readsOf(ctx).tags().load(ctx, uid)
}

func (q queries) Tags(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.TagFilter) (*scalar.TagConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Tags.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.TagFilter, window)))
}

func (m mutations) CreateTag(ctx context.Context, input map[string]any) (*scalar.CreateTagPayload, error) {
	parent, in := decodeInput[*inventory.Tag](input)
	made, err := m.p.Tags.Create(withConditions(ctx, input), parent, in)
	return newCreated(ctx, m.p.Tags.ListEach, parent, made, err)
}

func (m mutations) DeleteTag(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("Tag", input, m.p.Tags.Delete(withDeletionConditions(ctx, input), input.UID))
}

func (m mutations) BatchCreateTags(ctx context.Context, input map[string]any) (*graph.BatchCreateTagsPayload, error) {
	made, err := m.p.Tags.CreateBatch(ctx, decodeBatchRequests[*inventory.Tag](input))
	if err != nil {
		return nil, err
	}
	return &graph.BatchCreateTagsPayload{Tags: made}, nil
}

func (m mutations) BatchDeleteTags(ctx context.Context, input graph.BatchDeleteTagsInput) (*graph.BatchDeleteTagsPayload, error) {
	if err := m.p.Tags.DeleteBatch(ctx, input.Uids); err != nil {
		return nil, err
	}
	return &graph.BatchDeleteTagsPayload{DeletedIds: globalIDs("Tag", input.Uids), DeletedUids: input.Uids}, nil
}

func (e entities) FindManyTagByUIDs(ctx context.Context, reps []*graph.TagByUIDsInput) ([]*inventory.Tag, error) {
	return readRepresentations(ctx, readsOf(ctx).tags(), mapEach(reps, func(r *graph.TagByUIDsInput) core.UID { return r.UID }))
}

func (tags) Repo(ctx context.Context, all []*inventory.Tag) ([]*inventory.Repo, error) {
	return follow(ctx, all, readsOf(ctx).repos(), func(t *inventory.Tag) core.UID { return t.UID.Parent() })
}

// Image reads the images of the tags.
func (r tags) Image(ctx context.Context, all []*inventory.Tag) ([]*inventory.Image, error) {
	images, errs := r.p.Images.Describe(ctx, mapEach(all, tagImage))
	return images, joinErrors(errs)
}

func (r tags) Advisories(ctx context.Context, all []*inventory.Tag, window scalar.Window, where *scalar.AdvisoryFilter) ([]*scalar.AdvisoryConnection, error) {
	f := valueOrZero(where)
	req := request(ctx, core.UIDFilter{IDs: f.UIDs}, &f.AdvisoryFilter, window)
	return newConnections(r.p.Advisories.ListOfImages(ctx, req, mapEach(all, tagImage)))
}

func (r tags) AdvisorySummary(ctx context.Context, all []*inventory.Tag) ([]*inventory.AdvisorySummary, error) {
	summaries, err := r.FindingSummary(ctx, all)
	return mapEach(summaries, asAdvisorySummary), err
}

// tagImage returns the image that a tag points to.
func tagImage(t *inventory.Tag) core.ImageKey {
	return core.ImageKey{Repo: t.UID.Parent(), Digest: t.Digest}
}

func (r tags) Findings(ctx context.Context, all []*inventory.Tag, window scalar.Window, where *scalar.FindingFilter) ([]*scalar.FindingConnection, error) {
	return listFindingsOfImages(ctx, r.p, mapEach(all, tagImage), where, window)
}

func (r tags) FindingSummary(ctx context.Context, all []*inventory.Tag) ([]*inventory.FindingSummary, error) {
	return summarizeImages(ctx, r.p, mapEach(all, tagImage))
}
