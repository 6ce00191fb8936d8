package wire

import (
	"context"
	"encoding/json"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/webhooks"
)

type (
	// An AuditQuestion says which events of the audit log are meant.
	AuditQuestion struct {
		Within  core.UID  `json:"within,omitempty"`
		Actor   string    `json:"actor,omitempty"`
		Subject core.UID  `json:"subject,omitempty"`
		Target  core.UID  `json:"target,omitempty"`
		Kinds   []string  `json:"kinds,omitempty"`
		Since   core.Time `json:"since,omitzero"`
		Until   core.Time `json:"until,omitzero"`
		Denied  *bool     `json:"denied,omitempty"`
	}
	// A GetAuditLogRequest asks for a page of the audit log.
	GetAuditLogRequest struct {
		AuditQuestion
		PageSize  int    `json:"pageSize,omitempty"`
		PageToken string `json:"pageToken,omitempty"`
	}
	// GetAuditLogRunsRequest asks for a page of the runs of the audit log.
	GetAuditLogRunsRequest GetAuditLogRequest
	// GetAuditLogRunsResponse is a page of the runs of the audit log.
	GetAuditLogRunsResponse struct {
		Runs          []*AuditLogRun `json:"runs"`
		NextPageToken string         `json:"nextPageToken,omitempty"`
	}
	// An AuditLogRun stands for events that follow each other, of the same kind, actor and outcome.
	AuditLogRun struct {
		Newest     *Event    `json:"newest"`
		OldestID   string    `json:"oldestId"`
		OldestTime core.Time `json:"oldestTime"`
		Count      int64     `json:"count"`
	}
	// GetAuditLogResponse is a page of the audit log.
	GetAuditLogResponse struct {
		Events        []*Event `json:"events"`
		NextPageToken string   `json:"nextPageToken,omitempty"`
	}
	// An Event is a change that was made, or one that was denied.
	Event struct {
		ID      string           `json:"id"`
		Type    string           `json:"type"`
		Subject core.UID         `json:"subject"`
		Group   core.UID         `json:"group"`
		Time    core.Time        `json:"time"`
		Actor   *core.EventActor `json:"actor"`
		Body    json.RawMessage  `json:"body,omitempty"`
		Changes []*EventChange   `json:"changes,omitempty"`
		Denied  string           `json:"denied,omitempty"`
		Count   int32            `json:"count"`
	}
	// An EventChange is a field that an update changed.
	EventChange struct {
		Field  string          `json:"field"`
		Before json.RawMessage `json:"before,omitempty"`
		After  json.RawMessage `json:"after,omitempty"`
	}
)

// GetAuditLog reads a page of the audit log, the newest events first.
func (o Operations) GetAuditLog(ctx context.Context, in *GetAuditLogRequest) (*GetAuditLogResponse, error) {
	request := in.request()
	request.PageSize, request.After = in.PageSize, in.PageToken
	page, err := o.p.AuditLog.List(ctx, request)
	if err != nil {
		return nil, err
	}
	shown := make([]*Event, len(page.Items))
	for i, e := range page.Items {
		shown[i] = newEvent(e)
	}
	answer := &GetAuditLogResponse{Events: shown}
	if page.HasNext {
		answer.NextPageToken = shown[len(shown)-1].ID
	}
	return answer, nil
}

// GetAuditLogRuns reads a page of the audit log in which events that are alike and follow each other are one.
func (o Operations) GetAuditLogRuns(ctx context.Context, in *GetAuditLogRunsRequest) (*GetAuditLogRunsResponse, error) {
	request := in.request()
	request.PageSize, request.After = in.PageSize, in.PageToken
	page, err := o.p.AuditLog.ListRuns(ctx, request)
	if err != nil {
		return nil, err
	}
	answer := &GetAuditLogRunsResponse{Runs: make([]*AuditLogRun, len(page.Items))}
	for i, r := range page.Items {
		answer.Runs[i] = &AuditLogRun{newEvent(r.Newest), r.OldestID, r.OldestTime(), r.Count}
	}
	if n := len(page.Items); page.HasNext && n > 0 {
		answer.NextPageToken = page.Items[n-1].Cursor()
	}
	return answer, nil
}

// GetAuditLogSummary counts the newest events of the audit log.
func (o Operations) GetAuditLogSummary(ctx context.Context, in *AuditQuestion) (*events.AuditSummary, error) {
	return o.p.AuditLog.Summarize(ctx, in.request())
}

func (q *AuditQuestion) request() events.AuditRequest {
	return events.AuditRequest{
		DescendantsOf: q.Within, Actor: q.Actor, Subject: q.Subject, Target: q.Target, Types: q.Kinds, Since: q.Since, Until: q.Until, Denied: q.Denied,
	}
}

func newEvent(e *core.Event) *Event {
	shown := &Event{ID: e.ID, Type: e.Type, Subject: e.Subject, Group: e.Group, Time: e.Time, Actor: &e.Actor, Body: e.Body, Denied: e.Denied, Count: e.Count}
	for _, c := range e.Changes {
		shown.Changes = append(shown.Changes, &EventChange{c.Field, c.Before, c.After})
	}
	return shown
}

type (
	// A RedeliverRequest asks for deliveries to be made again.
	RedeliverRequest struct {
		UIDs []core.UID `json:"uids"`
	}
	// RedeliverResponse has the deliveries that are made again.
	RedeliverResponse struct {
		UIDs []core.UID `json:"uids"`
	}
)

// Redeliver makes deliveries again.
func (o Operations) Redeliver(ctx context.Context, in *RedeliverRequest) (*RedeliverResponse, error) {
	again, err := o.p.Deliveries.Redeliver(ctx, in.UIDs)
	answer := &RedeliverResponse{UIDs: make([]core.UID, len(again))}
	for i, d := range again {
		answer.UIDs[i] = d.UID
	}
	return answer, err
}

// A SubscriptionKey names a subscription.
type SubscriptionKey struct {
	UID core.UID `json:"uid"`
}

// RotateSubscriptionSecret gives a subscription a new secret, which only this answer shows.
func (o Operations) RotateSubscriptionSecret(ctx context.Context, in *SubscriptionKey) (*webhooks.Subscription, error) {
	return o.p.Subscriptions.RotateSecret(ctx, in.UID)
}

// EnableSubscription has events delivered again to a sink that did not answer.
func (o Operations) EnableSubscription(ctx context.Context, in *SubscriptionKey) (*webhooks.Subscription, error) {
	return o.p.Subscriptions.Enable(ctx, in.UID)
}
