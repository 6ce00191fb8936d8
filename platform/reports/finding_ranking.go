package reports

import (
	"cmp"
	"context"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
)

// A FindingRanking has what findings are of, or about, most.
type FindingRanking struct {
	TotalCount int64             `json:"totalCount"` // number of different ones, also of those that are not shown
	Nodes      []*RankedFindings `json:"rows"`
}

// RankedFindings are the findings of one vulnerability, or those about one package.
type RankedFindings struct {
	VulnerabilityID string                     `json:"vulnerabilityId,omitempty"` // of a ranking of vulnerabilities
	Package         string                     `json:"package,omitempty"`         // of a ranking of packages
	PackageUID      core.UID                   `json:"-"`                         // of the package in the organization of the findings; "" if they can be of several, as is the next one
	Ecosystem       string                     `json:"ecosystem,omitempty"`
	Severity        inventory.AdvisorySeverity `json:"severity"`       // rating and score of the worst finding
	KnownExploited  bool                       `json:"knownExploited"` // whether one of them is
	EPSS            *float64                   `json:"epss,omitempty"` // the highest; nil if none is known

	Findings int64 `json:"findings"`
	Fixable  int64 `json:"fixable"`
	Images   int64 `json:"images"`
	Repos    int64 `json:"repos"`
}

// A RankingOrder says what a ranking is sorted by, the most or the worst first.
type RankingOrder string

// The orders.
const (
	ByFindings RankingOrder = "FINDINGS"
	ByImages   RankingOrder = "IMAGES"
	ByRepos    RankingOrder = "REPOS"
	BySeverity RankingOrder = "SEVERITY"
)

var rankingOrders = []RankingOrder{ByFindings, ByImages, ByRepos, BySeverity}

// Values lists the orders.
func (RankingOrder) Values() []string { return fieldmask.Texts(rankingOrders) }

// maxRanked limits what a ranking shows.
const maxRanked = 100

// A RankingRequest asks for the first rows of a ranking.
type RankingRequest struct {
	Within core.UIDFilter
	Filter *inventory.FindingFilter // without states, those that somebody must look after
	By     RankingOrder
	First  int
}

// A RankingQuery is a checked and authorized request for the store.
type RankingQuery struct {
	Scope      core.Scope
	Filter     *inventory.FindingFilter
	OfPackages bool // a ranking of packages, and not of vulnerabilities
	By         RankingOrder
	Limit      int
}

// A findingList checks requests about findings, and finds their scopes. It has no table.
type findingList = core.Collection[*inventory.Finding, *inventory.FindingFilter]

func newFindingLists(c *core.Core) *findingList {
	return core.NewCollection[*inventory.Finding, *inventory.FindingFilter](c, &inventory.FindingKind, nil, nil)
}

// FindingRankings tell what findings are of most.
type FindingRankings struct {
	area  *Area
	lists *findingList
}

// Vulnerabilities ranks the vulnerabilities of findings.
func (s FindingRankings) Vulnerabilities(ctx context.Context, req RankingRequest) (*FindingRanking, error) {
	ranking, err := s.rank(ctx, req, false)
	return ranking, s.lists.Kind.AddArea(err)
}

// Packages ranks the packages that findings are about.
func (s FindingRankings) Packages(ctx context.Context, req RankingRequest) (*FindingRanking, error) {
	ranking, err := s.rank(ctx, req, true)
	return ranking, s.lists.Kind.AddArea(err)
}

func (s FindingRankings) rank(ctx context.Context, req RankingRequest, ofPackages bool) (*FindingRanking, error) {
	var malformed core.Violations
	core.CheckOneOf(&malformed, "by", req.By, rankingOrders)
	q, err := s.query(ctx, req, malformed)
	if err != nil {
		return nil, err
	}
	ranking := FindingRanking{Nodes: []*RankedFindings{}}
	if q.OfPackages = ofPackages; len(q.Scope.Branches) > 0 {
		ranking, err = s.area.tables.RankFindings(ctx, s.area.Store, q)
	}
	if root := soleRoot(q.Scope); ofPackages && root != "" {
		for _, n := range ranking.Nodes {
			n.PackageUID = (&inventory.Package{Name: n.Package, Ecosystem: n.Ecosystem}).UIDIn(root)
		}
	}
	if err == nil && ranking.TotalCount == 0 {
		err = s.lists.ScopeExists(ctx, req.Within)
	}
	return &ranking, err
}

// query checks and authorizes a request.
func (s FindingRankings) query(ctx context.Context, req RankingRequest, malformed core.Violations) (RankingQuery, error) {
	if req.First < 0 || req.First > maxRanked {
		malformed.Add("first", "must be between 0 and %d", maxRanked)
	}
	filter := core.EditFilter(req.Filter, func(f *inventory.FindingFilter) {
		if f.WantedStates() == nil {
			f.States = inventory.OpenStates()
		}
	})
	q, err := s.lists.Query(ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: req.Within, Filter: filter, Malformed: malformed})
	if err != nil {
		return RankingQuery{}, err
	}
	if q.IsEmpty() {
		q.Scope = core.Scope{} // A filter that nothing meets asks the database nothing.
	}
	return RankingQuery{Scope: q.Scope, Filter: q.Filter, By: cmp.Or(req.By, ByFindings), Limit: req.First}, nil
}

// soleRoot returns the organization of all rows of a scope, or "" if they can be of several.
func soleRoot(scope core.Scope) (root core.UID) {
	for i, branch := range scope.Branches {
		if i > 0 && branch.UID.Root() != root {
			return ""
		}
		root = branch.UID.Root()
	}
	return root
}
