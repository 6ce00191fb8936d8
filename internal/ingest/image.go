package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"atrium/internal/sbom"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// An ImageName is an image as callers name it: REPO@DIGEST, REPO:TAG or REPO:TAG@DIGEST. The repo is its path by names, such as
// acme/shop/checkout, or its uid.
type ImageName struct{ Repo, Tag, Digest string }

// ParseImageName parses the name of an image.
func ParseImageName(text string) (n ImageName, err error) {
	n.Repo, n.Digest, _ = strings.Cut(text, "@")
	if colon := strings.LastIndexByte(n.Repo, ':'); colon > strings.LastIndexByte(n.Repo, '/') {
		n.Repo, n.Tag = n.Repo[:colon], n.Repo[colon+1:]
	}
	var v core.Violations
	if n.Digest != "" || strings.Contains(text, "@") {
		v.CheckDigest(n.Digest)
	}
	if n.Repo == "" || len(v) > 0 || n.Tag == "" && n.Digest == "" {
		return ImageName{}, errors.New("must be a repo with a digest, a tag or both, such as acme/shop/checkout@sha256:DIGEST, acme/shop/checkout:1.4 or acme/shop/checkout:1.4@sha256:DIGEST, with all 64 hex digits of the digest")
	}
	return n, nil
}

// An ImagePlace is an image that was found by its name, or the place where it is to be made.
type ImagePlace struct {
	Repo   core.UID // "" if the repo is to be made
	Group  core.UID // of a repo that is to be made
	Name   string   // of a repo that is to be made
	Tag    string   // that is to point to the image; "" if no tag changes
	Digest string   // "" if the documents name it
}

// repoOrGroup returns the repo, or the group in which it is to be made.
func (p ImagePlace) repoOrGroup() core.UID {
	if p.Repo != "" {
		return p.Repo
	}
	return p.Group
}

// FindImage finds an image by its name. In a group, the repo is named as in the group. If create is set, the repo and the tag
// may be missing. It fails with the errors of the operations that look for it.
func FindImage(ctx context.Context, p *platform.Platform, group core.UID, of ImageName, create bool) (at ImagePlace, err error) {
	at = ImagePlace{Digest: of.Digest}
	switch {
	case group == "" && core.UID(of.Repo).Valid():
		at.Repo = core.UID(of.Repo)
	case group == "":
		at, err = findRepoOfPath(ctx, p, at, of.Repo, create)
	default:
		at.Group, at.Name = group, of.Repo
		at.Repo, err = findRepo(ctx, p, group, of.Repo)
		if err == nil && at.Repo == "" && !create {
			err = core.NewNotFound(core.RepoRef, fieldmask.TruncateForMessage(of.Repo))
		}
	}
	if err != nil || of.Tag == "" {
		return at, err
	}
	return at, at.findTag(ctx, p, of.Tag, create)
}

// findRepoOfPath finds a repo by its path. If it is missing and to be made, its group is the deepest of the path that there is.
func findRepoOfPath(ctx context.Context, p *platform.Platform, at ImagePlace, path string, create bool) (ImagePlace, error) {
	repo, err := p.Repos.GetByPath(ctx, path)
	if err == nil {
		at.Repo = repo.UID
		return at, nil
	}
	if !create || !isMissing(err) {
		return at, err
	}
	for end := strings.LastIndexByte(path, '/'); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		group, missing := p.Groups.GetByPath(ctx, path[:end])
		if missing == nil {
			at.Group, at.Name = group.UID, path[end+1:]
			return at, nil
		}
		if !isMissing(missing) {
			return at, missing
		}
	}
	return at, err
}

// findTag finds the image of a tag, or notes that the tag is to be set.
func (p *ImagePlace) findTag(ctx context.Context, from *platform.Platform, tag string, create bool) error {
	var found []*inventory.Tag
	var err error
	if p.Repo != "" {
		found, err = from.Tags.ListNamed(ctx, []inventory.TagName{{Repo: p.Repo, Name: tag}})
	}
	switch {
	case err != nil:
		return err
	case len(found) == 0 && !create:
		return core.NewNotFound(inventory.TagKind.Ref(), fieldmask.TruncateForMessage(tag))
	case len(found) == 0:
		p.Tag = tag
	case p.Digest == "" && !create: // with create, the documents may say to which image the tag moves
		p.Digest = found[0].Digest
	case p.Digest == "":
		p.Tag, p.Digest = tag, ""
	case p.Digest != found[0].Digest && !create:
		return core.FailedPrecondition("TAG_POINTS_ELSEWHERE", tag, "the tag points to "+found[0].Digest+"; name that image, or move the tag with create")
	case p.Digest != found[0].Digest:
		p.Tag = tag
	}
	return nil
}

