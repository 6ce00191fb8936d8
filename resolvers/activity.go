package resolvers

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/reports"
)

func (q queries) AdvisoryActivity(ctx context.Context, within core.UID, interval core.ActivityInterval, from, to *core.Time, timeZone string) ([]*reports.AdvisoryActivity, error) {
	activity, err := q.p.Activities.ListAdvisoryActivity(ctx, core.ActivityRequest{Within: within, Interval: interval, From: valueOrZero(from), To: valueOrZero(to), TimeZone: &timeZone})
	return pointers(activity), err
}

func (q queries) FindingActivity(ctx context.Context, within core.UID, interval core.ActivityInterval, from, to *core.Time, timeZone string) ([]*reports.FindingActivity, error) {
	activity, err := q.p.Activities.ListFindingActivity(ctx, core.ActivityRequest{Within: within, Interval: interval, From: valueOrZero(from), To: valueOrZero(to), TimeZone: &timeZone})
	return pointers(activity), err
}

func (q queries) EventActivity(ctx context.Context, within core.UID, interval core.ActivityInterval, from, to *core.Time, timeZone string, kinds []string) ([]*events.EventActivity, error) {
	activity, err := q.p.AuditLog.Activity(ctx, core.ActivityRequest{Within: within, Interval: interval, From: valueOrZero(from), To: valueOrZero(to), TimeZone: &timeZone}, kinds)
	return pointers(activity), err
}

// pointers returns a pointer to each element of a list.
func pointers[T any](list []T) []*T {
	all := make([]*T, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}
