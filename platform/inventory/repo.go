package inventory

import (
	"context"
	"errors"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A Repo is a repository of container images. Tags live below it.
type Repo struct {
	UID         core.UID         `json:"uid"`
	Name        string           `json:"name"` // unique in its group
	Description string           `json:"description,omitempty"`
	CatalogTier core.CatalogTier `json:"catalogTier,omitempty"`
	Bundles     []string         `json:"bundles,omitempty"`
	Aliases     []string         `json:"aliases,omitempty"`
	ActiveTags  []string         `json:"activeTags,omitempty"`
	SyncConfig  *SyncConfig      `json:"sync_config,omitempty"` // the API uses this spelling
	Labels      core.Labels      `json:"labels,omitempty"`
	CreateTime  core.Time        `json:"createTime,omitzero"`
	UpdateTime  core.Time        `json:"updateTime,omitzero"`

	OpenSeverity string `json:"-"` // how many open findings there are of each rating: see OpenCounts.Text
}

// SyncConfig describes the source that a repo is copied from.
type SyncConfig struct {
	Source         string    `json:"source"`
	UniqueTags     bool      `json:"uniqueTags"`
	ExpirationTime core.Time `json:"expirationTime,omitzero"`
	Google         string    `json:"google,omitempty"`
	Amazon         string    `json:"amazon,omitempty"`
	Azure          string    `json:"azure,omitempty"`
	ApkoOverlay    string    `json:"apkoOverlay,omitempty"`
	GracePeriod    bool      `json:"gracePeriod"`
}

// UnmarshalJSON decodes a configuration. Unknown members are an error.
func (c *SyncConfig) UnmarshalJSON(b []byte) error {
	return fieldmask.UnmarshalObject(b, map[string]any{
		"source": &c.Source, "uniqueTags": &c.UniqueTags, "expirationTime": &c.ExpirationTime,
		"google": &c.Google, "amazon": &c.Amazon, "azure": &c.Azure,
		"apkoOverlay": &c.ApkoOverlay, "gracePeriod": &c.GracePeriod})
}

// RepoFilter restricts a list of repos.
type RepoFilter struct {
	core.ChangeFilter
	core.LabelFilter

	Name string `json:",omitempty"` // exact name

	Names []string `json:",omitempty"` // the name is one of these
	Query string   `json:",omitempty"` // see SearchWords

	Tiers   []core.CatalogTier `json:",omitempty"` // the tier is one of these
	Bundles []string           `json:",omitempty"` // the repo has one of these bundles
	Aliases []string           `json:",omitempty"` // the repo has one of these aliases

	Holds core.UID `json:",omitempty"` // an image holds this version of a package

	Tags *core.TagCondition `json:",omitempty"` // the repo has such a tag

	ImageConditions
}

// Capabilities lists what callers need for the conditions where they list repos.
func (f *RepoFilter) Capabilities() []core.Capability {
	needed := f.ImageConditions.Capabilities()
	if f.Tags != nil {
		needed = append(needed, core.CapTagList)
	}
	return needed
}

// Check adds the violations of the conditions.
func (f *RepoFilter) Check(v *core.Violations) {
	f.LabelFilter.Check(v)
	f.Tags.Check(v)
	v.CheckFilter("name", f.Name)
	v.CheckFilter("names", f.Names...)
	v.CheckQuery(f.Query)
	for _, t := range f.Tiers {
		if core.CheckOneOf(v, "tiers", t, core.CatalogTiers); t == "" {
			v.Add("tiers", "must not contain an empty text")
		}
	}
	v.CheckLines("bundles", f.Bundles, core.MaxIDs)
	v.CheckLines("aliases", f.Aliases, core.MaxIDs)
	f.ImageConditions.Check(v)
}

// RepoKind has the facts about repos.
var RepoKind = core.Kind[*Repo]{
	Name: "Repo", Plural: "repos", Area: core.AreaRegistry, Number: 5, Event: "platform.registry.repo", Parent: core.GroupRef, LevelsInside: 1,
	Verbs: []string{"created", "updated", "deleted"},
	List:  core.CapRepoList, Create: core.CapRepoCreate, Update: core.CapRepoUpdate, Delete: core.CapRepoDelete,
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
	Orders: []core.OrderField[*Repo]{
		{Name: "name", Value: func(r *Repo) any { return r.Name }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(r *Repo) any { return r.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(r *Repo) any { return r.UpdateTime }},
		{Name: "uid", Value: func(r *Repo) any { return string(r.UID) }},
		{Name: "open_severity", Spellings: []string{"openSeverity"}, Value: func(r *Repo) any { return r.OpenSeverity }},
	},
	Guarded:      map[string][]core.Capability{"open_severity": {core.CapFindingsList, core.CapTagList}},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(r *Repo) core.UID { return r.UID },
	Group:        core.ParentOf(func(r *Repo) core.UID { return r.UID }),
	Stamp:        func(r *Repo, uid core.UID, now core.Time) { r.UID, r.CreateTime, r.UpdateTime = uid, now, now },
	Check: func(r *Repo, changed func(string) bool, v *core.Violations) {
		if changed("name") {
			v.CheckName(r.Name, core.RepoPattern, core.MaxRepoBytes)
		}
		if changed("description") {
			v.CheckLine("description", r.Description)
		}
		if changed("catalogTier") {
			if r.CatalogTier == "CATALOG_TIER_UNSPECIFIED" {
				r.CatalogTier = ""
			}
			core.CheckOneOf(v, "catalogTier", r.CatalogTier, core.CatalogTiers)
		}
		if changed("bundles") {
			v.CheckLines("bundles", r.Bundles, core.MaxLines)
		}
		if changed("aliases") {
			v.CheckLines("aliases", r.Aliases, core.MaxLines)
		}
		if changed("activeTags") {
			v.CheckLines("activeTags", r.ActiveTags, core.MaxLines)
		}
		if changed("sync_config") && r.SyncConfig != nil {
			r.SyncConfig.Check(v)
		}
		if changed("labels") {
			r.Labels.Check(v)
		}
	},
}

// Check adds the violations of the fields.
func (c *SyncConfig) Check(v *core.Violations) {
	if c.Source == "" {
		v.Add("sync_config.source", "is required")
	}
	v.CheckLine("sync_config.source", c.Source)
	for _, x := range []struct {
		name  string
		given bool
	}{
		{"uniqueTags", c.UniqueTags}, {"expirationTime", !c.ExpirationTime.IsZero()}, {"apkoOverlay", c.ApkoOverlay != ""},
		{"gracePeriod", c.GracePeriod},
	} {
		if x.given { // no repo has this field
			v.Add("sync_config."+x.name, "is set by the service; leave it out")
		}
	}
}

// RepoQueries read and write repos in other ways than a Table does.
type RepoQueries interface {
	// ReposOfPath reads the repos that a path can name. It does not check access.
	ReposOfPath(ctx context.Context, on core.Conn, path core.Path) ([]*Repo, error)

	// FacetRepos counts the repos of each scope by facet, with one round trip. The
	// values of a facet are not sorted.
	FacetRepos(ctx context.Context, on core.Conn, filter *RepoFilter, scopes []core.Scope) ([]*RepoFacets, error)

	// Readmes reads the readmes of repos; missing repos are left out.
	Readmes(ctx context.Context, on core.Conn, keys core.Keys) ([]*Readme, error)

	// SetReadme replaces the readme of an existing repo.
	SetReadme(ctx context.Context, tx core.Tx, repo core.UID, content string) error
}

// Repos are the operations on repos.
type Repos struct {
	core.Resources[*Repo, *RepoFilter]
	rows *core.Collection[*Repo, *RepoFilter]
	area *Area
}

func repoKeyFilter(r *Repo) *RepoFilter { return &RepoFilter{Name: r.Name} }

// Create makes a repo in a group.
func (s Repos) Create(ctx context.Context, parent core.UID, in fieldmask.Input[*Repo]) (*Repo, error) {
	return s.rows.Create(ctx, parent, in)
}

// Update changes a repo.
func (s Repos) Update(ctx context.Context, uid core.UID, in fieldmask.Input[*Repo]) (*Repo, error) {
	return s.rows.Update(ctx, uid, in)
}

// UpdateBatch updates several repos: all or none.
func (s Repos) UpdateBatch(ctx context.Context, requests []core.BatchRequest[*Repo]) ([]*Repo, error) {
	return s.rows.UpdateBatch(ctx, requests)
}

// Delete removes a repo without tags.
func (s Repos) Delete(ctx context.Context, uid core.UID) error {
	if _, err := core.Require(ctx, uid, RepoKind.Delete); err == nil {
		defer s.area.precedence.Take(uid.Root())()
	}
	return s.rows.RemoveChecked(ctx, uid, func(tx core.Tx, uid core.UID) error {
		tx.LockShared(FindingLock(uid.Root())) // else findings would change after they were counted
		return s.area.tables.ForgetRepo(ctx, tx, uid)
	})
}

// FindRepos returns which of these repos exist. It does not check access.
func (area *Area) FindRepos(ctx context.Context, repos []core.UID) (map[core.UID]bool, error) {
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

// A Readme is the Markdown text that introduces a repo.
type Readme struct {
	UID     core.UID `json:"uid"` // UID of the repo
	Content string   `json:"content,omitempty"`
}

// ReadmeFields are the fields of a readme.
var ReadmeFields = []fieldmask.Field{{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "content", Mode: fieldmask.Updatable}}

// Readme reads the readme of a repo. It is empty if none was written.
func (s Repos) Readme(ctx context.Context, uid core.UID) (*Readme, error) {
	readmes, errs := s.Readmes(ctx, []core.UID{uid})
	return readmes[0], errs[0]
}

// Readmes reads the readmes of repos with one read, in the order of uids.
func (s Repos) Readmes(ctx context.Context, uids []core.UID) ([]*Readme, []error) {
	return core.ReadEach(ctx, s.rows, uids, s.area.tables.Readmes, func(r *Readme) core.UID { return r.UID })
}

// UpdateReadme replaces the readme of a repo.
func (s Repos) UpdateReadme(ctx context.Context, uid core.UID, in fieldmask.Input[*Readme]) (*Readme, error) {
	readme, err := s.updateReadme(ctx, uid, in)
	return readme, s.rows.RecordIfDenied(ctx, "updated", uid, err)
}

func (s Repos) updateReadme(ctx context.Context, uid core.UID, in fieldmask.Input[*Readme]) (*Readme, error) {
	var v core.Violations
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, err
	}
	if v.CheckUID("uid", uid); len(v) == 0 {
		if _, err := core.Require(ctx, uid, s.rows.Kind.Update); err != nil {
			return nil, err
		}
	}
	change, found := in.DecodeUpdate(ReadmeFields)
	v = slices.Concat(v, found, change.Conflicts(&Readme{UID: uid}))
	readme := *change.Row
	v.CheckText("content", readme.Content, core.MaxReadmeBytes)
	if slices.Contains(change.Claims, "uid") && change.Claimed.UID != uid {
		v.Add("uid", "must be the uid of the repo")
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	if len(change.Fields) == 0 {
		return s.Readme(ctx, uid)
	}
	readme.UID = uid
	err := s.area.Store.Write(ctx, func(tx core.Tx) error {
		repo := &Repo{UID: uid, UpdateTime: s.area.Now()}
		var before []*Readme
		err := tx.RunTogether(ctx,
			func(ctx context.Context) error { return s.area.tables.Repos.Update(ctx, tx, repo) }, // this also locks the repo
			func(ctx context.Context) (err error) {
				before, err = s.area.tables.Readmes(ctx, tx, core.Keys{UIDs: []core.UID{uid}})
				return err
			},
			func(ctx context.Context) error { return s.area.tables.SetReadme(ctx, tx, uid, readme.Content) },
		)
		if err != nil {
			return err
		}
		s.rows.RecordUpdate(ctx, tx, repo, []core.EventChange{core.NewValueChange("readme", before[0].Content, readme.Content)})
		return nil
	})
	if errors.Is(err, core.ErrNotFound) {
		err = s.rows.Kind.NotFound(uid)
	}
	if err != nil {
		return nil, err
	}
	return &readme, nil
}

// ListHolding reads, for each version of a package, the same page of the repos with images that hold it,
// with one read.
func (s Repos) ListHolding(ctx context.Context, req core.ListRequest[*RepoFilter], versions []*PackageVersion) ([]core.Page[*Repo], []error) {
	req, err := s.decide(ctx, core.UIDFilter{}, req)
	if err != nil {
		return core.FailAll[core.Page[*Repo]](len(versions), s.rows.Kind.AddArea(err))
	}
	return core.ListReferring(ctx, s.rows.Also(core.CapManifestMetadataList, core.CapTagList), req, len(versions), func(i int, req *core.ListRequest[*RepoFilter]) func(core.Branch) []core.Branch {
		req.UIDP.DescendantsOf = versions[i].Package.Within
		req.Filter = core.EditFilter(req.Filter, func(f *RepoFilter) { f.Holds = versions[i].UID })
		return core.NarrowTo(func(b *core.Branch) { b.Holds = versions[i].UID })
	})
}

// List reads one page. Repos whose findings the caller may not see are left out if the filter or the order asks
// for findings.
func (s Repos) List(ctx context.Context, req core.ListRequest[*RepoFilter]) (core.Page[*Repo], error) {
	req, err := s.decide(ctx, req.UIDP, req)
	if err != nil {
		return core.Page[*Repo]{}, s.rows.Kind.AddArea(err)
	}
	return s.rows.List(ctx, req)
}

// ListEach reads the same page of many scopes with one read.
func (s Repos) ListEach(ctx context.Context, req core.ListRequest[*RepoFilter], scopes []core.UIDFilter) ([]core.Page[*Repo], []error) {
	req, err := s.decide(ctx, core.UIDFilter{}, req)
	if err != nil {
		return core.FailAll[core.Page[*Repo]](len(scopes), s.rows.Kind.AddArea(err))
	}
	return s.rows.ListEach(ctx, req, scopes)
}

// decide decides the conditions on images in a request.
func (s Repos) decide(ctx context.Context, scope core.UIDFilter, req core.ListRequest[*RepoFilter]) (core.ListRequest[*RepoFilter], error) {
	if req.Filter == nil {
		return req, nil
	}
	c, err := s.area.PackageVersions.decide(ctx, scope, req.Filter.ImageConditions)
	req.Filter = core.EditFilter(req.Filter, func(f *RepoFilter) { f.ImageConditions = c })
	return req, err
}
