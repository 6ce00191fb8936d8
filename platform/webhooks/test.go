package webhooks

import (
	"context"
	"time"

	"atrium/platform/core"
)

// A TestResult is what the sink of a subscription answered to a test.
type TestResult struct {
	EventID   string `json:"eventId"`          // of the test event: its delivery has the same
	Delivered bool   `json:"delivered"`        // whether the sink accepted it
	Status    int32  `json:"status,omitempty"` // HTTP status, or reply code of the mail server; 0 means that there was no answer
	Error     string `json:"error,omitempty"`  // why it was not accepted, or why nothing is known yet
	Answer    string `json:"answer,omitempty"` // start of the answer
}

const (
	// TestPatience is how long a test waits for the answer of the sink. It is longer than an attempt and the
	// time until it begins.
	TestPatience = 20 * time.Second
	// firstLook and lastLook are the pauses between looks at the delivery of a test.
	firstLook, lastLook = 25 * time.Millisecond, 500 * time.Millisecond
)

// Test sends a test event to a subscription, or a sample message if that is for people, and waits for the
// answer of the sink. It needs subscriptions.create.
func (s Subscriptions) Test(ctx context.Context, uid core.UID) (*TestResult, error) {
	event, err := s.recordTest(ctx, uid)
	if err != nil {
		return nil, err
	}
	waiting, stop := context.WithTimeout(ctx, s.area.options.TestPatience)
	defer stop()
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		d, err := s.deliveryOf(ctx, uid, event)
		switch {
		case err != nil:
			return nil, s.rows.Kind.AddArea(err)
		case d != nil && (d.Attempts > 0 || d.Stage == StageEnded):
			return &TestResult{event, d.State == DeliveryDelivered, d.LastStatus, d.LastError, d.LastAnswer}, nil
		}
		select {
		case <-waiting.Done():
			return &TestResult{EventID: event, Error: "no attempt has finished yet; the attempts continue, and the deliveries of the subscription show the result"}, nil
		case <-time.After(pause):
		}
	}
}

// deliveryOf reads the delivery of an event to a subscription, or returns nil if there is none yet. Whoever may test a
// subscription may know the result, so the access of the caller is not checked again.
func (s Subscriptions) deliveryOf(ctx context.Context, subscription core.UID, event string) (*Delivery, error) {
	page, err := s.area.Deliveries.List(core.WithActor(ctx, core.NewOperator("webhooks")), core.ListRequest[*DeliveryFilter]{
		UIDP: core.UIDFilter{ChildrenOf: subscription}, Filter: &DeliveryFilter{Event: event}, PageSize: 1, Parts: core.PartItems,
	})
	if err != nil || len(page.Items) == 0 {
		return nil, err
	}
	return page.Items[0], nil
}

// recordTest records the event of a test and returns its id.
func (s Subscriptions) recordTest(ctx context.Context, uid core.UID) (eventID string, err error) {
	if err := s.authorizeInternal(ctx, uid, "test"); err != nil {
		return "", err
	}
	err = s.area.store.Write(ctx, func(tx core.Tx) error {
		sub, err := s.rows.GetLocked(ctx, tx, uid)
		if err != nil {
			return err
		}
		if !sub.DisableTime.IsZero() {
			return core.FailedPrecondition("SUBSCRIPTION_DISABLED", string(uid), sub.disabledFault())
		}
		e := s.area.Event(ctx, s.rows.Kind.Event, "test", uid, uid.Parent(), sub)
		tx.Record(e)
		eventID = e.ID
		return nil
	})
	return eventID, s.rows.Kind.AddArea(err)
}
