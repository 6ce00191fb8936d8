package reports

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
)

// An ImageSBOM is a document that says what an image holds for one architecture.
type ImageSBOM struct {
	core.ImageKey
	Architecture string // as ecosystem.ArchitectureName spells it; "" means all
	Format       string // of the document that was imported, such as "SPDX 2.3"
	CreateTime   core.Time
}

// AllArchitectures names, in a request, the document that is for all architectures.
const AllArchitectures = "all"

// SBOMQueries read documents about images.
type SBOMQueries interface {
	// ImageSBOMs reads the documents about images, sorted by architecture, with one statement.
	ImageSBOMs(ctx context.Context, on core.Conn, images []core.ImageKey) ([]*ImageSBOM, error)

	// SBOMComponents reads the UIDs of the components of a document, and their placements, which are nil if the document says nothing of
	// them.
	SBOMComponents(ctx context.Context, on core.Conn, of *ImageSBOM) ([]core.UID, []inventory.Placement, error)

	// DescribeComponents reads components with their versions, and the versions of the source packages that they name, with two
	// statements. What does not exist any more is left out.
	DescribeComponents(ctx context.Context, on core.Conn, uids []core.UID) (map[core.UID]*inventory.Component, map[core.UID]*inventory.PackageVersion, error)
}

// These name what is not there.
var (
	sbomRef  = core.Ref{Name: "Sbom", Area: core.AreaRegistry}
	imageRef = core.Ref{Name: "Image", Area: core.AreaRegistry}
)

// SBOMs are the operations on the documents of images. Callers need what they need for the packages of the image.
type SBOMs struct{ area *Area }

// ListOfImages reads the documents about images, with one read for all. The results are in the order of the images; each has
// documents or an error.
func (s SBOMs) ListOfImages(ctx context.Context, images []core.ImageKey) ([][]*ImageSBOM, []error) {
	return core.ReadOnce(images, func(images []core.ImageKey) ([][]*ImageSBOM, []error) {
		check := func(key core.ImageKey) error {
			_, err := core.Require(ctx, key.Repo, core.CapRepoList, core.CapManifestMetadataList)
			return core.InArea(core.AreaRegistry, err)
		}
		return core.ReadPermitted(images, check, func(images []core.ImageKey) ([][]*ImageSBOM, error) {
			all, err := s.area.tables.ImageSBOMs(ctx, s.area.Store, images)
			found := make([][]*ImageSBOM, len(images))
			for _, b := range all {
				at := slices.Index(images, b.ImageKey)
				found[at] = append(found[at], b)
			}
			return found, core.InArea(core.AreaRegistry, err)
		})
	})
}

// An SBOMRequest asks for the document about an image.
type SBOMRequest struct {
	Image        string  // PATH@DIGEST, PATH:TAG, the same with the UID of the repo, or the UID of a tag
	Architecture *string // in any usual spelling, or AllArchitectures; nil if the image has one document only

	// Malformed holds violations that the adapter found while decoding.
	Malformed []fieldmask.Violation
}

// An SBOMContent is what a document says beside its packages.
type SBOMContent struct {
	*ImageSBOM
	RepoName   string
	Base       inventory.Image // has the names of the image that this one was built on, if they are known
	Ecosystems []string        // of its packages, sorted
	IDs        []string        // of its packages, in the order in which they are read; each follows from what is said of the package
	Identity   [16]byte        // follows from all that is said, except the time; databases with the same content have the same
	Introduced int             // number of the packages through which others come, of all packages together
}

// An SBOMPackage is a package of a document. The places are those of IDs.
type SBOMPackage struct {
	*inventory.Component
	SourceVersion *inventory.PackageVersion // nil if the document names none
	inventory.Placement
}

// An SBOMPage has packages of a document.
type SBOMPage struct {
	Of       *SBOMContent
	Packages []*SBOMPackage
}

// sbomPageSize is how many packages of a document are in memory together.
const sbomPageSize = 1000

