package reports

import (
	"context"
	"errors"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A FindingActivity has the findings that were open at the end of one interval.
type FindingActivity struct {
	Time core.Time               `json:"time"` // start of the interval
	Open inventory.SeverityCount `json:"open"`
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

	// FindingActivity sums the changes of the number of open findings of each scope in each step from the first one until now, with one
	// statement. Steps after the last one of the query are included. The query has whole days.
	FindingActivity(ctx context.Context, on core.Conn, q core.ActivityQuery, scopes []core.Scope, add func(scope, step int, by inventory.OpenCounts)) error
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
	activity, err := s.listFindingActivity(ctx, req, []core.UID{req.Within}, func() ([]*inventory.FindingSummary, error) {
		now, err := s.area.inventory.Findings.Summarize(ctx, req.Within)
		return []*inventory.FindingSummary{now}, err
	})
	if err != nil {
		return nil, s.findings.Kind.AddArea(err)
	}
	return activity[0], nil
}

// ListFindingActivityOf is ListFindingActivity of each of some groups, which must exist, with one read of summaries and one of changes.
func (s Activities) ListFindingActivityOf(ctx context.Context, req core.ActivityRequest, groups []core.UID) ([][]FindingActivity, []error) {
	check := func(group core.UID) error {
		_, err := s.findingScope(ctx, group)
		return s.findings.Kind.AddArea(err)
	}
	return core.ReadPermitted(groups, check, func(groups []core.UID) ([][]FindingActivity, error) {
		req.Within = groups[0] // all have the same intervals
		activity, err := s.listFindingActivity(ctx, req, groups, func() ([]*inventory.FindingSummary, error) {
			now, errs := s.area.inventory.Findings.SummarizeEach(ctx, groups)
			return now, errors.Join(errs...)
		})
		return activity, s.findings.Kind.AddArea(err)
	})
}

// listFindingActivity reads the activity in each of some places. The function summarize reads how many findings they have now.
func (s Activities) listFindingActivity(ctx context.Context, req core.ActivityRequest, within []core.UID, summarize func() ([]*inventory.FindingSummary, error)) ([][]FindingActivity, error) {
	in, err := core.CheckActivity(ctx, req, s.area.Now(), nil)
	if err != nil {
		return nil, err
	}
	scopes := make([]core.Scope, len(within))
	for i, uid := range within {
		if scopes[i], err = s.findingScope(ctx, uid); err != nil {
			return nil, err
		}
	}
	now, err := summarize()
	if err != nil {
		return nil, err
	}
	steps := req.Query(in, core.Scope{})
	after := make([][]inventory.OpenCounts, len(within))
	for i := range after {
		after[i] = make([]inventory.OpenCounts, len(in.Starts)+1)
	}
	err = s.area.tables.FindingActivity(ctx, s.area.Store, steps, scopes, func(scope, step int, by inventory.OpenCounts) {
		at := in.Position(steps, step)
		after[scope][at] = after[scope][at].Plus(by)
	})
	all := make([][]FindingActivity, len(within))
	for i, of := range now {
		all[i] = countBack(in.Starts, after[i], of.Open.SeverityCount)
	}
	return all, err
}

// findingScope returns the scope of the findings in a group or repo.
func (s Activities) findingScope(ctx context.Context, within core.UID) (core.Scope, error) {
	q, err := s.findings.Query(ctx, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: within}})
	return q.Scope, err
}

// countBack returns how many findings were open at the end of each interval, by how many are now, and by how many there were more or
// less after it.
func countBack(starts []core.Time, after []inventory.OpenCounts, open inventory.SeverityCount) []FindingActivity {
	activity := make([]FindingActivity, len(starts))
	for i := len(starts) - 1; i >= 0; i-- {
		for rank, n := range after[i+1] {
			open.Add(core.RatingOfRank(rank), -n)
		}
		activity[i] = FindingActivity{starts[i], open}
	}
	return activity
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
