package ingest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"path"
	"slices"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// An OCISource names the registries and repos to import, and says how to read them.
type OCISource struct {
	// Names lists registries, to import every repo of their catalogs, and
	// single repos as registry/repo. The imported repo is named by its path,
	// without the registry.
	Names       []string
	Concurrency int  // largest number of concurrent requests, at least 1
	Insecure    bool // use plain http if https does not answer; always allowed for localhost
	// Prune removes the tags that came from the registry and that it no longer
	// has, in repos that vanished or were read without an error.
	Prune bool
	SBOMs SBOMChoice // images whose SBOMs are read
	// Patterns select repos of a catalog by their paths, as path.Match does; none select all.
	Patterns []string

	// Transport sends requests for somebody who is not the operator. Then the credentials of this machine are not used, but these; without a
	// user name, the password is a token.
	Transport          http.RoundTripper
	Username, Password string

	limits ociLimits // the default if it is zero
}

// selects reports whether a repo of a catalog is read.
func (s *OCISource) selects(repo string) bool {
	return len(s.Patterns) == 0 || slices.ContainsFunc(s.Patterns, func(pattern string) bool {
		matches, err := path.Match(pattern, repo)
		return err == nil && matches
	})
}

// ImportOCI imports repos, tags and images from registries that speak the OCI (or
// Docker) distribution protocol. It moves tags, removes no repo, and keeps the
// descriptions that people wrote. The content of a digest never changes, so an
// image that is stored with its sizes is not read again.
//
// Each tag stores the registry and repo that it came from, and pruning removes
// only tags that came from the source that is read. A repo that vanished from its
// registry is reported; pruning removes its tags.
func ImportOCI(ctx context.Context, p *platform.Platform, source OCISource, o Options) (Summary, error) {
	return importOCI(ctx, newDestination(p, o, core.ImportOptions{NamesOnly: true}), source, o, time.Second)
}

// Repos and tags are imported in chunks. Each chunk is stored before the next is
// read, so an interrupted import loses at most one.
const (
	repoChunk = 100
	tagChunk  = 128
)

// maxFailures is how many requests in a row may fail, because the registry is
// unavailable or refuses more requests, before the import ends.
const maxFailures = 20

// progressPerRepo is what a repo adds to the progress. It is more than 1, so that
// parts of a repo count too.
const progressPerRepo = 1000

// importOCI is ImportOCI with a destination, and with the pause before a retry.
func importOCI(ctx context.Context, d destination, source OCISource, o Options, pause time.Duration) (Summary, error) {
	client, err := newOCIClient(source, pause)
	if err != nil {
		return Summary{}, err
	}
	r := newOCIImport(d, source, client, o)
	err = r.reporter.finish(r.run(ctx))
	return Summary{Kinds: append([]KindCounts{r.repos.kind, r.tags.kind, r.images.kind}, countsOf(r.sboms.kind)...), Unreadable: r.reporter.unreadable}, err
}

// An ociImport is the import from all registries of a source.
type ociImport struct {
	destination destination
	source      OCISource
	client      *ociClient
	reporter    *reporter
	repos       *batch[registry.ImportedRepo, string]
	tags        *batch[registry.ImportedTag, inventory.TagName]
	images      *batch[inventory.Image, core.ImageKey]
	sboms       *sbomBatch
	failed      map[core.UID]bool                // repos with a tag or image that failed
	sources     map[string][]registry.RepoSource // sources of earlier imports, by registry
	seen        map[core.ImageKey]bool           // images of the current chunk of repos
	failures    int                              // failed requests in a row
}

// An ociRepo is a repo of a registry.
type ociRepo struct {
	name.Repository
	record registry.ImportedRepo
	tags   []string
	err    error // reason why its tags cannot be listed
}

func (r *ociRepo) place() Place { return Place{File: r.Name()} }

// source is the source that is stored with the tags of the repo.
func (r *ociRepo) source() registry.RepoSource {
	return registry.RepoSource{Repo: r.record.UID, Source: r.Name()}
}

// An ociTag is a tag of a registry.
type ociTag struct {
	repo   *ociRepo
	name   string
	digest v1.Hash
	err    error // reason why its digest cannot be read
}

