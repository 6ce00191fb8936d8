package platform

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// Webhooks are the operations that deliver recorded events to the sinks of
// subscriptions. They run in the background and check no capabilities.
//
// Relay makes a delivery of each recorded event for each matching subscription.
// The deliveries are added to a queue (ListReady, MarkQueued). The queue calls
// BeginAttempt and EndAttempt around each attempt, and tries again after the delay
// that EndAttempt returns. Requeue makes the deliveries ready again that a stopped
// process held (Replica). The database is the source of truth: the queue may lose
// everything and be refilled (RequeueLost), and may run an attempt twice.
type Webhooks struct{ p *Platform }

const (
	relayBatch = 500
	// maxRelayed is the number of deliveries after which a call of Relay leaves the other
	// events to the next call. The deliveries of one event are always made together.
	maxRelayed = 5000
	// maxQueued limits the deliveries of a subscription in the queue that were
	// never attempted.
	maxQueued = 8
	// lostAfter is the time after which an overdue attempt counts as lost.
	lostAfter = 10 * time.Minute
	// changeLimit limits the deliveries that one transaction requeues or fails.
	changeLimit = 5000
	// relayLock serialises the relays of replicas.
	relayLock UID = "relay"
)

// Relay makes deliveries of the next recorded events, in the order of the feed,
// and returns the number of events. It may leave some to the next call, because an
// organisation can have many subscriptions and a transaction must be short.
func (w Webhooks) Relay(ctx context.Context) (events int, err error) {
	var held []UID
	var from, upTo EventPosition
	err = w.p.store.Write(ctx, func(tx Tx) error {
		if err := tx.Lock(ctx, relayLock); err != nil {
			return err
		}
		var err error
		if from, err = tx.RelayPosition(ctx); err != nil {
			return err
		}
		upTo = from
		recorded, err := tx.EventsAfter(ctx, nil, from, relayBatch)
		if events = len(recorded); err != nil || events == 0 {
			return err
		}
		var deliveries []*Delivery
		if deliveries, events, err = w.newDeliveries(ctx, tx, recorded); err != nil {
			return err
		}
		held = held[:0]
		for _, d := range deliveries {
			if d.Stage == StageHeld && !slices.Contains(held, d.UID.Parent()) {
				held = append(held, d.UID.Parent())
			}
		}
		if err := RowsOf[*Delivery](tx).Insert(ctx, deliveries...); err != nil {
			return err
		}
		upTo = recorded[events-1].Position
		return tx.SetRelayPosition(ctx, upTo)
	})
	if err == nil {
		w.p.relayed.advance(from, upTo, w.p.options.Logger)
	}
	for _, subscription := range held {
		if err == nil {
			err = w.releaseHeld(ctx, subscription)
		}
	}
	return events, err
}

// A Backlog says how late the delivery of events is. A duration is 0 if nothing waits.
type Backlog struct {
	// Event is the age of the first recorded event that has not been relayed. It grows
	// while no process relays, and while a running transaction holds up the feed.
	Event time.Duration
	// Delivery is the time since the first delivery was due that has not been
	// attempted since. Held deliveries wait for older ones of their subscription, which
	// are due too.
	Delivery time.Duration
}

// Backlog reads the backlog of all processes.
func (w Webhooks) Backlog(ctx context.Context) (Backlog, error) {
	event, delivery, err := w.p.store.OldestWaiting(ctx)
	if err != nil {
		return Backlog{}, err
	}
	now := w.p.now()
	waited := func(since Time) time.Duration {
		if since.IsZero() {
			return 0
		}
		return max(now.Sub(since.Time), 0) // clocks differ, and a delivery may be due later
	}
	return Backlog{waited(event), waited(delivery)}, nil
}

// releaseHeld moves held deliveries of a subscription to StageReady, up to
// maxQueued. Each delivery that ends releases one, but the deliveries that Relay
// counted may have ended before the held ones were stored.
func (w Webhooks) releaseHeld(ctx context.Context, subscription UID) error {
	return w.p.store.Write(ctx, func(tx Tx) error {
		if err := tx.Lock(ctx, subscription); err != nil {
			return err
		}
		waiting, err := tx.CountWaiting(ctx, []UID{subscription})
		for n := waiting[subscription]; err == nil && n < maxQueued; n++ {
			err = tx.ReleaseNextHeld(ctx, subscription)
		}
		return err
	})
}

