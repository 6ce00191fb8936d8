package inventory

import (
	"context"

	"atrium/platform/core"
)

// A FindingActivity has the findings that were open at the end of one interval.
type FindingActivity struct {
	Time core.Time // start of the interval
	Open SeverityCount
}

// An OpenChange is by how much the number of open findings changed in one step of a query.
type OpenChange struct {
	Step int // position of the step of a query, from 0; those after the last one are included
	By   OpenCounts
}

// Activity returns how many findings were open at the end of each interval in the repos of a group, or in a repo, which
// exist today: as their summary counted them then.
func (s Findings) Activity(ctx context.Context, req core.ActivityRequest) ([]FindingActivity, error) {
	activity, err := s.activity(ctx, req)
	return activity, s.rows.Kind.AddArea(err)
}

func (s Findings) activity(ctx context.Context, req core.ActivityRequest) ([]FindingActivity, error) {
	in, err := core.CheckActivity(ctx, req, s.area.Now(), nil)
	if err != nil {
		return nil, err
	}
	q, err := s.rows.Query(ctx, core.ListRequest[*FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: req.Within}})
	if err != nil {
		return nil, err
	}
	now, err := s.Summarize(ctx, req.Within)
	if err != nil {
		return nil, err
	}
	steps := req.Query(in, q.Scope)
	changes, err := s.area.tables.FindingActivity(ctx, s.area.Store, steps)
	if err != nil {
		return nil, err
	}
	after := make([]OpenCounts, len(in.Starts)+1)
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
