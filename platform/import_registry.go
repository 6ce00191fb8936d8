package platform

import (
	"context"
	"maps"
	"slices"
)

// An ImportedRepo is a repo with its readme.
type ImportedRepo struct {
	Repo
	Readme string
}

// Import puts repos into a group by their names and sets the UID of each. Of
// one that is there, description and readme are replaced.
func (s Repos) Import(ctx context.Context, group UID, repos []*ImportedRepo, o ImportOptions) (Imported, error) {
	if err := s.p.importing(ctx, group); err != nil {
		return Imported{}, err
	}
	in := intake[ImportedRepo, string]{
		key: func(r *ImportedRepo) string { return r.Name },
		check: func(r *ImportedRepo, v *violations) {
			s.kind.Check(&r.Repo, always, v)
			v.text("readme", r.Readme, maxReadmeBytes)
		},
		known: func(ctx context.Context, tx Tx, rows []*ImportedRepo) ([]*ImportedRepo, error) {
			return s.imported(ctx, tx, group, rows)
		},
		keeps: func(known, r *ImportedRepo) bool {
			r.UID = known.UID
			return o.Bare || known.Description == r.Description && known.Readme == r.Readme
		},
		replace: func(ctx context.Context, tx Tx, known, r *ImportedRepo) error {
			s.kind.Stamp(&r.Repo, known.UID, s.p.now())
			if err := RowsOf[Repo](tx).Update(ctx, &r.Repo, "description"); err != nil {
				return err
			}
			if !o.NoEvents {
				s.recordUpdate(ctx, tx, &r.Repo, []EventChange{
					changedTo("description", known.Description, r.Description), changedTo("readme", known.Readme, r.Readme),
				})
			}
			return tx.SetReadme(ctx, known.UID, r.Readme)
		},
		insert: func(ctx context.Context, tx Tx, added []*ImportedRepo) error {
			return s.insertImported(ctx, tx, group, added, o)
		},
	}
	return in.run(ctx, s.p.store, repos)
}

func (s Repos) insertImported(ctx context.Context, tx Tx, group UID, added []*ImportedRepo, o ImportOptions) error {
	rows := make([]*Repo, len(added))
	var series uidSeries
	for i, r := range added {
		s.kind.Stamp(&r.Repo, series.child(group), s.p.now())
		rows[i] = &r.Repo
	}
	if err := RowsOf[Repo](tx).Insert(ctx, rows...); err != nil {
		return err
	}
	recordImported(ctx, tx, s.resources, "created", o, rows...)
	for _, r := range added {
		if err := tx.SetReadme(ctx, r.UID, r.Readme); err != nil {
			return err
		}
	}
	return nil
}

