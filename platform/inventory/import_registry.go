package platform

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// An ImportedRepo is a repo with its readme.
type ImportedRepo struct {
	Repo
	Readme string
}

// Import stores repos in a group by name and sets the UID of each. It replaces the
// description and the readme of existing repos.
func (s Repos) Import(ctx context.Context, group UID, repos []*ImportedRepo, o ImportOptions) (Imported, error) {
	if err := s.area.requireImport(ctx, group); err != nil {
		return Imported{}, err
	}
	in := importPlan[*ImportedRepo, string]{
		key: func(r *ImportedRepo) string { return r.Name },
		check: func(r *ImportedRepo, v *violations) {
			s.rows.kind.Check(&r.Repo, alwaysTrue, v)
			v.checkText("readme", r.Readme, maxReadmeBytes)
		},
		existing: func(ctx context.Context, tx Tx, rows []*ImportedRepo) ([]*ImportedRepo, error) {
			return s.readImported(ctx, tx, group, rows)
		},
		isUnchanged: func(known, r *ImportedRepo) bool {
			r.UID = known.UID
			return o.NamesOnly || known.Description == r.Description && known.Readme == r.Readme
		},
		replace: func(ctx context.Context, tx Tx, known, r *ImportedRepo) error {
			s.rows.kind.Stamp(&r.Repo, known.UID, s.area.now())
			if err := s.area.tables.Repos.Update(ctx, tx, &r.Repo, "description"); err != nil {
				return err
			}
			if !o.NoEvents {
				s.rows.recordUpdate(ctx, tx, &r.Repo, []EventChange{
					newValueChange("description", known.Description, r.Description), newValueChange("readme", known.Readme, r.Readme),
				})
			}
			return s.area.tables.SetReadme(ctx, tx, known.UID, r.Readme)
		},
		insert: func(ctx context.Context, tx Tx, added []*ImportedRepo) error {
			return s.insertImported(ctx, tx, group, added, o)
		},
	}
	done, err := in.run(ctx, s.area.store, repos)
	if errors.Is(err, ErrNoParent) { // the group was deleted meanwhile
		err = newNotFound(groupRef, group)
	}
	return done, err
}

func (s Repos) insertImported(ctx context.Context, tx Tx, group UID, added []*ImportedRepo, o ImportOptions) error {
	rows := make([]*Repo, len(added))
	var series uidSeries
	for i, r := range added {
		s.rows.kind.Stamp(&r.Repo, series.child(group), s.area.now())
		rows[i] = &r.Repo
	}
	if err := s.area.tables.Repos.Insert(ctx, tx, rows...); err != nil {
		return err
	}
	recordImported(ctx, tx, s.rows, "created", o, rows...)
	for _, r := range added {
		if r.Readme == "" {
			continue
		}
		if err := s.area.tables.SetReadme(ctx, tx, r.UID, r.Readme); err != nil {
			return err
		}
	}
	return nil
}

// readImported reads the repos with these names, and their readmes.
func (s Repos) readImported(ctx context.Context, tx Tx, group UID, like []*ImportedRepo) ([]*ImportedRepo, error) {
	names := make([]string, len(like))
	for i, r := range like {
		names[i] = r.Name
	}
	stored, err := s.area.tables.Repos.List(ctx, tx, Query[*RepoFilter]{
		Scope: newScope(Branch{Relation: Children, UID: group}), Filter: &RepoFilter{Names: names},
		Order: s.rows.kind.DefaultOrder, Limit: noLimit, Parts: PartItems,
	})
	if err != nil {
		return nil, err
	}
	found, uids := make([]*ImportedRepo, len(stored.Items)), make([]UID, len(stored.Items))
	byUID := map[UID]*ImportedRepo{}
	for i, r := range stored.Items {
		found[i], uids[i] = &ImportedRepo{Repo: *r}, r.UID
		byUID[r.UID] = found[i]
	}
	readmes, err := s.area.tables.Readmes(ctx, tx, Keys{UIDs: uids})
	for _, r := range readmes {
		byUID[r.UID].Readme = r.Content
	}
	return found, err
}

// An ImportedTag is a tag and the repo it belongs to.
type ImportedTag struct {
	Repo UID
	Tag
}

// Key returns what identifies the tag.
func (t *ImportedTag) Key() TagName { return TagName{t.Repo, t.Name} }

// Import stores tags in repos by name. A tag with another digest is moved. The
// source of a tag is the one that imported it last.
func (s Tags) Import(ctx context.Context, tags []*ImportedTag, o ImportOptions) (Imported, error) {
	if err := requireOperator(ctx); err != nil {
		return Imported{}, err
	}
	return importIntoRepos(func() (Imported, error) { return s.importOnce(ctx, tags, o) })
}

