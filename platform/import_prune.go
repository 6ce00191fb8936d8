package platform

import (
	"context"
	"errors"
	"slices"
)

// pruneBatch is how many tags one transaction removes: few enough that it is
// short.
const pruneBatch = 100

// A RepoSource is where tags of a repo were brought from.
type RepoSource struct {
	Repo   UID
	Source string // as Tag.Source
}

// Sources lists which repos of a group hold tags that imports brought from a
// registry, by its host. What callers made has no source.
func (s Repos) Sources(ctx context.Context, group UID, registry string) ([]RepoSource, error) {
	if err := s.p.importing(ctx, group); err != nil {
		return nil, err
	}
	return s.p.store.RepoSources(ctx, group, registry)
}

// Prune removes the tags that a source brought into a repo and whose names are
// not among keep, and tells how many. What was removed before an error stays
// removed.
func (s Tags) Prune(ctx context.Context, from RepoSource, keep []string, o ImportOptions) (removed int, err error) {
	removed, err = s.prune(ctx, from, keep, o)
	return removed, s.kind.in(err)
}

func (s Tags) prune(ctx context.Context, from RepoSource, keep []string, o ImportOptions) (removed int, err error) {
	if err := operating(ctx); err != nil {
		return 0, err
	}
	if err := invalidUID("repo", from.Repo); err != nil {
		return 0, err
	}
	there, err := TableOf[Repo, RepoFilter](s.p.store).Get(ctx, Keys{uids: []UID{from.Repo}})
	if err != nil {
		return 0, err
	}
	if len(there) == 0 {
		return 0, missing("Repo", from.Repo)
	}
	gone, err := s.except(ctx, from, keep)
	if err != nil {
		return 0, err
	}
	for batch := range slices.Chunk(gone, pruneBatch) {
		n, err := s.removeAll(ctx, batch, o)
		if err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, nil
}

// except finds the tags that a source brought and that have none of these
// names.
func (s Tags) except(ctx context.Context, from RepoSource, names []string) (found []UID, err error) {
	named := make(map[string]bool, len(names))
	for _, name := range names {
		named[name] = true
	}
	brought, err := s.p.store.TagsFrom(ctx, from)
	for _, t := range brought {
		if !named[t.Name] {
			found = append(found, t.UID)
		}
	}
	return found, err
}

// removeAll removes tags in one transaction. One that has gone already is not
// counted.
func (s Tags) removeAll(ctx context.Context, tags []UID, o ImportOptions) (removed int, err error) {
	err = s.p.store.Write(ctx, func(tx Tx) error {
		removed = 0
		for _, uid := range tags {
			switch row, err := s.rows(tx).Delete(ctx, uid); {
			case errors.Is(err, ErrNotFound):
			case err != nil:
				return err
			default:
				removed++
				recordImported(ctx, tx, s.resources, "deleted", o, row)
			}
		}
		return nil
	})
	return removed, err
}
