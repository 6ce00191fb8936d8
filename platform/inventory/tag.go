package inventory

import (
	"context"
	"errors"
	"regexp"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A Tag is a name for a digest in a repo. Creating an existing name moves the tag.
type Tag struct {
	UID        core.UID  `json:"uid"`
	Name       string    `json:"name"` // unique in its repo
	Digest     string    `json:"digest"`
	UpdateTime core.Time `json:"updateTime,omitzero"`
	Deprecated bool      `json:"deprecated"` // whether the tag has reached its end of life
	Bundles    []string  `json:"bundles,omitempty"`

	CreateTime core.Time `json:"-"` // time by which tags are ordered; the wire does not show it
	Class      TagClass  `json:"-"` // class, which follows from Name

	OpenSeverity string `json:"-"` // how many open findings its image has of each rating: see OpenCounts.Text

	// Source is the registry and repo, such as ghcr.io/acme/api, from which the
	// tag was imported. It is "" if a caller made or moved the tag. It is written
	// and never read back.
	Source string `json:"-"`
}

// TagClass distinguishes tags that people make from those that tools make.
type TagClass string

// The classes that tools make.
const (
	TagClassReferrer TagClass = "referrer" // the name is sha256-<hex>, with .sig, .att or .sbom
	TagClassDate     TagClass = "date"     // the name ends in a date, such as bookworm-20260327
	TagClassEpoch    TagClass = "epoch"    // the name ends in a package epoch, such as 1.2.3-r4
)

var (
	referrerTag = regexp.MustCompile(`^sha256-[0-9a-f]{64}`)
	dateTag     = regexp.MustCompile(`-\d{8}$`)
	epochTag    = regexp.MustCompile(`-r\d+$`)
)

func tagClass(name string) TagClass {
	switch {
	case referrerTag.MatchString(name):
		return TagClassReferrer
	case dateTag.MatchString(name):
		return TagClassDate
	case epochTag.MatchString(name):
		return TagClassEpoch
	default:
		return ""
	}
}

// TagFilter restricts a list of tags.
type TagFilter struct {
	Name         string    `json:",omitempty"` // exact name
	UpdatedSince core.Time `json:",omitzero"`  // the last update is at this time or later
	Digest       string    `json:",omitempty"`
	Deprecated   *bool     `json:",omitempty"`

	// Without lists classes to exclude.
	Without []TagClass `json:",omitempty" excludes:""`

	Names []string `json:",omitempty"` // the name is one of these
	Query string   `json:",omitempty"` // see SearchWords

	Lacks core.UID `json:",omitempty"` // the image is free of what this advisory represents, as its SBOM shows
	Holds core.UID `json:",omitempty"` // the image holds this version of a package

	ImageConditions
}

// Check adds the violations of the conditions.
func (f *TagFilter) Check(v *core.Violations) {
	v.CheckFilter("name", f.Name)
	v.CheckQuery(f.Query)
	v.CheckFilter("names", f.Names...)
	if f.Digest != "" {
		v.CheckDigest(f.Digest)
	}
	f.ImageConditions.Check(v)
}

// TagKind has the facts about tags.
var TagKind = core.Kind[*Tag]{
	Name: "Tag", Plural: "tags", Area: core.AreaRegistry, Number: 6, Event: "platform.registry.tag", Parent: core.RepoRef,
	Verbs: []string{"created", "deleted"}, // moving a tag is recorded as created
	List:  core.CapTagList, Create: core.CapTagCreate, Update: core.CapTagUpdate, Delete: core.CapTagDelete,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.AtCreation},
		{Name: "digest", Mode: fieldmask.AtCreation}, {Name: "updateTime", Mode: fieldmask.OutputOnly},
		{Name: "deprecated", Mode: fieldmask.AtCreation}, {Name: "bundles", Mode: fieldmask.AtCreation},
	},
	Required: []string{"name", "digest"},
	Orders: []core.OrderField[*Tag]{
		{Name: "name", Value: func(t *Tag) any { return t.Name }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(t *Tag) any { return t.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(t *Tag) any { return t.UpdateTime }},
		{Name: "uid", Value: func(t *Tag) any { return string(t.UID) }},
		{Name: "digest", Value: func(t *Tag) any { return t.Digest }},
		{Name: "open_severity", Spellings: []string{"openSeverity"}, Value: func(t *Tag) any { return t.OpenSeverity }},
	},
	Guarded:      map[string][]core.Capability{"open_severity": {core.CapFindingsList}},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(t *Tag) core.UID { return t.UID },
	Group:        func(t *Tag) core.UID { return t.UID.Parent().Parent() },
	Stamp: func(t *Tag, uid core.UID, now core.Time) {
		t.UID, t.CreateTime, t.UpdateTime, t.Class = uid, now, now, tagClass(t.Name)
	},
	Check: func(t *Tag, changed func(string) bool, v *core.Violations) {
		if changed("name") {
			v.CheckName(t.Name, core.TagPattern, core.MaxLineBytes)
		}
		switch {
		case !changed("digest"):
		case t.Digest == "":
			v.Add("digest", "is required")
		default:
			v.CheckDigest(t.Digest)
		}
		if changed("bundles") {
			v.CheckLines("bundles", t.Bundles, core.MaxLines)
		}
	},
}

