package inventory

import (
	"context"

	"atrium/platform/core"
)

// An AdvisoryActivity counts the advisories that were opened and fixed in one
// interval.
type AdvisoryActivity struct {
	Time          core.Time // start of the interval
	Opened, Fixed int64
}

// An AdvisoryCount is what the store counts of advisories in one step of a query.
type AdvisoryCount struct {
	Step          int // position of the step, from 0
	Opened, Fixed int64
}

// Activity counts, per interval, the advisories of a group or a repo that were
// opened, and those that were fixed.
func (s Advisories) Activity(ctx context.Context, req core.ActivityRequest) ([]AdvisoryActivity, error) {
	activity, err := s.activity(ctx, req)
	return activity, s.rows.Kind.AddArea(err)
}

func (s Advisories) activity(ctx context.Context, req core.ActivityRequest) ([]AdvisoryActivity, error) {
	in, err := core.CheckActivity(ctx, req, s.area.Now(), nil)
	if err != nil {
		return nil, err
	}
	scope, err := s.activityScope(ctx, req.Within)
	if err != nil {
		return nil, err
	}
	q := req.Query(in, scope)
	counts, err := s.area.tables.AdvisoryActivity(ctx, s.area.Store, q)
	if err == nil && len(counts) == 0 {
		err = s.rows.ScopeExists(ctx, core.UIDFilter{DescendantsOf: req.Within})
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

// activityScope returns the scope of the advisories of a group or of a repo.
func (s Advisories) activityScope(ctx context.Context, within core.UID) (core.Scope, error) {
	q, err := s.rows.Query(ctx, core.ListRequest[*AdvisoryFilter]{UIDP: core.UIDFilter{DescendantsOf: within}})
	if err != nil || within.IsRoot() {
		return q.Scope, err
	}
	repos, err := s.area.tables.Repos.Get(ctx, s.area.Store, core.Keys{UIDs: []core.UID{within}})
	if err != nil || len(repos) == 0 {
		return q.Scope, err
	}
	return s.affecting(ctx, core.ImageKey{Repo: within}, core.UIDFilter{})
}