// Read calls yield for each page of the packages of a document, at least once, sorted by name. Beside a page, only the order and
// the placements of the packages are in memory. yield must not keep the page. If Read returns an error, what yield has got is not
// the whole document.
func (s SBOMs) Read(ctx context.Context, req SBOMRequest, yield func(*SBOMPage) error) error {
	return core.InArea(core.AreaRegistry, s.read(ctx, req, yield))
}

func (s SBOMs) read(ctx context.Context, req SBOMRequest, yield func(*SBOMPage) error) error {
	of, err := s.find(ctx, req)
	if err != nil {
		return err
	}
	uids, placements, err := s.area.tables.SBOMComponents(ctx, s.area.Store, of)
	if err != nil {
		return err
	}
	content := &SBOMContent{ImageSBOM: of}
	repo, err := s.area.inventory.Repos.Get(ctx, of.Repo)
	if err != nil {
		return err
	}
	content.RepoName = repo.Name
	images, errs := s.area.inventory.Images.Describe(ctx, []core.ImageKey{of.ImageKey})
	if errs[0] != nil {
		return errs[0]
	}
	content.Base = inventory.Image{BaseName: images[0].BaseName, BaseDigest: images[0].BaseDigest}
	order, err := s.sort(ctx, content, uids, placements)
	if err != nil {
		return err
	}
	if len(order.places) == 0 {
		return yield(&SBOMPage{Of: content})
	}
	written := 0
	for places := range slices.Chunk(order.places, sbomPageSize) {
		page := &SBOMPage{Of: content, Packages: make([]*SBOMPackage, len(places))}
		wanted := make([]core.UID, len(places))
		for i, place := range places {
			wanted[i] = uids[place]
		}
		components, sources, err := s.area.tables.DescribeComponents(ctx, s.area.Store, wanted)
		if err != nil {
			return err
		}
		for i, place := range places {
			c := components[uids[place]]
			if c == nil { // it was deleted meanwhile, with the document
				return s.notFound(of.ImageKey.Text())
			}
			page.Packages[i] = &SBOMPackage{c, sources[c.Source], order.placement(written)}
			written++
		}
		if err := yield(page); err != nil {
			return err
		}
		core.ResponseMemoryOf(ctx).ReleaseRead()
	}
	return nil
}

// An sbomOrder is the order of the packages of a document.
type sbomOrder struct {
	places     []int // in the list of components, in the order of the packages
	written    []int // by places: those in the order; -1 for what does not exist any more
	placements []inventory.Placement
}

// placement returns the placement of a package, whose places are those in the order.
func (o *sbomOrder) placement(n int) inventory.Placement {
	if o.placements == nil {
		return inventory.Placement{}
	}
	is := o.placements[o.places[n]]
	if is.IntroducedBy != nil {
		by := make([]int, 0, len(is.IntroducedBy))
		for _, place := range is.IntroducedBy {
			if at := o.written[place]; at >= 0 && at != n {
				by = append(by, at)
			}
		}
		slices.Sort(by)
		is.IntroducedBy = slices.Compact(by)
	}
	return is
}

// sort reads all packages of a document once, and sorts them by name. It sets what the content says of them together.
func (s SBOMs) sort(ctx context.Context, content *SBOMContent, uids []core.UID, placements []inventory.Placement) (*sbomOrder, error) {
	type key struct {
		text, id string
		place    int
	}
	var keys []key
	ecosystems := map[string]bool{}
	for first := 0; first < len(uids); first += sbomPageSize {
		some := uids[first:min(first+sbomPageSize, len(uids))]
		components, sources, err := s.area.tables.DescribeComponents(ctx, s.area.Store, some)
		if err != nil {
			return nil, err
		}
		for i, uid := range some {
			if c := components[uid]; c != nil {
				ecosystems[c.Version.Package.Ecosystem] = true
				keys = append(keys, key{c.Version.Package.Name + "\x00" + c.Version.Version, componentID(c, sources[c.Source]), first + i})
			}
		}
		core.ResponseMemoryOf(ctx).ReleaseRead()
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.id, b.id), a.place-b.place)
	})
	o := &sbomOrder{places: make([]int, len(keys)), written: make([]int, len(uids)), placements: placements}
	for place := range o.written {
		o.written[place] = -1
	}
	content.Ecosystems, content.IDs = slices.Sorted(maps.Keys(ecosystems)), make([]string, len(keys))
	known := make(map[string]int, len(keys))
	for n, k := range keys {
		o.places[n], o.written[k.place], content.IDs[n] = k.place, n, k.id
		if known[k.id]++; known[k.id] > 1 {
			content.IDs[n] = fmt.Sprintf("%s-%d", k.id, known[k.id])
		}
	}
	sum := sha256.New()
	addTexts(sum, content.RepoName, content.Digest, content.Architecture, content.Base.BaseName, content.Base.BaseDigest)
	for n, id := range content.IDs {
		is := o.placement(n)
		content.Introduced += len(is.IntroducedBy)
		direct := ""
		if is.Direct != nil {
			direct = fmt.Sprint(*is.Direct)
		}
		addTexts(sum, id, is.Layer, direct, fmt.Sprint(is.IntroducedBy == nil, is.IntroducedBy))
	}
	copy(content.Identity[:], sum.Sum(nil))
	return o, nil
}