// TagQueries read and write tags in other ways than a Table does.
type TagQueries interface {
	// FacetTags counts the tags of each scope by facet, with one round trip. The values of
	// a facet are not sorted.
	FacetTags(ctx context.Context, on core.Conn, filter *TagFilter, scopes []core.Scope, parts TagFacetParts) ([]*TagFacets, error)

	// TagsByName reads the tags of (repo, name) pairs; missing ones are left
	// out.
	TagsByName(ctx context.Context, on core.Conn, names TagNames) ([]*Tag, error)
}

// Tags are the operations on tags.
type Tags struct {
	core.Resources[*Tag, *TagFilter]
	rows *core.Collection[*Tag, *TagFilter]
	area *Area
}

// Create makes a tag in a repo, or moves the existing one with the name.
func (s Tags) Create(ctx context.Context, repo core.UID, in fieldmask.Input[*Tag]) (*Tag, error) {
	tag, err := s.rows.AuthorizeCreate(ctx, repo, in)
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", repo, err)
	}
	var made *Tag
	err = core.RetryCollisions(func() (err error) { made, err = s.save(ctx, repo, tag); return err })
	if errors.Is(err, core.ErrNoParent) {
		err = core.NewNotFound(core.RepoRef, repo)
	}
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", repo, err)
	}
	return made, nil
}

// save makes a tag, or moves the existing one with its name.
func (s Tags) save(ctx context.Context, repo core.UID, tag *Tag) (made *Tag, err error) {
	err = s.area.Store.Write(ctx, func(tx core.Tx) error {
		made = new(*tag)
		return s.rows.MakeOnce(ctx, tx, repo, &made, func() error { return s.saveInTx(ctx, tx, repo, made) })
	})
	return made, err
}

// saveInTx does so in a transaction.
func (s Tags) saveInTx(ctx context.Context, tx core.Tx, repo core.UID, made *Tag) error {
	stored, err := s.area.tables.Tags.List(ctx, tx, core.Query[*TagFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Children, UID: repo}), Order: s.rows.Kind.DefaultOrder, Limit: 1, Parts: core.PartItems,
		Filter: &TagFilter{Name: made.Name},
	})
	switch {
	case err != nil:
		return err
	case len(stored.Items) > 0:
		made.UID = stored.Items[0].UID
		err = s.rows.Table.Update(ctx, tx, made, "digest", "deprecated", "bundles", "source")
	default:
		err = s.rows.Table.Insert(ctx, tx, made)
	}
	if err != nil {
		return err
	}
	tx.Record(s.area.Event(ctx, s.rows.Kind.Event, "created", made.UID, s.rows.Kind.Group(made), made))
	return nil
}

// Delete removes a tag.
func (s Tags) Delete(ctx context.Context, uid core.UID) error { return s.rows.Remove(ctx, uid) }

// A TagName identifies a tag by its repo and name.
type TagName struct {
	Repo core.UID
	Name string
}

// TagNames are tags that the caller may read.
type TagNames struct{ names []TagName }

// Names lists the names.
func (n TagNames) Names() []TagName { return n.names }

// ListNamed reads tags by their names, with one read. The caller must be allowed to read the tags of the repos; what does
// not exist is left out.
func (s Tags) ListNamed(ctx context.Context, names []TagName) ([]*Tag, error) {
	for _, name := range names {
		if _, err := core.Require(ctx, name.Repo, TagKind.ReadCapabilities()...); err != nil {
			return nil, s.rows.Kind.AddArea(err)
		}
	}
	return s.area.FindTags(ctx, s.area.Store, names)
}

// FindTags reads tags by their names. It does not check access. What does not exist is left out.
func (area *Area) FindTags(ctx context.Context, on core.Conn, names []TagName) ([]*Tag, error) {
	return area.tables.TagsByName(ctx, on, TagNames{names})
}

