package platform

import "context"

// A FindingActivity has the findings that were open at the end of one interval.
type FindingActivity struct {
	Time Time // start of the interval
	Open SeverityCount
}

// An OpenChange is by how much the number of open findings changed in one interval.
type OpenChange struct {
	Interval int // position of the interval, from 0; those after the last one are included
	By       OpenCounts
}

// Activity returns how many findings were open at the end of each interval in the repos of a group, or in a repo, which
// exist today: as their summary counted them then. Days are those of UTC.
func (s Findings) Activity(ctx context.Context, req ActivityRequest) ([]FindingActivity, error) {
	activity, err := s.activity(ctx, req)
	return activity, s.kind.addArea(err)
}

func (s Findings) activity(ctx context.Context, req ActivityRequest) ([]FindingActivity, error) {
	starts, err := checkActivity(ctx, req, s.p.now(), nil)
	if err != nil {
		return nil, err
	}
	q, err := s.query(ctx, ListRequest[*FindingFilter]{UIDP: UIDFilter{DescendantsOf: req.Within}})
	if err != nil {
		return nil, err
	}
	now, err := s.Summarize(ctx, req.Within)
	if err != nil {
		return nil, err
	}
	changes, err := s.p.store.FindingActivity(ctx, req.query(starts, q.Scope))
	if err != nil {
		return nil, err
	}
	after := make([]OpenCounts, len(starts)+1)
	for _, c := range changes {
		at := min(c.Interval, len(starts))
		after[at] = after[at].Plus(c.By)
	}
	activity, open := make([]FindingActivity, len(starts)), now.Open.SeverityCount
	for i := len(starts) - 1; i >= 0; i-- {
		for rank, n := range after[i+1] {
			open.add(severityRatings[rank], -n)
		}
		activity[i] = FindingActivity{starts[i], open}
	}
	return activity, nil
}
