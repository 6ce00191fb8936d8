package platform

import (
	"context"
	"errors"
	"slices"
)

// CreateBatch makes or moves several tags: all or none. Each request names the
// repo of its tag.
func (s Tags) CreateBatch(ctx context.Context, requests []BatchRequest[Tag]) ([]*Tag, error) {
	tags, names := make([]*Tag, len(requests)), make([]TagName, 0, len(requests))
	err := checkBatch(ctx, listOfRequests, len(requests), func(i int) (err error) {
		repo := requests[i].UID
		if tags[i], err = s.accept(ctx, repo, requests[i].Input); err == nil {
			if name := (TagName{repo, tags[i].Name}); slices.Contains(names, name) {
				err = Invalid(Violation{"name", "is given twice for this repo"})
			} else {
				names = append(names, name)
			}
		}
		return s.refused(ctx, "created", repo, err)
	})
	if err != nil {
		return nil, s.kind.in(err)
	}
	made, err := s.putAll(ctx, tags, names)
	for range 3 { // another one made or deleted some meanwhile: what can be done has changed
		if !errors.Is(err, ErrDuplicate) && !errors.Is(err, ErrNotFound) {
			break
		}
		made, err = s.putAll(ctx, tags, names)
	}
	if errors.Is(err, ErrNoParent) {
		err = s.firstHomeless(ctx, names)
	}
	return made, s.kind.in(err)
}

// putAll moves the tags whose names are there, and makes the others.
func (s Tags) putAll(ctx context.Context, tags []*Tag, names []TagName) (made []*Tag, err error) {
	err = s.p.store.Write(ctx, func(tx Tx) error {
		there, err := tx.TagsNamed(ctx, TagNames{names})
		if err != nil {
			return err
		}
		made = make([]*Tag, len(tags))
		uids := make([]UID, len(tags))
		var added []*Tag
		for i, tag := range tags {
			row := *tag
			made[i] = &row
			known := slices.IndexFunc(there, func(t *Tag) bool { return t.UID.Parent() == names[i].Repo && t.Name == names[i].Name })
			if known < 0 {
				added = append(added, made[i])
				continue
			}
			made[i].UID = there[known].UID
			uids[i] = made[i].UID
		}
		for _, i := range sortPlaces(uids) {
			if uids[i] == "" {
				continue
			}
			if err := s.rows(tx).Update(ctx, made[i], "digest", "deprecated", "bundles", "source"); err != nil {
				return err
			}
		}
		if len(added) > 0 {
			if err := s.rows(tx).Insert(ctx, added...); err != nil {
				return err
			}
		}
		for _, tag := range made {
			tx.Record(s.p.event(ctx, s.kind.Event, "created", tag.UID, s.kind.Group(tag), tag))
		}
		return nil
	})
	return made, err
}

// firstHomeless names the first request whose repo is not there.
func (s Tags) firstHomeless(ctx context.Context, names []TagName) error {
	var each []*TagName
	for i := range names {
		each = append(each, &names[i])
	}
	exists, err := existingRepos(ctx, s.p.store, each, func(n *TagName) UID { return n.Repo })
	if err != nil {
		return err
	}
	for i, name := range names {
		var v violations
		if exists(name.Repo, &v); len(v) > 0 {
			return addPlace(missing("Repo", name.Repo), listOfRequests, i)
		}
	}
	return &Error{Code: CodeAborted, Reason: "ABORTED", Message: "Aborted: a repo of the batch has just come or gone; try again"}
}