// componentID returns an id that follows from what a document says of a package.
func componentID(c *inventory.Component, source *inventory.PackageVersion) string {
	sum := sha256.New()
	addTexts(sum, c.Version.Package.Name, c.Version.Package.Ecosystem, c.Version.Version, c.PURL, c.Supplier, string(c.Scope))
	if source != nil {
		addTexts(sum, source.Package.Name, source.Version)
	}
	addTexts(sum, c.Licenses...)
	return hex.EncodeToString(sum.Sum(nil)[:core.SegmentDigits/2])
}

// addTexts adds texts to a hash. No two lists of texts add the same.
func addTexts(to hash.Hash, texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprintf(to, "%d:%s", len(text), text) // a hash never fails
	}
	_, _ = to.Write([]byte{0})
}

// find finds the document that a request names.
func (s SBOMs) find(ctx context.Context, req SBOMRequest) (*ImageSBOM, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return nil, err
	}
	v := core.Violations(req.Malformed)
	var ref imageReference
	if !slices.ContainsFunc(v, func(is fieldmask.Violation) bool { return is.Field == "image" }) {
		ref = parseImage(req.Image, &v)
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	key, err := s.findImage(ctx, actor, ref)
	if err != nil {
		return nil, err
	}
	found, errs := s.ListOfImages(ctx, []core.ImageKey{key})
	if errs[0] != nil {
		return nil, errs[0]
	}
	if len(found[0]) == 0 {
		return nil, s.explainMissing(ctx, key, ref.text)
	}
	return chooseSBOM(found[0], req.Architecture, ref.text)
}

// chooseSBOM returns the document of an architecture, or the only one.
func chooseSBOM(all []*ImageSBOM, architecture *string, image string) (*ImageSBOM, error) {
	names := make([]string, len(all))
	for i, b := range all {
		if names[i] = cmp.Or(b.Architecture, AllArchitectures); architecture != nil && names[i] == ecosystem.ArchitectureName(*architecture) {
			return b, nil
		}
	}
	switch {
	case architecture != nil:
		return nil, core.NewNotFoundBecause(sbomRef, image, fmt.Sprintf("image %s has no SBOM for %s, only for %s", image, fieldmask.TruncateForMessage(*architecture), strings.Join(names, ", ")))
	case len(all) > 1:
		return nil, core.Invalid(fieldmask.Violation{Field: "architecture", Description: "is required, because the image has several SBOMs: it must be one of " + strings.Join(names, ", ")})
	default:
		return all[0], nil
	}
}

// explainMissing returns the error for an image without documents.
func (s SBOMs) explainMissing(ctx context.Context, key core.ImageKey, text string) error {
	_, errs := s.area.inventory.Images.GetMany(ctx, []core.ImageKey{key})
	if !isHidden(errs[0]) && errs[0] != nil {
		return errs[0]
	}
	tags, tagErrs := s.area.inventory.Tags.ListOfImages(ctx, core.ListRequest[*inventory.TagFilter]{PageSize: 1, Parts: core.PartItems}, []core.ImageKey{key})
	if errs[0] == nil || tagErrs[0] == nil && len(tags[0].Items) > 0 {
		return core.NewNotFoundBecause(sbomRef, text, fmt.Sprintf("image %s has no SBOM", text))
	}
	return s.notFound(text)
}

