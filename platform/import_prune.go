package platform

import (
	"context"
	"errors"
	"slices"
)

// pruneBatch is how many tags one transaction removes: few enough that it is
// short.
const pruneBatch = 100

// Prune removes the tags of a repo whose names are not among keep, and tells
// how many. What was removed before an error stays removed.
func (s Tags) Prune(ctx context.Context, repo UID, keep []string, o ImportOptions) (removed int, err error) {
	removed, err = s.prune(ctx, repo, keep, o)
	return removed, s.kind.in(err)
}

func (s Tags) prune(ctx context.Context, repo UID, keep []string, o ImportOptions) (removed int, err error) {
	if err := operating(ctx); err != nil {
		return 0, err
	}
	if err := invalidUID("repo", repo); err != nil {
		return 0, err
	}
	there, err := s.p.store.Repos().Get(ctx, Keys{[]UID{repo}})
	if err != nil {
		return 0, err
	}
	if len(there) == 0 {
		return 0, missing("Repo", repo)
	}
	gone, err := s.except(ctx, repo, keep)
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

// except finds the tags of a repo that have none of these names.
func (s Tags) except(ctx context.Context, repo UID, names []string) (found []UID, err error) {
	named := make(map[string]bool, len(names))
	for _, name := range names {
		named[name] = true
	}
	q := Query[TagFilter]{
		Scope: scopeOf(Branch{Relation: Children, UID: repo}), Order: s.kind.DefaultOrder, Limit: ImportBatch, Parts: PartItems,
	}
	for {
		page, err := s.p.store.Tags().List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Items {
			if !named[t.Name] {
				found = append(found, t.UID)
			}
			q.From = &Position{t.Name, t.UID}
		}
		if !page.More {
			return found, nil
		}
	}
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
