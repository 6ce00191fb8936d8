package platform

import (
	"context"
	"errors"
	"slices"

	"atrium/platform/fieldmask"
)

// A Repo is a repository of container images. Tags live below it.
type Repo struct {
	UID         UID         `json:"uid"`
	Name        string      `json:"name"` // unique in its group
	Description string      `json:"description,omitempty"`
	CatalogTier CatalogTier `json:"catalogTier,omitempty"`
	Bundles     []string    `json:"bundles,omitempty"`
	Aliases     []string    `json:"aliases,omitempty"`
	ActiveTags  []string    `json:"activeTags,omitempty"`
	SyncConfig  *SyncConfig `json:"sync_config,omitempty"` // the API uses this spelling
	Labels      Labels      `json:"labels,omitempty"`
	CreateTime  Time        `json:"createTime,omitzero"`
	UpdateTime  Time        `json:"updateTime,omitzero"`

	OpenSeverity string `json:"-"` // how many open findings there are of each rating: see OpenCounts.Text
}

// SyncConfig describes the source that a repo is copied from.
type SyncConfig struct {
	Source         string `json:"source"`
	UniqueTags     bool   `json:"uniqueTags"`
	ExpirationTime Time   `json:"expirationTime,omitzero"`
	Google         string `json:"google,omitempty"`
	Amazon         string `json:"amazon,omitempty"`
	Azure          string `json:"azure,omitempty"`
	ApkoOverlay    string `json:"apkoOverlay,omitempty"`
	GracePeriod    bool   `json:"gracePeriod"`
}

// UnmarshalJSON decodes a configuration. Unknown members are an error.
func (c *SyncConfig) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{
		"source": &c.Source, "uniqueTags": &c.UniqueTags, "expirationTime": &c.ExpirationTime,
		"google": &c.Google, "amazon": &c.Amazon, "azure": &c.Azure,
		"apkoOverlay": &c.ApkoOverlay, "gracePeriod": &c.GracePeriod})
}

// CatalogTier is the part of the catalogue that a repo belongs to.
type CatalogTier string

// The catalogue's parts.
const (
	CatalogTierApplication CatalogTier = "CATALOG_TIER_APPLICATION"
	CatalogTierBase        CatalogTier = "CATALOG_TIER_BASE"
	CatalogTierFIPS        CatalogTier = "CATALOG_TIER_FIPS"
	CatalogTierAI          CatalogTier = "CATALOG_TIER_AI"
	CatalogTierDevtools    CatalogTier = "CATALOG_TIER_DEVTOOLS"
	CatalogTierCommercial  CatalogTier = "CATALOG_TIER_COMMERCIAL"
)

var catalogTiers = []CatalogTier{CatalogTierApplication, CatalogTierBase, CatalogTierFIPS, CatalogTierAI, CatalogTierDevtools, CatalogTierCommercial}

// UnmarshalJSON reads the name or the number of a part.
func (t *CatalogTier) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalEnum(b, t, catalogTiers)
}

// Values lists the parts.
func (CatalogTier) Values() []string { return fieldmask.Texts(catalogTiers) }

// RepoFilter restricts a list of repos.
type RepoFilter struct {
	ChangeFilter
	LabelFilter

	Name string `json:",omitempty"` // exact name

	Names []string `json:",omitempty"` // the name is one of these
	Query string   `json:",omitempty"` // see SearchWords

	Tiers   []CatalogTier `json:",omitempty"` // the tier is one of these
	Bundles []string      `json:",omitempty"` // the repo has one of these bundles
	Aliases []string      `json:",omitempty"` // the repo has one of these aliases

	Holds UID `json:",omitempty"` // an image holds this version of a package

	Tags *TagCondition `json:",omitempty"` // the repo has such a tag

	ImageConditions
}

// capabilities lists what callers need for the conditions where they list repos.
func (f *RepoFilter) capabilities() []Capability {
	needed := f.ImageConditions.capabilities()
	if f.Tags != nil {
		needed = append(needed, CapTagList)
	}
	return needed
}

