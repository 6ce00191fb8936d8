package inventory

import (
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A FindingCount counts findings by severity, and those that are special among them.
type FindingCount struct {
	SeverityCount
	Fixable        int64 `json:"fixable"`        // there is a version without the vulnerability
	KnownExploited int64 `json:"knownExploited"` // the catalog of known exploited vulnerabilities has it
}

// A FindingSummary counts the findings of images to which a tag points that is not deprecated.
type FindingSummary struct {
	Open        FindingCount `json:"open"` // findings to look after: open, or in triage
	Accepted    FindingCount `json:"accepted"`
	NotAffected FindingCount `json:"notAffected"`

	AffectedRepos   int64 `json:"affectedRepos"` // those with findings to look after
	AffectedImages  int64 `json:"affectedImages"`
	Images          int64 `json:"images"`          // images that count
	KnownImages     int64 `json:"knownImages"`     // those of them whose packages are known
	UnknownPackages int64 `json:"unknownPackages"` // packages of these, of which it is not known what affects them

	scope core.ImageKey // the group or repo in place of the repo, without a digest, or the image
}

// A FindingClass is what findings that are counted together have in common. Counters store its
// number, which never changes.
type FindingClass struct {
	State          FindingState
	Rating         core.SeverityRating
	Fixable        bool
	KnownExploited bool
}

// FindingClasses is the number of classes.
const FindingClasses = 5 * 6 * 2 * 2

// Class returns the class of a finding.
func (f *Finding) Class() FindingClass {
	return FindingClass{f.State, f.Severity.Rating, f.IsFixable(), f.KnownExploited}
}

// Number returns the number of the class, from 0.
func (c FindingClass) Number() int {
	n := c.State.Rank()*core.SeverityCount + max(c.Rating.Rank(), 0)
	return n*4 + bit(c.Fixable)*2 + bit(c.KnownExploited)
}

func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}

// FindingClassOf returns the class with a number.
func FindingClassOf(number int) FindingClass {
	rest := number / 4
	return FindingClass{findingStates[rest/core.SeverityCount], core.RatingOfRank(rest % core.SeverityCount), number&2 != 0, number&1 != 0}
}

// Add adds n findings of a class to the counts.
func (s *FindingSummary) Add(class FindingClass, n int64) {
	count := &s.Open
	switch class.State {
	case FindingAccepted:
		count = &s.Accepted
	case FindingNotAffected:
		count = &s.NotAffected
	}
	count.Add(class.Rating, n)
	if class.Fixable {
		count.Fixable += n
	}
	if class.KnownExploited {
		count.KnownExploited += n
	}
}

// Summarize counts the findings below a group or of a repo that the caller may see. If within is
// "", it counts all that the caller may see.
func (s Findings) Summarize(ctx context.Context, within core.UID) (*FindingSummary, error) {
	summaries, errs := s.SummarizeEach(ctx, []core.UID{within})
	if errs[0] == nil && *summaries[0] == (FindingSummary{scope: core.ImageKey{Repo: within}}) {
		errs[0] = s.rows.Kind.AddArea(s.rows.ScopeExists(ctx, core.UIDFilter{DescendantsOf: within}))
	}
	if errs[0] != nil {
		return nil, errs[0]
	}
	return summaries[0], nil
}

// SummarizeEach counts the findings below each group or of each repo with one read of the
// counters. The groups and repos must exist.
func (s Findings) SummarizeEach(ctx context.Context, within []core.UID) ([]*FindingSummary, []error) {
	summaries, errs := summarizeEach(ctx, s.rows, within, s.area.tables.SummarizeFindings)
	for i, of := range summaries {
		if of != nil {
			of.scope.Repo = within[i]
		}
	}
	return summaries, errs
}

// SummarizeImages counts the findings of images with one read.
func (s Findings) SummarizeImages(ctx context.Context, keys []core.ImageKey) ([]*FindingSummary, []error) {
	check := func(key core.ImageKey) error {
		_, err := core.Require(ctx, key.Repo, core.CapFindingsList, core.CapTagList)
		return s.rows.Kind.AddArea(err)
	}
	return core.ReadPermitted(keys, check, func(keys []core.ImageKey) ([]*FindingSummary, error) {
		found, err := s.area.tables.SummarizeImageFindings(ctx, s.area.Store, ImageKeys{keys})
		for i, of := range found {
			of.scope = keys[i]
		}
		return found, s.rows.Kind.AddArea(err)
	})
}

