package platform

import (
	"context"
	"errors"
	"regexp"

	"atrium/platform/fieldmask"
)

// A Tag is a name for a digest in a repo. Creating an existing name moves the tag.
type Tag struct {
	UID        UID      `json:"uid"`
	Name       string   `json:"name"` // unique in its repo
	Digest     string   `json:"digest"`
	UpdateTime Time     `json:"updateTime,omitzero"`
	Deprecated bool     `json:"deprecated"` // whether the tag has reached its end of life
	Bundles    []string `json:"bundles,omitempty"`

	CreateTime Time     `json:"-"` // time by which tags are ordered; the wire does not show it
	Class      TagClass `json:"-"` // class, which follows from Name

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
	Name         string `json:",omitempty"` // exact name
	UpdatedSince Time   `json:",omitzero"`  // the last update is at this time or later
	Digest       string `json:",omitempty"`
	Deprecated   *bool  `json:",omitempty"`

	// Without lists classes to exclude.
	Without []TagClass `json:",omitempty" excludes:""`

	Names []string `json:",omitempty"` // the name is one of these
	Query string   `json:",omitempty"` // see SearchWords

	Lacks UID `json:",omitempty"` // the image is free of this advisory, as its SBOM shows
	Holds UID `json:",omitempty"` // the image holds this version of a package

	ImageConditions
}

func (f *TagFilter) check(v *violations) {
	v.checkFilter("name", f.Name)
	v.checkQuery(f.Query)
	v.checkFilter("names", f.Names...)
	if f.Digest != "" {
		v.checkDigest(f.Digest)
	}
	f.ImageConditions.check(v)
}

var tagKind = Kind[*Tag]{
	Name: "Tag", Plural: "tags", Area: areaRegistry, Number: 6, Event: "platform.registry.tag", Parent: repoRef,
	Verbs: []string{"created", "deleted"}, // moving a tag is recorded as created
	List:  CapTagList, Create: CapTagCreate, Update: CapTagUpdate, Delete: CapTagDelete,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.AtCreation},
		{Name: "digest", Mode: fieldmask.AtCreation}, {Name: "updateTime", Mode: fieldmask.OutputOnly},
		{Name: "deprecated", Mode: fieldmask.AtCreation}, {Name: "bundles", Mode: fieldmask.AtCreation},
	},
	Required: []string{"name", "digest"},
	Orders: []OrderField[*Tag]{
		{"name", nil, func(t *Tag) any { return t.Name }},
		{"create_time", createTimeSpellings, func(t *Tag) any { return t.CreateTime }},
		{"update_time", updateTimeSpellings, func(t *Tag) any { return t.UpdateTime }},
		{"uid", nil, func(t *Tag) any { return string(t.UID) }},
		{"digest", nil, func(t *Tag) any { return t.Digest }},
		{"open_severity", []string{"openSeverity"}, func(t *Tag) any { return t.OpenSeverity }},
	},
	Guarded:      map[string][]Capability{"open_severity": {CapFindingsList}},
	DefaultOrder: Order{Field: "name"},
	UID:          func(t *Tag) UID { return t.UID },
	Group:        func(t *Tag) UID { return t.UID.Parent().Parent() },
	Stamp: func(t *Tag, uid UID, now Time) {
		t.UID, t.CreateTime, t.UpdateTime, t.Class = uid, now, now, tagClass(t.Name)
	},
	Check: func(t *Tag, changed func(string) bool, v *violations) {
		if changed("name") {
			v.checkName(t.Name, tagPattern, maxLineBytes)
		}
		switch {
		case !changed("digest"):
		case t.Digest == "":
			v.add("digest", "is required")
		default:
			v.checkDigest(t.Digest)
		}
		if changed("bundles") {
			v.checkLines("bundles", t.Bundles, maxLines)
		}
	},
}

// TagQueries read and write tags in other ways than a Table does.
type TagQueries interface {
	// FacetTags counts the tags of each scope by facet, with one round trip. The values of
	// a facet are not sorted.
	FacetTags(ctx context.Context, on Conn, filter *TagFilter, scopes []Scope) ([]*TagFacets, error)

	// TagsByName reads the tags of (repo, name) pairs; missing ones are left
	// out.
	TagsByName(ctx context.Context, on Conn, names TagNames) ([]*Tag, error)

	// TagsOfSource reads the tags of a repo that were imported from a source.
	TagsOfSource(ctx context.Context, on Conn, from RepoSource) ([]*Tag, error)

	// RepoSources reads the sources of tags in the repos of a group that were
	// imported from a registry host.
	RepoSources(ctx context.Context, on Conn, group UID, registry string) ([]RepoSource, error)

	// ClaimTags sets the source of tags that still have their digests. It changes no update
	// times and records no events.
	ClaimTags(ctx context.Context, tx Tx, source string, tags []*Tag) error

	// LockTagsOfSource returns those of tags that still come from a source. They stay as they
	// are until the transaction ends.
	LockTagsOfSource(ctx context.Context, tx Tx, from RepoSource, tags []UID) ([]UID, error)
}

// Tags are the operations on tags.
type Tags struct {
	Resources[*Tag, *TagFilter]
	rows *Collection[*Tag, *TagFilter]
	area *inventoryArea
}

// Create makes a tag in a repo, or moves the existing one with the name.
func (s Tags) Create(ctx context.Context, repo UID, in fieldmask.Input[*Tag]) (*Tag, error) {
	tag, err := s.rows.authorizeCreate(ctx, repo, in)
	if err != nil {
		return nil, s.rows.recordIfDenied(ctx, "created", repo, err)
	}
	var made *Tag
	err = retryCollisions(func() (err error) { made, err = s.save(ctx, repo, tag); return err })
	if errors.Is(err, ErrNoParent) {
		err = newNotFound(repoRef, repo)
	}
	if err != nil {
		return nil, s.rows.recordIfDenied(ctx, "created", repo, err)
	}
	return made, nil
}

