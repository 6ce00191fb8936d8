package reports

import (
	"cmp"
	"context"
	"slices"
	"time"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
)

// An UpgradeRanking has the upgrades that do away with findings, the most urgent first.
type UpgradeRanking struct {
	TotalCount int64      `json:"totalCount"` // number of different ones, also of those that are not shown
	Nodes      []*Upgrade `json:"rows"`
}

// An Upgrade of a package does away with all of its findings that have a fix.
type Upgrade struct {
	PackageName
	PackageUID core.UID          `json:"-"`     // of the package in the organization of the findings; "" if they can be of several
	To         string            `json:"to"`    // the earliest version that is known to be without all of these findings
	Steps      []*PackageUpgrade `json:"steps"` // what each installed version needs, those with most findings first

	Gone          inventory.FindingCount     `json:"gone"`
	Severity      inventory.AdvisorySeverity `json:"severity"`       // rating and score of the worst finding
	EPSS          *float64                   `json:"epss,omitempty"` // the highest; nil if none is known
	Images        int64                      `json:"images"`
	Repos         int64                      `json:"repos"`
	FirstSeenTime core.Time                  `json:"firstSeenTime"`    // of the finding that has been open for longest
	DueTime       core.Time                  `json:"dueTime,omitzero"` // the earliest; zero if none is due
	Reasons       []UpgradeReason            `json:"reasons"`
}

// An UpgradeReason says why an upgrade comes before others.
type UpgradeReason string

// The reasons, in the order in which they weigh.
const (
	UpgradeExploited       UpgradeReason = "UPGRADE_REASON_KNOWN_EXPLOITED"  // the catalog of known exploited vulnerabilities has one
	UpgradeLikelyExploited UpgradeReason = "UPGRADE_REASON_LIKELY_EXPLOITED" // EPSS says it of one: see likelyExploited
	UpgradeSevere          UpgradeReason = "UPGRADE_REASON_SEVERE"           // one is critical or high
	UpgradeSeveralImages   UpgradeReason = "UPGRADE_REASON_SEVERAL_IMAGES"
	UpgradeLongOpen        UpgradeReason = "UPGRADE_REASON_LONG_OPEN" // one has been open for longOpen
	UpgradeOverdue         UpgradeReason = "UPGRADE_REASON_OVERDUE"   // one should be fixed by now
)

// Values lists the reasons.
func (UpgradeReason) Values() []string {
	return fieldmask.Texts([]UpgradeReason{UpgradeExploited, UpgradeLikelyExploited, UpgradeSevere, UpgradeSeveralImages, UpgradeLongOpen, UpgradeOverdue})
}

const (
	// likelyExploited is a probability that EPSS gives to few vulnerabilities. The ranking compares tenths: smaller differences are noise.
	likelyExploited = 0.1
	longOpen        = 90 * 24 * time.Hour
)

// reasonsAt returns the reasons at a time.
func (u *Upgrade) reasonsAt(now core.Time) []UpgradeReason {
	reasons := []UpgradeReason{}
	for _, r := range []struct {
		UpgradeReason
		holds bool
	}{
		{UpgradeExploited, u.Gone.KnownExploited > 0},
		{UpgradeLikelyExploited, u.EPSS != nil && *u.EPSS >= likelyExploited},
		{UpgradeSevere, u.Severity.Rating.Rank() >= core.SeverityHigh.Rank()},
		{UpgradeSeveralImages, u.Images > 1},
		{UpgradeLongOpen, now.Sub(u.FirstSeenTime.Time) >= longOpen},
		{UpgradeOverdue, !u.DueTime.IsZero() && u.DueTime.Before(now.Time)},
	} {
		if r.holds {
			reasons = append(reasons, r.UpgradeReason)
		}
	}
	return reasons
}

type (
	// A PackageName is a package of an ecosystem.
	PackageName struct {
		Ecosystem string `json:"ecosystem,omitempty"` // with its release; "" if it is not known
		Package   string `json:"package"`
	}
	// A PackageVersion is what images hold of a package.
	PackageVersion struct {
		PackageName
		Version string // "" if it is not known
	}
	// FixedFindings are findings about a version of a package that the same versions fix.
	FixedFindings struct {
		PackageVersion
		FixedVersions []string
		N             int64
	}
)

