package rpc

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"

	registryv2 "atrium/gen/platform/registry/v2"
	"atrium/gen/platform/registry/v2/registryv2connect"
	"atrium/platform"
)

func registryServices(p *platform.Platform, o connect.HandlerOption) []service {
	return []service{
		newService(registryv2connect.NewImagesServiceHandler(images{p.Images}, o)),
		newService(registryv2connect.NewReposServiceHandler(repos{p.Repos}, o)),
		newService(registryv2connect.NewTagsServiceHandler(tags{p.Tags}, o)),
	}
}

type repos struct{ operations platform.Repos }

func (s repos) GetRepo(ctx context.Context, r *registryv2.GetRepoRequest) (*registryv2.Repo, error) {
	return convert(repo)(s.operations.Get(ctx, platform.UID(r.GetUid())))
}

func (s repos) CreateRepo(ctx context.Context, r *registryv2.CreateRepoRequest) (*registryv2.Repo, error) {
	return convert(repo)(s.operations.Create(ctx, platform.UID(r.GetParent()), input[*platform.Repo](r.GetRepo(), nil)))
}

func (s repos) UpdateRepo(ctx context.Context, r *registryv2.UpdateRepoRequest) (*registryv2.Repo, error) {
	return convert(repo)(s.operations.Update(ctx, platform.UID(r.GetRepo().GetUid()), input[*platform.Repo](r.GetRepo(), r.GetUpdateMask())))
}

func (s repos) DeleteRepo(ctx context.Context, r *registryv2.DeleteRepoRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, platform.UID(r.GetUid())))
}

func (s repos) ListRepos(ctx context.Context, r *registryv2.ListReposRequest) (*registryv2.ListReposResponse, error) {
	page, err := s.operations.List(ctx, list(r, &platform.RepoFilter{
		Name: r.GetName(), Query: r.GetQuery(), Tiers: names[platform.CatalogTier](r.GetTiers()), Bundles: r.GetBundles(), Aliases: r.GetAliases(),
		LabelFilter: platform.LabelFilter{Labels: r.GetLabels()},
	}, checkNotEmpty("name", r.Name), checkNotEmpty("query", r.Query)))
	return &registryv2.ListReposResponse{
		Repos:         convertEach(page.Items, repo),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s repos) GetRepoReadme(ctx context.Context, r *registryv2.GetRepoReadmeRequest) (*registryv2.RepoReadme, error) {
	return convert(readme)(s.operations.Readme(ctx, platform.UID(r.GetUid())))
}

func (s repos) UpdateRepoReadme(ctx context.Context, r *registryv2.UpdateRepoReadmeRequest) (*registryv2.RepoReadme, error) {
	return convert(readme)(s.operations.UpdateReadme(ctx, platform.UID(r.GetRepoReadme().GetUid()), input[*platform.Readme](r.GetRepoReadme(), r.GetUpdateMask())))
}

type tags struct{ operations platform.Tags }

func (s tags) GetTag(ctx context.Context, r *registryv2.GetTagRequest) (*registryv2.Tag, error) {
	return convert(tag)(s.operations.Get(ctx, platform.UID(r.GetUid())))
}

func (s tags) ListTags(ctx context.Context, r *registryv2.ListTagsRequest) (*registryv2.ListTagsResponse, error) {
	since, malformed := parseTime("updated_since", r.GetUpdatedSince())
	page, err := s.operations.List(ctx, list(r, &platform.TagFilter{
		Name: r.GetName(), UpdatedSince: since, Digest: r.GetDigest(), Without: excludedClasses(r), Query: r.GetQuery(),
	}, malformed, checkNotEmpty("query", r.Query)))
	return &registryv2.ListTagsResponse{
		Tags:          convertEach(page.Items, tag),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

// excludedClasses returns the classes of tags that a request excludes. A class is listed
// unless its field is false.
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
	return convert(tag)(s.operations.Create(ctx, platform.UID(r.GetParent()), input[*platform.Tag](r.GetTag(), nil)))
}

func (s tags) DeleteTag(ctx context.Context, r *registryv2.DeleteTagRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, platform.UID(r.GetUid())))
}

type images struct{ operations platform.Images }

func (s images) GetArchitectures(ctx context.Context, r *registryv2.GetArchitecturesRequest) (*registryv2.Architectures, error) {
	return convert(architectures)(s.operations.Get(ctx, platform.ImageKey{Repo: platform.UID(r.GetRepoUid()), Digest: r.GetDigest()}))
}

func (s images) GetSize(ctx context.Context, r *registryv2.GetSizeRequest) (*registryv2.Size, error) {
	size, err := s.operations.Size(ctx, platform.ImageKey{Repo: platform.UID(r.GetRepoUid()), Digest: r.GetDigest()}, r.GetArchitecture())
	return imageSize(&size), err
}

func repo(r *platform.Repo) *registryv2.Repo {
	return &registryv2.Repo{
		Uid: string(r.UID), Name: r.Name, Description: r.Description,
		CatalogTier: enumValue[registryv2.CatalogTier](registryv2.CatalogTier_value, r.CatalogTier),
		Bundles:     r.Bundles, Aliases: r.Aliases, ActiveTags: r.ActiveTags, SyncConfig: syncConfig(r.SyncConfig), Labels: r.Labels,
		CreateTime: timestamp(r.CreateTime), UpdateTime: timestamp(r.UpdateTime),
	}
}

func syncConfig(c *platform.SyncConfig) *registryv2.SyncConfig {
	if c == nil {
		return nil
	}
	return &registryv2.SyncConfig{
		Source: c.Source, UniqueTags: c.UniqueTags, ExpirationTime: timestamp(c.ExpirationTime),
		Google: c.Google, Amazon: c.Amazon, Azure: c.Azure, ApkoOverlay: c.ApkoOverlay, GracePeriod: c.GracePeriod,
	}
}

func readme(r *platform.Readme) *registryv2.RepoReadme {
	return &registryv2.RepoReadme{Uid: string(r.UID), Content: r.Content}
}

func tag(t *platform.Tag) *registryv2.Tag {
	return &registryv2.Tag{
		Uid: string(t.UID), Name: t.Name, Digest: t.Digest,
		UpdateTime: timestamp(t.UpdateTime), Deprecated: t.Deprecated, Bundles: t.Bundles,
	}
}

func architectures(i *platform.Image) *registryv2.Architectures {
	return &registryv2.Architectures{Architectures: i.ArchitectureNames()}
}

func imageSize(s *platform.ImageSize) *registryv2.Size {
	return &registryv2.Size{Size: s.Size, Architecture: s.Architecture}
}
