package inventory

import (
	"context"
	"errors"
	"maps"
	"slices"

	"atrium/platform/core"
)

// An ImportedRepo is a repo with its readme.
type ImportedRepo struct {
	Repo
	Readme string
}

// Import stores repos in a group by name and sets the UID of each. It replaces the
// description and the readme of existing repos.
func (s Repos) Import(ctx context.Context, group core.UID, repos []*ImportedRepo, o core.ImportOptions) (core.Imported, error) {
	if err := s.area.RequireImport(ctx, group); err != nil {
		return core.Imported{}, err
	}
	in := core.ImportPlan[*ImportedRepo, string]{
		Key: func(r *ImportedRepo) string { return r.Name },
		Check: func(r *ImportedRepo, v *core.Violations) {
			s.rows.Kind.Check(&r.Repo, core.EveryField, v)
			v.CheckText("readme", r.Readme, core.MaxReadmeBytes)
		},
		Existing: func(ctx context.Context, tx core.Tx, rows []*ImportedRepo) ([]*ImportedRepo, error) {
			return s.readImported(ctx, tx, group, rows)
		},
		IsUnchanged: func(known, r *ImportedRepo) bool {
			r.UID = known.UID
			return o.NamesOnly || known.Description == r.Description && known.Readme == r.Readme
		},
		Replace: func(ctx context.Context, tx core.Tx, known, r *ImportedRepo) error {
			s.rows.Kind.Stamp(&r.Repo, known.UID, s.area.Now())
			if err := s.area.tables.Repos.Update(ctx, tx, &r.Repo, "description"); err != nil {
				return err
			}
			if !o.NoEvents {
				s.rows.RecordUpdate(ctx, tx, &r.Repo, []core.EventChange{
					core.NewValueChange("description", known.Description, r.Description), core.NewValueChange("readme", known.Readme, r.Readme),
				})
			}
			return s.area.tables.SetReadme(ctx, tx, known.UID, r.Readme)
		},
		Insert: func(ctx context.Context, tx core.Tx, added []*ImportedRepo) error {
			return s.insertImported(ctx, tx, group, added, o)
		},
	}
	done, err := in.Run(ctx, s.area.Store, repos)
	if errors.Is(err, core.ErrNoParent) { // the group was deleted meanwhile
		err = core.NewNotFound(core.GroupRef, group)
	}
	return done, err
}

func (s Repos) insertImported(ctx context.Context, tx core.Tx, group core.UID, added []*ImportedRepo, o core.ImportOptions) error {
	rows := make([]*Repo, len(added))
	var series core.UIDSeries
	for i, r := range added {
		s.rows.Kind.Stamp(&r.Repo, series.Child(group), s.area.Now())
		rows[i] = &r.Repo
	}
	if err := s.area.tables.Repos.Insert(ctx, tx, rows...); err != nil {
		return err
	}
	core.RecordImported(ctx, tx, s.rows, "created", o, rows...)
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
func (s Repos) readImported(ctx context.Context, tx core.Tx, group core.UID, like []*ImportedRepo) ([]*ImportedRepo, error) {
	names := make([]string, len(like))
	for i, r := range like {
		names[i] = r.Name
	}
	stored, err := s.area.tables.Repos.List(ctx, tx, core.Query[*RepoFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Children, UID: group}), Filter: &RepoFilter{Names: names},
		Order: s.rows.Kind.DefaultOrder, Limit: core.NoLimit, Parts: core.PartItems,
	})
	if err != nil {
		return nil, err
	}
	found, uids := make([]*ImportedRepo, len(stored.Items)), make([]core.UID, len(stored.Items))
	byUID := map[core.UID]*ImportedRepo{}
	for i, r := range stored.Items {
		found[i], uids[i] = &ImportedRepo{Repo: *r}, r.UID
		byUID[r.UID] = found[i]
	}
	readmes, err := s.area.tables.Readmes(ctx, tx, core.Keys{UIDs: uids})
	for _, r := range readmes {
		byUID[r.UID].Readme = r.Content
	}
	return found, err
}

// An ImportedTag is a tag and the repo it belongs to.
type ImportedTag struct {
	Repo core.UID
	Tag
}

// Key returns what identifies the tag.
func (t *ImportedTag) Key() TagName { return TagName{t.Repo, t.Name} }

// Import stores tags in repos by name. A tag with another digest is moved. The
// source of a tag is the one that imported it last.
func (s Tags) Import(ctx context.Context, tags []*ImportedTag, o core.ImportOptions) (core.Imported, error) {
	if err := core.RequireOperator(ctx); err != nil {
		return core.Imported{}, err
	}
	return importIntoRepos(func() (core.Imported, error) { return s.importOnce(ctx, tags, o) })
}

