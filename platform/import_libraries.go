package platform

import (
	"cmp"
	"context"
	"slices"
)

// An ImportedArtifact is an artifact with versions of it. Of a version the
// import takes Version, SizeBytes and CreateTime.
type ImportedArtifact struct {
	Artifact
	Versions []*ArtifactVersion
}

// Import puts artifacts into the catalogue by ecosystem and name, and their
// versions by what they are called. What it has already is replaced, versions
// that a record does not name stay. It counts artifacts, of which one is
// updated too when a version is, and versions.
func (s Artifacts) Import(ctx context.Context, artifacts []*ImportedArtifact) (done, versions Imported, err error) {
	if err := operating(ctx); err != nil {
		return done, versions, err
	}
	l := libraries{p: s.p, now: s.p.now()}
	in := intake[ImportedArtifact, artifactName]{
		key: artifactNameOf, check: (*ImportedArtifact).check, known: l.known,
		keeps:   func(_, a *ImportedArtifact) bool { return l.changes[a].none() },
		replace: func(ctx context.Context, tx Tx, _, a *ImportedArtifact) error { return l.replace(ctx, tx, a) },
		insert:  l.insert,
	}
	done, err = in.run(ctx, s.p.store, artifacts)
	return done, l.versions, err
}

type artifactName struct {
	ecosystem Ecosystem
	name      string
}

func artifactNameOf(a *ImportedArtifact) artifactName { return artifactName{a.Ecosystem, a.Name} }

func (a *ImportedArtifact) check(v *violations) {
	if oneOf(v, "ecosystem", a.Ecosystem, ecosystems); a.Ecosystem == "" {
		v.add("ecosystem", "is required")
	}
	v.label("name", a.Name)
	v.line("description", a.Description)
	v.line("cudaVersion", a.CudaVersion)
	named := make(map[string]bool, len(a.Versions))
	for _, version := range a.Versions {
		before := len(*v)
		if v.label("versions.version", version.Version); named[version.Version] {
			v.add("versions.version", "%s is there twice", version.Version)
		}
		if named[version.Version] = true; version.SizeBytes < 0 {
			v.add("versions.sizeBytes", "must not be negative")
		}
		if len(*v) > before {
			return // one bad version tells enough
		}
	}
}

// libraries is the import of one batch. All it decides follows from one look
// at what is there, with every other import locked out.
type libraries struct {
	p        *Platform
	now      Time
	changes  map[*ImportedArtifact]*artifactChange
	versions Imported
}

const librariesLock UID = "libraries"

// An artifactChange is what a record changes.
type artifactChange struct {
	self           bool // the artifact itself
	added, changed []*ArtifactVersion
}

func (c *artifactChange) none() bool { return !c.self && len(c.added)+len(c.changed) == 0 }

