package rpc

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"

	registryv2 "atrium/gen/platform/registry/v2"
	"atrium/gen/platform/registry/v2/registryv2connect"
	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

func registryServices(p *platform.Platform, o connect.HandlerOption) []service {
	return []service{
		newService(registryv2connect.NewRegistryBatchesServiceHandler(registryBatches{wire.New(p)}, o)),
		newService(registryv2connect.NewPackagesServiceHandler(packages{p, wire.New(p)}, o)),
		newService(registryv2connect.NewImagesServiceHandler(images{p.Images}, o)),
		newService(registryv2connect.NewReposServiceHandler(repos{p.Repos}, o)),
		newService(registryv2connect.NewTagsServiceHandler(tags{p.Tags}, o)),
	}
}

type repos struct{ operations inventory.Repos }

func (s repos) GetRepo(ctx context.Context, r *registryv2.GetRepoRequest) (*registryv2.Repo, error) {
	return convert(repo)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s repos) CreateRepo(ctx context.Context, r *registryv2.CreateRepoRequest) (*registryv2.Repo, error) {
	return convert(repo)(s.operations.Create(ctx, core.UID(r.GetParent()), input[*inventory.Repo](r.GetRepo(), nil)))
}

func (s repos) UpdateRepo(ctx context.Context, r *registryv2.UpdateRepoRequest) (*registryv2.Repo, error) {
	return convert(repo)(s.operations.Update(ctx, core.UID(r.GetRepo().GetUid()), input[*inventory.Repo](r.GetRepo(), r.GetUpdateMask())))
}

func (s repos) DeleteRepo(ctx context.Context, r *registryv2.DeleteRepoRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

func (s repos) ListRepos(ctx context.Context, r *registryv2.ListReposRequest) (*registryv2.ListReposResponse, error) {
	page, err := s.operations.List(ctx, list(r, &inventory.RepoFilter{
		Name: r.GetName(), Query: r.GetQuery(), Tiers: names[core.CatalogTier](r.GetTiers()), Bundles: r.GetBundles(), Aliases: r.GetAliases(),
		LabelFilter: labelFilter(r.GetLabels()),
	}, checkNotEmpty("name", r.Name), checkNotEmpty("query", r.Query)))
	return &registryv2.ListReposResponse{
		Repos:         convertEach(page.Items, repo),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s repos) GetRepoReadme(ctx context.Context, r *registryv2.GetRepoReadmeRequest) (*registryv2.RepoReadme, error) {
	return convert(readme)(s.operations.Readme(ctx, core.UID(r.GetUid())))
}

func (s repos) UpdateRepoReadme(ctx context.Context, r *registryv2.UpdateRepoReadmeRequest) (*registryv2.RepoReadme, error) {
	return convert(readme)(s.operations.UpdateReadme(ctx, core.UID(r.GetRepoReadme().GetUid()), input[*inventory.Readme](r.GetRepoReadme(), r.GetUpdateMask())))
}

type tags struct{ operations inventory.Tags }

func (s tags) GetTag(ctx context.Context, r *registryv2.GetTagRequest) (*registryv2.Tag, error) {
	return convert(tag)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s tags) ListTags(ctx context.Context, r *registryv2.ListTagsRequest) (*registryv2.ListTagsResponse, error) {
	since, malformed := parseTime("updated_since", r.GetUpdatedSince())
	page, err := s.operations.List(ctx, list(r, &inventory.TagFilter{
		Name: r.GetName(), UpdatedSince: since, Digest: r.GetDigest(), Without: excludedClasses(r), Query: r.GetQuery(),
	}, malformed, checkNotEmpty("query", r.Query)))
	return &registryv2.ListTagsResponse{
		Tags:          convertEach(page.Items, tag),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

// excludedClasses returns the classes of tags that a request excludes. A class is listed
// unless its field is false.
func excludedClasses(r *registryv2.ListTagsRequest) (classes []inventory.TagClass) {
	for _, x := range []struct {
		included *bool
		class    inventory.TagClass
	}{
		{r.IncludeReferrers, inventory.TagClassReferrer}, {r.IncludeDates, inventory.TagClassDate}, {r.IncludeEpochs, inventory.TagClassEpoch},
	} {
		if x.included != nil && !*x.included {
			classes = append(classes, x.class)
		}
	}
	return classes
}

func (s tags) CreateTag(ctx context.Context, r *registryv2.CreateTagRequest) (*registryv2.Tag, error) {
	return convert(tag)(s.operations.Create(ctx, core.UID(r.GetParent()), input[*inventory.Tag](r.GetTag(), nil)))
}

func (s tags) DeleteTag(ctx context.Context, r *registryv2.DeleteTagRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

type images struct{ operations inventory.Images }

func (s images) GetArchitectures(ctx context.Context, r *registryv2.GetArchitecturesRequest) (*registryv2.Architectures, error) {
	return convert(architectures)(s.operations.Get(ctx, core.ImageKey{Repo: core.UID(r.GetRepoUid()), Digest: r.GetDigest()}))
}

func (s images) GetSize(ctx context.Context, r *registryv2.GetSizeRequest) (*registryv2.Size, error) {
	size, err := s.operations.Size(ctx, core.ImageKey{Repo: core.UID(r.GetRepoUid()), Digest: r.GetDigest()}, r.GetArchitecture())
	return imageSize(&size), err
}

func repo(r *inventory.Repo) *registryv2.Repo {
	return &registryv2.Repo{
		Uid: string(r.UID), Name: r.Name, Description: r.Description,
		CatalogTier: enumValue[registryv2.CatalogTier](registryv2.CatalogTier_value, r.CatalogTier),
		Bundles:     r.Bundles, Aliases: r.Aliases, ActiveTags: r.ActiveTags, SyncConfig: syncConfig(r.SyncConfig), Labels: r.Labels,
		CreateTime: timestamp(r.CreateTime), UpdateTime: timestamp(r.UpdateTime),
	}
}

func syncConfig(c *inventory.SyncConfig) *registryv2.SyncConfig {
	if c == nil {
		return nil
	}
	return &registryv2.SyncConfig{
		Source: c.Source, UniqueTags: c.UniqueTags, ExpirationTime: timestamp(c.ExpirationTime),
		Google: c.Google, Amazon: c.Amazon, Azure: c.Azure, ApkoOverlay: c.ApkoOverlay, GracePeriod: c.GracePeriod,
	}
}

func readme(r *inventory.Readme) *registryv2.RepoReadme {
	return &registryv2.RepoReadme{Uid: string(r.UID), Content: r.Content}
}

func tag(t *inventory.Tag) *registryv2.Tag {
	return &registryv2.Tag{
		Uid: string(t.UID), Name: t.Name, Digest: t.Digest,
		UpdateTime: timestamp(t.UpdateTime), Deprecated: t.Deprecated, Bundles: t.Bundles,
	}
}

func architectures(i *inventory.Image) *registryv2.Architectures {
	return &registryv2.Architectures{Architectures: i.ArchitectureNames()}
}

func imageSize(s *inventory.ImageSize) *registryv2.Size {
	return &registryv2.Size{Size: s.Size, Architecture: s.Architecture}
}