func (s Tags) importOnce(ctx context.Context, tags []*ImportedTag, o core.ImportOptions) (core.Imported, error) {
	repos := make([]core.UID, len(tags))
	for i, t := range tags {
		repos[i] = t.Repo
	}
	exists, err := s.area.existingRepos(ctx, repos)
	if err != nil {
		return core.Imported{}, err
	}
	in := core.ImportPlan[*ImportedTag, TagName]{
		Key: (*ImportedTag).Key,
		Check: func(t *ImportedTag, v *core.Violations) {
			checkRepoName(v, t.Repo, exists)
			s.rows.Kind.Check(&t.Tag, core.EveryField, v)
		},
		Existing: s.readImported,
		IsUnchanged: func(known, t *ImportedTag) bool {
			t.UID = known.UID
			return known.Digest == t.Digest && (o.NamesOnly || known.Deprecated == t.Deprecated)
		},
		Replace: func(ctx context.Context, tx core.Tx, known, t *ImportedTag) error {
			row := t.Tag // Update clears the source, which a repeated transaction needs.
			fields := []string{"digest", "source"}
			if !o.NamesOnly {
				fields = append(fields, "deprecated")
			}
			s.rows.Kind.Stamp(&row, known.UID, s.area.Now())
			if err := s.area.tables.Tags.Update(ctx, tx, &row, fields...); err != nil {
				return err
			}
			core.RecordImported(ctx, tx, s.rows, "created", o, &row)
			return nil
		},
		Insert: func(ctx context.Context, tx core.Tx, added []*ImportedTag) error {
			rows := make([]*Tag, len(added))
			var series core.UIDSeries
			for i, t := range added {
				s.rows.Kind.Stamp(&t.Tag, series.Child(t.Repo), s.area.Now())
				rows[i] = &t.Tag
			}
			core.RecordImported(ctx, tx, s.rows, "created", o, rows...)
			return s.area.tables.Tags.Insert(ctx, tx, rows...)
		},
		MarkKept: s.claimTags,
	}
	return in.Run(ctx, s.area.Store, tags)
}

// claimTags records the sources of unchanged tags.
func (s Tags) claimTags(ctx context.Context, tx core.Tx, kept []core.KeptRow[*ImportedTag]) error {
	brought := map[string][]*Tag{}
	for _, k := range kept {
		if t := k.Row; t.Source != "" {
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
func (s Tags) readImported(ctx context.Context, tx core.Tx, like []*ImportedTag) ([]*ImportedTag, error) {
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
func importIntoRepos(run func() (core.Imported, error)) (core.Imported, error) {
	done, err := run()
	for try := 1; errors.Is(err, core.ErrNoParent) && try < core.MaxCollisions; try++ {
		done, err = run()
	}
	return done, err
}

// existingRepos returns which of these repos exist.
func (area *Area) existingRepos(ctx context.Context, repos []core.UID) (map[core.UID]bool, error) {
	uids := slices.DeleteFunc(slices.Clone(repos), func(uid core.UID) bool { return !uid.Valid() })
	slices.Sort(uids)
	exists := map[core.UID]bool{}
	if len(uids) == 0 {
		return exists, nil
	}
	found, err := area.Repos.rows.Table.Get(ctx, area.Store, core.Keys{UIDs: slices.Compact(uids)})
	for _, repo := range found {
		exists[repo.UID] = true
	}
	return exists, err
}

// checkRepoName adds a violation unless the repo of a record exists.
func checkRepoName(v *core.Violations, repo core.UID, exists map[core.UID]bool) {
	if v.CheckUID("repo", repo); repo.Valid() && !exists[repo] {
		v.Add("repo", "does not exist")
	}
}

// Import stores images by repo and digest.
func (s Images) Import(ctx context.Context, images []*Image) (core.Imported, error) {
	if err := core.RequireOperator(ctx); err != nil {
		return core.Imported{}, err
	}
	return importIntoRepos(func() (core.Imported, error) { return s.importOnce(ctx, images) })
}

func (s Images) importOnce(ctx context.Context, images []*Image) (core.Imported, error) {
	repos := make([]core.UID, len(images))
	for i, image := range images {
		repos[i] = image.Repo
	}
	exists, err := s.area.existingRepos(ctx, repos)
	if err != nil {
		return core.Imported{}, err
	}
	in := core.ImportPlan[*Image, core.ImageKey]{
		Key: (*Image).Key,
		Check: func(i *Image, v *core.Violations) {
			checkRepoName(v, i.Repo, exists)
			i.Check(v)
		},
		Existing: func(ctx context.Context, tx core.Tx, rows []*Image) ([]*Image, error) {
			keys := make([]core.ImageKey, len(rows))
			for i, image := range rows {
				keys[i] = image.Key()
			}
			return s.area.tables.Images(ctx, tx, ImageKeys{keys})
		},
		IsUnchanged: func(known, image *Image) bool { return core.EqualJSON(known, image) },
		Insert: func(ctx context.Context, tx core.Tx, images []*Image) error {
			return s.area.tables.PutImages(ctx, tx, images)
		},
	}
	return in.Run(ctx, s.area.Store, images)
}