func isMissing(err error) bool { return errors.Is(err, &core.Error{Code: core.CodeNotFound}) }

// findRepo finds a repo of a group by its name; "" if there is none.
func findRepo(ctx context.Context, p *platform.Platform, group core.UID, name string) (core.UID, error) {
	page, err := p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{
		UIDP:   core.UIDFilter{ChildrenOf: group},
		Filter: &inventory.RepoFilter{Name: name}, PageSize: 1, Parts: core.PartItems,
	})
	if err != nil || len(page.Items) == 0 {
		return "", err
	}
	return page.Items[0].UID, nil
}

// makeRepo makes a repo, or finds the one that somebody has made meanwhile.
func makeRepo(ctx context.Context, p *platform.Platform, group core.UID, name string) (core.UID, error) {
	repo, err := p.Repos.Create(ctx, group, fieldmask.TypedInput(&inventory.Repo{Name: name}, "name"))
	if errors.Is(err, &core.Error{Code: core.CodeAlreadyExists}) {
		return findRepo(ctx, p, group, name)
	}
	if err != nil {
		return "", err
	}
	return repo.UID, nil
}

// setTag makes a tag, or moves the one that there is.
func setTag(ctx context.Context, p *platform.Platform, tag inventory.TagName, digest string) (changed, isNew bool, err error) {
	known, err := p.Tags.ListNamed(ctx, []inventory.TagName{tag})
	if err != nil || len(known) > 0 && known[0].Digest == digest {
		return false, false, err
	}
	_, err = p.Tags.Create(ctx, tag.Repo, fieldmask.TypedInput(&inventory.Tag{Name: tag.Name, Digest: digest}, "name", "digest"))
	return true, len(known) == 0, err
}

// An imageFinder finds the images of documents, and makes their repos and tags if it may.
type imageFinder struct {
	destination destination
	repos       map[string]core.UID           // repos of the group by name; "" if there is none
	toMake      map[core.UID]ImagePlace       // repos that are to be made, by what stands for them until then
	toTag       map[inventory.TagName]tagging // the tags to set when the documents are stored

	made, tagged KindCounts // repos and tags; without a name if nothing may be made
}

// A tagging is a tag that is to be set.
type tagging struct {
	at     Place
	digest string
}

func newImageFinder(d destination, create bool) *imageFinder {
	f := &imageFinder{destination: d, repos: map[string]core.UID{}, toMake: map[core.UID]ImagePlace{}, toTag: map[inventory.TagName]tagging{}}
	if create {
		f.made.Name, f.tagged.Name = "repos", "tags"
	}
	return f
}

func (f *imageFinder) mayMake() bool { return f.made.Name != "" }

// standIn returns what stands for a repo until it is made.
func (f *imageFinder) standIn(of ImagePlace) core.UID {
	standIn := core.UID("new " + of.Name)
	if f.toMake[standIn].Name == "" {
		f.toMake[standIn] = ImagePlace{Group: of.Group, Name: of.Name}
	}
	return standIn
}

// resolve returns the image with the repo that was made for it.
func (f *imageFinder) resolve(image core.ImageKey) core.ImageKey {
	if of, isNew := f.toMake[image.Repo]; isNew {
		image.Repo = of.Repo
	}
	return image
}

// make makes the repo of a document, and notes its tag. reason says why it cannot be made.
func (f *imageFinder) make(ctx context.Context, b *registry.ImportedSBOM, tag string, at Place) (reason, err error) {
	if of, isNew := f.toMake[b.Repo]; isNew {
		if of.Repo == "" {
			standIn := b.Repo
			if of.Repo, err = f.destination.makeRepo(ctx, of.Group, of.Name); err != nil {
				if isLasting(err) {
					return fmt.Errorf("make repo %.300q: %w", of.Name, err), nil
				}
				return nil, fmt.Errorf("make repo %.300q: %w", of.Name, err)
			}
			f.toMake[standIn] = of
			f.made.Added++
		}
		b.Repo = of.Repo
	}
	if tag != "" && f.mayMake() {
		f.toTag[inventory.TagName{Repo: b.Repo, Name: tag}] = tagging{at, b.Digest}
	}
	return nil, nil
}

