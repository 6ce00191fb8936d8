package reports

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// An Area has the operations whose answers are made of several kinds.
type Area struct {
	*core.Core
	tables    Tables
	iam       *iam.Area
	inventory *inventory.Area

	Activities              Activities
	AdvisoryDocuments       AdvisoryDocuments
	Exports                 Exports
	FindingRankings         FindingRankings
	ImageChecks             ImageChecks
	Remediations            Remediations
	ImageComparisons        ImageComparisons
	PackageOrigins          PackageOrigins
	ResolvedVulnerabilities ResolvedVulnerabilities
	SBOMs                   SBOMs
}

// New returns the area.
func New(c *core.Core, tables Tables, iam *iam.Area, inventory *inventory.Area) *Area {
	area := &Area{Core: c, tables: tables, iam: iam, inventory: inventory}
	area.Activities = newActivities(area)
	area.AdvisoryDocuments = newAdvisoryDocuments(area)
	area.Exports = Exports{area}
	area.FindingRankings = FindingRankings{area, newFindingLists(c)}
	area.Remediations = Remediations{area, newFindingLists(c)}
	area.ImageChecks = ImageChecks{area}
	area.ImageComparisons, area.PackageOrigins, area.SBOMs = ImageComparisons{area}, PackageOrigins{area}, SBOMs{area}
	area.ResolvedVulnerabilities = ResolvedVulnerabilities{area, core.NewCollection[*ResolvedVulnerabilityReport, *ResolvedVulnerabilityFilter](c, &resolvedReportKind, nil, nil)}
	return area
}

// Tables has what reports read beside the operations of other areas.
type Tables struct {
	Repos      core.Table[*inventory.Repo, *inventory.RepoFilter]
	Advisories core.Table[*inventory.Advisory, *inventory.AdvisoryFilter]

	ActivityQueries
	AdvisoryDocumentQueries
	FindingQueries
	OriginQueries
	SBOMQueries
}

// FindingQueries read what reports about findings are made of.
type FindingQueries interface {
	// RankFindings counts the findings of a scope by their vulnerabilities or packages, with one statement.
	RankFindings(ctx context.Context, on core.Conn, q RankingQuery) (FindingRanking, error)

	// RankUpgrades counts the findings of a scope that have a fix by their packages, and ranks these as Upgrades does, with one statement.
	// It leaves out the versions and the reasons.
	RankUpgrades(ctx context.Context, on core.Conn, q RankingQuery) (UpgradeRanking, error)

	// FindFixes counts the findings of a scope by the version of their package and what fixes it, with one statement.
	FindFixes(ctx context.Context, on core.Conn, q RankingQuery) ([]FixedFindings, error)

	// CountRemediations counts the vulnerabilities that appeared or went in the steps of a query, with one statement.
	CountRemediations(ctx context.Context, on core.Conn, q core.ActivityQuery) ([]RemediationCount, error)
}
