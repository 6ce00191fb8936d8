package resolvers

import (
	"cmp"
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// images returns the loader of images. Each digest of a repo is one, also where nothing more is known of it.
func (r *reads) images() *loader[core.ImageKey, *inventory.Image] {
	return loaderOf(r, r.p.Images.Describe)
}

func (e entities) FindManyImageByRepoUIDAndDigests(ctx context.Context, reps []*graph.ImageByRepoUIDAndDigestsInput) ([]*inventory.Image, error) {
	return readRepresentations(ctx, readsOf(ctx).images(), mapEach(reps, func(r *graph.ImageByRepoUIDAndDigestsInput) core.ImageKey {
		return core.ImageKey{Repo: r.RepoUID, Digest: r.Digest}
	}))
}

func (images) Size(_ context.Context, all []*inventory.Image, architecture *string) ([]*int64, error) {
	return mapEach(all, func(i *inventory.Image) *int64 {
		size, _ := i.Size(valueOrZero(architecture))
		return &size.Size
	}), nil
}

func (r images) Packages(ctx context.Context, all []*inventory.Image, window scalar.Window, where *inventory.ImagePackageFilter) ([]*scalar.ImagePackageConnection, error) {
	return newConnections(r.p.Images.ListPackages(ctx, request(ctx, core.UIDFilter{}, where, window), mapEach(all, (*inventory.Image).Key)))
}

// PackageVersion answers the version, which is read with the package.
func (imagePackages) PackageVersion(_ context.Context, all []*inventory.ImagePackage) ([]*inventory.PackageVersion, error) {
	return mapEach(all, func(p *inventory.ImagePackage) *inventory.PackageVersion { return p.PackageVersion }), nil
}

// PackageVersion reads the versions of the packages through which others come.
func (introducingPackages) PackageVersion(ctx context.Context, all []*inventory.IntroducingPackage) ([]*inventory.PackageVersion, error) {
	found, err := follow(ctx, all, readsOf(ctx).packageVersions(), func(p *inventory.IntroducingPackage) core.UID { return p.PackageVersion })
	return found, filterErrors(err, ignoreNotFound)
}

func (q queries) CompareImages(ctx context.Context, from, to graph.ImageInput) (*reports.ImageComparison, error) {
	a, err := imageOf(ctx, "from", from)
	if err != nil {
		return nil, err
	}
	b, err := imageOf(ctx, "to", to)
	if err != nil {
		return nil, err
	}
	return q.p.ImageComparisons.Compare(ctx, a, b)
}

func (r images) Sboms(ctx context.Context, all []*inventory.Image) ([][]*reports.ImageSBOM, error) {
	found, errs := r.p.SBOMs.ListOfImages(ctx, mapEach(all, (*inventory.Image).Key))
	return found, joinErrors(errs)
}

func (imageSBOMs) Cyclonedx(_ context.Context, all []*reports.ImageSBOM) ([]string, error) {
	return mapEach(all, func(b *reports.ImageSBOM) string { return sbomPath(b, "cyclonedx") }), nil
}

func (imageSBOMs) Spdx(_ context.Context, all []*reports.ImageSBOM) ([]string, error) {
	return mapEach(all, func(b *reports.ImageSBOM) string { return sbomPath(b, "spdx") }), nil
}

// sbomPath returns the path of an SBOM among the endpoints of exports.
func sbomPath(b *reports.ImageSBOM, format string) string {
	return "/export/sbom?image=" + b.Text() + "&architecture=" + cmp.Or(b.Architecture, reports.AllArchitectures) + "&format=" + format
}

// imageOf returns the image that an input names.
func imageOf(ctx context.Context, argument string, in graph.ImageInput) (core.ImageKey, error) {
	switch {
	case in.Tag != nil && in.Repo == nil && in.Digest == nil:
		tag, err := readsOf(ctx).tags().load(ctx, *in.Tag)
		if err != nil {
			return core.ImageKey{}, err
		}
		return tagImage(tag), nil
	case in.Tag == nil && in.Repo != nil && in.Digest != nil:
		return core.ImageKey{Repo: *in.Repo, Digest: *in.Digest}, nil
	default:
		return core.ImageKey{}, core.Invalid(fieldmask.Violation{Field: argument, Description: "must have either tag, or repo and digest"})
	}
}

func (images) Repo(ctx context.Context, all []*inventory.Image) ([]*inventory.Repo, error) {
	return follow(ctx, all, readsOf(ctx).repos(), func(i *inventory.Image) core.UID { return i.Repo })
}

func (r images) Tags(ctx context.Context, all []*inventory.Image, window scalar.Window, where *scalar.TagFilter) ([]*scalar.TagConnection, error) {
	return listTagsOfImages(ctx, r.p, mapEach(all, (*inventory.Image).Key), where, window)
}

func (r images) Findings(ctx context.Context, all []*inventory.Image, window scalar.Window, where *scalar.FindingFilter) ([]*scalar.FindingConnection, error) {
	return listFindingsOfImages(ctx, r.p, mapEach(all, (*inventory.Image).Key), where, window)
}

func (r images) FindingSummary(ctx context.Context, all []*inventory.Image) ([]*inventory.FindingSummary, error) {
	return summarizeImages(ctx, r.p, mapEach(all, (*inventory.Image).Key))
}
