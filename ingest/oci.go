package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"atrium/platform"
)

// An OCISource says what is read from which registries, and how.
type OCISource struct {
	// Names are registries (every repo of their catalogues) and
	// registry/repo. A repo is named by its path, without the registry.
	Names       []string
	Concurrency int  // requests under way at once, from 1
	Insecure    bool // plain http where https does not answer; this machine's own hosts need no leave
	Prune       bool // remove tags that the registry brought and no longer has, of repos that were read without an error or vanished
}

// OCI imports repos, tags and images from registries that speak the OCI (or
// Docker) distribution protocol. Tags move, and no repo is removed; what
// people wrote about repos and tags stays. A digest always means the same, so
// an image that is there with its sizes is not read again.
//
// Each tag remembers the registry and repo that it came from, and pruning
// removes only tags of the source that is read. A repo that vanished from its
// registry is reported; pruning empties it.
func OCI(ctx context.Context, p *platform.Platform, from OCISource, o Options) (Summary, error) {
	return importOCI(ctx, into(p, o, platform.ImportOptions{Bare: true}), from, o, time.Second)
}

// Work is cut into pieces, each of which is stored before the next is read: an
// import that is interrupted loses no more.
const (
	reposAtOnce = 100
	tagsAtOnce  = 128
)

// maxOutages is how many requests in a row may fail as if the registry had
// gone, or had enough of us, until the import ends.
const maxOutages = 20

// share is how progress counts a repo, so that a part of one counts too.
const share = 1000

func importOCI(ctx context.Context, to sink, from OCISource, o Options, pause time.Duration) (Summary, error) {
	client, err := newOCIClient(from, pause)
	if err != nil {
		return Summary{}, err
	}
	r := newOCI(to, from, client, o)
	err = r.run(ctx)
	return Summary{Kinds: []Kind{r.repos.kind, r.tags.kind, r.images.kind}, Unreadable: r.log.unreadable}, err
}

// An ociImport is the import from all registries of a source.
type ociImport struct {
	to      sink
	from    OCISource
	client  *ociClient
	log     *log
	repos   *batch[platform.ImportedRepo]
	tags    *batch[platform.ImportedTag]
	images  *batch[platform.Image]
	failed  map[platform.UID]bool            // repos that are not wholly imported
	before  map[string][]platform.RepoSource // what earlier imports brought, by registry
	read    map[platform.ImageKey]bool
	outages int // in a row
}

// An ociRepo is a repo of a registry.
type ociRepo struct {
	name.Repository
	record platform.ImportedRepo
	tags   []string
	err    error // its tags cannot be listed
}

func (r *ociRepo) place() Place { return Place{File: r.Name()} }

// source is what tags of the repo remember.
func (r *ociRepo) source() platform.RepoSource {
	return platform.RepoSource{Repo: r.record.UID, Source: r.Name()}
}

// An ociTag is a tag of a registry.
type ociTag struct {
	repo   *ociRepo
	name   string
	digest v1.Hash
	err    error // what it points to cannot be found out
}

func (t *ociTag) place() Place { return Place{File: t.repo.Name() + ":" + t.name} }

func (t *ociTag) image() platform.ImageKey {
	return platform.ImageKey{Repo: t.repo.record.UID, Digest: t.digest.String()}
}

func (t *ociTag) manifest() manifestKey { return manifestKey{t.repo.Repository, t.digest, true} }

func newOCI(to sink, from OCISource, client *ociClient, o Options) *ociImport {
	r := &ociImport{to: to, from: from, client: client, log: &log{options: o}, failed: map[platform.UID]bool{}, before: map[string][]platform.RepoSource{}}
	r.repos = newBatch("repos", r.log, to.repos, func(repo *platform.ImportedRepo) any { return repo.Name })
	r.tags = newBatch("tags", r.log, r.importTags, func(t *platform.ImportedTag) any { return [2]string{string(t.Repo), t.Name} })
	r.images = newBatch("images", r.log, to.images, func(i *platform.Image) any {
		return platform.ImageKey{Repo: i.Repo, Digest: i.Digest}
	})
	return r
}

func (r *ociImport) importTags(ctx context.Context, tags []*platform.ImportedTag) (platform.Imported, error) {
	done, err := r.to.tags(ctx, tags)
	for i := range done.Rejected {
		r.failed[tags[i].Repo] = true
	}
	return done, err
}

func (r *ociImport) run(ctx context.Context) error {
	repos, err := r.named(ctx)
	if err != nil {
		return err
	}
	r.log.progress.Total = int64(share * len(repos))
	for some := range slices.Chunk(repos, reposAtOnce) {
		before := r.log.progress.Read
		if err := r.some(ctx, some); err != nil {
			return err
		}
		r.log.progress.Read = before + int64(share*len(some))
	}
	return nil
}

