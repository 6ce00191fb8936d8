package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
)

// An Image is the image that a digest identifies in a repo.
type Image struct {
	Repo          core.UID       `json:"repo"`
	Digest        string         `json:"digest"`
	Architectures []Architecture `json:"architectures"`
	Packages      []string       `json:"packages,omitempty"`   // packages, if the source lists them
	BaseName      string         `json:"baseName,omitempty"`   // reference of the image that it was built on; "" if it is not known
	BaseDigest    string         `json:"baseDigest,omitempty"` // digest of that image, as it was then; "" if it is not known

	Number int64 `json:"-"` // its number among the images of the repo, where a list needs it
}

// An Architecture is an architecture that an image supports.
type Architecture struct {
	Name string `json:"name"` // a name as ecosystem.ArchitectureName spells it, such as amd64, arm64 or armv7
	Size int64  `json:"size"` // bytes of config and layers; 0 means that they are unknown
}

// ArchitectureNames lists the names of the architectures in the order of the
// source.
func (i *Image) ArchitectureNames() []string {
	names := make([]string, len(i.Architectures))
	for n, a := range i.Architectures {
		names[n] = a.Name
	}
	return names
}

// Size returns the size for an architecture, by any name that ecosystem.ArchitectureName
// accepts. For "" it returns the size for amd64, or for the first architecture.
// known is false if the size is unknown.
func (i *Image) Size(architecture string) (size ImageSize, known bool) {
	at := func(name string) int {
		return slices.IndexFunc(i.Architectures, func(a Architecture) bool { return a.Name == name })
	}
	n := at(ecosystem.ArchitectureName(architecture))
	if architecture == "" {
		if n = at("amd64"); n < 0 && len(i.Architectures) > 0 {
			n = 0
		}
	}
	if n < 0 || i.Architectures[n].Size == 0 {
		return ImageSize{}, false
	}
	return ImageSize{i.Architectures[n].Size, i.Architectures[n].Name}, true
}

// An ImageSize is the size of an image for one architecture.
type ImageSize struct {
	Size         int64  `json:"size,string"` // bytes
	Architecture string `json:"architecture"`
}

// Key returns what identifies the image.
func (i *Image) Key() core.ImageKey { return core.ImageKey{Repo: i.Repo, Digest: i.Digest} }

// ImageKeys are images that the caller may read.
type ImageKeys struct{ keys []core.ImageKey }

// Keys lists the keys.
func (k ImageKeys) Keys() []core.ImageKey { return k.keys }

// Limits of an image.
const (
	maxArchitectures = 1000
	maxPackages      = 20_000
)

// Check adds the violations of the fields.
func (i *Image) Check(v *core.Violations) {
	i.spellArchitectures()
	if len(i.Architectures) == 0 {
		i.Architectures = nil // the store returns nil for an empty list
	}
	v.CheckDigest(i.Digest)
	v.CheckRequiredLines("architectures", i.ArchitectureNames(), maxArchitectures)
	if slices.ContainsFunc(i.Architectures, func(a Architecture) bool { return a.Size < 0 }) {
		v.Add("architectures", "must not have a negative size")
	}
	v.CheckRequiredLines("packages", i.Packages, maxPackages)
	v.CheckLine("baseName", i.BaseName)
	var base core.Violations
	if base.CheckDigest(i.BaseDigest); i.BaseDigest != "" && len(base) > 0 {
		v.Add("baseDigest", "must match %s", core.DigestPattern)
	}
}

// spellArchitectures replaces the names of architectures by those that the API
// documents. If several have the same name, it keeps the first whose size is known.
func (i *Image) spellArchitectures() {
	kept := make([]Architecture, 0, len(i.Architectures))
	for _, a := range i.Architectures {
		a.Name = ecosystem.ArchitectureName(a.Name)
		at := slices.IndexFunc(kept, func(k Architecture) bool { return k.Name == a.Name })
		switch {
		case at < 0:
			kept = append(kept, a)
		case kept[at].Size == 0:
			kept[at] = a
		}
	}
	i.Architectures = kept
}

