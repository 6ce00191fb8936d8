package libraries

import (
	"cmp"
	"context"
	"slices"

	"atrium/platform/core"
)

// An ImportedArtifact is an artifact with its versions. The import uses Version,
// SizeBytes and CreateTime of each version.
type ImportedArtifact struct {
	Artifact
	Versions []*ArtifactVersion
}

// Import stores artifacts by ecosystem and normal name, and their versions by version.
// It replaces existing ones, and keeps versions that a record does not name. It
// counts artifacts and versions; an artifact counts as updated when one of its
// versions changes.
func (s Artifacts) Import(ctx context.Context, artifacts []*ImportedArtifact) (done, versions core.Imported, err error) {
	if err := core.RequireOperator(ctx); err != nil {
		return done, versions, err
	}
	l := libraries{area: s.area, now: s.area.Now()}
	in := core.ImportPlan[*ImportedArtifact, ArtifactName]{
		Key: (*ImportedArtifact).Key, Check: (*ImportedArtifact).Check, Existing: l.readExisting,
		IsUnchanged: func(_, a *ImportedArtifact) bool { return l.changes[a].isEmpty() },
		Replace:     func(ctx context.Context, tx core.Tx, _, a *ImportedArtifact) error { return l.replace(ctx, tx, a) },
		Insert:      l.insert,
	}
	done, err = in.Run(ctx, s.area.Store, artifacts)
	return done, l.versions, err
}

// An ArtifactName identifies an artifact.
type ArtifactName struct {
	Ecosystem Ecosystem
	Name      string // as Ecosystem.normalName returns it
}

// Key returns what identifies the artifact.
func (a *ImportedArtifact) Key() ArtifactName {
	return ArtifactName{a.Ecosystem, a.Ecosystem.normalName(a.Name)}
}

// Check adds the violations of the fields.
func (a *ImportedArtifact) Check(v *core.Violations) {
	if core.CheckOneOf(v, "ecosystem", a.Ecosystem, ecosystems); a.Ecosystem == "" {
		v.Add("ecosystem", "is required")
	}
	a.Name = a.Ecosystem.normalName(a.Name)
	v.CheckRequiredLine("name", a.Name)
	v.CheckLine("description", a.Description)
	v.CheckLine("cudaVersion", a.CudaVersion)
	named := make(map[string]bool, len(a.Versions))
	for _, version := range a.Versions {
		before := len(*v)
		if v.CheckRequiredLine("versions.version", version.Version); named[version.Version] {
			v.Add("versions.version", "%s is given twice", version.Version)
		}
		if named[version.Version] = true; version.SizeBytes < 0 {
			v.Add("versions.sizeBytes", "must not be negative")
		}
		if len(*v) > before {
			return // report only the first invalid version
		}
	}
}

// libraries is the import of one batch. It reads the existing rows once, while a
// lock excludes all other imports.
type libraries struct {
	area     *Area
	now      core.Time
	changes  map[*ImportedArtifact]*artifactChange
	versions core.Imported
}

const librariesLock core.UID = "libraries"

// An artifactChange describes what a record changes.
type artifactChange struct {
	artifact       bool // whether the artifact itself changes
	added, changed []*ArtifactVersion
}

func (c *artifactChange) isEmpty() bool { return !c.artifact && len(c.added)+len(c.changed) == 0 }

// readExisting reads the artifacts with the names of records, and compares the records
// with them. It excludes all other imports until the transaction ends.
func (l *libraries) readExisting(ctx context.Context, tx core.Tx, rows []*ImportedArtifact) ([]*ImportedArtifact, error) {
	tx.Lock(librariesLock)
	stored, err := l.readByName(ctx, tx, rows)
	if err != nil {
		return nil, err
	}
	byName := make(map[ArtifactName]*ImportedArtifact, len(stored))
	for _, a := range stored {
		byName[a.Key()] = a
	}
	l.changes, l.versions = make(map[*ImportedArtifact]*artifactChange, len(rows)), core.Imported{}
	for _, a := range rows {
		l.changes[a] = l.compare(byName[a.Key()], a)
	}
	return stored, nil
}

