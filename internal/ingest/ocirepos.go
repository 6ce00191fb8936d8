package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"

	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// A repoList collects the repos of a source, each once.
type repoList struct {
	*ociImport
	repos      []*ociRepo
	registries map[string]string // registries by the path of the repo
}

// add adds a repo, unless another registry has a repo with the same path.
func (l *repoList) add(repo name.Repository) {
	path, host := repo.RepositoryStr(), repo.RegistryStr()
	switch other, isKnown := l.registries[path]; {
	case !isKnown:
		l.registries[path] = host
		l.repos = append(l.repos, &ociRepo{Repository: repo, record: registry.ImportedRepo{Repo: inventory.Repo{Name: path}}})
	case other != host:
		l.ociImport.repos.fail(Place{File: repo.Name()}, fmt.Errorf("the group can have only one repo %s, and the import takes the one of %s", path, other))
	}
}

// listRepos lists the repos that the source names, each once.
func (r *ociImport) listRepos(ctx context.Context) ([]*ociRepo, error) {
	list := &repoList{ociImport: r, registries: map[string]string{}}
	var errs []error
	var registries []name.Registry
	for _, text := range r.source.Names {
		registry, repo, err := r.client.parseName(text)
		switch {
		case err != nil:
			errs = append(errs, err)
		case repo != nil:
			list.add(*repo)
		default:
			registries = append(registries, registry)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for _, registry := range registries {
		if err := list.addCatalog(ctx, registry); err != nil {
			return nil, err
		}
	}
	return list.repos, nil
}

// addCatalog adds the repos in the catalog of a registry and, after them, the
// repos that earlier imports read from it. The registry is asked for each of those
// by name: a catalog leaves out repos that the caller may no longer see, and
// these have not vanished.
func (l *repoList) addCatalog(ctx context.Context, registry name.Registry) error {
	paths, err := l.client.listRepos(ctx, registry)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	at := Place{File: registry.Name()}
	switch {
	case err != nil:
		l.reporter.reportUnreadable(at, fmt.Errorf("its catalog cannot be read: %w", err))
	case len(paths) == 0:
		l.reporter.reportUnreadable(at, errors.New("its catalog lists no repos, so nothing was imported or pruned; name the repos (REGISTRY/REPO) if the registry hides them"))
	}
	isComplete := err == nil && len(paths) > 0
	for _, path := range paths {
		if !l.source.selects(path) {
			continue
		}
		repo, err := name.NewRepository(registry.Name()+"/"+path, l.client.nameOptions...)
		if err != nil {
			l.ociImport.repos.fail(Place{File: registry.Name() + "/" + path}, err)
			continue
		}
		l.add(repo)
	}
	if !isComplete {
		return nil
	}
	sources, err := l.earlierSources(ctx, registry.Name())
	if err != nil {
		return err
	}
	for _, source := range sources {
		if repo, err := name.NewRepository(source.Source, l.client.nameOptions...); err == nil && l.registries[repo.RepositoryStr()] == "" && l.source.selects(repo.RepositoryStr()) {
			l.add(repo)
		}
	}
	return nil
}

// earlierSources lists the sources of earlier imports from a registry.
func (r *ociImport) earlierSources(ctx context.Context, host string) ([]registry.RepoSource, error) {
	if sources, isKnown := r.sources[host]; isKnown {
		return sources, nil
	}
	sources, err := r.destination.listSources(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("list earlier imports from %s: %w", host, err)
	}
	r.sources[host] = sources
	return sources, nil
}

// handleVanished handles a repo whose tags cannot be listed. It reports false, and
// does nothing, if the registry does not say that the repo does not exist, or if
// the group has nothing from it.
func (r *ociImport) handleVanished(ctx context.Context, repo *ociRepo) (bool, error) {
	if !isRepoUnknown(repo.err) {
		return false, nil
	}
	sources, err := r.earlierSources(ctx, repo.RegistryStr())
	if err != nil {
		return false, err
	}
	sources = slices.DeleteFunc(slices.Clone(sources), func(s registry.RepoSource) bool { return s.Source != repo.Name() })
	if len(sources) == 0 {
		return false, nil
	}
	return true, r.reportVanished(ctx, repo, sources)
}

// reportVanished reports a repo that its registry no longer has. If pruning is
// requested, it removes the tags that came from there.
func (r *ociImport) reportVanished(ctx context.Context, repo *ociRepo, sources []registry.RepoSource) error {
	r.repos.kind.Vanished++
	if !r.source.Prune {
		r.reporter.reportProblem(repo.place(), errors.New("has vanished from the registry; the tags that came from there stay (--prune removes them)"))
		return nil
	}
	removed := 0
	for _, source := range sources {
		n, err := r.pruneSource(ctx, source, nil)
		if removed += n; err != nil {
			return err
		}
	}
	r.reporter.reportProblem(repo.place(), fmt.Errorf("has vanished from the registry; the tags that came from there are removed: %d", removed))
	return nil
}

// prune removes the tags that came from repos and that the registry no longer
// has.
func (r *ociImport) prune(ctx context.Context, repos []*ociRepo) error {
	if !r.source.Prune {
		return nil
	}
	for _, repo := range repos {
		if uid := repo.record.UID; uid == "" || r.failed[uid] {
			continue
		}
		if _, err := r.pruneSource(ctx, repo.source(), repo.tags); err != nil {
			return err
		}
	}
	return nil
}

func (r *ociImport) pruneSource(ctx context.Context, source registry.RepoSource, keep []string) (removed int, err error) {
	removed, err = r.destination.pruneTags(ctx, source, keep)
	if r.tags.kind.Removed += removed; err != nil {
		return removed, fmt.Errorf("prune tags: %w", err)
	}
	return removed, nil
}