// known reads the artifacts of these names with all of their versions.
func (l *libraries) known(ctx context.Context, tx Tx, rows []*ImportedArtifact) ([]*ImportedArtifact, error) {
	if err := tx.Lock(ctx, librariesLock); err != nil {
		return nil, err
	}
	there, err := l.named(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	byName := make(map[artifactName]*ImportedArtifact, len(there))
	for _, a := range there {
		byName[artifactNameOf(a)] = a
	}
	l.changes, l.versions = make(map[*ImportedArtifact]*artifactChange, len(rows)), Imported{}
	for _, a := range rows {
		l.changes[a] = l.compare(byName[artifactNameOf(a)], a)
	}
	return there, nil
}

func (l *libraries) named(ctx context.Context, tx Tx, like []*ImportedArtifact) ([]*ImportedArtifact, error) {
	names := make([]string, len(like))
	for i, a := range like {
		names[i] = a.Name
	}
	q := Query[ArtifactFilter]{Filter: ArtifactFilter{Names: names}, Order: artifactKind.DefaultOrder, Limit: everything, Parts: PartItems}
	for _, e := range ecosystems {
		q.Scope.branches = append(q.Scope.branches, ofEcosystem(e))
	}
	there, err := TableOf[Artifact, ArtifactFilter](tx).List(ctx, q)
	if err != nil || len(there.Items) == 0 {
		return nil, err
	}
	scopes := make([]Scope, len(there.Items))
	for i, a := range there.Items {
		scopes[i] = scopeOf(Branch{Relation: Children, UID: a.UID})
	}
	versions, err := TableOf[ArtifactVersion, ArtifactVersionFilter](tx).ListEach(ctx, Query[ArtifactVersionFilter]{Order: Order{Field: "uid"}, Limit: everything, Parts: PartItems}, scopes)
	if err != nil {
		return nil, err
	}
	found := make([]*ImportedArtifact, len(there.Items))
	for i, a := range there.Items {
		found[i] = &ImportedArtifact{*a, versions[i].Items}
	}
	return found, nil
}

// compare finds what a record changes of what is known, nil: of nothing. It
// completes the record.
func (l *libraries) compare(known, a *ImportedArtifact) *artifactChange {
	if known == nil {
		known = &ImportedArtifact{Artifact: Artifact{UID: newRootUID(), CreateTime: l.now}}
	}
	a.UID, a.CreateTime, a.UpdateTime = known.UID, known.CreateTime, l.now
	there := make(map[string]*ArtifactVersion, len(known.Versions))
	for _, v := range known.Versions {
		there[v.Version] = v
	}
	c := &artifactChange{self: a.Description != known.Description || a.Remediated != known.Remediated || a.CudaVersion != known.CudaVersion}
	for _, v := range a.Versions {
		switch old := there[v.Version]; {
		case old == nil:
			c.added = append(c.added, l.new(a, v))
		case !v.completedBy(old, l.now):
			c.changed = append(c.changed, v)
		}
	}
	l.versions.Added += len(c.added)
	l.versions.Updated += len(c.changed)
	l.versions.Unchanged += len(a.Versions) - len(c.added) - len(c.changed)
	a.VersionCount = int32(len(known.Versions) + len(c.added))
	a.LatestVersion = latest(slices.Concat(known.Versions, c.added))
	return c
}

func (l *libraries) new(a *ImportedArtifact, v *ArtifactVersion) *ArtifactVersion {
	v.UID, v.SortKey = a.UID.newChild(), a.Ecosystem.versionKey(v.Version)
	if v.CreateTime.IsZero() {
		v.CreateTime = l.now
	}
	v.UpdateTime = v.CreateTime
	return v
}

// completedBy takes over what a record leaves out, and reports whether it
// tells nothing new.
func (v *ArtifactVersion) completedBy(known *ArtifactVersion, now Time) bool {
	if v.CreateTime.IsZero() {
		v.CreateTime = known.CreateTime
	}
	v.UID, v.UpdateTime, v.SizeBytes = known.UID, now, cmp.Or(v.SizeBytes, known.SizeBytes)
	return v.SizeBytes == known.SizeBytes && v.CreateTime.Equal(known.CreateTime.Time)
}

// latest is what lists of versions begin with.
func latest(versions []*ArtifactVersion) string {
	if len(versions) == 0 {
		return ""
	}
	return slices.MaxFunc(versions, func(a, b *ArtifactVersion) int {
		return cmp.Or(cmp.Compare(a.SortKey, b.SortKey), cmp.Compare(a.UID, b.UID))
	}).Version
}

func (l *libraries) replace(ctx context.Context, tx Tx, a *ImportedArtifact) error {
	row := a.Artifact
	if err := RowsOf[Artifact](tx).Update(ctx, &row, "description", "remediated", "cudaVersion", "latestVersion", "versionCount"); err != nil {
		return err
	}
	for _, v := range l.changes[a].changed {
		row := *v
		if err := RowsOf[ArtifactVersion](tx).Update(ctx, &row, "sizeBytes", "createTime"); err != nil {
			return err
		}
	}
	return RowsOf[ArtifactVersion](tx).Insert(ctx, l.changes[a].added...)
}

func (l *libraries) insert(ctx context.Context, tx Tx, added []*ImportedArtifact) error {
	rows := make([]*Artifact, len(added))
	var versions []*ArtifactVersion
	for i, a := range added {
		rows[i] = &a.Artifact
		versions = append(versions, l.changes[a].added...)
	}
	if err := RowsOf[Artifact](tx).Insert(ctx, rows...); err != nil {
		return err
	}
	return RowsOf[ArtifactVersion](tx).Insert(ctx, versions...)
}
