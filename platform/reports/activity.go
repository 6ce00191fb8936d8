package reports

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A FindingActivity has the findings that were open at the end of one interval.
type FindingActivity struct {
	Time core.Time               `json:"time"` // start of the interval
	Open inventory.SeverityCount `json:"open"`
}

// An OpenChange is by how much the number of open findings changed in one step of a query.
type OpenChange struct {
	Step int // position of the step of a query, from 0; those after the last one are included
	By   inventory.OpenCounts
}

// An AdvisoryActivity counts the advisories that were opened and fixed in one
// interval.
type AdvisoryActivity struct {
	Time   core.Time `json:"time"` // start of the interval
	Opened int64     `json:"opened"`
	Fixed  int64     `json:"fixed"`
}

// An AdvisoryCount is what the store counts of advisories in one step of a query.
type AdvisoryCount struct {
	Step          int // position of the step, from 0
	Opened, Fixed int64
}

// ActivityQueries read what there was of findings and advisories in the past.
type ActivityQueries interface {
	// AdvisoryActivity counts per interval, without withdrawn ones, the advisories that were opened and those that
	// were fixed.
	AdvisoryActivity(ctx context.Context, on core.Conn, q core.ActivityQuery) ([]AdvisoryCount, error)

	// FindingActivity sums the changes of the number of open findings from the first interval until now. The
	// query has whole days.
	FindingActivity(ctx context.Context, on core.Conn, q core.ActivityQuery) ([]OpenChange, error)
}

// Activities tell how many findings and advisories there were by interval.
type Activities struct {
	area       *Area
	findings   *findingList
	advisories *core.Collection[*inventory.Advisory, *inventory.AdvisoryFilter] // finds scopes; it has no table
}

func newActivities(area *Area) Activities {
	return Activities{area, newFindingLists(area.Core), core.NewCollection[*inventory.Advisory, *inventory.AdvisoryFilter](area.Core, &inventory.AdvisoryKind, nil, nil)}
}

// ListFindingActivity returns how many findings were open at the end of each interval in the repos of a group, or in a repo, which
// exist today: as their summary counted them then.
func (s Activities) ListFindingActivity(ctx context.Context, req core.ActivityRequest) ([]FindingActivity, error) {
	activity, err := s.listFindingActivity(ctx, req)
	return activity, s.findings.Kind.AddArea(err)
}

func (s Activities) listFindingActivity(ctx context.Context, req core.ActivityRequest) ([]FindingActivity, error) {
	in, err := core.CheckActivity(ctx, req, s.area.Now(), nil)
	if err != nil {
		return nil, err
	}
	q, err := s.findings.Query(ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: req.Within}})
	if err != nil {
		return nil, err
	}
	now, err := s.area.inventory.Findings.Summarize(ctx, req.Within)
	if err != nil {
		return nil, err
	}
	steps := req.Query(in, q.Scope)
	changes, err := s.area.tables.FindingActivity(ctx, s.area.Store, steps)
	if err != nil {
		return nil, err
	}
	after := make([]inventory.OpenCounts, len(in.Starts)+1)
	for _, c := range changes {
		at := in.Position(steps, c.Step)
		after[at] = after[at].Plus(c.By)
	}
	activity, open := make([]FindingActivity, len(in.Starts)), now.Open.SeverityCount
	for i := len(in.Starts) - 1; i >= 0; i-- {
		for rank, n := range after[i+1] {
			open.Add(core.RatingOfRank(rank), -n)
		}
		activity[i] = FindingActivity{in.Starts[i], open}
	}
	return activity, nil
}

// ListAdvisoryActivity counts, per interval, the advisories of a group or a repo that were
// opened, and those that were fixed.
func (s Activities) ListAdvisoryActivity(ctx context.Context, req core.ActivityRequest) ([]AdvisoryActivity, error) {
	activity, err := s.listAdvisoryActivity(ctx, req)
	return activity, s.advisories.Kind.AddArea(err)
}

func (s Activities) listAdvisoryActivity(ctx context.Context, req core.ActivityRequest) ([]AdvisoryActivity, error) {
	in, err := core.CheckActivity(ctx, req, s.area.Now(), nil)
	if err != nil {
		return nil, err
	}
	scope, err := s.advisoryScope(ctx, req.Within)
	if err != nil {
		return nil, err
	}
	q := req.Query(in, scope)
	counts, err := s.area.tables.AdvisoryActivity(ctx, s.area.Store, q)
	if err == nil && len(counts) == 0 {
		err = s.advisories.ScopeExists(ctx, core.UIDFilter{DescendantsOf: req.Within})
	}
	activity := make([]AdvisoryActivity, len(in.Starts))
	for i, start := range in.Starts {
		activity[i].Time = start
	}
	for _, c := range counts {
		counted := &activity[in.Position(q, c.Step)]
		counted.Opened += c.Opened
		counted.Fixed += c.Fixed
	}
	return activity, err
}

// advisoryScope returns the scope of the advisories of a group or of a repo.
func (s Activities) advisoryScope(ctx context.Context, within core.UID) (core.Scope, error) {
	q, err := s.advisories.Query(ctx, core.ListRequest[*inventory.AdvisoryFilter]{UIDP: core.UIDFilter{DescendantsOf: within}})
	if err != nil || within.IsRoot() {
		return q.Scope, err
	}
	repos, err := s.area.tables.Repos.Get(ctx, s.area.Store, core.Keys{UIDs: []core.UID{within}})
	if err != nil || len(repos) == 0 {
		return q.Scope, err
	}
	return s.area.inventory.AffectingScope(ctx, core.ImageKey{Repo: within}, core.UIDFilter{})
}
