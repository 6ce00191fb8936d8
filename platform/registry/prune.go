package registry

import (
	"context"
	"slices"

	"atrium/platform/core"
)

// pruneBatch is the number of tags that one transaction deletes. It is small to
// keep transactions short.
const pruneBatch = 100

// A RepoSource is a source from which tags of a repo were imported.
type RepoSource struct {
	Repo   core.UID
	Source string // the source as in Tag.Source
}

// ListSources lists the sources of tags in the repos of a group that were imported
// from a registry host. Tags that callers made have no source.
func (s *Registry) ListSources(ctx context.Context, group core.UID, registry string) ([]RepoSource, error) {
	if err := s.core.RequireOperatorOf(ctx, group); err != nil {
		return nil, err
	}
	return s.tables.RepoSources(ctx, s.core.Store, group, registry)
}

// PruneTags deletes the tags of a repo that were imported from a source and whose
// names are not in keep. It returns how many it deleted. Tags that were deleted
// before an error stay deleted.
func (s *Registry) PruneTags(ctx context.Context, from RepoSource, keep []string, o core.ImportOptions) (removed int, err error) {
	removed, err = s.pruneTags(ctx, from, keep, o)
	return removed, s.tags.Kind.AddArea(err)
}

func (s *Registry) pruneTags(ctx context.Context, from RepoSource, keep []string, o core.ImportOptions) (removed int, err error) {
	if err := core.RequireOperator(ctx); err != nil {
		return 0, err
	}
	if err := core.InvalidUID("repo", from.Repo); err != nil {
		return 0, err
	}
	if _, err := s.repos.GetCurrent(ctx, from.Repo); err != nil {
		return 0, err
	}
	gone, err := s.listTagsExcept(ctx, from, keep)
	if err != nil {
		return 0, err
	}
	for batch := range slices.Chunk(gone, pruneBatch) {
		n, err := s.removeTags(ctx, from, batch, o)
		if err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, nil
}

// listTagsExcept lists the tags that were imported from a source, except those with
// the given names.
func (s *Registry) listTagsExcept(ctx context.Context, from RepoSource, names []string) (found []core.UID, err error) {
	excluded := make(map[string]bool, len(names))
	for _, name := range names {
		excluded[name] = true
	}
	imported, err := s.tables.TagsOfSource(ctx, s.core.Store, from)
	for _, t := range imported {
		if !excluded[t.Name] {
			found = append(found, t.UID)
		}
	}
	return found, err
}

// removeTags deletes tags in one transaction. It leaves out those that no longer exist, and
// those that a caller or another import has taken over since they were listed.
func (s *Registry) removeTags(ctx context.Context, from RepoSource, tags []core.UID, o core.ImportOptions) (removed int, err error) {
	err = s.core.Store.Write(ctx, func(tx core.Tx) error {
		gone, err := s.tables.LockTagsOfSource(ctx, tx, from, tags)
		if err != nil {
			return err
		}
		rows, err := s.tags.Table.DeleteAll(ctx, tx, gone)
		if err != nil {
			return err
		}
		for _, row := range rows {
			core.RecordImported(ctx, tx, s.tags, "deleted", o, row)
		}
		removed = len(gone)
		return nil
	})
	return removed, err
}