func (s Tags) importOnce(ctx context.Context, tags []*ImportedTag, o ImportOptions) (Imported, error) {
	repos := make([]UID, len(tags))
	for i, t := range tags {
		repos[i] = t.Repo
	}
	exists, err := s.area.existingRepos(ctx, repos)
	if err != nil {
		return Imported{}, err
	}
	in := importPlan[*ImportedTag, TagName]{
		key: (*ImportedTag).Key,
		check: func(t *ImportedTag, v *violations) {
			v.checkRepo(t.Repo, exists)
			s.rows.kind.Check(&t.Tag, alwaysTrue, v)
		},
		existing: s.readImported,
		isUnchanged: func(known, t *ImportedTag) bool {
			t.UID = known.UID
			return known.Digest == t.Digest && (o.NamesOnly || known.Deprecated == t.Deprecated)
		},
		replace: func(ctx context.Context, tx Tx, known, t *ImportedTag) error {
			row := t.Tag // Update clears the source, which a repeated transaction needs.
			fields := []string{"digest", "source"}
			if !o.NamesOnly {
				fields = append(fields, "deprecated")
			}
			s.rows.kind.Stamp(&row, known.UID, s.area.now())
			if err := s.area.tables.Tags.Update(ctx, tx, &row, fields...); err != nil {
				return err
			}
			recordImported(ctx, tx, s.rows, "created", o, &row)
			return nil
		},
		insert: func(ctx context.Context, tx Tx, added []*ImportedTag) error {
			rows := make([]*Tag, len(added))
			var series uidSeries
			for i, t := range added {
				s.rows.kind.Stamp(&t.Tag, series.child(t.Repo), s.area.now())
				rows[i] = &t.Tag
			}
			recordImported(ctx, tx, s.rows, "created", o, rows...)
			return s.area.tables.Tags.Insert(ctx, tx, rows...)
		},
		markKept: s.claimTags,
	}
	return in.run(ctx, s.area.store, tags)
}

// claimTags records the sources of unchanged tags.
func (s Tags) claimTags(ctx context.Context, tx Tx, kept []keptRow[*ImportedTag]) error {
	brought := map[string][]*Tag{}
	for _, k := range kept {
		if t := k.row; t.Source != "" {
			brought[t.Source] = append(brought[t.Source], &t.Tag)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(brought)) {
		if err := s.area.tables.ClaimTags(ctx, tx, source, brought[source]); err != nil {
			return err
		}
	}
	return nil
}

// readImported reads the tags with these names in these repos.
func (s Tags) readImported(ctx context.Context, tx Tx, like []*ImportedTag) ([]*ImportedTag, error) {
	names := make([]TagName, len(like))
	for i, t := range like {
		names[i] = t.Key()
	}
	stored, err := s.area.tables.TagsByName(ctx, tx, TagNames{names})
	found := make([]*ImportedTag, len(stored))
	for i, t := range stored {
		found[i] = &ImportedTag{t.UID.Parent(), *t}
	}
	return found, err
}

// importIntoRepos runs an import of records in repos. It runs the import again if a repo was
// deleted after the import had found it, so that only the records in this repo are rejected.
func importIntoRepos(run func() (Imported, error)) (Imported, error) {
	done, err := run()
	for try := 1; errors.Is(err, ErrNoParent) && try < maxCollisions; try++ {
		done, err = run()
	}
	return done, err
}

// existingRepos returns which of these repos exist.
func (p *inventoryArea) existingRepos(ctx context.Context, repos []UID) (map[UID]bool, error) {
	uids := slices.DeleteFunc(slices.Clone(repos), func(uid UID) bool { return !uid.Valid() })
	slices.Sort(uids)
	exists := map[UID]bool{}
	if len(uids) == 0 {
		return exists, nil
	}
	found, err := p.Repos.rows.table.Get(ctx, p.store, Keys{UIDs: slices.Compact(uids)})
	for _, repo := range found {
		exists[repo.UID] = true
	}
	return exists, err
}

// checkRepo adds a violation unless the repo of a record exists.
func (v *violations) checkRepo(repo UID, exists map[UID]bool) {
	if v.checkUID("repo", repo); repo.Valid() && !exists[repo] {
		v.add("repo", "does not exist")
	}
}

// Import stores images by repo and digest.
func (s Images) Import(ctx context.Context, images []*Image) (Imported, error) {
	if err := requireOperator(ctx); err != nil {
		return Imported{}, err
	}
	return importIntoRepos(func() (Imported, error) { return s.importOnce(ctx, images) })
}

func (s Images) importOnce(ctx context.Context, images []*Image) (Imported, error) {
	repos := make([]UID, len(images))
	for i, image := range images {
		repos[i] = image.Repo
	}
	exists, err := s.area.existingRepos(ctx, repos)
	if err != nil {
		return Imported{}, err
	}
	in := importPlan[*Image, ImageKey]{
		key: (*Image).Key,
		check: func(i *Image, v *violations) {
			v.checkRepo(i.Repo, exists)
			i.check(v)
		},
		existing: func(ctx context.Context, tx Tx, rows []*Image) ([]*Image, error) {
			keys := make([]ImageKey, len(rows))
			for i, image := range rows {
				keys[i] = image.Key()
			}
			return s.area.tables.Images(ctx, tx, ImageKeys{keys})
		},
		isUnchanged: func(known, image *Image) bool { return equalJSON(known, image) },
		insert: func(ctx context.Context, tx Tx, images []*Image) error {
			return s.area.tables.PutImages(ctx, tx, images)
		},
	}
	return in.run(ctx, s.area.store, images)
}
