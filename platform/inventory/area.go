package platform

// An inventoryArea has the operations on what is in registries, and on what is known to be vulnerable.
type inventoryArea struct {
	*Core
	tables InventoryTables
	iam    *iamArea

	Repos                   Repos
	Tags                    Tags
	Images                  Images
	Packages                Packages
	PackageVersions         PackageVersions
	Advisories              Advisories
	Vulnerabilities         Vulnerabilities
	Findings                Findings
	AdvisoryDocuments       AdvisoryDocuments
	ResolvedVulnerabilities ResolvedVulnerabilities
}

func newInventory(c *Core, tables InventoryTables, iam *iamArea) *inventoryArea {
	area := &inventoryArea{Core: c, tables: tables, iam: iam}
	repos := newCollection(c, &repoKind, repoKeyFilter, tables.Repos)
	area.Repos = Repos{repos.Resources(), repos, area}
	tags := newCollection(c, &tagKind, nil, tables.Tags)
	area.Tags = Tags{tags.Resources(), tags, area}
	advisories := newCollection(c, &advisoryKind, nil, tables.Advisories)
	area.Advisories = Advisories{advisories.Resources(), advisories, area}
	vulnerabilities := newCollection(c, &vulnerabilityKind, nil, tables.Vulnerabilities)
	area.Vulnerabilities = Vulnerabilities{vulnerabilities.Resources(), vulnerabilities, area}
	findings := newCollection(c, &findingKind, nil, tables.Findings)
	area.Findings = Findings{findings.Resources(), findings, area}
	packages := newCollection(c, &packageKind, nil, tables.Packages)
	area.Packages = Packages{packages.Resources(), packages, area}
	versions := newCollection(c, &packageVersionKind, nil, tables.PackageVersions)
	area.PackageVersions = PackageVersions{versions.Resources(), versions, area}
	area.Images = Images{area, newCollection(c, &imageKind, nil, tables.ImageLists)}
	area.AdvisoryDocuments = AdvisoryDocuments{area, newCollection[*AdvisoryDocument, *DocumentFilter](c, &documentKind, nil, nil)}
	area.ResolvedVulnerabilities = ResolvedVulnerabilities{area, newCollection[*ResolvedVulnerabilityReport, *ResolvedVulnerabilityFilter](c, &resolvedReportKind, nil, nil)}
	return area
}

// searchables returns the kinds that a search finds.
func (area *inventoryArea) searchables() map[SearchKind]searchable {
	return map[SearchKind]searchable{
		SearchRepos: searchableBy(area.Repos.rows, (*Repo).searchTexts),
		SearchTags:  searchableBy(area.Tags.rows, (*Tag).searchTexts),
	}
}

// InventoryTables has what is in registries, and what is known to be vulnerable.
type InventoryTables struct {
	Repos           Table[*Repo, *RepoFilter]
	Tags            Table[*Tag, *TagFilter]
	ImageLists      Table[*Image, *ImageFilter] // read only
	Packages        Table[*Package, *PackageFilter]
	PackageVersions Table[*PackageVersion, *PackageVersionFilter]
	Advisories      Table[*Advisory, *AdvisoryFilter]
	Vulnerabilities Table[*Vulnerability, *VulnerabilityFilter]
	Findings        Table[*Finding, *FindingFilter]

	RepoQueries
	TagQueries
	ImageQueries
	SBOMQueries
	PackageQueries
	PackageVersionQueries
	AdvisoryQueries
	ExploitationQueries
	FindingQueries
	TriageRuleQueries
}