// ImageFilter restricts a list of images to which tags point that are not deprecated.
type ImageFilter struct {
	Holds            core.UID `json:",omitempty"` // version of a package that the images hold
	VulnerabilityIDs []string `json:",omitempty"` // the image has an open finding of an advisory with one of these names
}

// Check adds the violations of the conditions.
func (f *ImageFilter) Check(v *core.Violations) {
	if v.CheckFilter("vulnerabilityIds", f.VulnerabilityIDs...); len(f.VulnerabilityIDs) > core.MaxIDs {
		v.Add("vulnerabilityIds", "must have at most %d items", core.MaxIDs)
	}
}

// UID returns the place of the image among the images of its repo, as a UID: lists of images are in that
// order. It is not the UID of a resource.
func (i *Image) UID() core.UID { return core.UID(fmt.Sprintf("%s/%016x", i.Repo, i.Number)) }

// ImageNumber returns the number of an image in its place.
func ImageNumber(place core.UID) int64 {
	n, _ := strconv.ParseInt(string(place[strings.LastIndexByte(string(place), '/')+1:]), 16, 64) // it was made by UID
	return n
}

// imageKind has what lists of images need. Images are no kind of their own, because they have no UIDs.
var imageKind = core.Kind[*Image]{
	Name: "Image", Plural: "images", Area: core.AreaRegistry, Parent: core.RepoRef,
	List: core.CapManifestMetadataList, Also: []core.Capability{core.CapTagList, core.CapRepoList},
	Orders:       []core.OrderField[*Image]{{Name: "uid", Value: func(i *Image) any { return string(i.UID()) }}},
	DefaultOrder: core.Order{Field: "uid"},
	UID:          (*Image).UID,
	Group:        func(i *Image) core.UID { return i.Repo.Parent() },
}

// imagePackageKind has what lists of the packages of images need. They are no kind of their own: they are in
// the documents of an image.
var imagePackageKind = core.Kind[*ImagePackage]{
	Name: "ImagePackage", Plural: "packages", Area: core.AreaRegistry,
	Orders:       []core.OrderField[*ImagePackage]{{Name: "name", Value: func(p *ImagePackage) any { return p.Name() }}},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(p *ImagePackage) core.UID { return core.UID(fmt.Sprintf("%016x", p.place)) },
}

// ImageQueries read images in other ways than a Table does.
type ImageQueries interface {
	// Images reads the images of (repo, digest) pairs; missing ones are left
	// out.
	Images(ctx context.Context, on core.Conn, keys ImageKeys) ([]*Image, error)
}

// Images are the operations on images; they are read only.
type Images struct {
	area  *Area
	lists *core.Collection[*Image, *ImageFilter]
}

// ListHolding reads, for each version of a package, the same page of the images that hold it, with one
// read and one for the images.
func (s Images) ListHolding(ctx context.Context, req core.ListRequest[*ImageFilter], versions []*PackageVersion) ([]core.Page[*Image], []error) {
	return core.ListReferring(ctx, s.lists, req, len(versions), func(i int, req *core.ListRequest[*ImageFilter]) func(core.Branch) []core.Branch {
		req.UIDP.DescendantsOf = versions[i].Package.Within
		req.Filter = core.EditFilter(req.Filter, func(f *ImageFilter) { f.Holds = versions[i].UID })
		return core.NarrowTo(func(b *core.Branch) { b.Holds = versions[i].UID })
	})
}

// ListAffected reads a page of the images with open findings of an advisory with one of names.
func (s Images) ListAffected(ctx context.Context, req core.ListRequest[*ImageFilter], names []string) (core.Page[*Image], error) {
	req.Filter = core.EditFilter(req.Filter, func(f *ImageFilter) { f.VulnerabilityIDs = names })
	return s.lists.Also(core.CapFindingsList).List(ctx, req)
}

