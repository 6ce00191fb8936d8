package inventory

import (
	"context"
	"errors"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// CreateBatch makes or moves several tags: all or none. Each request names the
// repo of its tag.
func (s Tags) CreateBatch(ctx context.Context, requests []core.BatchRequest[*Tag]) ([]*Tag, error) {
	tags, names := make([]*Tag, len(requests)), make([]TagName, 0, len(requests))
	err := core.CheckBatch(ctx, core.ListOfRequests, len(requests), func(i int) (err error) {
		repo := requests[i].UID
		if tags[i], err = s.rows.AuthorizeCreate(ctx, repo, requests[i].Input); err == nil {
			if name := (TagName{repo, tags[i].Name}); slices.Contains(names, name) {
				err = core.Invalid(fieldmask.Violation{Field: "name", Description: "is given twice for this repo"})
			} else {
				names = append(names, name)
			}
		}
		return s.rows.RecordIfDenied(ctx, "created", repo, err)
	})
	if err != nil {
		return nil, s.rows.Kind.AddArea(err)
	}
	var made []*Tag
	err = core.RetryCollisions(func() (err error) { made, err = s.saveAll(ctx, tags, names); return err })
	if errors.Is(err, core.ErrNoParent) {
		err = s.findMissingRepo(ctx, names)
	}
	return made, s.rows.Kind.AddArea(err)
}

// saveAll moves the existing tags and makes the others.
func (s Tags) saveAll(ctx context.Context, tags []*Tag, names []TagName) (made []*Tag, err error) {
	err = s.area.Store.Write(ctx, func(tx core.Tx) error {
		stored, err := s.area.tables.TagsByName(ctx, tx, TagNames{names})
		if err != nil {
			return err
		}
		made = make([]*Tag, len(tags))
		uids := make([]core.UID, len(tags))
		var added []*Tag
		for i, tag := range tags {
			row := *tag
			made[i] = &row
			known := slices.IndexFunc(stored, func(t *Tag) bool { return t.UID.Parent() == names[i].Repo && t.Name == names[i].Name })
			if known < 0 {
				added = append(added, made[i])
				continue
			}
			made[i].UID = stored[known].UID
			uids[i] = made[i].UID
		}
		var moved []core.RowChange[*Tag]
		for _, i := range core.SortIndices(uids) {
			if uids[i] != "" {
				moved = append(moved, core.RowChange[*Tag]{Row: made[i], Fields: []string{"digest", "deprecated", "bundles", "source"}})
			}
		}
		if _, err := s.rows.Table.UpdateAll(ctx, tx, moved...); err != nil {
			return err
		}
		if len(added) > 0 {
			if err := s.rows.Table.Insert(ctx, tx, added...); err != nil {
				return err
			}
		}
		for _, tag := range made {
			tx.Record(s.area.Event(ctx, s.rows.Kind.Event, "created", tag.UID, s.rows.Kind.Group(tag), tag))
		}
		return nil
	})
	return made, err
}

// findMissingRepo returns the error for the first request whose repo does not
// exist.
func (s Tags) findMissingRepo(ctx context.Context, names []TagName) error {
	repos := make([]core.UID, len(names))
	for i, name := range names {
		repos[i] = name.Repo
	}
	exists, err := s.area.FindRepos(ctx, repos)
	if err != nil {
		return err
	}
	for i, name := range names {
		if !exists[name.Repo] {
			return core.AddIndex(core.NewNotFound(core.RepoRef, name.Repo), core.ListOfRequests, i)
		}
	}
	return core.NewAborted("a repo of the batch was created or deleted at the same time", nil)
}

// DeleteBatch deletes several tags: all or none.
func (s Tags) DeleteBatch(ctx context.Context, uids []core.UID) error {
	return s.rows.RemoveBatch(ctx, uids)
}
