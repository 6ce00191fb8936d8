package platform

import (
	"context"
	"errors"
	"slices"

	"atrium/platform/fieldmask"
)

// CreateBatch makes or moves several tags: all or none. Each request names the
// repo of its tag.
func (s Tags) CreateBatch(ctx context.Context, requests []BatchRequest[*Tag]) ([]*Tag, error) {
	tags, names := make([]*Tag, len(requests)), make([]TagName, 0, len(requests))
	err := checkBatch(ctx, listOfRequests, len(requests), func(i int) (err error) {
		repo := requests[i].UID
		if tags[i], err = s.rows.authorizeCreate(ctx, repo, requests[i].Input); err == nil {
			if name := (TagName{repo, tags[i].Name}); slices.Contains(names, name) {
				err = Invalid(fieldmask.Violation{Field: "name", Description: "is given twice for this repo"})
			} else {
				names = append(names, name)
			}
		}
		return s.rows.recordIfDenied(ctx, "created", repo, err)
	})
	if err != nil {
		return nil, s.rows.kind.addArea(err)
	}
	var made []*Tag
	err = retryCollisions(func() (err error) { made, err = s.saveAll(ctx, tags, names); return err })
	if errors.Is(err, ErrNoParent) {
		err = s.findMissingRepo(ctx, names)
	}
	return made, s.rows.kind.addArea(err)
}

// saveAll moves the existing tags and makes the others.
func (s Tags) saveAll(ctx context.Context, tags []*Tag, names []TagName) (made []*Tag, err error) {
	err = s.area.store.Write(ctx, func(tx Tx) error {
		stored, err := s.area.tables.TagsByName(ctx, tx, TagNames{names})
		if err != nil {
			return err
		}
		made = make([]*Tag, len(tags))
		uids := make([]UID, len(tags))
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
		var moved []RowChange[*Tag]
		for _, i := range sortIndices(uids) {
			if uids[i] != "" {
				moved = append(moved, RowChange[*Tag]{made[i], []string{"digest", "deprecated", "bundles", "source"}})
			}
		}
		if _, err := s.rows.table.UpdateAll(ctx, tx, moved...); err != nil {
			return err
		}
		if len(added) > 0 {
			if err := s.rows.table.Insert(ctx, tx, added...); err != nil {
				return err
			}
		}
		for _, tag := range made {
			tx.Record(s.area.event(ctx, s.rows.kind.Event, "created", tag.UID, s.rows.kind.Group(tag), tag))
		}
		return nil
	})
	return made, err
}

// findMissingRepo returns the error for the first request whose repo does not
// exist.
func (s Tags) findMissingRepo(ctx context.Context, names []TagName) error {
	repos := make([]UID, len(names))
	for i, name := range names {
		repos[i] = name.Repo
	}
	exists, err := s.area.existingRepos(ctx, repos)
	if err != nil {
		return err
	}
	for i, name := range names {
		if !exists[name.Repo] {
			return addIndex(newNotFound(repoRef, name.Repo), listOfRequests, i)
		}
	}
	return newAborted("a repo of the batch was created or deleted at the same time", nil)
}

// DeleteBatch deletes several tags: all or none.
func (s Tags) DeleteBatch(ctx context.Context, uids []UID) error {
	return s.rows.removeBatch(ctx, uids)
}