// newDeliveries makes the deliveries of the first events, up to maxRelayed and those of one
// more event. It returns the number of these events.
func (w Webhooks) newDeliveries(ctx context.Context, tx Tx, events []*Event) (deliveries []*Delivery, done int, err error) {
	roots := make([]UID, len(events))
	for i, e := range events {
		roots[i] = e.Subject.Root()
	}
	slices.Sort(roots)
	subscriptions, err := tx.ActiveSubscriptions(ctx, slices.Compact(roots))
	if err != nil || len(subscriptions) == 0 {
		return nil, len(events), err
	}
	uids := make([]UID, len(subscriptions))
	for i, s := range subscriptions {
		uids[i] = s.UID
	}
	waiting, err := tx.CountWaiting(ctx, uids)
	if err != nil {
		return nil, 0, err
	}
	now := w.p.now()
	for _, e := range events {
		if len(deliveries) >= maxRelayed {
			break
		}
		done++
		for _, s := range subscriptions {
			if !s.wants(e) {
				continue
			}
			stage := StageReady
			if waiting[s.UID]++; waiting[s.UID] > maxQueued {
				stage = StageHeld
			}
			deliveries = append(deliveries, &Delivery{
				UID: s.UID.newChild(), EventID: e.ID, EventType: e.Type, State: DeliveryPending, Stage: stage,
				NextAttemptTime: now, CreateTime: now, UpdateTime: now,
			})
		}
	}
	return deliveries, done, nil
}

// wants reports whether an event is sent to a subscription. It does not compare
// times: clocks differ, and an extra event is better than a missing one.
func (s *Subscription) wants(e *Event) bool {
	if e.Type == testEventType {
		return e.Subject == s.UID
	}
	return e.Subject.Within(s.UID.Parent()) && (len(s.Types) == 0 || slices.Contains(s.Types, e.Type))
}

// ListReady returns the tickets of deliveries that can be added to the queue.
func (w Webhooks) ListReady(ctx context.Context, limit int) ([]Ticket, error) {
	return w.p.store.ReadyDeliveries(ctx, limit)
}

// MarkQueued records that the queue has these tickets.
func (w Webhooks) MarkQueued(ctx context.Context, tickets []Ticket) error {
	return w.p.store.Write(ctx, func(tx Tx) error {
		if err := lockSubscriptions(ctx, tx, subscriptionsOf(tickets)); err != nil {
			return err
		}
		return tx.MarkQueued(ctx, tickets)
	})
}

// Requeue makes deliveries ready again, with new tickets, whose process is gone or
// stops.
func (w Webhooks) Requeue(ctx context.Context, tickets ...Ticket) error {
	err := w.p.store.Write(ctx, func(tx Tx) error {
		if err := lockSubscriptions(ctx, tx, subscriptionsOf(tickets)); err != nil {
			return err
		}
		return tx.Requeue(ctx, tickets)
	})
	if err == nil {
		w.p.store.Wake()
	}
	return err
}