// isLasting reports whether the same request would fail again.
func isLasting(err error) bool {
	var e *core.Error
	return errors.As(err, &e) && slices.Contains([]core.Code{
		core.CodeInvalidArgument, core.CodePermissionDenied, core.CodeNotFound, core.CodeAlreadyExists, core.CodeFailedPrecondition,
	}, e.Code)
}

// tag sets the tags of images whose documents are stored.
func (f *imageFinder) tag(ctx context.Context, l *reporter) error {
	for name, to := range f.toTag {
		changed, isNew, err := f.destination.setTag(ctx, name, to.digest)
		switch {
		case err != nil && isLasting(err):
			f.tagged.Failed++
			l.reportProblem(to.at, fmt.Errorf("tag %.300q: %w", name.Name, err))
		case err != nil:
			return fmt.Errorf("tag %.300q: %w", name.Name, err)
		case isNew:
			f.tagged.Added++
		case changed:
			f.tagged.Updated++
		default:
			f.tagged.Unchanged++
		}
	}
	return nil
}

// findNamed returns the image that the import is about, with the digest that the document names if the import does not.
func (f *imageFinder) findNamed(ctx context.Context, of ImagePlace, subject sbom.Subject) (key core.ImageKey, tag string, reason, err error) {
	key = core.ImageKey{Repo: of.Repo, Digest: of.Digest}
	if key.Repo == "" {
		key.Repo = f.standIn(of)
	}
	if key.Digest == "" {
		if len(subject.Digests) == 0 {
			return key, "", errors.New("names no digest of its image; give the digest with the tag, as in PATH:TAG@sha256:DIGEST"), nil
		}
		key, err = f.chooseDigest(ctx, key.Repo, subject.Digests)
	}
	return key, of.Tag, nil, err
}

// findSubject finds the image that a document names. reason says why there is none.
func (f *imageFinder) findSubject(ctx context.Context, subject sbom.Subject) (key core.ImageKey, tag string, reason, err error) {
	switch {
	case len(subject.Digests) == 0:
		return key, "", errors.New("names no digest of its image; name the image as PATH@sha256:DIGEST (--image, or the parameter image)"), nil
	case subject.Name == "":
		return key, "", errors.New("does not name its image; name it as PATH@sha256:DIGEST (--image, or the parameter image)"), nil
	}
	names := namesOfRepo(subject.Name)
	repo, err := f.findRepo(ctx, names)
	switch {
	case err != nil:
		return key, "", nil, err
	case repo == "" && f.mayMake():
		repo = f.standIn(ImagePlace{Name: names[0]})
	case repo == "":
		return key, "", fmt.Errorf("describes %.300q, and the group has no repo with that name; name the image as PATH@sha256:DIGEST (--image, or the parameter image)", subject.Name), nil
	}
	if ref, parsed := name.NewTag(subject.Name); parsed == nil && strings.HasSuffix(subject.Name, ":"+ref.TagStr()) {
		tag = ref.TagStr()
	}
	key, err = f.chooseDigest(ctx, repo, subject.Digests)
	return key, tag, nil, err
}

// chooseDigest returns the first image that is known of those with some digests, or the first one.
func (f *imageFinder) chooseDigest(ctx context.Context, repo core.UID, digests []string) (core.ImageKey, error) {
	keys := make([]core.ImageKey, len(digests))
	for i, digest := range digests {
		keys[i] = core.ImageKey{Repo: repo, Digest: digest}
	}
	if _, isNew := f.toMake[repo]; isNew || len(keys) == 1 {
		return keys[0], nil
	}
	known, err := f.destination.getImages(ctx, keys)
	if err != nil {
		return core.ImageKey{}, fmt.Errorf("find images: %w", err)
	}
	for i, image := range known {
		if image != nil {
			return keys[i], nil
		}
	}
	return keys[0], nil
}

// namesOfRepo lists the names that the repo of an image can have: with its registry or without it, and those of official images of
// Docker Hub also without library.
func namesOfRepo(image string) []string {
	if ref, err := name.ParseReference(image); err == nil {
		path := ref.Context().RepositoryStr()
		return []string{path, strings.TrimPrefix(path, "library/"), ref.Context().Name()}
	}
	return []string{image}
}

// findRepo finds the first repo of the group that has one of the names.
func (f *imageFinder) findRepo(ctx context.Context, names []string) (core.UID, error) {
	for _, name := range names {
		uid, known := f.repos[name]
		if !known {
			var err error
			if uid, err = f.destination.findRepo(ctx, name); err != nil {
				return "", fmt.Errorf("find repo: %w", err)
			}
			f.repos[name] = uid
		}
		if uid != "" {
			return uid, nil
		}
	}
	return "", nil
}