func (s SBOMs) notFound(text string) error { return core.NewNotFound(imageRef, text) }

// An imageReference names an image.
type imageReference struct{ text, repo, digest, tag string }

// parseImage reads what people call an image.
func parseImage(text string, v *core.Violations) imageReference {
	ref := imageReference{text: text}
	v.CheckFilter("image", text)
	if uid := core.UID(text); uid.Valid() {
		return ref
	}
	name, digest, hasDigest := strings.Cut(text, "@")
	at := strings.LastIndexByte(name, ':')
	hasTag := at > strings.LastIndexByte(name, '/')
	switch {
	case hasDigest:
		if hasTag { // the digest says more
			name = name[:at]
		}
		var faults core.Violations
		if faults.CheckDigest(digest); digest == "" || len(faults) > 0 {
			v.Add("image", "must have a digest that matches %s", core.DigestPattern)
		}
		ref.repo, ref.digest = name, digest
	case hasTag:
		ref.repo, ref.tag = name[:at], name[at+1:]
	default:
		v.Add("image", "must be a repo with a digest or a tag, such as acme/shop/checkout@sha256:... or acme/shop/checkout:1.4, or the uid of a tag")
	}
	if !hasDigest && !hasTag {
		return ref
	}
	if ref.repo == "" || !hasDigest && ref.tag == "" {
		v.Add("image", "must have the path or the uid of its repo, and a digest or a tag")
	}
	return ref
}

// findImage finds the image that a reference names. Whoever may not see that its repo is there learns that there is no such image.
func (s SBOMs) findImage(ctx context.Context, actor *core.Actor, ref imageReference) (core.ImageKey, error) {
	return s.findImageFor(ctx, actor, ref, core.CapRepoList, core.CapManifestMetadataList)
}

// findImageFor finds an image for those who have capabilities on its repo.
func (s SBOMs) findImageFor(ctx context.Context, actor *core.Actor, ref imageReference, needed ...core.Capability) (core.ImageKey, error) {
	if ref.repo == "" {
		tag, err := s.area.inventory.Tags.Get(ctx, core.UID(ref.text))
		if err != nil {
			return core.ImageKey{}, s.hide(actor, core.UID(ref.text), ref.text, err)
		}
		return core.ImageKey{Repo: tag.UID.Parent(), Digest: tag.Digest}, nil
	}
	repo := core.UID(ref.repo)
	if !repo.Valid() {
		found, err := s.area.inventory.Repos.GetByPath(ctx, ref.repo)
		if err != nil {
			return core.ImageKey{}, s.hide(actor, "", ref.text, err)
		}
		repo = found.UID
	}
	if _, err := core.Require(ctx, repo, needed...); err != nil {
		return core.ImageKey{}, s.hide(actor, repo, ref.text, err)
	}
	if ref.digest != "" {
		return core.ImageKey{Repo: repo, Digest: ref.digest}, nil
	}
	tags, err := s.area.inventory.Tags.ListNamed(ctx, []inventory.TagName{{Repo: repo, Name: ref.tag}})
	if err == nil && len(tags) == 0 {
		err = s.notFound(ref.text)
	}
	if err != nil {
		return core.ImageKey{}, err
	}
	return core.ImageKey{Repo: repo, Digest: tags[0].Digest}, nil
}

// hide returns the error of an image that is not there, if an error says that a resource is not there, or the caller may not see
// its repo.
func (s SBOMs) hide(actor *core.Actor, uid core.UID, text string, err error) error {
	switch code := core.AsError(err).Code; {
	case code == core.CodeNotFound, code == core.CodePermissionDenied && uid != "" && !actor.Can(core.CapRepoList, uid):
		return s.notFound(text)
	default:
		return err
	}
}