func (f *RepoFilter) check(v *violations) {
	f.LabelFilter.check(v)
	f.Tags.check(v)
	v.checkFilter("name", f.Name)
	v.checkFilter("names", f.Names...)
	v.checkQuery(f.Query)
	for _, t := range f.Tiers {
		if checkOneOf(v, "tiers", t, catalogTiers); t == "" {
			v.add("tiers", "must not hold an empty text")
		}
	}
	v.checkLines("bundles", f.Bundles, maxIDs)
	v.checkLines("aliases", f.Aliases, maxIDs)
	f.ImageConditions.check(v)
}

var repoKind = Kind[*Repo]{
	Name: "Repo", Plural: "repos", Area: areaRegistry, Number: 5, Event: "platform.registry.repo", Parent: groupRef, LevelsInside: 1,
	Verbs: []string{"created", "updated", "deleted"},
	List:  CapRepoList, Create: CapRepoCreate, Update: CapRepoUpdate, Delete: CapRepoDelete,
	Blocked: "RESOURCE_NOT_EMPTY",
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.Updatable},
		{Name: "description", Mode: fieldmask.Updatable}, {Name: "catalogTier", Mode: fieldmask.Updatable},
		{Name: "bundles", Mode: fieldmask.Updatable}, {Name: "aliases", Mode: fieldmask.Updatable},
		{Name: "activeTags", Mode: fieldmask.Updatable}, {Name: "sync_config", Mode: fieldmask.Updatable},
		{Name: "labels", Mode: fieldmask.Updatable},
		{Name: "createTime", Mode: fieldmask.OutputOnly}, {Name: "updateTime", Mode: fieldmask.Volatile},
		{Name: "sync_config.uniqueTags", Mode: fieldmask.OutputOnly},
		{Name: "sync_config.expirationTime", Mode: fieldmask.OutputOnly},
		{Name: "sync_config.apkoOverlay", Mode: fieldmask.OutputOnly},
		{Name: "sync_config.gracePeriod", Mode: fieldmask.OutputOnly},
	},
	Required: []string{"name"},
	Unique:   []string{"name"},
	Orders: []OrderField[*Repo]{
		{"name", nil, func(r *Repo) any { return r.Name }},
		{"create_time", createTimeSpellings, func(r *Repo) any { return r.CreateTime }},
		{"update_time", updateTimeSpellings, func(r *Repo) any { return r.UpdateTime }},
		{"uid", nil, func(r *Repo) any { return string(r.UID) }},
		{"open_severity", []string{"openSeverity"}, func(r *Repo) any { return r.OpenSeverity }},
	},
	Guarded:      map[string][]Capability{"open_severity": {CapFindingsList, CapTagList}},
	DefaultOrder: Order{Field: "name"},
	UID:          func(r *Repo) UID { return r.UID },
	Group:        parentOf(func(r *Repo) UID { return r.UID }),
	Stamp:        func(r *Repo, uid UID, now Time) { r.UID, r.CreateTime, r.UpdateTime = uid, now, now },
	Check: func(r *Repo, changed func(string) bool, v *violations) {
		if changed("name") {
			v.checkName(r.Name, repoPattern, maxRepoBytes)
		}
		if changed("description") {
			v.checkLine("description", r.Description)
		}
		if changed("catalogTier") {
			if r.CatalogTier == "CATALOG_TIER_UNSPECIFIED" {
				r.CatalogTier = ""
			}
			checkOneOf(v, "catalogTier", r.CatalogTier, catalogTiers)
		}
		if changed("bundles") {
			v.checkLines("bundles", r.Bundles, maxLines)
		}
		if changed("aliases") {
			v.checkLines("aliases", r.Aliases, maxLines)
		}
		if changed("activeTags") {
			v.checkLines("activeTags", r.ActiveTags, maxLines)
		}
		if changed("sync_config") && r.SyncConfig != nil {
			r.SyncConfig.check(v)
		}
		if changed("labels") {
			r.Labels.check(v)
		}
	},
}