// ListOfImages reads, for each image, the same page of the tags that point to it, with one read. The
// page tokens are those of the plain list of the repo with the digest.
func (s Tags) ListOfImages(ctx context.Context, req core.ListRequest[*TagFilter], images []core.ImageKey) ([]core.Page[*Tag], []error) {
	return core.ReadOnce(images, func(images []core.ImageKey) ([]core.Page[*Tag], []error) {
		return s.listAround(ctx, req, len(images), func(i int, req *core.ListRequest[*TagFilter]) func(core.Branch) []core.Branch {
			req.UIDP.ChildrenOf = images[i].Repo
			req.Filter = core.EditFilter(req.Filter, func(f *TagFilter) { f.Digest = images[i].Digest })
			return core.NarrowTo(func(b *core.Branch) { b.Digest = images[i].Digest })
		})
	})
}

// ListFree reads, for each finding, the same page of the tags of its repo that do not have it, with
// one read: their images have an SBOM, and no finding of the same vulnerability and package.
func (s Tags) ListFree(ctx context.Context, req core.ListRequest[*TagFilter], of []*Finding) ([]core.Page[*Tag], []error) {
	return s.listAround(ctx, req, len(of), func(i int, req *core.ListRequest[*TagFilter]) func(core.Branch) []core.Branch {
		req.UIDP.ChildrenOf = of[i].Repo
		req.Filter = core.EditFilter(req.Filter, func(f *TagFilter) { f.Lacks = of[i].Representative })
		return core.NarrowTo(func(b *core.Branch) { b.Lacks = of[i].Representative })
	}, core.CapFindingsList)
}

// ListHolding reads, for each version of a package, the same page of the tags whose images hold it, with
// one read.
func (s Tags) ListHolding(ctx context.Context, req core.ListRequest[*TagFilter], versions []*PackageVersion) ([]core.Page[*Tag], []error) {
	return s.listAround(ctx, req, len(versions), func(i int, req *core.ListRequest[*TagFilter]) func(core.Branch) []core.Branch {
		req.UIDP.DescendantsOf = versions[i].Package.Within
		req.Filter = core.EditFilter(req.Filter, func(f *TagFilter) { f.Holds = versions[i].UID })
		return core.NarrowTo(func(b *core.Branch) { b.Holds = versions[i].UID })
	}, core.CapManifestMetadataList)
}

// List reads one page.
func (s Tags) List(ctx context.Context, req core.ListRequest[*TagFilter]) (core.Page[*Tag], error) {
	req, err := s.decide(ctx, req.UIDP, req)
	if err != nil {
		return core.Page[*Tag]{}, s.rows.Kind.AddArea(err)
	}
	return s.rows.List(ctx, req)
}

// ListEach reads the same page of many scopes with one read.
func (s Tags) ListEach(ctx context.Context, req core.ListRequest[*TagFilter], scopes []core.UIDFilter) ([]core.Page[*Tag], []error) {
	req, err := s.decide(ctx, core.UIDFilter{}, req)
	if err != nil {
		return core.FailAll[core.Page[*Tag]](len(scopes), s.rows.Kind.AddArea(err))
	}
	return s.rows.ListEach(ctx, req, scopes)
}

// decide decides the conditions on images in a request.
func (s Tags) decide(ctx context.Context, scope core.UIDFilter, req core.ListRequest[*TagFilter]) (core.ListRequest[*TagFilter], error) {
	if req.Filter == nil {
		return req, nil
	}
	c, err := s.area.PackageVersions.decide(ctx, scope, req.Filter.ImageConditions)
	req.Filter = core.EditFilter(req.Filter, func(f *TagFilter) { f.ImageConditions = c })
	return req, err
}

// listAround reads, for each of n objects, the same page of tags, with one read: see ListReferring. The caller
// sees those where it holds the needed capabilities too.
func (s Tags) listAround(ctx context.Context, req core.ListRequest[*TagFilter], n int, point func(i int, req *core.ListRequest[*TagFilter]) func(core.Branch) []core.Branch, needed ...core.Capability) ([]core.Page[*Tag], []error) {
	req, err := s.decide(ctx, core.UIDFilter{}, req)
	if err != nil {
		return core.FailAll[core.Page[*Tag]](n, s.rows.Kind.AddArea(err))
	}
	return core.ListReferring(ctx, s.rows.Also(needed...), req, n, point)
}