// maxImagesAtOnce limits the images whose tags one statement reads.
const maxImagesAtOnce = 500

// CountUntagged counts the images whose findings do not count, because the only tags that point to them are deprecated or
// those of signatures, or there are none.
func (s Images) CountUntagged(ctx context.Context, images []core.ImageKey) (untagged int, err error) {
	live := core.ListRequest[*TagFilter]{PageSize: 1, Parts: core.PartItems, Filter: &TagFilter{Deprecated: new(bool), Without: []TagClass{TagClassReferrer}}}
	for some := range slices.Chunk(images, maxImagesAtOnce) {
		pages, errs := s.area.Tags.ListOfImages(ctx, live, some)
		for i, page := range pages {
			if errs[i] != nil {
				return 0, errs[i]
			}
			if len(page.Items) == 0 {
				untagged++
			}
		}
	}
	return untagged, nil
}

// Get reads one image.
func (s Images) Get(ctx context.Context, key core.ImageKey) (*Image, error) {
	images, errs := s.GetMany(ctx, []core.ImageKey{key})
	return images[0], errs[0]
}

// GetMany reads images with one read. The results are in the order of keys; each
// has an image or an error.
func (s Images) GetMany(ctx context.Context, keys []core.ImageKey) ([]*Image, []error) {
	check := func(key core.ImageKey) error { return s.checkReadable(ctx, key) }
	images, errs := core.ReadPermitted(keys, check, func(keys []core.ImageKey) ([]*Image, error) {
		found, err := s.area.FindImages(ctx, s.area.Store, keys)
		byKey, images := make(map[core.ImageKey]*Image, len(found)), make([]*Image, len(keys))
		for _, image := range found {
			byKey[image.Key()] = image
		}
		for i, key := range keys {
			images[i] = byKey[key]
		}
		return images, err
	})
	for i, key := range keys {
		if errs[i] == nil && images[i] == nil {
			errs[i] = core.InArea(core.AreaRegistry, core.NewNotFound(imageKind.Ref(), key.Text()))
		}
	}
	return images, errs
}

// FindImages reads images by repo and digest. It does not check access. What does not exist is left out.
func (area *Area) FindImages(ctx context.Context, on core.Conn, keys []core.ImageKey) ([]*Image, error) {
	return area.tables.Images(ctx, on, ImageKeys{keys})
}

// Describe reads images with one read. An image of which nothing is known but that it is there, because a tag
// or an SBOM names it, has only its key.
func (s Images) Describe(ctx context.Context, keys []core.ImageKey) ([]*Image, []error) {
	images, errs := s.GetMany(ctx, keys)
	for i, key := range keys {
		if errors.Is(errs[i], &core.Error{Code: core.CodeNotFound}) {
			images[i], errs[i] = &Image{Repo: key.Repo, Digest: key.Digest}, nil
		}
	}
	return images, errs
}

func (s Images) checkReadable(ctx context.Context, key core.ImageKey) error {
	if _, err := core.RequireCaller(ctx); err != nil {
		return err
	}
	var v core.Violations
	v.CheckUID("repoUid", key.Repo)
	v.CheckDigest(key.Digest)
	if err := v.Err(); err != nil {
		return core.InArea(core.AreaRegistry, err)
	}
	_, err := core.Require(ctx, key.Repo, core.CapRepoList, core.CapManifestMetadataList)
	return core.InArea(core.AreaRegistry, err)
}

// Size reads an image and returns its size for an architecture (see Image.Size).
func (s Images) Size(ctx context.Context, key core.ImageKey, architecture string) (ImageSize, error) {
	image, err := s.Get(ctx, key)
	if err != nil {
		return ImageSize{}, err
	}
	size, known := image.Size(architecture)
	if !known {
		return ImageSize{}, core.InArea(core.AreaRegistry, core.NewNotFound(core.Ref{Name: "Size", Area: core.AreaRegistry}, key.Text()))
	}
	return size, nil
}