func (t *ociTag) place() Place { return Place{File: t.repo.Name() + ":" + t.name} }

func (t *ociTag) image() core.ImageKey {
	return core.ImageKey{Repo: t.repo.record.UID, Digest: t.digest.String()}
}

func (t *ociTag) manifest() manifestKey { return manifestKey{t.repo.Repository, t.digest, true} }

// newOCIImport returns an import into d.
func newOCIImport(d destination, source OCISource, client *ociClient, o Options) *ociImport {
	r := &ociImport{destination: d, source: source, client: client, reporter: &reporter{options: o}, failed: map[core.UID]bool{}, sources: map[string][]registry.RepoSource{}}
	r.repos = newBatch("repos", r.reporter, d.repos, func(repo *registry.ImportedRepo) string { return repo.Name })
	r.tags = newBatch("tags", r.reporter, r.writeTags, (*registry.ImportedTag).Key)
	r.images = newBatch("images", r.reporter, d.images, (*inventory.Image).Key)
	r.sboms = newSBOMBatch(d, r.reporter)
	return r
}

// writeTags imports tags, and records the repos of those that the core rejects.
func (r *ociImport) writeTags(ctx context.Context, tags []*registry.ImportedTag) (core.Imported, error) {
	done, err := r.destination.tags(ctx, tags)
	for i := range done.Rejected {
		r.failed[tags[i].Repo] = true
	}
	return done, err
}

// run imports the repos of the source in chunks.
func (r *ociImport) run(ctx context.Context) error {
	repos, err := r.listRepos(ctx)
	if err != nil {
		return err
	}
	r.reporter.progress.Total = int64(progressPerRepo * len(repos))
	for chunk := range slices.Chunk(repos, repoChunk) {
		before := r.reporter.progress.Read
		if err := r.importRepos(ctx, chunk); err != nil {
			return err
		}
		r.reporter.progress.Read = before + int64(progressPerRepo*len(chunk))
	}
	return nil
}

// importRepos imports repos with their tags and images.
func (r *ociImport) importRepos(ctx context.Context, repos []*ociRepo) error {
	if err := r.listTags(ctx, repos); err != nil {
		return err
	}
	r.seen = map[core.ImageKey]bool{}
	before := r.reporter.progress.Read
	done, all := 0, 0
	for _, repo := range repos {
		all += len(repo.tags)
	}
	for chunk := range chunkTags(repos) {
		if err := r.importTags(ctx, chunk); err != nil {
			return err
		}
		done += len(chunk)
		r.reporter.progress.Read = before + int64(progressPerRepo*len(repos)*done/all)
	}
	return r.prune(ctx, repos)
}

// chunkTags yields the tags of the repos that listTags has imported, in chunks.
func chunkTags(repos []*ociRepo) iter.Seq[[]*ociTag] {
	return func(yield func([]*ociTag) bool) {
		var chunk []*ociTag
		for _, repo := range repos {
			if repo.record.UID == "" {
				continue // listTags has reported it
			}
			for _, tag := range repo.tags {
				if chunk = append(chunk, &ociTag{repo: repo, name: tag}); len(chunk) < tagChunk {
					continue
				}
				if !yield(chunk) {
					return
				}
				chunk = nil
			}
		}
		if len(chunk) > 0 {
			yield(chunk)
		}
	}
}

