package events

import (
	"context"
	"fmt"

	"atrium/platform/core"
)

// An EventActivity counts the changes that were made and those that were denied in
// one interval.
type EventActivity struct {
	Time    core.Time `json:"time"` // start of the interval
	Changes int64     `json:"changes"`
	Denials int64     `json:"denials"`
}

// An EventCount is what the store counts of events in one step of a query.
type EventCount struct {
	Step             int // position of the step, from 0
	Changes, Denials int64
}

// Activity counts, per interval, the changes in a group and below it, and the
// changes that were denied, of the types; nil means all. It needs
// groups.update on the group.
func (s AuditLog) Activity(ctx context.Context, req core.ActivityRequest, types []string) ([]EventActivity, error) {
	activity, err := s.activity(ctx, req, types)
	return activity, core.InArea(core.AreaEvents, s.area.Types.ListIn(err))
}

func (s AuditLog) activity(ctx context.Context, req core.ActivityRequest, types []string) ([]EventActivity, error) {
	in, err := core.CheckActivity(ctx, req, s.area.Now(), func(v *core.Violations) {
		s.area.Types.Check(v, "kinds", types)
	})
	if err != nil {
		return nil, err
	}
	if actor := core.ActorOf(ctx); !actor.Can(core.CapGroupsUpdate, req.Within) { // reading the audit log needs the same capability
		return nil, actor.PermissionError(core.CapGroupsUpdate, req.Within)
	}
	selected := s.area.Types.selectTypes(types)
	if selected != nil && len(selected) == 0 {
		return []EventActivity{}, nil
	}
	activity := make([]EventActivity, len(in.Starts))
	for i, start := range in.Starts {
		activity[i].Time = start
	}
	q := req.Query(in, core.SubtreeScope([]core.UID{req.Within}))
	q.Types = selected
	counts, err := s.area.Store.EventActivity(ctx, q)
	for _, c := range counts {
		counted := &activity[in.Position(q, c.Step)]
		counted.Changes += c.Changes
		counted.Denials += c.Denials
	}
	if err != nil {
		return nil, fmt.Errorf("the audit log cannot be counted: %w", err)
	}
	return activity, nil
}
