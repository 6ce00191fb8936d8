package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/go-containerregistry/pkg/name"

	"atrium/platform"
)

// A repoList collects the repos of a source, each once.
type repoList struct {
	*ociImport
	found      []*ociRepo
	registries map[string]string // by repo
}

func (l *repoList) add(repo name.Repository) {
	path, registry := repo.RepositoryStr(), repo.RegistryStr()
	switch other, twice := l.registries[path]; {
	case !twice:
		l.registries[path] = registry
		l.found = append(l.found, &ociRepo{Repository: repo, record: platform.ImportedRepo{Repo: platform.Repo{Name: path}}})
	case other != registry:
		l.repos.fail(Place{File: repo.Name()}, fmt.Errorf("the group can hold one repo %s, and that of %s comes first", path, other))
	}
}

// named lists the repos of the source, each once.
func (r *ociImport) named(ctx context.Context) ([]*ociRepo, error) {
	list := &repoList{ociImport: r, registries: map[string]string{}}
	var faults []error
	var whole []name.Registry
	for _, text := range r.from.Names {
		registry, repo, err := r.client.target(text)
		switch {
		case err != nil:
			faults = append(faults, err)
		case repo != nil:
			list.add(*repo)
		default:
			whole = append(whole, registry)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	for _, registry := range whole {
		if err := list.catalogue(ctx, registry); err != nil {
			return nil, err
		}
	}
	return list.found, nil
}

// catalogue adds the repos that a registry lists and, behind them, those that
// earlier imports brought: the registry is asked about each by name, so that a
// list which leaves out what the caller may not see any more empties nothing.
func (l *repoList) catalogue(ctx context.Context, registry name.Registry) error {
	paths, err := l.client.repos(ctx, registry)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	at := Place{File: registry.Name()}
	switch {
	case err != nil:
		l.log.unread(at, fmt.Errorf("its catalogue: %w", err))
	case len(paths) == 0:
		l.log.unread(at, errors.New("its catalogue lists no repos, so nothing was imported or pruned; name the repos (REGISTRY/REPO) if the registry hides them"))
	}
	whole := err == nil && len(paths) > 0
	for _, path := range paths {
		repo, err := name.NewRepository(registry.Name()+"/"+path, l.client.naming...)
		if err != nil {
			l.repos.fail(Place{File: registry.Name() + "/" + path}, err)
			continue
		}
		l.add(repo)
	}
	if !whole {
		return nil
	}
	before, err := l.brought(ctx, registry.Name())
	if err != nil {
		return err
	}
	for _, from := range before {
		if repo, err := name.NewRepository(from.Source, l.client.naming...); err == nil && l.registries[repo.RepositoryStr()] == "" {
			l.add(repo)
		}
	}
	return nil
}

// brought lists what earlier imports brought from a registry.
func (r *ociImport) brought(ctx context.Context, registry string) ([]platform.RepoSource, error) {
	if before, asked := r.before[registry]; asked {
		return before, nil
	}
	before, err := r.to.sources(ctx, registry)
	if err != nil {
		return nil, fmt.Errorf("find what came from %s: %w", registry, err)
	}
	r.before[registry] = before
	return before, nil
}

// vanishes handles a repo whose tags cannot be listed since its registry says
// that there is none. It is false for a repo that the group never had.
func (r *ociImport) vanishes(ctx context.Context, repo *ociRepo) (bool, error) {
	if !unknownToRegistry(repo.err) {
		return false, nil
	}
	before, err := r.brought(ctx, repo.RegistryStr())
	if err != nil {
		return false, err
	}
	before = slices.DeleteFunc(slices.Clone(before), func(from platform.RepoSource) bool { return from.Source != repo.Name() })
	if len(before) == 0 {
		return false, nil
	}
	return true, r.vanished(ctx, repo, before)
}

// vanished reports a repo that its registry no longer has, and empties what
// came from there where pruning is asked for.
func (r *ociImport) vanished(ctx context.Context, repo *ociRepo, before []platform.RepoSource) error {
	r.repos.kind.Vanished++
	if !r.from.Prune {
		r.log.bad(repo.place(), errors.New("has vanished from the registry; the tags that came from there stay (--prune removes them)"))
		return nil
	}
	removed := 0
	for _, from := range before {
		n, err := r.pruneSource(ctx, from, nil)
		if removed += n; err != nil {
			return err
		}
	}
	r.log.bad(repo.place(), fmt.Errorf("has vanished from the registry; the tags that came from there are removed: %d", removed))
	return nil
}

// prune removes the tags that came from repos and that the registry has no
// longer.
func (r *ociImport) prune(ctx context.Context, repos []*ociRepo) error {
	if !r.from.Prune {
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

func (r *ociImport) pruneSource(ctx context.Context, from platform.RepoSource, keep []string) (removed int, err error) {
	removed, err = r.to.prune(ctx, from, keep)
	if r.tags.kind.Removed += removed; err != nil {
		return removed, fmt.Errorf("prune tags: %w", err)
	}
	return removed, nil
}
