package resolvers

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/reports"
)

func (q queries) RemediationActivity(ctx context.Context, within core.UID, interval core.ActivityInterval, from, to *core.Time, timeZone string) ([]*reports.Remediation, error) {
	activity, err := q.p.Remediations.Activity(ctx, core.ActivityRequest{Within: within, Interval: interval, From: valueOrZero(from), To: valueOrZero(to), TimeZone: &timeZone})
	return pointers(activity), err
}