// readByName reads the artifacts with the names of records, and all of their versions.
func (l *libraries) readByName(ctx context.Context, tx core.Tx, like []*ImportedArtifact) ([]*ImportedArtifact, error) {
	names := make([]string, len(like))
	for i, a := range like {
		names[i] = a.Name
	}
	q := core.Query[*ArtifactFilter]{Filter: &ArtifactFilter{Names: names}, Order: ArtifactKind.DefaultOrder, Limit: core.NoLimit, Parts: core.PartItems}
	for _, e := range ecosystems {
		q.Scope.Branches = append(q.Scope.Branches, ecosystemBranch(e))
	}
	stored, err := l.area.tables.Artifacts.List(ctx, tx, q)
	if err != nil || len(stored.Items) == 0 {
		return nil, err
	}
	scopes := make([]core.Scope, len(stored.Items))
	for i, a := range stored.Items {
		scopes[i] = core.NewScope(core.Branch{Relation: core.Children, UID: a.UID})
	}
	versions, err := l.area.tables.ArtifactVersions.ListEach(ctx, tx, core.Query[*ArtifactVersionFilter]{Order: core.Order{Field: "uid"}, Limit: core.NoLimit, Parts: core.PartItems}, scopes)
	if err != nil {
		return nil, err
	}
	found := make([]*ImportedArtifact, len(stored.Items))
	for i, a := range stored.Items {
		found[i] = &ImportedArtifact{*a, versions[i].Items}
	}
	return found, nil
}

// compare finds what a record changes compared with the existing artifact, or nil
// if there is none. It fills in missing fields of the record.
func (l *libraries) compare(known, a *ImportedArtifact) *artifactChange {
	if known == nil {
		known = &ImportedArtifact{Artifact: Artifact{UID: core.NewRootUID(), CreateTime: l.now}}
	}
	a.UID, a.CreateTime, a.UpdateTime = known.UID, known.CreateTime, l.now
	stored := make(map[string]*ArtifactVersion, len(known.Versions))
	for _, v := range known.Versions {
		stored[v.Version] = v
	}
	c := &artifactChange{artifact: a.Description != known.Description || a.Remediated != known.Remediated || a.CudaVersion != known.CudaVersion}
	for _, v := range a.Versions {
		switch old := stored[v.Version]; {
		case old == nil:
			c.added = append(c.added, l.newVersion(a, v))
		case !v.completeFrom(old, l.now):
			c.changed = append(c.changed, v)
		}
	}
	l.versions.Added += len(c.added)
	l.versions.Updated += len(c.changed)
	l.versions.Unchanged += len(a.Versions) - len(c.added) - len(c.changed)
	a.VersionCount = int32(len(known.Versions) + len(c.added))
	a.LatestVersion = latestVersion(slices.Concat(known.Versions, c.added))
	return c
}

func (l *libraries) newVersion(a *ImportedArtifact, v *ArtifactVersion) *ArtifactVersion {
	v.UID, v.SortKey = a.UID.NewChild(), a.Ecosystem.versionKey(v.Version)
	if v.CreateTime.IsZero() {
		v.CreateTime = l.now
	}
	v.UpdateTime = v.CreateTime
	return v
}

// completeFrom fills in what a record leaves out from the existing version, and
// reports whether the record changes nothing.
func (v *ArtifactVersion) completeFrom(known *ArtifactVersion, now core.Time) bool {
	if v.CreateTime.IsZero() {
		v.CreateTime = known.CreateTime
	}
	v.UID, v.UpdateTime, v.SizeBytes = known.UID, now, cmp.Or(v.SizeBytes, known.SizeBytes)
	return v.SizeBytes == known.SizeBytes && v.CreateTime.Equal(known.CreateTime.Time)
}

// latestVersion returns the first version in default order.
func latestVersion(versions []*ArtifactVersion) string {
	if len(versions) == 0 {
		return ""
	}
	return slices.MaxFunc(versions, func(a, b *ArtifactVersion) int {
		return cmp.Or(cmp.Compare(a.SortKey, b.SortKey), cmp.Compare(a.UID, b.UID))
	}).Version
}

func (l *libraries) replace(ctx context.Context, tx core.Tx, a *ImportedArtifact) error {
	row := a.Artifact
	if err := l.area.tables.Artifacts.Update(ctx, tx, &row, "description", "remediated", "cudaVersion", "latestVersion", "versionCount"); err != nil {
		return err
	}
	for _, v := range l.changes[a].changed {
		row := *v
		if err := l.area.tables.ArtifactVersions.Update(ctx, tx, &row, "sizeBytes", "createTime"); err != nil {
			return err
		}
	}
	return l.area.tables.ArtifactVersions.Insert(ctx, tx, l.changes[a].added...)
}

func (l *libraries) insert(ctx context.Context, tx core.Tx, added []*ImportedArtifact) error {
	rows := make([]*Artifact, len(added))
	var versions []*ArtifactVersion
	for i, a := range added {
		rows[i] = &a.Artifact
		versions = append(versions, l.changes[a].added...)
	}
	if err := l.area.tables.Artifacts.Insert(ctx, tx, rows...); err != nil {
		return err
	}
	return l.area.tables.ArtifactVersions.Insert(ctx, tx, versions...)
}
