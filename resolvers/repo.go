package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// repos resolves the fields of repos.
type repos struct {
	p *platform.Platform
	viewerFields[*inventory.Repo]
}

func (r root) Repo() graph.RepoResolver { return repos{r.p, newViewerFields(r.p.Repos)} }

func (r *reads) repos() *loader[core.UID, *inventory.Repo] {
	return loaderOf(r, func(ctx context.Context, keys []core.UID) ([]*inventory.Repo, []error) {
		return r.p.Repos.GetManyWithout(ctx, keys, r.without)
	})
}

func (q queries) Repo(ctx context.Context, uid *core.UID, path *string) (*inventory.Repo, error) {
	return readReferred(ctx, readsOf(ctx).repos(), q.p.Repos.GetByPath, uid, path)
}

func (q queries) Repos(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.RepoFilter) (*scalar.RepoConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Repos.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.RepoFilter, window)))
}

func (m mutations) CreateRepo(ctx context.Context, input map[string]any) (*scalar.CreateRepoPayload, error) {
	parent, in := decodeInput[*inventory.Repo](input)
	made, err := m.p.Repos.Create(withConditions(ctx, input), parent, in)
	return newCreated(ctx, m.p.Repos.ListEach, parent, made, err)
}

func (m mutations) UpdateRepo(ctx context.Context, input map[string]any) (*scalar.UpdateRepoPayload, error) {
	uid, in := decodeInput[*inventory.Repo](input)
	return newUpdated(m.p.Repos.Update(withConditions(ctx, input), uid, in))
}

func (m mutations) BatchUpdateRepos(ctx context.Context, input map[string]any) (*graph.BatchUpdateReposPayload, error) {
	changed, err := m.p.Repos.UpdateBatch(ctx, decodeBatchRequests[*inventory.Repo](input))
	if err != nil {
		return nil, err
	}
	return &graph.BatchUpdateReposPayload{Repos: changed}, nil
}

func (m mutations) DeleteRepo(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("Repo", input, m.p.Repos.Delete(withDeletionConditions(ctx, input), input.UID))
}

func (e entities) FindManyRepoByUIDs(ctx context.Context, reps []*graph.RepoByUIDsInput) ([]*inventory.Repo, error) {
	return readRepresentations(ctx, readsOf(ctx).repos(), mapEach(reps, func(r *graph.RepoByUIDsInput) core.UID { return r.UID }))
}

func (m mutations) UpdateRepoReadme(ctx context.Context, input map[string]any) (*graph.UpdateRepoReadmePayload, error) {
	uid, in := decodeInput[*inventory.Readme](input)
	if _, err := m.p.Repos.UpdateReadme(withConditions(ctx, input), uid, in); err != nil {
		return nil, err
	}
	repo, err := readsOf(ctx).repos().load(ctx, uid)
	if err != nil { // the readme has been changed nevertheless
		graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithField("repo")), err)
	}
	return &graph.UpdateRepoReadmePayload{Repo: repo}, nil
}

// Labels returns the labels sorted by key.
func (repos) Labels(_ context.Context, all []*inventory.Repo) ([][]*core.Label, error) {
	return mapEach(all, func(r *inventory.Repo) []*core.Label { return r.Labels.List() }), nil
}

func repoUID(r *inventory.Repo) core.UID { return r.UID }

func (repos) Group(ctx context.Context, all []*inventory.Repo) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(r *inventory.Repo) core.UID { return r.UID.Parent() })
}

// Path returns the path of each repo whose groups the caller may all see.
func (repos) Path(ctx context.Context, all []*inventory.Repo) ([]*string, error) {
	return readPaths(ctx, all, repoUID, func(r *inventory.Repo) string { return r.Name })
}

func (r repos) Readme(ctx context.Context, all []*inventory.Repo) ([]*string, error) {
	readmes, errs := r.p.Repos.Readmes(ctx, mapEach(all, repoUID))
	return mapEach(readmes, func(r *inventory.Readme) *string { return new(valueOrZero(r).Content) }), joinErrors(errs)
}

// repoScopes returns, for each repo, the scope of its children.
func repoScopes(all []*inventory.Repo, by scalar.ByUID) []core.UIDFilter {
	return mapEach(all, func(r *inventory.Repo) core.UIDFilter { return core.UIDFilter{ChildrenOf: r.UID, IDs: by.UIDs} })
}

func (r repos) Tags(ctx context.Context, all []*inventory.Repo, window scalar.Window, where *scalar.TagFilter) ([]*scalar.TagConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Tags.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.TagFilter, window), repoScopes(all, f.ByUID)))
}

func (r repos) Tag(ctx context.Context, all []*inventory.Repo, name string) ([]*inventory.Tag, error) {
	return readByName(ctx, r.p.Tags.ListEach, repoScopes(all, scalar.ByUID{}), &inventory.TagFilter{Name: name})
}

func (r repos) Advisories(ctx context.Context, all []*inventory.Repo, window scalar.Window, where *scalar.AdvisoryFilter) ([]*scalar.AdvisoryConnection, error) {
	f := valueOrZero(where)
	req := request(ctx, core.UIDFilter{IDs: f.UIDs}, &f.AdvisoryFilter, window)
	return newConnections(r.p.Advisories.ListOfImages(ctx, req, mapEach(all, func(r *inventory.Repo) core.ImageKey { return core.ImageKey{Repo: r.UID} })))
}

func (r repos) AdvisorySummary(ctx context.Context, all []*inventory.Repo) ([]*inventory.AdvisorySummary, error) {
	summaries, err := r.FindingSummary(ctx, all)
	return mapEach(summaries, asAdvisorySummary), err
}

func (r repos) Findings(ctx context.Context, all []*inventory.Repo, window scalar.Window, where *scalar.FindingFilter) ([]*scalar.FindingConnection, error) {
	return listFindingsIn(ctx, r.p, repoScopes(all, valueOrZero(where).ByUID), where, window)
}

func (r repos) FindingSummary(ctx context.Context, all []*inventory.Repo) ([]*inventory.FindingSummary, error) {
	return summarizeFindings(ctx, r.p, mapEach(all, repoUID))
}
