package scalar

import (
	"strconv"
	"strings"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// A Facet is one of the types below.
type Facet any

// The facets of lists, with values as filters take them. Each is a type of its own, by which the executor tells them apart.
type (
	// A ValueFacet counts the rows with a value that names no object.
	ValueFacet core.TextFacet
	// A LabelFacet counts the rows with a label.
	LabelFacet core.TextFacet
	// A VulnerabilityFacet counts the rows of a vulnerability.
	VulnerabilityFacet core.TextFacet
	// A RepoFacet counts the rows of a repo.
	RepoFacet core.TextFacet
	// A GroupFacet counts the rows of a group.
	GroupFacet core.TextFacet
	// A RoleFacet counts the rows of a role.
	RoleFacet core.TextFacet
	// An ActorFacet counts the events of an actor.
	ActorFacet events.AuditActor
	// An IdentityFacet counts the rows of an identity.
	IdentityFacet core.TextFacet
)

// UID returns the uid that the value is.
func (f *RepoFacet) UID() core.UID { return core.UID(f.Value) }

// UID returns the uid that the value is.
func (f *GroupFacet) UID() core.UID { return core.UID(f.Value) }

// UID returns the uid that the value is.
func (f *RoleFacet) UID() core.UID { return core.UID(f.Value) }

// UID returns the uid that the value is.
func (f *IdentityFacet) UID() core.UID { return core.UID(f.Value) }

// Label returns the label that the value is.
func (f *LabelFacet) Label() *core.Label {
	key, value, _ := strings.Cut(f.Value, "=")
	return &core.Label{Key: key, Value: value}
}

// facetsOf returns facets in the form of the graph. prefix is that of the names of an enum's values.
func facetsOf[F ~struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}, V ~string](all []core.Facet[V], prefix string) []F {
	facets := make([]F, len(all))
	for i, f := range all {
		name := strings.TrimPrefix(string(f.Value), prefix)
		if prefix != "" && name == "UNSPECIFIED" {
			name = ""
		}
		facets[i] = F(core.TextFacet{Value: name, Count: f.Count})
	}
	return facets
}

// The facets of each list.
type (
	// FindingFacets are those of findings.
	FindingFacets struct {
		Severities, States, Ecosystems, Packages []ValueFacet
		Labels                                   []LabelFacet
		Vulnerabilities                          []VulnerabilityFacet
		Repos                                    []RepoFacet
		Groups                                   []GroupFacet
		Assignees                                []IdentityFacet
	}
	// RepoFacets are those of repos.
	RepoFacets struct {
		Tiers, Bundles []ValueFacet
		Labels         []LabelFacet
		Groups         []GroupFacet
	}
	// TagFacets are those of tags.
	TagFacets struct {
		Repos                                                   []RepoFacet
		Deprecated, Classes, Bundles, BaseImages, Architectures []ValueFacet
	}
	// PackageFacets are those of packages.
	PackageFacets struct{ Licenses, Ecosystems []ValueFacet }
	// IdentityFacets are those of identities.
	IdentityFacets struct {
		Kinds  []ValueFacet
		Groups []GroupFacet
	}
	// RoleBindingFacets are those of role bindings.
	RoleBindingFacets struct {
		Roles      []RoleFacet
		Groups     []GroupFacet
		Identities []IdentityFacet
	}
)

// NewFindingFacets returns facets of findings in the form of the graph.
func NewFindingFacets(f *inventory.FindingFacets) *FindingFacets {
	return &FindingFacets{
		Severities: facetsOf[ValueFacet](f.Severities, "SEVERITY_RATING_"), States: facetsOf[ValueFacet](f.States, "FINDING_STATE_"),
		Ecosystems: facetsOf[ValueFacet](f.Ecosystems, ""), Vulnerabilities: facetsOf[VulnerabilityFacet](f.Vulnerabilities, ""),
		Packages: facetsOf[ValueFacet](f.Packages, ""), Labels: facetsOf[LabelFacet](f.Labels, ""),
		Repos: facetsOf[RepoFacet](f.Repos, ""), Groups: facetsOf[GroupFacet](f.Groups, ""), Assignees: facetsOf[IdentityFacet](f.Assignees, ""),
	}
}

// AuditLogSummary counts events of the audit log.
type AuditLogSummary struct {
	Made, Refused int64
	Complete      bool
	CountedSince  core.Time
	Actors        []ActorFacet
	Kinds         []ValueFacet
	Groups        []GroupFacet
}

// NewAuditLogSummary returns a summary in the form of the graph.
func NewAuditLogSummary(s *events.AuditSummary) *AuditLogSummary {
	actors := make([]ActorFacet, len(s.Actors))
	for i, by := range s.Actors {
		actors[i] = ActorFacet(by)
	}
	return &AuditLogSummary{s.Made, s.Refused, s.Complete, s.Since, actors, facetsOf[ValueFacet](s.Kinds, ""), facetsOf[GroupFacet](s.Groups, "")}
}

// NewRepoFacets returns facets of repos in the form of the graph.
func NewRepoFacets(f *inventory.RepoFacets) *RepoFacets {
	return &RepoFacets{
		Tiers: facetsOf[ValueFacet](f.Tiers, "CATALOG_TIER_"), Bundles: facetsOf[ValueFacet](f.Bundles, ""),
		Labels: facetsOf[LabelFacet](f.Labels, ""), Groups: facetsOf[GroupFacet](f.Groups, ""),
	}
}

// NewTagFacets returns facets of tags in the form of the graph.
func NewTagFacets(f *inventory.TagFacets) *TagFacets {
	facets := TagFacets{
		Repos: facetsOf[RepoFacet](f.Repos, ""), Classes: facetsOf[ValueFacet](f.Classes, ""), Bundles: facetsOf[ValueFacet](f.Bundles, ""),
		BaseImages: facetsOf[ValueFacet](f.BaseImages, ""), Architectures: facetsOf[ValueFacet](f.Architectures, ""),
		Deprecated: make([]ValueFacet, len(f.Deprecated)),
	}
	for i, of := range f.Deprecated {
		facets.Deprecated[i] = ValueFacet{Value: strconv.FormatBool(of.Value), Count: of.Count}
	}
	for i := range facets.Classes {
		facets.Classes[i].Value = strings.ToUpper(facets.Classes[i].Value)
	}
	return &facets
}

// NewPackageFacets returns facets of packages in the form of the graph.
func NewPackageFacets(f *inventory.PackageFacets) *PackageFacets {
	return &PackageFacets{facetsOf[ValueFacet](f.Licenses, ""), facetsOf[ValueFacet](f.Ecosystems, "")}
}

// NewIdentityFacets returns facets of identities in the form of the graph.
func NewIdentityFacets(f *iam.IdentityFacets) *IdentityFacets {
	return &IdentityFacets{facetsOf[ValueFacet](f.Kinds, "IDENTITY_KIND_"), facetsOf[GroupFacet](f.Groups, "")}
}

// NewRoleBindingFacets returns facets of role bindings in the form of the graph.
func NewRoleBindingFacets(f *iam.RoleBindingFacets) *RoleBindingFacets {
	return &RoleBindingFacets{facetsOf[RoleFacet](f.Roles, ""), facetsOf[GroupFacet](f.Groups, ""), facetsOf[IdentityFacet](f.Identities, "")}
}
