package rpc

import (
	"context"

	"connectrpc.com/connect"

	librariesv2 "atrium/gen/platform/libraries/v2"
	"atrium/gen/platform/libraries/v2/librariesv2connect"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/libraries"
)

func librariesServices(p *platform.Platform, o connect.HandlerOption) []service {
	return []service{
		newService(librariesv2connect.NewArtifactsServiceHandler(artifacts{p.Artifacts, p.ArtifactVersions}, o)),
	}
}

type artifacts struct {
	operations libraries.Artifacts
	versions   libraries.ArtifactVersions
}

func (s artifacts) ListArtifacts(ctx context.Context, r *librariesv2.ListArtifactsRequest) (*librariesv2.ListArtifactsResponse, error) {
	page, err := s.operations.List(ctx, list(r, &libraries.ArtifactFilter{
		Ecosystems: names[libraries.Ecosystem](r.GetEcosystems()), Query: r.GetQuery(),
		CudaVersion: r.GetCudaVersion(), Remediated: r.GetRemediated(),
	}, checkNotEmpty("cuda_version", r.CudaVersion)))
	return &librariesv2.ListArtifactsResponse{
		Artifacts:     convertEach(page.Items, artifact),
		NextPageToken: page.NextPageToken(), TotalCount: page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s artifacts) ListArtifactVersions(ctx context.Context, r *librariesv2.ListArtifactVersionsRequest) (*librariesv2.ListArtifactVersionsResponse, error) {
	page, err := s.versions.ListOf(ctx, core.UID(r.GetArtifactId()), list(r, &libraries.ArtifactVersionFilter{}))
	return &librariesv2.ListArtifactVersionsResponse{
		ArtifactVersions: convertEach(page.Items, artifactVersion),
		NextPageToken:    page.NextPageToken(), TotalCount: page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s artifacts) GetArtifactCount(ctx context.Context, r *librariesv2.GetArtifactCountRequest) (*librariesv2.GetArtifactCountResponse, error) {
	counts, err := s.operations.Counts(ctx, names[libraries.Ecosystem](r.GetEcosystems()))
	return &librariesv2.GetArtifactCountResponse{Counts: convertEach(counts, ecosystemCount)}, err
}

func artifact(a *libraries.Artifact) *librariesv2.Artifact {
	return &librariesv2.Artifact{
		Uid: string(a.UID), Name: a.Name, Description: a.Description, Ecosystem: ecosystem(a.Ecosystem),
		LatestVersion: a.LatestVersion, VersionCount: a.VersionCount,
		CreateTime: timestamp(a.CreateTime), UpdateTime: timestamp(a.UpdateTime),
	}
}

func artifactVersion(v *libraries.ArtifactVersion) *librariesv2.ArtifactVersion {
	return &librariesv2.ArtifactVersion{
		Uid: string(v.UID), Name: v.Name, Version: v.Version, Description: v.Description, SizeBytes: v.SizeBytes,
		CreateTime: timestamp(v.CreateTime), UpdateTime: timestamp(v.UpdateTime),
	}
}

func ecosystemCount(c *libraries.EcosystemCount) *librariesv2.GetArtifactCountResponse_EcosystemCount {
	return &librariesv2.GetArtifactCountResponse_EcosystemCount{Ecosystem: ecosystem(c.Ecosystem), TotalCount: c.TotalCount}
}

func ecosystem(e libraries.Ecosystem) librariesv2.Ecosystem {
	return enumValue[librariesv2.Ecosystem](librariesv2.Ecosystem_value, e)
}
