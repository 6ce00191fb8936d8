package libraries

import (
	"cmp"
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/fieldmask"
)

// An Artifact is a software library. Artifacts are the same for every
// organization. They are imported and read only.
type Artifact struct {
	UID           core.UID  `json:"uid"`  // has one segment
	Name          string    `json:"name"` // unique in its ecosystem, and normalized as the ecosystem does it
	Description   string    `json:"description,omitempty"`
	Ecosystem     Ecosystem `json:"ecosystem"`
	LatestVersion string    `json:"latestVersion,omitempty"` // the first of its versions in the default order
	VersionCount  int32     `json:"versionCount"`
	CreateTime    core.Time `json:"createTime,omitzero"`
	UpdateTime    core.Time `json:"updateTime,omitzero"` // last change of the artifact or its versions

	Remediated  bool   `json:"-"` // whether it has versions with backported fixes
	CudaVersion string `json:"-"` // the CUDA version it is built for; "" for none
}

// An Ecosystem is a language with its package registry, by its wire name.
type Ecosystem string

// The ecosystems.
const (
	EcosystemJava   Ecosystem = "ECOSYSTEM_JAVA"
	EcosystemPython Ecosystem = "ECOSYSTEM_PYTHON"
)

// ecosystems lists the ecosystems in the order of the API's enum.
var ecosystems = []Ecosystem{EcosystemJava, EcosystemPython}

// Values lists the constants.
func (Ecosystem) Values() []string { return fieldmask.Texts(ecosystems) }

// normalName returns the form of a name by which the ecosystem compares it: for Python that of
// PEP 503. Java compares names as they are.
func (e Ecosystem) normalName(name string) string {
	if e == EcosystemPython {
		return ecosystem.NormalizePythonName(name)
	}
	return name
}

// versionKey returns the sort key of a version in the order of the ecosystem.
func (e Ecosystem) versionKey(version string) string {
	switch e {
	case EcosystemJava:
		return ecosystem.MavenVersionKey(version)
	case EcosystemPython:
		return ecosystem.PythonVersionKey(version)
	default:
		return version
	}
}

func checkEcosystems(v *core.Violations, asked []Ecosystem) {
	if len(asked) == 0 || slices.Contains(asked, "") {
		v.Add("ecosystems", "is required: one or more of %s, %s", EcosystemJava, EcosystemPython)
		return
	}
	if i := slices.IndexFunc(asked, func(e Ecosystem) bool { return !slices.Contains(ecosystems, e) }); i >= 0 {
		core.CheckOneOf(v, "ecosystems", asked[i], ecosystems)
	}
}

// deduplicateEcosystems returns each ecosystem once, in the order of the enum.
func deduplicateEcosystems(asked []Ecosystem) []Ecosystem {
	sorted := slices.Clone(asked)
	slices.SortFunc(sorted, func(a, b Ecosystem) int {
		return cmp.Or(cmp.Compare(slices.Index(ecosystems, a), slices.Index(ecosystems, b)), cmp.Compare(a, b))
	})
	return slices.Compact(sorted)
}

func ecosystemBranch(e Ecosystem) core.Branch {
	return core.Branch{Relation: core.OfEcosystem, Name: string(e)}
}

// ArtifactFilter restricts a list of artifacts.
type ArtifactFilter struct {
	core.ChangeFilter

	Ecosystems  []Ecosystem // the ecosystem is one of these, of which at least one is required
	Query       string      `json:",omitempty"` // substring of name or description; case is ignored, and runs of dots, hyphens and underscores are the same
	CudaVersion string      `json:",omitempty"` // exact CUDA version
	Remediated  bool        `json:",omitempty"` // whether only remediated artifacts are listed

	Names []string `json:",omitempty"` // the name is one of these
}

// Check adds the violations of the conditions.
func (f *ArtifactFilter) Check(v *core.Violations) {
	checkEcosystems(v, f.Ecosystems)
	v.CheckLine("query", f.Query) // SQLite refuses patterns of more than 50,000 bytes
	v.CheckFilter("cuda_version", f.CudaVersion)
}

// ArtifactText returns the form of a text of artifacts, or of a query for them, in which one
// contains the other. All spellings of the name of a Python package have one form.
func ArtifactText(text string) string { return ecosystem.NormalizePythonName(text) }

// ArtifactKind has the facts about artifacts.
var ArtifactKind = core.Kind[*Artifact]{
	Name: "Artifact", Plural: "artifacts", Area: core.AreaLibraries, Number: 15, List: core.CapLibrariesArtifactsList, Shared: true,
	Orders: []core.OrderField[*Artifact]{
		{Name: "name", Value: func(a *Artifact) any { return a.Name }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(a *Artifact) any { return a.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(a *Artifact) any { return a.UpdateTime }},
		{Name: "uid", Value: func(a *Artifact) any { return string(a.UID) }},
	},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(a *Artifact) core.UID { return a.UID },
}

// Artifacts are the operations on artifacts. A caller who may list artifacts on
// any group can read all of them.
type Artifacts struct {
	core.Resources[*Artifact, *ArtifactFilter]
	rows *core.Collection[*Artifact, *ArtifactFilter]
	area *Area
}

// List reads one page of the artifacts of the given ecosystems.
func (s Artifacts) List(ctx context.Context, req core.ListRequest[*ArtifactFilter]) (core.Page[*Artifact], error) {
	req.Filter = core.EditFilter(req.Filter, func(f *ArtifactFilter) { // page tokens do not depend on the order of the ecosystems
		f.Ecosystems = deduplicateEcosystems(f.Ecosystems)
	})
	q, err := s.rows.BuildQuery(ctx, req)
	if err == nil {
		err = s.rows.Kind.CheckSharedReadable(ctx)
	}
	if err != nil {
		return core.Page[*Artifact]{}, s.rows.Kind.AddArea(err)
	}
	for _, e := range req.Filter.Ecosystems {
		q.Scope.Branches = append(q.Scope.Branches, ecosystemBranch(e))
	}
	page, err := s.rows.Read(ctx, req, q)
	return page, s.rows.Kind.AddArea(err)
}

// An EcosystemCount is the number of artifacts in an ecosystem.
type EcosystemCount struct {
	Ecosystem  Ecosystem `json:"ecosystem"`
	TotalCount int64     `json:"totalCount,string"`
}

// Counts counts the artifacts of each given ecosystem with one read. The result
// has each ecosystem once, in the order of the enum.
func (s Artifacts) Counts(ctx context.Context, asked []Ecosystem) ([]*EcosystemCount, error) {
	counts, err := s.counts(ctx, asked)
	return counts, s.rows.Kind.AddArea(err)
}

func (s Artifacts) counts(ctx context.Context, asked []Ecosystem) ([]*EcosystemCount, error) {
	var v core.Violations
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, err
	}
	checkEcosystems(&v, asked)
	if err := v.Err(); err != nil {
		return nil, err
	}
	if err := s.rows.Kind.CheckSharedReadable(ctx); err != nil {
		return nil, err
	}
	asked = deduplicateEcosystems(asked)
	scopes := make([]core.Scope, len(asked))
	for i, e := range asked {
		scopes[i] = core.NewScope(ecosystemBranch(e))
	}
	found, err := s.rows.Table.ListEach(ctx, s.area.Store, core.Query[*ArtifactFilter]{Order: s.rows.Kind.DefaultOrder, Parts: core.PartTotal}, scopes)
	if err != nil {
		return nil, err
	}
	counts := make([]*EcosystemCount, len(asked))
	for i, e := range asked {
		counts[i] = &EcosystemCount{e, found[i].Total}
	}
	return counts, nil
}
