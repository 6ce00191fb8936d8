package webhooks

import (
	"context"
	"errors"
	"math/rand/v2"

	"atrium/platform/core"
)

// A Dispatch holds the data for one attempt of a delivery.
type Dispatch struct {
	Delivery *Delivery
	Since    core.Time   // since when the delivery was due at first
	Event    *core.Event // the first one of a message
	Message  *Message    // nil if the event itself is sent
	Format   Format
	Sink     string
	Secrets  []string // all secrets that sign, the newest first
	Fault    string   // reason why nothing can be sent, for the subscriber; "" if it can be sent
	Cause    error    // cause of a fault that the operator must fix, or nil
}

// BeginAttempt returns the data for an attempt with a ticket, or nil if nothing
// must be sent with it any more.
func (w Webhooks) BeginAttempt(ctx context.Context, ticket Ticket) (*Dispatch, error) {
	found, err := w.area.tables.Deliveries.Get(ctx, w.area.store, core.Keys{UIDs: []core.UID{ticket.Delivery}})
	if err != nil || len(found) == 0 || found[0].Stage == StageEnded || found[0].ticket() != ticket {
		return nil, err
	}
	subscriptions, err := w.area.tables.Subscriptions.Get(ctx, w.area.store, core.Keys{UIDs: []core.UID{ticket.Delivery.Parent()}})
	if err != nil || len(subscriptions) == 0 {
		return nil, err
	}
	d, s := found[0], subscriptions[0]
	if !s.DisableTime.IsZero() { // a process has ended before it failed all of them
		return nil, w.failPending(ctx, s.UID)
	}
	if s.isForPeople() {
		return w.beginMessage(ctx, s, d)
	}
	event, err := w.area.Events.Store.Event(ctx, d.EventID)
	if err != nil {
		return nil, err
	}
	if event == nil {
		return nil, w.failDelivery(ctx, d, "the event has been deleted")
	}
	secrets, err := w.area.decryptSecrets(s)
	if err != nil {
		// The delivery waits for a server that has the new key. The sink has not failed.
		if changed := w.area.secrets.CheckEncryption(ctx, w.area.store); changed != nil {
			return nil, changed
		}
	}
	dispatch := &Dispatch{Delivery: d, Since: event.Time, Event: event, Format: s.Format, Sink: s.Sink, Secrets: secrets, Fault: s.sinkFault(&w.area.options)}
	if err != nil {
		dispatch.Fault, dispatch.Cause = "the service cannot read the secret of the subscription", err
	}
	return dispatch, nil
}

// beginMessage returns the data for an attempt to deliver a message.
func (w Webhooks) beginMessage(ctx context.Context, s *Subscription, d *Delivery) (*Dispatch, error) {
	message, err := w.area.composeMessage(ctx, s, d)
	switch {
	case err != nil:
		return nil, err
	case message == nil:
		return nil, w.failDelivery(ctx, d, "the events have been deleted")
	}
	since := message.Event.Time
	if d.Events > 0 {
		since = s.digestEnd(d.CreateTime, &w.area.options)
	}
	return &Dispatch{Delivery: d, Since: since, Event: message.Event, Message: message, Format: s.Format, Sink: s.Sink, Fault: s.sinkFault(&w.area.options)}, nil
}

// failDelivery ends a delivery as failed.
func (w Webhooks) failDelivery(ctx context.Context, begun *Delivery, reason string) error {
	return w.area.store.Write(ctx, func(tx core.Tx) error {
		d, mine, err := w.getBegun(ctx, tx, begun)
		if err != nil || !mine {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		d.finish(DeliveryFailed, now)
		d.LastError = reason
		return w.area.tables.Deliveries.Update(ctx, tx, d, deliveryProgress...)
	})
}

// getBegun locks the subscription and a delivery, and reads it again. mine reports
// whether the delivery is unchanged since the attempt began: if this process was
// slow, another one may have claimed it, or may have recorded an attempt. d is nil if the
// delivery does not exist any more.
func (w Webhooks) getBegun(ctx context.Context, tx core.Tx, begun *Delivery) (d *Delivery, mine bool, err error) {
	tx.Lock(begun.UID.Parent()) // attempts also update the subscription
	d, err = w.area.tables.Deliveries.GetForUpdate(ctx, tx, begun.UID)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	}
	return d, d.Stage != StageEnded && d.ticket() == begun.ticket() && d.Attempts == begun.Attempts, nil
}

