package registry

import (
	"context"
	"errors"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// An ImportedRepo is a repo with its readme.
type ImportedRepo struct {
	inventory.Repo
	Readme string
}

// ImportRepos stores repos in a group by name and sets the UID of each. It replaces the
// description and the readme of existing repos.
func (s *Registry) ImportRepos(ctx context.Context, group core.UID, repos []*ImportedRepo, o core.ImportOptions) (core.Imported, error) {
	if err := s.core.RequireImport(ctx, core.CapRegistryImport, group); err != nil {
		return core.Imported{}, err
	}
	in := core.ImportPlan[*ImportedRepo, string]{
		Key: func(r *ImportedRepo) string { return r.Name },
		Check: func(r *ImportedRepo, v *core.Violations) {
			s.repos.Kind.Check(&r.Repo, core.EveryField, v)
			v.CheckText("readme", r.Readme, core.MaxReadmeBytes)
		},
		Existing: func(ctx context.Context, tx core.Tx, rows []*ImportedRepo) ([]*ImportedRepo, error) {
			return s.readRepos(ctx, tx, group, rows)
		},
		IsUnchanged: func(known, r *ImportedRepo) bool {
			r.UID = known.UID
			return o.NamesOnly || known.Description == r.Description && known.Readme == r.Readme
		},
		Replace: func(ctx context.Context, tx core.Tx, known, r *ImportedRepo) error {
			s.repos.Kind.Stamp(&r.Repo, known.UID, s.core.Now())
			if err := s.tables.Repos.Update(ctx, tx, &r.Repo, "description"); err != nil {
				return err
			}
			if !o.NoEvents {
				s.repos.RecordUpdate(ctx, tx, &r.Repo, []core.EventChange{
					core.NewValueChange("description", known.Description, r.Description), core.NewValueChange("readme", known.Readme, r.Readme),
				})
			}
			return s.tables.SetReadme(ctx, tx, known.UID, r.Readme)
		},
		Insert: func(ctx context.Context, tx core.Tx, added []*ImportedRepo) error {
			return s.insertRepos(ctx, tx, group, added, o)
		},
	}
	done, err := in.Run(ctx, s.core.Store, repos)
	if errors.Is(err, core.ErrNoParent) { // the group was deleted meanwhile
		err = core.NewNotFound(core.GroupRef, group)
	}
	return done, err
}

func (s *Registry) insertRepos(ctx context.Context, tx core.Tx, group core.UID, added []*ImportedRepo, o core.ImportOptions) error {
	rows := make([]*inventory.Repo, len(added))
	var series core.UIDSeries
	for i, r := range added {
		s.repos.Kind.Stamp(&r.Repo, series.Child(group), s.core.Now())
		rows[i] = &r.Repo
	}
	if err := s.tables.Repos.Insert(ctx, tx, rows...); err != nil {
		return err
	}
	core.RecordImported(ctx, tx, s.repos, "created", o, rows...)
	for _, r := range added {
		if r.Readme == "" {
			continue
		}
		if err := s.tables.SetReadme(ctx, tx, r.UID, r.Readme); err != nil {
			return err
		}
	}
	return nil
}

// readRepos reads the repos with these names, and their readmes.
func (s *Registry) readRepos(ctx context.Context, tx core.Tx, group core.UID, like []*ImportedRepo) ([]*ImportedRepo, error) {
	names := make([]string, len(like))
	for i, r := range like {
		names[i] = r.Name
	}
	stored, err := s.tables.Repos.List(ctx, tx, core.Query[*inventory.RepoFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Children, UID: group}), Filter: &inventory.RepoFilter{Names: names},
		Order: s.repos.Kind.DefaultOrder, Limit: core.NoLimit, Parts: core.PartItems,
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
	readmes, err := s.tables.Readmes(ctx, tx, core.Keys{UIDs: uids})
	for _, r := range readmes {
		byUID[r.UID].Readme = r.Content
	}
	return found, err
}

// An ImportedTag is a tag and the repo it belongs to.
type ImportedTag struct {
	Repo core.UID
	inventory.Tag
}

// Key returns what identifies the tag.
func (t *ImportedTag) Key() inventory.TagName { return inventory.TagName{Repo: t.Repo, Name: t.Name} }

// ImportTags stores tags in repos by name. A tag with another digest is moved. The
// source of a tag is the one that imported it last.
func (s *Registry) ImportTags(ctx context.Context, tags []*ImportedTag, o core.ImportOptions) (core.Imported, error) {
	if err := requireImportInto(ctx, core.CapRegistryImport, tags, func(t *ImportedTag) core.UID { return t.Repo }); err != nil {
		return core.Imported{}, err
	}
	return importIntoRepos(func() (core.Imported, error) { return s.importTagsOnce(ctx, tags, o) })
}

func (s *Registry) importTagsOnce(ctx context.Context, tags []*ImportedTag, o core.ImportOptions) (core.Imported, error) {
	repos := make([]core.UID, len(tags))
	for i, t := range tags {
		repos[i] = t.Repo
	}
	exists, err := s.inventory.FindRepos(ctx, repos)
	if err != nil {
		return core.Imported{}, err
	}
	in := core.ImportPlan[*ImportedTag, inventory.TagName]{
		Key: (*ImportedTag).Key,
		Check: func(t *ImportedTag, v *core.Violations) {
			checkRepoName(v, t.Repo, exists)
			s.tags.Kind.Check(&t.Tag, core.EveryField, v)
		},
		Existing: s.readTags,
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
			s.tags.Kind.Stamp(&row, known.UID, s.core.Now())
			if err := s.tables.Tags.Update(ctx, tx, &row, fields...); err != nil {
				return err
			}
			core.RecordImported(ctx, tx, s.tags, "created", o, &row)
			return nil
		},
		Insert: func(ctx context.Context, tx core.Tx, added []*ImportedTag) error {
			rows := make([]*inventory.Tag, len(added))
			var series core.UIDSeries
			for i, t := range added {
				s.tags.Kind.Stamp(&t.Tag, series.Child(t.Repo), s.core.Now())
				rows[i] = &t.Tag
			}
			core.RecordImported(ctx, tx, s.tags, "created", o, rows...)
			return s.tables.Tags.Insert(ctx, tx, rows...)
		},
		MarkKept: s.claimTags,
	}
	return in.Run(ctx, s.core.Store, tags)
}

