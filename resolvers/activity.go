package resolvers

import (
	"context"

	"atrium/platform"
)

func (q queries) AdvisoryActivity(ctx context.Context, within platform.UID, interval platform.ActivityInterval, from, to *platform.Time, timeZone string) ([]*platform.AdvisoryActivity, error) {
	activity, err := q.p.Advisories.Activity(ctx, platform.ActivityRequest{Within: within, Interval: interval, From: valueOrZero(from), To: valueOrZero(to), TimeZone: &timeZone})
	return pointers(activity), err
}

func (q queries) FindingActivity(ctx context.Context, within platform.UID, interval platform.ActivityInterval, from, to *platform.Time, timeZone string) ([]*platform.FindingActivity, error) {
	activity, err := q.p.Findings.Activity(ctx, platform.ActivityRequest{Within: within, Interval: interval, From: valueOrZero(from), To: valueOrZero(to), TimeZone: &timeZone})
	return pointers(activity), err
}

func (q queries) EventActivity(ctx context.Context, within platform.UID, interval platform.ActivityInterval, from, to *platform.Time, timeZone string, types, kinds []string) ([]*platform.EventActivity, error) {
	activity, err := q.p.AuditLog.Activity(ctx, platform.ActivityRequest{Within: within, Interval: interval, From: valueOrZero(from), To: valueOrZero(to), TimeZone: &timeZone}, types, kinds)
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