func (c *SyncConfig) check(v *violations) {
	if c.Source == "" {
		v.add("sync_config.source", "is required")
	}
	v.checkLine("sync_config.source", c.Source)
	for _, x := range []struct {
		name  string
		given bool
	}{
		{"uniqueTags", c.UniqueTags}, {"expirationTime", !c.ExpirationTime.IsZero()}, {"apkoOverlay", c.ApkoOverlay != ""},
		{"gracePeriod", c.GracePeriod},
	} {
		if x.given { // no repo has this field
			v.add("sync_config."+x.name, "is set by the service; leave it out")
		}
	}
}

// RepoQueries read and write repos in other ways than a Table does.
type RepoQueries interface {
	// ReposOfPath reads the repos that a path can name. It does not check access.
	ReposOfPath(ctx context.Context, on Conn, path Path) ([]*Repo, error)

	// FacetRepos counts the repos of each scope by facet, with one round trip. The
	// values of a facet are not sorted.
	FacetRepos(ctx context.Context, on Conn, filter *RepoFilter, scopes []Scope) ([]*RepoFacets, error)

	// Readmes reads the readmes of repos; missing repos are left out.
	Readmes(ctx context.Context, on Conn, keys Keys) ([]*Readme, error)

	// SetReadme replaces the readme of an existing repo.
	SetReadme(ctx context.Context, tx Tx, repo UID, content string) error
}

// Repos are the operations on repos.
type Repos struct {
	Resources[*Repo, *RepoFilter]
	rows *Collection[*Repo, *RepoFilter]
	area *inventoryArea
}

func repoKeyFilter(r *Repo) *RepoFilter { return &RepoFilter{Name: r.Name} }

// Create makes a repo in a group.
func (s Repos) Create(ctx context.Context, parent UID, in fieldmask.Input[*Repo]) (*Repo, error) {
	return s.rows.create(ctx, parent, in)
}

// Update changes a repo.
func (s Repos) Update(ctx context.Context, uid UID, in fieldmask.Input[*Repo]) (*Repo, error) {
	return s.rows.update(ctx, uid, in)
}

// UpdateBatch updates several repos: all or none.
func (s Repos) UpdateBatch(ctx context.Context, requests []BatchRequest[*Repo]) ([]*Repo, error) {
	return s.rows.updateBatch(ctx, requests)
}

// Delete removes a repo without tags.
func (s Repos) Delete(ctx context.Context, uid UID) error {
	return s.rows.removeChecked(ctx, uid, func(tx Tx, uid UID) error {
		tx.LockShared(findingLock(uid.Root())) // else findings would change after they were counted
		return s.area.tables.ForgetRepo(ctx, tx, uid)
	})
}

// A Readme is the Markdown text that introduces a repo.
type Readme struct {
	UID     UID    `json:"uid"` // UID of the repo
	Content string `json:"content,omitempty"`
}

var readmeFields = []fieldmask.Field{{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "content", Mode: fieldmask.Updatable}}

// Readme reads the readme of a repo. It is empty if none was written.
func (s Repos) Readme(ctx context.Context, uid UID) (*Readme, error) {
	readmes, errs := s.Readmes(ctx, []UID{uid})
	return readmes[0], errs[0]
}

// Readmes reads the readmes of repos with one read, in the order of uids.
func (s Repos) Readmes(ctx context.Context, uids []UID) ([]*Readme, []error) {
	return readEach(ctx, s.rows, uids, s.area.tables.Readmes, func(r *Readme) UID { return r.UID })
}

// UpdateReadme replaces the readme of a repo.
func (s Repos) UpdateReadme(ctx context.Context, uid UID, in fieldmask.Input[*Readme]) (*Readme, error) {
	readme, err := s.updateReadme(ctx, uid, in)
	return readme, s.rows.recordIfDenied(ctx, "updated", uid, err)
}