// claimTags records the sources of unchanged tags.
func (s *Registry) claimTags(ctx context.Context, tx core.Tx, kept []core.KeptRow[*ImportedTag]) error {
	brought := map[string][]*inventory.Tag{}
	for _, k := range kept {
		if t := k.Row; t.Source != "" {
			brought[t.Source] = append(brought[t.Source], &t.Tag)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(brought)) {
		if err := s.tables.ClaimTags(ctx, tx, source, brought[source]); err != nil {
			return err
		}
	}
	return nil
}

// readTags reads the tags with these names in these repos.
func (s *Registry) readTags(ctx context.Context, tx core.Tx, like []*ImportedTag) ([]*ImportedTag, error) {
	names := make([]inventory.TagName, len(like))
	for i, t := range like {
		names[i] = t.Key()
	}
	stored, err := s.inventory.FindTags(ctx, tx, names)
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

// requireImportInto fails unless the caller may import into the repos of all rows.
func requireImportInto[T any](ctx context.Context, needed core.Capability, rows []T, repoOf func(T) core.UID) error {
	repos := make([]core.UID, len(rows))
	for i, row := range rows {
		repos[i] = repoOf(row)
	}
	return core.RequireImportInto(ctx, needed, repos)
}

// checkRepoName adds a violation unless the repo of a record exists.
func checkRepoName(v *core.Violations, repo core.UID, exists map[core.UID]bool) {
	if v.CheckUID("repo", repo); repo.Valid() && !exists[repo] {
		v.Add("repo", "does not exist")
	}
}

// ImportImages stores images by repo and digest.
func (s *Registry) ImportImages(ctx context.Context, images []*inventory.Image) (core.Imported, error) {
	if err := requireImportInto(ctx, core.CapRegistryImport, images, func(i *inventory.Image) core.UID { return i.Repo }); err != nil {
		return core.Imported{}, err
	}
	return importIntoRepos(func() (core.Imported, error) { return s.importImagesOnce(ctx, images) })
}

func (s *Registry) importImagesOnce(ctx context.Context, images []*inventory.Image) (core.Imported, error) {
	repos := make([]core.UID, len(images))
	for i, image := range images {
		repos[i] = image.Repo
	}
	exists, err := s.inventory.FindRepos(ctx, repos)
	if err != nil {
		return core.Imported{}, err
	}
	in := core.ImportPlan[*inventory.Image, core.ImageKey]{
		Key: (*inventory.Image).Key,
		Check: func(i *inventory.Image, v *core.Violations) {
			checkRepoName(v, i.Repo, exists)
			i.Check(v)
		},
		Existing: func(ctx context.Context, tx core.Tx, rows []*inventory.Image) ([]*inventory.Image, error) {
			keys := make([]core.ImageKey, len(rows))
			for i, image := range rows {
				keys[i] = image.Key()
			}
			return s.inventory.FindImages(ctx, tx, keys)
		},
		IsUnchanged: func(known, image *inventory.Image) bool { return core.EqualJSON(known, image) },
		Insert: func(ctx context.Context, tx core.Tx, images []*inventory.Image) error {
			return s.tables.PutImages(ctx, tx, images)
		},
	}
	return in.Run(ctx, s.core.Store, images)
}
