package inventory

import (
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/operations"
)

// An Area has the operations on what is in registries, and on what is known to be vulnerable.
type Area struct {
	*core.Core
	tables Tables
	iam    *iam.Area

	precedence core.Precedence // of callers who change findings
	ends       core.Ends       // of exceptions
	settled    core.Rounds     // of work on findings

	operations    operations.Operations
	deciding      chan struct{} // holds the turn of decisions in the background: a part of one at a time
	decidedAtOnce int           // findings of a part

	Repos           Repos
	Tags            Tags
	Images          Images
	Packages        Packages
	PackageVersions PackageVersions
	Advisories      Advisories
	Vulnerabilities Vulnerabilities
	Findings        Findings
}

// New returns the area. decidedAtOnce is how many findings a decision in the background changes in a transaction.
func New(c *core.Core, tables Tables, iam *iam.Area, operations operations.Operations, decidedAtOnce int) *Area {
	area := &Area{Core: c, tables: tables, iam: iam, operations: operations, deciding: make(chan struct{}, 1), decidedAtOnce: decidedAtOnce}
	repos := core.NewCollection(c, &RepoKind, repoKeyFilter, tables.Repos)
	area.Repos = Repos{repos.Resources(), repos, area}
	tags := core.NewCollection(c, &TagKind, nil, tables.Tags)
	area.Tags = Tags{tags.Resources(), tags, area}
	advisories := core.NewCollection(c, &AdvisoryKind, nil, tables.Advisories)
	area.Advisories = Advisories{advisories.Resources(), advisories, area}
	vulnerabilities := core.NewCollection(c, &VulnerabilityKind, nil, tables.Vulnerabilities)
	area.Vulnerabilities = Vulnerabilities{vulnerabilities.Resources(), vulnerabilities, area}
	findings := core.NewCollection(c, &FindingKind, nil, tables.Findings)
	area.Findings = Findings{findings.Resources(), findings, area}
	packages := core.NewCollection(c, &PackageKind, nil, tables.Packages)
	area.Packages = Packages{packages.Resources(), packages, area}
	versions := core.NewCollection(c, &PackageVersionKind, nil, tables.PackageVersions)
	area.PackageVersions = PackageVersions{versions.Resources(), versions, area}
	area.Images = Images{area, core.NewCollection(c, &imageKind, nil, tables.ImageLists)}
	return area
}

// Searchables returns the kinds that a search finds.
func (area *Area) Searchables() map[core.SearchKind]core.Searchable {
	return map[core.SearchKind]core.Searchable{
		core.SearchRepos: core.SearchableBy(area.Repos.rows, (*Repo).searchTexts),
		core.SearchTags:  core.SearchableBy(area.Tags.rows, (*Tag).searchTexts),
	}
}

// Tables has what is in registries, and what is known to be vulnerable.
type Tables struct {
	Repos           core.Table[*Repo, *RepoFilter]
	Tags            core.Table[*Tag, *TagFilter]
	ImageLists      core.Table[*Image, *ImageFilter] // read only
	Packages        core.Table[*Package, *PackageFilter]
	PackageVersions core.Table[*PackageVersion, *PackageVersionFilter]
	Advisories      core.Table[*Advisory, *AdvisoryFilter]
	Vulnerabilities core.Table[*Vulnerability, *VulnerabilityFilter]
	Findings        core.Table[*Finding, *FindingFilter]

	RepoQueries
	TagQueries
	ImageQueries
	ComponentQueries
	PackageQueries
	PackageVersionQueries
	AdvisoryQueries
	ExploitationQueries
	FindingQueries
	TriageRuleQueries
}