// RequeueLost makes deliveries ready again whose attempt is long overdue. If all is
// set, it does so for all deliveries that have not ended; this is for a queue that
// is known to be empty. It also fails the deliveries that are left of disabled
// subscriptions.
func (w Webhooks) RequeueLost(ctx context.Context, all bool) error {
	due := At(w.p.now().Add(-lostAfter))
	if all {
		due = At(w.p.now().Add(2 * maxRetryAfter)) // no attempt is delayed for longer
	}
	if err := w.requeueOverdue(ctx, due); err != nil {
		return err
	}
	for released := changeLimit; released == changeLimit; {
		err := w.p.store.Write(ctx, func(tx Tx) (err error) {
			released, err = tx.ReleaseIdle(ctx, changeLimit)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := w.failDisabled(ctx); err != nil { // which others need not wait for
		w.p.options.Logger.Warn("disabled subscriptions still have pending deliveries, which will be failed later", "error", err)
	}
	return nil
}

// requeueOverdue makes deliveries ready again that are overdue since a time. There can be
// hundreds of thousands, which takes several transactions. It looks at each of them only once,
// because other processes may queue them again meanwhile.
func (w Webhooks) requeueOverdue(ctx context.Context, due Time) error {
	var after OverdueDelivery
	for {
		var overdue []OverdueDelivery
		err := w.p.store.Write(ctx, func(tx Tx) (err error) {
			if overdue, err = tx.OverdueDeliveries(ctx, due, after, changeLimit); err != nil || len(overdue) == 0 {
				return err
			}
			uids := make([]UID, len(overdue))
			for i, d := range overdue {
				uids[i] = d.UID
			}
			if err := lockSubscriptions(ctx, tx, parentsOf(uids)); err != nil {
				return err
			}
			return tx.RequeueLost(ctx, due, uids)
		})
		if err != nil || len(overdue) < changeLimit {
			return err
		}
		after = overdue[len(overdue)-1]
	}
}

// lockSubscriptions locks subscriptions, as attempts do. So none of their deliveries ends
// until the transaction does. A delivery that ends moves to another partition, and a
// database rejects statements that wait for its row.
func lockSubscriptions(ctx context.Context, tx Tx, subscriptions []UID) error {
	slices.Sort(subscriptions) // all in the same order, so that nobody waits in a circle
	for _, subscription := range slices.Compact(subscriptions) {
		if err := tx.Lock(ctx, subscription); err != nil {
			return err
		}
	}
	return nil
}

func subscriptionsOf(tickets []Ticket) []UID {
	subscriptions := make([]UID, len(tickets))
	for i, t := range tickets {
		subscriptions[i] = t.Delivery.Parent()
	}
	return subscriptions
}

// A Dispatch holds the data for one attempt of a delivery.
type Dispatch struct {
	Delivery *Delivery
	Event    *Event
	Sink     string
	Secrets  []string // all secrets that sign, the newest first
	Fault    string   // reason why nothing can be sent, for the subscriber; "" if it can be sent
	Cause    error    // cause of a fault that the operator must fix, or nil
}

// BeginAttempt returns the data for an attempt with a ticket, or nil if nothing
// must be sent with it any more.
func (w Webhooks) BeginAttempt(ctx context.Context, ticket Ticket) (*Dispatch, error) {
	found, err := TableOf[*Delivery, *DeliveryFilter](w.p.store).Get(ctx, Keys{uids: []UID{ticket.Delivery}})
	if err != nil || len(found) == 0 || found[0].Stage == StageEnded || found[0].ticket() != ticket {
		return nil, err
	}
	subscriptions, err := TableOf[*Subscription, *SubscriptionFilter](w.p.store).Get(ctx, Keys{uids: []UID{ticket.Delivery.Parent()}})
	if err != nil || len(subscriptions) == 0 {
		return nil, err
	}
	d, s := found[0], subscriptions[0]
	event, err := w.p.store.Event(ctx, d.EventID)
	if err != nil {
		return nil, err
	}
	if event == nil {
		return nil, w.failDelivery(ctx, d, "the event has been deleted")
	}
	if !s.DisableTime.IsZero() {
		return nil, w.failDelivery(ctx, d, s.disabledFault())
	}
	secrets, err := w.p.decryptSecrets(s)
	if err != nil {
		// The delivery waits for a server that has the new key. The sink has not failed.
		if changed := w.p.checkEncryption(ctx, w.p.store); changed != nil {
			return nil, changed
		}
	}
	dispatch := &Dispatch{Delivery: d, Event: event, Sink: s.Sink, Secrets: secrets, Fault: s.sinkFault(&w.p.options)}
	if err != nil {
		dispatch.Fault, dispatch.Cause = "the service cannot read the secret of the subscription", err
	}
	return dispatch, nil
}

// sinkFault returns why a sink is no longer permitted, or "". The rules can have
// changed since the subscription was made.
func (s *Subscription) sinkFault(o *Options) string {
	var v violations
	if v.checkSink(s.Sink, o); len(v) == 0 {
		return ""
	}
	return "the sink is no longer permitted: it " + v[0].Description
}

// failDelivery ends a delivery as failed.
func (w Webhooks) failDelivery(ctx context.Context, begun *Delivery, reason string) error {
	return w.p.store.Write(ctx, func(tx Tx) error {
		d, mine, err := w.getBegun(ctx, tx, begun)
		if err != nil || !mine {
			return err
		}
		d.finish(DeliveryFailed, w.p.now())
		d.LastError = reason
		if err := RowsOf[*Delivery](tx).Update(ctx, d, deliveryProgress...); err != nil || d.Attempts > 0 {
			return err
		}
		return tx.ReleaseNextHeld(ctx, d.UID.Parent())
	})
}

// getBegun locks the subscription and reads a delivery again. mine reports
// whether the delivery is unchanged since the attempt began: if this process was
// slow, another one may have recorded an attempt. d is nil if the delivery does not
// exist any more.
func (w Webhooks) getBegun(ctx context.Context, tx Tx, begun *Delivery) (d *Delivery, mine bool, err error) {
	if err := tx.Lock(ctx, begun.UID.Parent()); err != nil { // attempts also update the subscription
		return nil, false, err
	}
	found, err := TableOf[*Delivery, *DeliveryFilter](tx).Get(ctx, Keys{uids: []UID{begun.UID}})
	if err != nil || len(found) == 0 {
		return nil, false, err
	}
	d = found[0]
	return d, d.Stage != StageEnded && d.Ticket == begun.Ticket && d.Attempts == begun.Attempts, nil
}

// EndAttempt records the result of an attempt. again reports whether the queue
// must try again with the same ticket after wait.
func (w Webhooks) EndAttempt(ctx context.Context, begun *Dispatch, a Attempt) (wait time.Duration, again bool, err error) {
	var became *Delivery
	var more bool
	err = w.p.store.Write(ctx, func(tx Tx) error {
		now := w.p.now()
		var d *Delivery
		var err error
		d, more, err = w.recordAttempt(ctx, tx, begun.Delivery, a, now)
		if again = d != nil && d.Stage == StageRetryQueued && d.Ticket == begun.Delivery.Ticket; again {
			wait = d.NextAttemptTime.Sub(now.Time)
		}
		became = d
		return err
	})
	if err == nil && became != nil && begun.Event != nil {
		w.p.options.Observer.DeliveryTried(became.State, w.p.now().Sub(begun.Event.Time.Time))
	}
	if err == nil && more {
		if failed := w.failPending(ctx, begun.Delivery.UID.Parent()); failed != nil {
			w.p.options.Logger.Warn("a disabled subscription still has pending deliveries, which will be failed later", "error", failed)
		}
	}
	return wait, again, err
}

// recordAttempt records an attempt and returns the resulting delivery. more reports whether
// the attempt has disabled the subscription, and more of its deliveries must be failed.
func (w Webhooks) recordAttempt(ctx context.Context, tx Tx, begun *Delivery, a Attempt, now Time) (d *Delivery, more bool, err error) {
	d, mine, err := w.getBegun(ctx, tx, begun)
	if err != nil || !mine {
		return d, false, err
	}
	subscriptions, err := TableOf[*Subscription, *SubscriptionFilter](tx).Get(ctx, Keys{uids: []UID{d.UID.Parent()}})
	if err != nil || len(subscriptions) == 0 {
		return nil, false, err
	}
	s := subscriptions[0]
	d.recordAttempt(a, now, rand.Float64(), w.p.options.DeliveryTimeScale) //nolint:gosec // jitter is no secret
	if err := RowsOf[*Delivery](tx).Update(ctx, d, deliveryProgress...); err != nil {
		return nil, false, err
	}
	if d.Attempts == 1 { // it was one of those that were never attempted; a further attempt makes no room
		if err := tx.ReleaseNextHeld(ctx, s.UID); err != nil {
			return nil, false, err
		}
	}
	if s.recordAttempt(a, now) {
		more, err = w.updateHealth(ctx, tx, s)
	}
	return d, more, err
}

// updateHealth stores the health of the sink of a subscription. If the subscription is
// disabled, it fails pending deliveries and records an event. more reports whether there
// can be more pending ones, which other transactions must fail.
func (w Webhooks) updateHealth(ctx context.Context, tx Tx, s *Subscription) (more bool, err error) {
	if err := RowsOf[*Subscription](tx).Update(ctx, s, "failingSince", "disableTime", "disableReason"); err != nil {
		return false, err
	}
	if s.DisableTime.IsZero() {
		return false, nil
	}
	if more, err = w.failSome(ctx, tx, s); err != nil {
		return false, err
	}
	ctx = WithActor(ctx, NewOperator("webhooks"))
	tx.Record(w.p.event(ctx, subscriptionKind.Event, "disabled", s.UID, s.UID.Parent(), s))
	return more, nil
}

// disabledFault returns the reason why the deliveries of a disabled subscription fail.
func (s *Subscription) disabledFault() string {
	return "the subscription is disabled: " + s.DisableReason
}

// failSome fails some pending deliveries of a disabled subscription, and reports whether
// there can be more.
func (w Webhooks) failSome(ctx context.Context, tx Tx, s *Subscription) (more bool, err error) {
	n, err := tx.FailDeliveries(ctx, s.UID, s.disabledFault(), w.p.now(), changeLimit)
	return n == changeLimit, err
}

// failPending fails all pending deliveries of a subscription, while it is disabled. There can
// be hundreds of thousands, which takes several transactions.
func (w Webhooks) failPending(ctx context.Context, subscription UID) error {
	for more := true; more; {
		err := w.p.store.Write(ctx, func(tx Tx) error {
			more = false
			if err := tx.Lock(ctx, subscription); err != nil {
				return err
			}
			found, err := TableOf[*Subscription, *SubscriptionFilter](tx).Get(ctx, Keys{uids: []UID{subscription}})
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

// failDisabled fails what is left of disabled subscriptions.
func (w Webhooks) failDisabled(ctx context.Context) error {
	var disabled []UID
	err := w.p.store.Write(ctx, func(tx Tx) (err error) {
		disabled, err = tx.DisabledWithPending(ctx)
		return err
	})
	for _, subscription := range disabled {
		if err == nil {
			err = w.failPending(ctx, subscription)
		}
	}
	return err
}

// Keys returns the keys that sign deliveries, in PKCS #8. The last is the newest.
func (w Webhooks) Keys(ctx context.Context) ([]Key, error) {
	return w.p.ensureKeys(ctx, webhookKeys, newSigningKey)
}