// Upgrades ranks the upgrades that do away with findings: by known exploitation, the tenths of the highest EPSS, the worst rating, the number
// of images, the number of findings, the age of the oldest finding, and when the first is due. It ignores By of the request.
func (s FindingRankings) Upgrades(ctx context.Context, req RankingRequest) (*UpgradeRanking, error) {
	ranking, err := s.rankUpgrades(ctx, req)
	return ranking, s.lists.Kind.AddArea(err)
}

func (s FindingRankings) rankUpgrades(ctx context.Context, req RankingRequest) (*UpgradeRanking, error) {
	q, err := s.query(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	ranking := UpgradeRanking{Nodes: []*Upgrade{}}
	if len(q.Scope.Branches) > 0 {
		ranking, err = s.area.tables.RankUpgrades(ctx, s.area.Store, q)
	}
	if err == nil && ranking.TotalCount == 0 {
		err = s.lists.ScopeExists(ctx, req.Within)
	}
	if err != nil || len(ranking.Nodes) == 0 {
		return &ranking, err
	}
	var names []string
	for _, u := range ranking.Nodes {
		names = append(names, u.Package)
	}
	q.Filter = core.EditFilter(q.Filter, func(f *inventory.FindingFilter) { f.Packages = slices.Compact(slices.Sorted(slices.Values(names))) })
	fixes, err := s.area.tables.FindFixes(ctx, s.area.Store, q)
	if err != nil {
		return nil, err
	}
	byPackage := map[PackageName][]FixedFindings{}
	for _, f := range fixes {
		byPackage[f.PackageName] = append(byPackage[f.PackageName], f)
	}
	root := soleRoot(q.Scope)
	for _, u := range ranking.Nodes {
		if root != "" {
			u.PackageUID = (&inventory.Package{Name: u.Package, Ecosystem: u.Ecosystem}).UIDIn(root)
		}
		fixes := byPackage[u.PackageName]
		u.To, u.Reasons = earliestFix(fixes), u.reasonsAt(s.area.Now())
		u.Steps = upgradesTo(fixes)
		u.Steps = u.Steps[:min(len(u.Steps), MaxUpgradeSteps)]
	}
	// What was fixed between the two statements is none any more.
	ranking.Nodes = slices.DeleteFunc(ranking.Nodes, func(u *Upgrade) bool { return len(u.Steps) == 0 })
	return &ranking, nil
}

// MaxUpgradeSteps limits the versions that an upgrade lists. Its counts are those of all.
const MaxUpgradeSteps = 20

// upgradesTo returns the earliest version that fixes all findings of each version of a package, those that fix most first.
func upgradesTo(fixes []FixedFindings) []*PackageUpgrade {
	var order []PackageVersion
	byVersion := map[PackageVersion][]FixedFindings{}
	for _, f := range fixes {
		if byVersion[f.PackageVersion] == nil {
			order = append(order, f.PackageVersion)
		}
		byVersion[f.PackageVersion] = append(byVersion[f.PackageVersion], f)
	}
	all := make([]*PackageUpgrade, len(order))
	for i, of := range order {
		all[i] = &PackageUpgrade{Package: of.Package, Ecosystem: of.Ecosystem, From: of.Version, To: earliestFix(byVersion[of])}
		for _, f := range byVersion[of] {
			all[i].Findings += f.N
		}
	}
	slices.SortStableFunc(all, func(a, b *PackageUpgrade) int { return cmp.Compare(b.Findings, a.Findings) })
	return all
}

// earliestFix returns the earliest version of a package that fixes findings, or "" if there are none.
func earliestFix(fixes []FixedFindings) string {
	if len(fixes) == 0 {
		return ""
	}
	versions := make([][]string, len(fixes))
	for i, f := range fixes {
		versions[i] = f.FixedVersions
	}
	return affected.EarliestFix(fixes[0].Ecosystem, versions)
}
