package wire

import (
	"cmp"
	"context"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/reports"
)

// An Interval asks for counts by interval.
type Interval struct {
	Within   core.UID              `json:"within,omitempty"`
	Interval core.ActivityInterval `json:"interval,omitempty"` // "" means the usual one
	From     core.Time             `json:"from,omitzero"`
	To       core.Time             `json:"to,omitzero"`
	TimeZone string                `json:"timeZone,omitempty"`
}

func (i *Interval) request(usual core.ActivityInterval) core.ActivityRequest {
	zone := cmp.Or(i.TimeZone, "UTC")
	return core.ActivityRequest{Within: i.Within, Interval: cmp.Or(i.Interval, usual), From: i.From, To: i.To, TimeZone: &zone}
}

// GetFindingActivityResponse has the intervals of an activity of findings.
type GetFindingActivityResponse struct {
	Activity []reports.FindingActivity `json:"activity"`
}

// GetFindingActivity tells how many findings were open at the end of each interval.
func (o Operations) GetFindingActivity(ctx context.Context, in *Interval) (*GetFindingActivityResponse, error) {
	activity, err := o.p.Activities.ListFindingActivity(ctx, in.request(core.EachWeek))
	return &GetFindingActivityResponse{activity}, err
}

// GetAdvisoryActivityResponse has the intervals of an activity of advisories.
type GetAdvisoryActivityResponse struct {
	Activity []reports.AdvisoryActivity `json:"activity"`
}

// GetAdvisoryActivity counts the advisories that were opened and fixed in each interval.
func (o Operations) GetAdvisoryActivity(ctx context.Context, in *Interval) (*GetAdvisoryActivityResponse, error) {
	activity, err := o.p.Activities.ListAdvisoryActivity(ctx, in.request(core.EachDay))
	return &GetAdvisoryActivityResponse{activity}, err
}

type (
	// GetRemediationActivityResponse has the intervals of what was remedied.
	GetRemediationActivityResponse struct {
		Activity []Remediation `json:"activity"`
	}
	// A Remediation is what appeared and went in one interval, and how long that took.
	Remediation struct {
		reports.Remediation
		TimeToFix  *reports.TimeToFix  `json:"timeToFix,omitempty"`
		TimesToFix []reports.TimeToFix `json:"timesToFix,omitempty"`
	}
)

// GetRemediationActivity tells which vulnerabilities appeared and went in each interval.
func (o Operations) GetRemediationActivity(ctx context.Context, in *Interval) (*GetRemediationActivityResponse, error) {
	activity, err := o.p.Remediations.Activity(ctx, in.request(core.EachWeek))
	shown := make([]Remediation, len(activity))
	for i := range activity {
		shown[i] = Remediation{activity[i], activity[i].TimeToFix(), activity[i].TimesToFix()}
	}
	return &GetRemediationActivityResponse{shown}, err
}

type (
	// EventInterval asks for an activity of events of some kinds.
	EventInterval struct {
		Interval
		Kinds []string `json:"kinds,omitempty"`
	}
	// GetEventActivityResponse has the intervals of an activity of events.
	GetEventActivityResponse struct {
		Activity []events.EventActivity `json:"activity"`
	}
)

// GetEventActivity counts the changes that were made and denied in each interval.
func (o Operations) GetEventActivity(ctx context.Context, in *EventInterval) (*GetEventActivityResponse, error) {
	activity, err := o.p.AuditLog.Activity(ctx, in.request(core.EachDay), in.Kinds)
	return &GetEventActivityResponse{activity}, err
}
