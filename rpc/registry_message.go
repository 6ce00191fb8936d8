package rpc

import (
	"atrium/platform"
	registryv2 "atrium/rpc/gen/platform/registry/v2"
)

func repo(r *platform.Repo) *registryv2.Repo {
	return &registryv2.Repo{
		Uid: string(r.UID), Name: r.Name, Description: r.Description,
		CatalogTier: enumValue[registryv2.CatalogTier](registryv2.CatalogTier_value, r.CatalogTier),
		Bundles:     r.Bundles, Aliases: r.Aliases, ActiveTags: r.ActiveTags, SyncConfig: syncConfig(r.SyncConfig),
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