// imported reads the repos of these names, with their readmes.
func (s Repos) imported(ctx context.Context, tx Tx, group UID, like []*ImportedRepo) ([]*ImportedRepo, error) {
	names := make([]string, len(like))
	for i, r := range like {
		names[i] = r.Name
	}
	there, err := TableOf[Repo, RepoFilter](tx).List(ctx, Query[RepoFilter]{
		Scope: scopeOf(Branch{Relation: Children, UID: group}), Filter: RepoFilter{Names: names},
		Order: s.kind.DefaultOrder, Limit: everything, Parts: PartItems,
	})
	if err != nil {
		return nil, err
	}
	found, uids := make([]*ImportedRepo, len(there.Items)), make([]UID, len(there.Items))
	byUID := map[UID]*ImportedRepo{}
	for i, r := range there.Items {
		found[i], uids[i] = &ImportedRepo{Repo: *r}, r.UID
		byUID[r.UID] = found[i]
	}
	readmes, err := tx.Readmes(ctx, Keys{uids: uids})
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

// Import puts tags into repos by their names; one that points elsewhere moves.
// A tag belongs to the source that brought it last.
func (s Tags) Import(ctx context.Context, tags []*ImportedTag, o ImportOptions) (Imported, error) {
	if err := operating(ctx); err != nil {
		return Imported{}, err
	}
	exists, err := existingRepos(ctx, s.p.store, tags, func(t *ImportedTag) UID { return t.Repo })
	if err != nil {
		return Imported{}, err
	}
	in := intake[ImportedTag, [2]string]{
		key: func(t *ImportedTag) [2]string { return [2]string{string(t.Repo), t.Name} },
		check: func(t *ImportedTag, v *violations) {
			exists(t.Repo, v)
			s.kind.Check(&t.Tag, always, v)
		},
		known: s.imported,
		keeps: func(known, t *ImportedTag) bool {
			t.UID = known.UID
			if o.Bare {
				t.Deprecated = known.Deprecated
			}
			return known.Digest == t.Digest && known.Deprecated == t.Deprecated
		},
		replace: func(ctx context.Context, tx Tx, known, t *ImportedTag) error {
			s.kind.Stamp(&t.Tag, known.UID, s.p.now())
			if err := RowsOf[Tag](tx).Update(ctx, &t.Tag, "digest", "deprecated", "source"); err != nil {
				return err
			}
			recordImported(ctx, tx, s.resources, "created", o, &t.Tag)
			return nil
		},
		insert: func(ctx context.Context, tx Tx, added []*ImportedTag) error {
			rows := make([]*Tag, len(added))
			var series uidSeries
			for i, t := range added {
				s.kind.Stamp(&t.Tag, series.child(t.Repo), s.p.now())
				rows[i] = &t.Tag
			}
			recordImported(ctx, tx, s.resources, "created", o, rows...)
			return RowsOf[Tag](tx).Insert(ctx, rows...)
		},
		claim: claimTags,
	}
	return in.run(ctx, s.p.store, tags)
}

// claimTags notes the sources of tags that are as they were.
func claimTags(ctx context.Context, tx Tx, kept []*ImportedTag) error {
	brought := map[string][]UID{}
	for _, t := range kept {
		if t.Source != "" {
			brought[t.Source] = append(brought[t.Source], t.UID)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(brought)) {
		if err := tx.ClaimTags(ctx, source, brought[source]); err != nil {
			return err
		}
	}
	return nil
}

// imported reads the tags of these names in these repos.
func (s Tags) imported(ctx context.Context, tx Tx, like []*ImportedTag) ([]*ImportedTag, error) {
	names := make([]TagName, len(like))
	for i, t := range like {
		names[i] = TagName{t.Repo, t.Name}
	}
	there, err := tx.TagsNamed(ctx, TagNames{names})
	found := make([]*ImportedTag, len(there))
	for i, t := range there {
		found[i] = &ImportedTag{t.UID.Parent(), *t}
	}
	return found, err
}

// A TagName names a tag.
type TagName struct {
	Repo UID
	Name string
}

// TagNames are tags that the caller may read.
type TagNames struct{ names []TagName }

// Names lists them.
func (n TagNames) Names() []TagName { return n.names }

// existingRepos reads which repos of records are there, and gives a check that
// a record's is.
func existingRepos[T any](ctx context.Context, r Reader, records []*T, repoOf func(*T) UID) (func(repo UID, v *violations), error) {
	var keys Keys
	there := map[UID]bool{}
	for _, record := range records {
		if uid := repoOf(record); uid.Valid() {
			keys.uids = append(keys.uids, uid)
		}
	}
	slices.Sort(keys.uids)
	keys.uids = slices.Compact(keys.uids)
	if len(keys.uids) > 0 {
		found, err := TableOf[Repo, RepoFilter](r).Get(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, repo := range found {
			there[repo.UID] = true
		}
	}
	return func(repo UID, v *violations) {
		if v.uid("repo", repo); repo.Valid() && !there[repo] {
			v.add("repo", "does not exist")
		}
	}, nil
}

// Import stores images by repo and digest.
func (s Images) Import(ctx context.Context, images []*Image) (Imported, error) {
	if err := operating(ctx); err != nil {
		return Imported{}, err
	}
	put := func(ctx context.Context, tx Tx, images []*Image) error { return tx.PutImages(ctx, images) }
	exists, err := existingRepos(ctx, s.p.store, images, func(i *Image) UID { return i.Repo })
	if err != nil {
		return Imported{}, err
	}
	in := intake[Image, ImageKey]{
		key: (*Image).key,
		check: func(i *Image, v *violations) {
			exists(i.Repo, v)
			i.check(v)
		},
		known: func(ctx context.Context, tx Tx, rows []*Image) ([]*Image, error) {
			keys := make([]ImageKey, len(rows))
			for i, image := range rows {
				keys[i] = image.key()
			}
			return tx.Images(ctx, ImageKeys{keys})
		},
		keeps:   func(known, image *Image) bool { return equalJSON(known, image) },
		replace: func(ctx context.Context, tx Tx, _, image *Image) error { return put(ctx, tx, []*Image{image}) },
		insert:  put,
	}
	return in.run(ctx, s.p.store, images)
}

func (i *Image) key() ImageKey { return ImageKey{i.Repo, i.Digest} }

func (i *Image) check(v *violations) {
	i.spellArchitectures()
	if len(i.Architectures) == 0 {
		i.Architectures = nil // as it is read back
	}
	if !digestPattern.MatchString(i.Digest) {
		v.add("digest", "must match %s", digestPattern)
	}
}
