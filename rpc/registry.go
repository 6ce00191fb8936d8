package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"atrium/platform"
	registryv2 "atrium/rpc/gen/platform/registry/v2"
)

type repos struct{ of platform.Repos }

func (s repos) GetRepo(ctx context.Context, r *registryv2.GetRepoRequest) (*registryv2.Repo, error) {
	return convert(repo)(s.of.Get(ctx, platform.UID(r.GetUid())))
}

func (s repos) CreateRepo(ctx context.Context, r *registryv2.CreateRepoRequest) (*registryv2.Repo, error) {
	return convert(repo)(s.of.Create(ctx, platform.UID(r.GetParent()), input[platform.Repo](r.GetRepo(), nil)))
}

func (s repos) UpdateRepo(ctx context.Context, r *registryv2.UpdateRepoRequest) (*registryv2.Repo, error) {
	return convert(repo)(s.of.Update(ctx, platform.UID(r.GetRepo().GetUid()), input[platform.Repo](r.GetRepo(), r.GetUpdateMask())))
}

func (s repos) DeleteRepo(ctx context.Context, r *registryv2.DeleteRepoRequest) (*emptypb.Empty, error) {
	return emptyResult(s.of.Delete(ctx, platform.UID(r.GetUid())))
}

func (s repos) ListRepos(ctx context.Context, r *registryv2.ListReposRequest) (*registryv2.ListReposResponse, error) {
	page, err := s.of.List(ctx, list(r, platform.RepoFilter{
		Name: r.GetName(), Query: r.GetQuery(), Tiers: names[platform.CatalogTier](r.GetTiers()), Bundles: r.GetBundles(), Aliases: r.GetAliases(),
	}, notEmpty("name", r.Name), notEmpty("query", r.Query)))
	return &registryv2.ListReposResponse{
		Repos:         convertEach(page.Items, repo),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s repos) GetRepoReadme(ctx context.Context, r *registryv2.GetRepoReadmeRequest) (*registryv2.RepoReadme, error) {
	return convert(readme)(s.of.Readme(ctx, platform.UID(r.GetUid())))
}

func (s repos) UpdateRepoReadme(ctx context.Context, r *registryv2.UpdateRepoReadmeRequest) (*registryv2.RepoReadme, error) {
	return convert(readme)(s.of.UpdateReadme(ctx, platform.UID(r.GetRepoReadme().GetUid()), input[platform.Readme](r.GetRepoReadme(), r.GetUpdateMask())))
}

type tags struct{ of platform.Tags }

func (s tags) GetTag(ctx context.Context, r *registryv2.GetTagRequest) (*registryv2.Tag, error) {
	return convert(tag)(s.of.Get(ctx, platform.UID(r.GetUid())))
}

func (s tags) ListTags(ctx context.Context, r *registryv2.ListTagsRequest) (*registryv2.ListTagsResponse, error) {
	since, malformed := parseMoment("updated_since", r.GetUpdatedSince())
	page, err := s.of.List(ctx, list(r, platform.TagFilter{
		Name: r.GetName(), UpdatedSince: since, Digest: r.GetDigest(), Without: excludedClasses(r), Query: r.GetQuery(),
	}, malformed, notEmpty("query", r.Query)))
	return &registryv2.ListTagsResponse{
		Tags:          convertEach(page.Items, tag),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

// excludedClasses are the classes of tags that a request does not want. One that it
// says nothing of is listed.
func excludedClasses(r *registryv2.ListTagsRequest) (classes []platform.TagClass) {
	for _, x := range []struct {
		included *bool
		class    platform.TagClass
	}{
		{r.IncludeReferrers, platform.TagClassReferrer}, {r.IncludeDates, platform.TagClassDate}, {r.IncludeEpochs, platform.TagClassEpoch},
	} {
		if x.included != nil && !*x.included {
			classes = append(classes, x.class)
		}
	}
	return classes
}

func (s tags) CreateTag(ctx context.Context, r *registryv2.CreateTagRequest) (*registryv2.Tag, error) {
	return convert(tag)(s.of.Create(ctx, platform.UID(r.GetParent()), input[platform.Tag](r.GetTag(), nil)))
}

func (s tags) DeleteTag(ctx context.Context, r *registryv2.DeleteTagRequest) (*emptypb.Empty, error) {
	return emptyResult(s.of.Delete(ctx, platform.UID(r.GetUid())))
}

type images struct{ of platform.Images }

func (s images) GetArchitectures(ctx context.Context, r *registryv2.GetArchitecturesRequest) (*registryv2.Architectures, error) {
	return convert(architectures)(s.of.Get(ctx, platform.ImageKey{Repo: platform.UID(r.GetRepoUid()), Digest: r.GetDigest()}))
}

func (s images) GetSize(ctx context.Context, r *registryv2.GetSizeRequest) (*registryv2.Size, error) {
	size, err := s.of.Size(ctx, platform.ImageKey{Repo: platform.UID(r.GetRepoUid()), Digest: r.GetDigest()}, r.GetArchitecture())
	return imageSize(&size), err
}