// save makes a tag, or moves the existing one with its name.
func (s Tags) save(ctx context.Context, repo UID, tag *Tag) (made *Tag, err error) {
	err = s.area.store.Write(ctx, func(tx Tx) error {
		stored, err := s.area.tables.Tags.List(ctx, tx, Query[*TagFilter]{
			Scope: newScope(Branch{Relation: Children, UID: repo}), Order: s.rows.kind.DefaultOrder, Limit: 1, Parts: PartItems,
			Filter: &TagFilter{Name: tag.Name},
		})
		row := *tag
		switch made = &row; {
		case err != nil:
			return err
		case len(stored.Items) > 0:
			made.UID = stored.Items[0].UID
			err = s.rows.table.Update(ctx, tx, made, "digest", "deprecated", "bundles", "source")
		default:
			err = s.rows.table.Insert(ctx, tx, made)
		}
		if err != nil {
			return err
		}
		tx.Record(s.area.event(ctx, s.rows.kind.Event, "created", made.UID, s.rows.kind.Group(made), made))
		return nil
	})
	return made, err
}

// Delete removes a tag.
func (s Tags) Delete(ctx context.Context, uid UID) error { return s.rows.remove(ctx, uid) }

// A TagName identifies a tag by its repo and name.
type TagName struct {
	Repo UID
	Name string
}

// TagNames are tags that the caller may read.
type TagNames struct{ names []TagName }

// Names lists the names.
func (n TagNames) Names() []TagName { return n.names }

// ListOfImages reads, for each image, the same page of the tags that point to it, with one read. The
// page tokens are those of the plain list of the repo with the digest.
func (s Tags) ListOfImages(ctx context.Context, req ListRequest[*TagFilter], images []ImageKey) ([]Page[*Tag], []error) {
	return s.listAround(ctx, req, len(images), func(i int, req *ListRequest[*TagFilter]) func(Branch) []Branch {
		req.UIDP.ChildrenOf = images[i].Repo
		req.Filter = changeFilter(req.Filter, func(f *TagFilter) { f.Digest = images[i].Digest })
		return narrowTo(func(b *Branch) { b.Digest = images[i].Digest })
	})
}

// ListFree reads, for each finding, the same page of the tags of its repo that do not have it, with
// one read: their images have an SBOM, and no finding of the same advisory.
func (s Tags) ListFree(ctx context.Context, req ListRequest[*TagFilter], of []*Finding) ([]Page[*Tag], []error) {
	return s.listAround(ctx, req, len(of), func(i int, req *ListRequest[*TagFilter]) func(Branch) []Branch {
		req.UIDP.ChildrenOf = of[i].Repo
		req.Filter = changeFilter(req.Filter, func(f *TagFilter) { f.Lacks = of[i].Advisory })
		return narrowTo(func(b *Branch) { b.Lacks = of[i].Advisory })
	}, CapFindingsList)
}

// ListHolding reads, for each version of a package, the same page of the tags whose images hold it, with
// one read.
func (s Tags) ListHolding(ctx context.Context, req ListRequest[*TagFilter], versions []*PackageVersion) ([]Page[*Tag], []error) {
	return s.listAround(ctx, req, len(versions), func(i int, req *ListRequest[*TagFilter]) func(Branch) []Branch {
		req.UIDP.DescendantsOf = versions[i].Package.Within
		req.Filter = changeFilter(req.Filter, func(f *TagFilter) { f.Holds = versions[i].UID })
		return narrowTo(func(b *Branch) { b.Holds = versions[i].UID })
	}, CapManifestMetadataList)
}

// List reads one page.
func (s Tags) List(ctx context.Context, req ListRequest[*TagFilter]) (Page[*Tag], error) {
	req, err := s.decide(ctx, req.UIDP, req)
	if err != nil {
		return Page[*Tag]{}, s.rows.kind.addArea(err)
	}
	return s.rows.List(ctx, req)
}

// ListEach reads the same page of many scopes with one read.
func (s Tags) ListEach(ctx context.Context, req ListRequest[*TagFilter], scopes []UIDFilter) ([]Page[*Tag], []error) {
	req, err := s.decide(ctx, UIDFilter{}, req)
	if err != nil {
		return failAll[Page[*Tag]](len(scopes), s.rows.kind.addArea(err))
	}
	return s.rows.ListEach(ctx, req, scopes)
}

// decide decides the conditions on images in a request.
func (s Tags) decide(ctx context.Context, scope UIDFilter, req ListRequest[*TagFilter]) (ListRequest[*TagFilter], error) {
	if req.Filter == nil {
		return req, nil
	}
	c, err := s.area.PackageVersions.decide(ctx, scope, req.Filter.ImageConditions)
	req.Filter = changeFilter(req.Filter, func(f *TagFilter) { f.ImageConditions = c })
	return req, err
}

// listAround reads, for each of n objects, the same page of tags, with one read: see listReferring. The caller
// sees those where it holds the needed capabilities too.
func (s Tags) listAround(ctx context.Context, req ListRequest[*TagFilter], n int, point func(i int, req *ListRequest[*TagFilter]) func(Branch) []Branch, needed ...Capability) ([]Page[*Tag], []error) {
	req, err := s.decide(ctx, UIDFilter{}, req)
	if err != nil {
		return failAll[Page[*Tag]](n, s.rows.kind.addArea(err))
	}
	return listReferring(ctx, s.rows.also(needed...), req, n, point)
}