// EndAttempt records the result of an attempt, unless another process has claimed the
// delivery meanwhile. again reports whether a further attempt of the delivery is planned.
func (w Webhooks) EndAttempt(ctx context.Context, begun *Dispatch, a Attempt) (again bool, err error) {
	var became *Delivery
	var health *Subscription
	var more bool
	err = w.area.store.Write(ctx, func(tx core.Tx) (err error) {
		became, health, more, err = w.storeAttempt(ctx, tx, begun.Delivery, a)
		return err
	})
	if err == nil && became != nil && !begun.Since.IsZero() {
		w.area.options.Observer.DeliveryTried(begun.Sink, became.State, w.area.Now().Sub(begun.Since.Time))
	}
	if err == nil && health != nil {
		w.logHealth(health, a)
	}
	if err == nil && more {
		if failed := w.failPending(ctx, begun.Delivery.UID.Parent()); failed != nil {
			w.area.Logger.Warn("a disabled subscription still has pending deliveries, which will be marked as failed later", "error", failed)
		}
	}
	return err == nil && became != nil && became.Stage == StageQueued, err
}

// logHealth logs that the sink of a subscription has begun to fail, works again, or gets no more events.
func (w Webhooks) logHealth(s *Subscription, a Attempt) {
	logger := w.area.Logger.With("subscription", s.UID, "host", SinkHost(s.Sink))
	switch {
	case !s.DisableTime.IsZero():
		logger.Warn("a subscription was disabled and gets no more events; enable it when its sink works", "error", s.DisableReason)
	case s.FailingSince.IsZero():
		logger.Info("a sink works again")
	default:
		logger.Warn("a sink fails; its deliveries are retried for days, and then the subscription is disabled", "error", a.failure())
	}
}

// storeAttempt records an attempt and returns the resulting delivery, and the subscription if its health has
// changed. more reports whether the attempt has disabled the subscription, and more of its deliveries must be failed.
func (w Webhooks) storeAttempt(ctx context.Context, tx core.Tx, begun *Delivery, a Attempt) (d *Delivery, health *Subscription, more bool, err error) {
	d, mine, err := w.getBegun(ctx, tx, begun)
	if err != nil || !mine {
		return d, nil, false, err
	}
	subscriptions, err := w.area.tables.Subscriptions.Get(ctx, tx, core.Keys{UIDs: []core.UID{d.UID.Parent()}})
	if err != nil || len(subscriptions) == 0 {
		return nil, nil, false, err
	}
	s := subscriptions[0]
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	d.recordAttempt(a, now, rand.Float64(), w.area.options.DeliveryTimeScale) //nolint:gosec // jitter is no secret
	if err := w.area.tables.Deliveries.Update(ctx, tx, d, deliveryProgress...); err != nil {
		return nil, nil, false, err
	}
	if s.recordAttempt(a, now) {
		health = s
		more, err = w.updateHealth(ctx, tx, s)
	}
	return d, health, more, err
}

// updateHealth stores the health of the sink of a subscription. If the subscription is
// disabled, it fails pending deliveries and records an event. more reports whether there
// can be more pending ones, which other transactions must fail.
func (w Webhooks) updateHealth(ctx context.Context, tx core.Tx, s *Subscription) (more bool, err error) {
	if err := w.area.tables.Subscriptions.Update(ctx, tx, s, "failingSince", "disableTime", "disableReason"); err != nil {
		return false, err
	}
	if s.DisableTime.IsZero() {
		return false, nil
	}
	if more, err = w.failSome(ctx, tx, s); err != nil {
		return false, err
	}
	ctx = core.WithActor(ctx, core.NewOperator("webhooks"))
	tx.Record(w.area.Event(ctx, SubscriptionKind.Event, "disabled", s.UID, s.UID.Parent(), disabledSubscription{s, s.DisableTime, s.DisableReason}))
	return more, nil
}

// A disabledSubscription is the body of the event of a subscription that was disabled. Responses of REST do not have its own fields.
type disabledSubscription struct {
	*Subscription

	DisableTime   core.Time `json:"disableTime"`
	DisableReason string    `json:"disableReason"`
}

// failSome fails some pending deliveries of a disabled subscription, and reports whether
// there can be more.
func (w Webhooks) failSome(ctx context.Context, tx core.Tx, s *Subscription) (more bool, err error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return false, err
	}
	n, err := w.area.tables.FailDeliveries(ctx, tx, s.UID, s.disabledFault(), now, changeLimit)
	return n == changeLimit, err
}

// failPending fails all pending deliveries of a subscription, while it is disabled. There can
// be hundreds of thousands, which takes several transactions.
func (w Webhooks) failPending(ctx context.Context, subscription core.UID) error {
	for more := true; more; {
		err := w.area.store.Write(ctx, func(tx core.Tx) error {
			more = false
			tx.Lock(subscription)
			found, err := w.area.tables.Subscriptions.Get(ctx, tx, core.Keys{UIDs: []core.UID{subscription}})
			if err == nil && len(found) == 1 {
				more, err = w.failSome(ctx, tx, found[0])
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