func (s Repos) updateReadme(ctx context.Context, uid UID, in fieldmask.Input[*Readme]) (*Readme, error) {
	var v violations
	if _, err := requireCaller(ctx); err != nil {
		return nil, err
	}
	if v.checkUID("uid", uid); len(v) == 0 {
		if _, err := require(ctx, uid, s.rows.kind.Update); err != nil {
			return nil, err
		}
	}
	change, found := in.DecodeUpdate(readmeFields)
	v = slices.Concat(v, found, change.Conflicts(&Readme{UID: uid}))
	readme := *change.Row
	v.checkText("content", readme.Content, maxReadmeBytes)
	if slices.Contains(change.Claims, "uid") && change.Claimed.UID != uid {
		v.add("uid", "must be the uid of the repo")
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if len(change.Fields) == 0 {
		return s.Readme(ctx, uid)
	}
	readme.UID = uid
	err := s.area.store.Write(ctx, func(tx Tx) error {
		repo := &Repo{UID: uid, UpdateTime: s.area.now()}
		var before []*Readme
		err := tx.RunTogether(ctx,
			func(ctx context.Context) error { return s.area.tables.Repos.Update(ctx, tx, repo) }, // this also locks the repo
			func(ctx context.Context) (err error) {
				before, err = s.area.tables.Readmes(ctx, tx, Keys{UIDs: []UID{uid}})
				return err
			},
			func(ctx context.Context) error { return s.area.tables.SetReadme(ctx, tx, uid, readme.Content) },
		)
		if err != nil {
			return err
		}
		s.rows.recordUpdate(ctx, tx, repo, []EventChange{newValueChange("readme", before[0].Content, readme.Content)})
		return nil
	})
	if errors.Is(err, ErrNotFound) {
		err = s.rows.kind.notFound(uid)
	}
	if err != nil {
		return nil, err
	}
	return &readme, nil
}

// ListHolding reads, for each version of a package, the same page of the repos with images that hold it,
// with one read.
func (s Repos) ListHolding(ctx context.Context, req ListRequest[*RepoFilter], versions []*PackageVersion) ([]Page[*Repo], []error) {
	req, err := s.decide(ctx, UIDFilter{}, req)
	if err != nil {
		return failAll[Page[*Repo]](len(versions), s.rows.kind.addArea(err))
	}
	return listReferring(ctx, s.rows.also(CapManifestMetadataList, CapTagList), req, len(versions), func(i int, req *ListRequest[*RepoFilter]) func(Branch) []Branch {
		req.UIDP.DescendantsOf = versions[i].Package.Within
		req.Filter = changeFilter(req.Filter, func(f *RepoFilter) { f.Holds = versions[i].UID })
		return narrowTo(func(b *Branch) { b.Holds = versions[i].UID })
	})
}

// List reads one page. Repos whose findings the caller may not see are left out if the filter or the order asks
// for findings.
func (s Repos) List(ctx context.Context, req ListRequest[*RepoFilter]) (Page[*Repo], error) {
	req, err := s.decide(ctx, req.UIDP, req)
	if err != nil {
		return Page[*Repo]{}, s.rows.kind.addArea(err)
	}
	return s.rows.List(ctx, req)
}

// ListEach reads the same page of many scopes with one read.
func (s Repos) ListEach(ctx context.Context, req ListRequest[*RepoFilter], scopes []UIDFilter) ([]Page[*Repo], []error) {
	req, err := s.decide(ctx, UIDFilter{}, req)
	if err != nil {
		return failAll[Page[*Repo]](len(scopes), s.rows.kind.addArea(err))
	}
	return s.rows.ListEach(ctx, req, scopes)
}

// decide decides the conditions on images in a request.
func (s Repos) decide(ctx context.Context, scope UIDFilter, req ListRequest[*RepoFilter]) (ListRequest[*RepoFilter], error) {
	if req.Filter == nil {
		return req, nil
	}
	c, err := s.area.PackageVersions.decide(ctx, scope, req.Filter.ImageConditions)
	req.Filter = changeFilter(req.Filter, func(f *RepoFilter) { f.ImageConditions = c })
	return req, err
}