// FindingFacets count the findings of a list by what they have in common, sorted by descending
// count.
type FindingFacets struct {
	Severities []SeverityFacet  `json:"severities"`
	States     []StateFacet     `json:"states"`
	Ecosystems []EcosystemFacet `json:"ecosystems"`
	Repos      []core.UIDFacet  `json:"repos"`
	Groups     []core.UIDFacet  `json:"groups"` // the groups of the repos

	Vulnerabilities []core.TextFacet `json:"vulnerabilities,omitempty"`
	Packages        []core.TextFacet `json:"packages,omitempty"`
	Assignees       []core.UIDFacet  `json:"assignees,omitempty"` // "" is for findings that nobody looks after
	Labels          []core.TextFacet `json:"labels,omitempty"`    // labels of the repos, as key=value
}

// The facets of findings.
type (
	// A SeverityFacet counts the findings with a rating.
	SeverityFacet = core.Facet[core.SeverityRating]
	// A StateFacet counts the findings in a state.
	StateFacet = core.Facet[FindingState]
	// An EcosystemFacet counts the findings of an ecosystem; "" is for those whose is not known.
	EcosystemFacet = core.TextFacet
)

// FindingFacetParts select facets of findings.
type FindingFacetParts uint8

// The facets of findings that need a read of their own. Those that are summed are sums of counters, unless the filter has
// another condition than counters have. Others read the findings.
const (
	FindingFacetsSummed FindingFacetParts = 1 << iota // by severity, state, ecosystem, repo and group
	FindingFacetsByVulnerability
	FindingFacetsByPackage
	FindingFacetsByAssignee
	FindingFacetsByLabel
)

// A FindingFacet names a facet that reads each finding.
type FindingFacet string

// The facets that read each finding.
const (
	FacetVulnerabilities FindingFacet = "FINDING_FACET_VULNERABILITIES"
	FacetPackages        FindingFacet = "FINDING_FACET_PACKAGES"
	FacetAssignees       FindingFacet = "FINDING_FACET_ASSIGNEES"
	FacetLabels          FindingFacet = "FINDING_FACET_LABELS"
)

// findingFacets lists the facets in the order of their parts, after the first one.
var findingFacets = []FindingFacet{FacetVulnerabilities, FacetPackages, FacetAssignees, FacetLabels}

// Values lists the facets.
func (FindingFacet) Values() []string { return fieldmask.Texts(findingFacets) }

// FacetPartsOf returns the parts that are summed, and those of the named facets.
func FacetPartsOf(named []FindingFacet) (FindingFacetParts, error) {
	var v core.Violations
	parts := FindingFacetsSummed
	for _, facet := range named {
		core.CheckOneOf(&v, "facets", facet, findingFacets)
		parts |= FindingFacetsSummed << (slices.Index(findingFacets, facet) + 1)
	}
	return parts, FindingKind.AddArea(v.Err())
}

// Facets counts all findings of the lists that the pages belong to, by the selected facets.
func (s Findings) Facets(ctx context.Context, pages []core.Page[*Finding], parts FindingFacetParts) ([]*FindingFacets, error) {
	count := func(ctx context.Context, on core.Conn, f *FindingFilter, scopes []core.Scope) ([]*FindingFacets, error) {
		return s.area.tables.FacetFindings(ctx, on, f, scopes, parts)
	}
	return core.FacetEach(ctx, s.rows, pages, count, func(f *FindingFacets) {
		f.Severities, f.States, f.Ecosystems = core.SortFacets(f.Severities), core.SortFacets(f.States), core.SortFacets(f.Ecosystems)
		f.Repos, f.Groups, f.Assignees = core.SortFacets(f.Repos), core.SortFacets(f.Groups), core.SortFacets(f.Assignees)
		f.Vulnerabilities, f.Packages, f.Labels = core.SortFacets(f.Vulnerabilities), core.SortFacets(f.Packages), core.SortFacets(f.Labels)
	})
}
