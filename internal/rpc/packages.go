package rpc

import (
	"context"

	"google.golang.org/protobuf/proto"

	registryv2 "atrium/gen/platform/registry/v2"
	vulnerabilitiesv2 "atrium/gen/platform/vulnerabilities/v2"
	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

type packages struct {
	p *platform.Platform
	wire.Operations
}

// packageRequest returns the request of a list of packages within a group or repo.
func packageRequest(r interface {
	proto.Message
	GetWithin() string
},
) core.ListRequest[*inventory.PackageFilter] {
	req := listBy[inventory.PackageFilter](r)
	req.UIDP.DescendantsOf = core.UID(r.GetWithin())
	return req
}

func (s packages) ListPackages(ctx context.Context, r *registryv2.ListPackagesRequest) (*registryv2.ListPackagesResponse, error) {
	page, err := wire.HeldPackages{Packages: s.p.Packages}.List(ctx, packageRequest(r))
	return &registryv2.ListPackagesResponse{
		Packages:      convertEach(page.Items, packageOf),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s packages) GetPackage(ctx context.Context, r *registryv2.GetPackageRequest) (*registryv2.Package, error) {
	return convert(packageOf)(wire.HeldPackages{Packages: s.p.Packages}.Get(ctx, core.UID(r.GetUid())))
}

func (s packages) CountPackages(ctx context.Context, r *registryv2.CountPackagesRequest) (*registryv2.PackageFacets, error) {
	req := packageRequest(r)
	return encodeMessage[registryv2.PackageFacets](s.Operations.CountPackages(ctx, &req))
}

func (s packages) ListPackageVersions(ctx context.Context, r *registryv2.ListPackageVersionsRequest) (*registryv2.ListPackageVersionsResponse, error) {
	req := listBy[inventory.PackageVersionFilter](r)
	req.UIDP.DescendantsOf = core.UID(r.GetWithin())
	page, err := s.PackageVersions().ListOf(ctx, core.UID(r.GetUid()), req)
	return &registryv2.ListPackageVersionsResponse{
		PackageVersions: convertEach(page.Items, packageVersion),
		NextPageToken:   page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s packages) GetPackageVersion(ctx context.Context, r *registryv2.GetPackageVersionRequest) (*registryv2.PackageVersion, error) {
	return convert(packageVersion)(s.PackageVersions().Get(ctx, core.UID(r.GetUid())))
}

func packageOf(p *inventory.Package) *registryv2.Package {
	return &registryv2.Package{Uid: string(p.UID), Name: p.Name, Ecosystem: p.Ecosystem}
}

func packageVersion(v *inventory.PackageVersion) *registryv2.PackageVersion {
	return &registryv2.PackageVersion{Uid: string(v.UID), Version: v.Version, Package: packageOf(&v.Package)}
}

type exposures struct{ wire.Operations }

func (s exposures) GetVulnerabilityExposure(ctx context.Context, r *vulnerabilitiesv2.GetVulnerabilityExposureRequest) (*vulnerabilitiesv2.VulnerabilityExposure, error) {
	return ask[vulnerabilitiesv2.VulnerabilityExposure](ctx, r, s.Operations.GetVulnerabilityExposure)
}

func (s exposures) SummarizeAdvisories(ctx context.Context, r *vulnerabilitiesv2.SummarizeAdvisoriesRequest) (*vulnerabilitiesv2.AdvisorySummary, error) {
	return ask[vulnerabilitiesv2.AdvisorySummary](ctx, r, s.Operations.SummarizeAdvisories)
}

func (s exposures) GetAdvisoryActivity(ctx context.Context, r *vulnerabilitiesv2.GetAdvisoryActivityRequest) (*vulnerabilitiesv2.GetAdvisoryActivityResponse, error) {
	return ask[vulnerabilitiesv2.GetAdvisoryActivityResponse](ctx, r, s.Operations.GetAdvisoryActivity)
}