// listTags lists the tags of repos, and imports the repos for which that succeeds.
func (r *ociImport) listTags(ctx context.Context, repos []*ociRepo) error {
	limit := r.client.newTagLimit()
	err := runParallel(ctx, r.source.Concurrency, repos, func(ctx context.Context, repo *ociRepo) {
		repo.tags, repo.err = r.client.listTags(ctx, repo.Repository, limit)
	}, func(repo *ociRepo) error {
		r.reporter.countRecord()
		return r.checkAvailable(repo.err)
	})
	if err != nil {
		return err
	}
	for _, repo := range repos {
		if repo.err != nil {
			vanished, err := r.handleVanished(ctx, repo)
			if err != nil {
				return err
			}
			if !vanished {
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

// importTags imports tags and the images that they point to. The images come
// first, so that no tag points to an image that does not exist yet.
func (r *ociImport) importTags(ctx context.Context, tags []*ociTag) error {
	err := runParallel(ctx, r.source.Concurrency, tags, func(ctx context.Context, t *ociTag) {
		t.digest, t.err = r.client.readDigest(ctx, t.repo.Repository, t.name)
	}, func(t *ociTag) error {
		r.reporter.countRecord()
		return r.checkAvailable(t.err)
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
	if err := r.importImages(ctx, tags); err != nil {
		return err
	}
	for _, t := range tags {
		record := &registry.ImportedTag{Repo: t.repo.record.UID, Tag: inventory.Tag{Name: t.name, Digest: t.digest.String(), Source: t.repo.Name()}}
		if err := r.tags.add(ctx, record, t.place(), 0); err != nil {
			return err
		}
	}
	return r.tags.flush(ctx)
}

// importImages imports the images of tags that are not stored yet, and SBOMs.
func (r *ociImport) importImages(ctx context.Context, tags []*ociTag) error {
	missing, stored, packages, err := r.findMissing(ctx, tags)
	if err != nil {
		return err
	}
	searched := slices.Clone(missing)
	if r.source.SBOMs == AllSBOMs {
		searched = append(searched, stored...)
	}
	roots := make([]manifestKey, len(searched))
	for i, t := range searched {
		roots[i] = t.manifest()
	}
	all := manifests{}
	err = all.readTree(ctx, r.source.Concurrency, r.client, roots, func(err error) error {
		r.reporter.reportProgress()
		return r.checkAvailable(err)
	})
	if err != nil {
		return err
	}
	for _, t := range missing {
		architectures, omitted, err := all.architectures(t.manifest())
		for _, reason := range omitted {
			r.reporter.reportProblem(t.place(), reason)
		}
		if err != nil {
			r.images.fail(t.place(), err)
			r.failed[t.repo.record.UID] = true
			continue
		}
		key := t.image()
		record := &inventory.Image{Repo: key.Repo, Digest: key.Digest, Architectures: architectures, Packages: packages[key]}
		record.BaseName, record.BaseDigest = all.base(t.manifest())
		if err := r.images.add(ctx, record, t.place(), 0); err != nil {
			return err
		}
	}
	if err := r.images.flush(ctx); err != nil || r.source.SBOMs == NoSBOMs {
		return err
	}
	return r.importSBOMs(ctx, all, searched)
}

// findMissing returns one tag for every image that must be read, and one for each that is stored. packages has the
// stored packages of images that are stored without their sizes.
func (r *ociImport) findMissing(ctx context.Context, tags []*ociTag) (missing, stored []*ociTag, packages map[core.ImageKey][]string, err error) {
	var unique []*ociTag
	var keys []core.ImageKey
	for _, t := range tags {
		if key := t.image(); !r.seen[key] {
			r.seen[key] = true
			unique, keys = append(unique, t), append(keys, key)
		}
	}
	found, err := r.destination.getImages(ctx, keys)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("find images: %w", err)
	}
	packages = map[core.ImageKey][]string{}
	for i, t := range unique {
		switch image := found[i]; {
		case image == nil:
			missing = append(missing, t)
		case slices.ContainsFunc(image.Architectures, func(a inventory.Architecture) bool { return a.Size == 0 }):
			packages[keys[i]] = image.Packages
			missing = append(missing, t)
		default:
			r.images.kind.Unchanged++
			stored = append(stored, t)
		}
	}
	return missing, stored, packages, nil
}

// checkAvailable counts the result of a request. It returns an error when so many
// requests in a row have failed that the registry must be unavailable.
func (r *ociImport) checkAvailable(err error) error {
	if err == nil || !isTransient(err) && !errors.Is(err, syscall.ECONNREFUSED) {
		r.failures = 0
		return nil
	}
	if r.failures++; r.failures < maxFailures {
		return nil
	}
	return fmt.Errorf("the last %d requests failed; import again when the registry is available: %w", maxFailures, err)
}
