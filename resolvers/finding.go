package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

// findings resolves the fields of findings.
type findings struct {
	p *platform.Platform
	viewerFields[*platform.Finding]
}

func (r root) Finding() graph.FindingResolver { return findings{r.p, newViewerFields(r.p.Findings)} }

func (r *reads) findings() *loader[platform.UID, *platform.Finding] {
	return loaderOf(r, r.p.Findings.GetMany)
}

// A findingAdvisory is the UID of the advisory of a finding that the caller has read.
type findingAdvisory platform.UID

func (r *reads) advisoriesOfFindings() *loader[findingAdvisory, *platform.Advisory] {
	return loaderOf(r, func(ctx context.Context, keys []findingAdvisory) ([]*platform.Advisory, []error) {
		found, err := r.p.Findings.Advisories(ctx, mapEach(keys, func(k findingAdvisory) platform.UID { return platform.UID(k) }), r.without)
		rows, errs := make([]*platform.Advisory, len(keys)), make([]error, len(keys))
		for i, key := range keys {
			rows[i], errs[i] = found[platform.UID(key)], err
		}
		return rows, errs
	})
}

func (q queries) Finding(ctx context.Context, uid platform.UID) (*platform.Finding, error) {
	return readsOf(ctx).findings().load(ctx, uid)
}

func (q queries) Findings(ctx context.Context, window scalar.Window, descendantsOf, childrenOf *platform.UID, where *scalar.FindingFilter) (*scalar.FindingConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Findings.List(ctx, request(ctx, listScope(descendantsOf, childrenOf, f.ByUID), &f.FindingFilter, window)))
}

func (q queries) FindingSummary(ctx context.Context, within *platform.UID) (*platform.FindingSummary, error) {
	return q.p.Findings.Summarize(ctx, valueOrZero(within))
}

func (e entities) FindManyFindingByUIDs(ctx context.Context, reps []*graph.FindingByUIDsInput) ([]*platform.Finding, error) {
	return readRepresentations(ctx, readsOf(ctx).findings(), mapEach(reps, func(r *graph.FindingByUIDsInput) platform.UID { return r.UID }))
}

func (findings) Advisory(ctx context.Context, all []*platform.Finding) ([]*platform.Advisory, error) {
	return follow(ctx, all, readsOf(ctx).advisoriesOfFindings(), func(f *platform.Finding) findingAdvisory { return findingAdvisory(f.Advisory) })
}

func (r findings) Image(ctx context.Context, all []*platform.Finding) ([]*platform.Image, error) {
	images, errs := r.p.Images.Describe(ctx, mapEach(all, (*platform.Finding).Image))
	return images, joinErrors(errs)
}

func (findings) Repo(ctx context.Context, all []*platform.Finding) ([]*platform.Repo, error) {
	return follow(ctx, all, readsOf(ctx).repos(), func(f *platform.Finding) platform.UID { return f.Repo })
}

func (r findings) Tags(ctx context.Context, all []*platform.Finding, window scalar.Window, where *scalar.TagFilter) ([]*scalar.TagConnection, error) {
	return listTagsOfImages(ctx, r.p, mapEach(all, (*platform.Finding).Image), where, window)
}

func (findings) Assignee(ctx context.Context, all []*platform.Finding) ([]*platform.Identity, error) {
	return follow(ctx, all, readsOf(ctx).identities(), func(f *platform.Finding) platform.UID { return f.Assignee })
}

// newestFirst is the order in which tags were made or moved.
var newestFirst = &scalar.Order{Field: "update_time", Direction: "desc"}

func (r findings) FixedIn(ctx context.Context, all []*platform.Finding, window scalar.Window) ([]*scalar.TagConnection, error) {
	window.OrderBy = newestFirst
	req := request(ctx, platform.UIDFilter{}, &platform.TagFilter{}, window)
	return newConnections(r.p.Tags.ListFree(ctx, req, all))
}

// listTagsOfImages lists, for each image, the tags that point to it.
func listTagsOfImages(ctx context.Context, p *platform.Platform, images []platform.ImageKey, where *scalar.TagFilter, window scalar.Window) ([]*scalar.TagConnection, error) {
	f := valueOrZero(where)
	return newConnections(p.Tags.ListOfImages(ctx, request(ctx, listScope(nil, nil, f.ByUID), f.Tags(), window), images))
}

// listFindingsOfImages lists, for each image, its findings.
func listFindingsOfImages(ctx context.Context, p *platform.Platform, images []platform.ImageKey, where *scalar.FindingFilter, window scalar.Window) ([]*scalar.FindingConnection, error) {
	f := valueOrZero(where)
	return newConnections(p.Findings.ListOfImages(ctx, request(ctx, listScope(nil, nil, f.ByUID), &f.FindingFilter, window), images))
}

// listFindingsIn lists the findings of each scope.
func listFindingsIn(ctx context.Context, p *platform.Platform, scopes []platform.UIDFilter, where *scalar.FindingFilter, window scalar.Window) ([]*scalar.FindingConnection, error) {
	f := valueOrZero(where)
	return newConnections(p.Findings.ListEach(ctx, request(ctx, platform.UIDFilter{}, &f.FindingFilter, window), scopes))
}

// summarizeFindings counts the findings within each UID.
func summarizeFindings(ctx context.Context, p *platform.Platform, within []platform.UID) ([]*platform.FindingSummary, error) {
	summaries, errs := p.Findings.SummarizeEach(ctx, within)
	return summaries, joinErrors(errs)
}

// summarizeImages counts the findings of each image.
func summarizeImages(ctx context.Context, p *platform.Platform, images []platform.ImageKey) ([]*platform.FindingSummary, error) {
	summaries, errs := p.Findings.SummarizeImages(ctx, images)
	return summaries, joinErrors(errs)
}

func (r findingConnections) Facets(ctx context.Context, all []*scalar.FindingConnection) ([]*platform.FindingFacets, error) {
	return r.p.Findings.Facets(ctx, mapEach(all, (*scalar.FindingConnection).Page))
}

func (findingRepoFacets) Repo(ctx context.Context, all []*platform.UIDFacet) ([]*platform.Repo, error) {
	return follow(ctx, all, readsOf(ctx).repos(), facetUID)
}

func (findingGroupFacets) Group(ctx context.Context, all []*platform.UIDFacet) ([]*platform.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), facetUID)
}

func facetUID(f *platform.UIDFacet) platform.UID { return f.Value }

// asAdvisorySummary answers a summary of findings in the form that there was before findings.
func asAdvisorySummary(s *platform.FindingSummary) *platform.AdvisorySummary {
	if s == nil {
		return nil
	}
	return &platform.AdvisorySummary{Open: s.Open.SeverityCount, NotAffected: s.NotAffected.SeverityCount}
}