// some imports repos with all that they hold.
func (r *ociImport) some(ctx context.Context, repos []*ociRepo) error {
	if err := r.list(ctx, repos); err != nil {
		return err
	}
	var tags []*ociTag
	for _, repo := range repos {
		if repo.record.UID == "" {
			continue // reported
		}
		for _, tag := range repo.tags {
			tags = append(tags, &ociTag{repo: repo, name: tag})
		}
	}
	r.read = map[platform.ImageKey]bool{}
	before := r.log.progress.Read
	done := 0
	for few := range slices.Chunk(tags, tagsAtOnce) {
		if err := r.few(ctx, few); err != nil {
			return err
		}
		done += len(few)
		r.log.progress.Read = before + int64(share*len(repos)*done/len(tags))
	}
	return r.prune(ctx, repos)
}

// list lists the tags of repos, and imports the repos where that works.
func (r *ociImport) list(ctx context.Context, repos []*ociRepo) error {
	err := together(ctx, r.from.Concurrency, repos, func(ctx context.Context, repo *ociRepo) {
		repo.tags, repo.err = r.client.tags(ctx, repo.Repository)
	}, func(repo *ociRepo) error {
		r.log.record()
		return r.present(repo.err)
	})
	if err != nil {
		return err
	}
	for _, repo := range repos {
		if repo.err != nil {
			gone, err := r.vanishes(ctx, repo)
			if err != nil {
				return err
			}
			if !gone {
				r.repos.fail(repo.place(), repo.err)
			}
			continue
		}
		if err := r.repos.add(ctx, &repo.record, repo.place(), 0); err != nil {
			return err
		}
	}
	return r.repos.flush(ctx)
}

// few imports tags and the images that they point to. The images come first,
// so that no tag points to one that is not there yet.
func (r *ociImport) few(ctx context.Context, tags []*ociTag) error {
	err := together(ctx, r.from.Concurrency, tags, func(ctx context.Context, t *ociTag) {
		t.digest, t.err = r.client.digest(ctx, t.repo.Repository, t.name)
	}, func(t *ociTag) error {
		r.log.record()
		return r.present(t.err)
	})
	if err != nil {
		return err
	}
	for _, t := range tags {
		if t.err != nil {
			r.tags.fail(t.place(), t.err)
			r.failed[t.repo.record.UID] = true
		}
	}
	tags = slices.DeleteFunc(tags, func(t *ociTag) bool { return t.err != nil })
	if err := r.bringImages(ctx, tags); err != nil {
		return err
	}
	for _, t := range tags {
		record := &platform.ImportedTag{Repo: t.repo.record.UID, Tag: platform.Tag{Name: t.name, Digest: t.digest.String(), Source: t.repo.Name()}}
		if err := r.tags.add(ctx, record, t.place(), 0); err != nil {
			return err
		}
	}
	return r.tags.flush(ctx)
}

// bringImages imports the images of tags that are not there yet.
func (r *ociImport) bringImages(ctx context.Context, tags []*ociTag) error {
	missing, packages, err := r.missing(ctx, tags)
	if err != nil {
		return err
	}
	roots := make([]manifestKey, len(missing))
	for i, t := range missing {
		roots[i] = t.manifest()
	}
	all := manifests{}
	err = all.read(ctx, r.from.Concurrency, r.client, roots, func(err error) error {
		r.log.tell()
		return r.present(err)
	})
	if err != nil {
		return err
	}
	for _, t := range missing {
		architectures, err := all.architectures(t.manifest())
		if err != nil {
			r.images.fail(t.place(), err)
			r.failed[t.repo.record.UID] = true
			continue
		}
		key := t.image()
		record := &platform.Image{Repo: key.Repo, Digest: key.Digest, Architectures: architectures, Packages: packages[key]}
		if err := r.images.add(ctx, record, t.place(), 0); err != nil {
			return err
		}
	}
	return r.images.flush(ctx)
}

// missing finds one tag for every image that is to be read, and the packages
// of those that are there without their sizes.
func (r *ociImport) missing(ctx context.Context, tags []*ociTag) (missing []*ociTag, packages map[platform.ImageKey][]string, err error) {
	var first []*ociTag
	var keys []platform.ImageKey
	for _, t := range tags {
		if key := t.image(); !r.read[key] {
			r.read[key] = true
			first, keys = append(first, t), append(keys, key)
		}
	}
	there, err := r.to.imagesAt(ctx, keys)
	if err != nil {
		return nil, nil, fmt.Errorf("find images: %w", err)
	}
	packages = map[platform.ImageKey][]string{}
	for i, t := range first {
		switch image := there[i]; {
		case image == nil:
			missing = append(missing, t)
		case slices.ContainsFunc(image.Architectures, func(a platform.Architecture) bool { return a.Size == 0 }):
			packages[keys[i]] = image.Packages
			missing = append(missing, t)
		default:
			r.images.kind.Unchanged++
		}
	}
	return missing, packages, nil
}

// present ends the import where requests fail one after the other as if the
// registry had gone.
func (r *ociImport) present(err error) error {
	if err == nil || !passing(err) && !errors.Is(err, syscall.ECONNREFUSED) {
		r.outages = 0
		return nil
	}
	if r.outages++; r.outages < maxOutages {
		return nil
	}
	return fmt.Errorf("the last %d requests failed, so the registry seems to be away: %w", maxOutages, err)
}
