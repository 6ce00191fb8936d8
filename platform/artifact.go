package platform

import (
	"cmp"
	"context"
	"slices"
)

// An Artifact is a software library, the same for every organisation. It comes
// from imports and is read only.
type Artifact struct {
	UID           UID       `json:"uid"`  // one segment
	Name          string    `json:"name"` // unique in its ecosystem
	Description   string    `json:"description,omitempty"`
	Ecosystem     Ecosystem `json:"ecosystem"`
	LatestVersion string    `json:"latestVersion,omitempty"` // the first of its versions in default order
	VersionCount  int32     `json:"versionCount"`
	CreateTime    Time      `json:"createTime,omitzero"`
	UpdateTime    Time      `json:"updateTime,omitzero"` // of the last change to it or its versions

	Remediated  bool   `json:"-"` // has versions with fixes of its own
	CudaVersion string `json:"-"` // that it is built for; "" for none
}

// An Ecosystem is a language's world of libraries, by its wire name.
type Ecosystem string

// The ecosystems.
const (
	EcosystemJava   Ecosystem = "ECOSYSTEM_JAVA"
	EcosystemPython Ecosystem = "ECOSYSTEM_PYTHON"
)

// ecosystems lists them in the order of the wire's enum.
var ecosystems = []Ecosystem{EcosystemJava, EcosystemPython}

// Values lists the constants.
func (Ecosystem) Values() []string { return textsOf(ecosystems) }

func (v *violations) ecosystems(asked []Ecosystem) {
	if len(asked) == 0 || slices.Contains(asked, "") {
		v.add("ecosystems", "is required: one or more of %s, %s", EcosystemJava, EcosystemPython)
		return
	}
	if i := slices.IndexFunc(asked, func(e Ecosystem) bool { return !slices.Contains(ecosystems, e) }); i >= 0 {
		oneOf(v, "ecosystems", asked[i], ecosystems)
	}
}

// distinct are the asked ecosystems, each once, in the order of the enum.
func distinct(asked []Ecosystem) []Ecosystem {
	once := slices.Clone(asked)
	slices.SortFunc(once, func(a, b Ecosystem) int {
		return cmp.Or(cmp.Compare(slices.Index(ecosystems, a), slices.Index(ecosystems, b)), cmp.Compare(a, b))
	})
	return slices.Compact(once)
}

func ofEcosystem(e Ecosystem) Branch { return Branch{Relation: OfEcosystem, Name: string(e)} }

// ArtifactFilter restricts a list of artifacts.
type ArtifactFilter struct {
	Ecosystems  []Ecosystem // one of these; required
	Query       string      `json:",omitempty"` // part of name or description, in any case
	CudaVersion string      `json:",omitempty"` // exactly
	Remediated  bool        `json:",omitempty"` // only those that are

	Names []string `json:",omitempty"` // one of these
}

func (f ArtifactFilter) check(v *violations) {
	v.ecosystems(f.Ecosystems)
	v.filter("query", f.Query)
	v.filter("cuda_version", f.CudaVersion)
}

var artifactKind = Kind[Artifact]{
	Name: "Artifact", Plural: "artifacts", Area: "libraries", Number: 15, List: CapLibrariesArtifactsList, Shared: true,
	Orders: []OrderField[Artifact]{
		{"name", nil, func(a *Artifact) any { return a.Name }},
		{"create_time", createTimeSpellings, func(a *Artifact) any { return a.CreateTime }},
		{"update_time", updateTimeSpellings, func(a *Artifact) any { return a.UpdateTime }},
		{"uid", nil, func(a *Artifact) any { return string(a.UID) }},
	},
	DefaultOrder: Order{Field: "name"},
	UID:          func(a *Artifact) UID { return a.UID },
}

// Artifacts are the operations on artifacts. Whoever may list them on some
// group reads all of them.
type Artifacts struct {
	resources[Artifact, ArtifactFilter]
}

// List reads one page of the artifacts of some ecosystems.
func (s Artifacts) List(ctx context.Context, req ListRequest[ArtifactFilter]) (Page[Artifact], error) {
	req.Filter.Ecosystems = distinct(req.Filter.Ecosystems) // a page token is of the set
	q, err := s.checked(ctx, req)
	if err == nil {
		err = s.kind.shared(ctx)
	}
	if err != nil {
		return Page[Artifact]{}, s.kind.in(err)
	}
	for _, e := range req.Filter.Ecosystems {
		q.Scope.branches = append(q.Scope.branches, ofEcosystem(e))
	}
	page, err := s.read(ctx, req, q)
	return page, s.kind.in(err)
}

// An EcosystemCount is how many artifacts an ecosystem has.
type EcosystemCount struct {
	Ecosystem  Ecosystem `json:"ecosystem"`
	TotalCount int64     `json:"totalCount,string"`
}

// Counts counts the artifacts of each of the given ecosystems, with one read.
// The answer has each once, in the order of the enum.
func (s Artifacts) Counts(ctx context.Context, asked []Ecosystem) ([]*EcosystemCount, error) {
	counts, err := s.counts(ctx, asked)
	return counts, s.kind.in(err)
}

func (s Artifacts) counts(ctx context.Context, asked []Ecosystem) ([]*EcosystemCount, error) {
	var v violations
	if _, err := caller(ctx); err != nil {
		return nil, err
	}
	v.ecosystems(asked)
	if err := v.err(); err != nil {
		return nil, err
	}
	if err := s.kind.shared(ctx); err != nil {
		return nil, err
	}
	asked = distinct(asked)
	scopes := make([]Scope, len(asked))
	for i, e := range asked {
		scopes[i] = scopeOf(ofEcosystem(e))
	}
	found, err := s.table(s.p.store).ListEach(ctx, Query[ArtifactFilter]{Order: s.kind.DefaultOrder, Parts: PartTotal}, scopes)
	if err != nil {
		return nil, err
	}
	counts := make([]*EcosystemCount, len(asked))
	for i, e := range asked {
		counts[i] = &EcosystemCount{e, found[i].Total}
	}
	return counts, nil
}
