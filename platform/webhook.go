package platform

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

// Webhooks are what the program does to bring recorded events to the sinks of
// subscriptions. Nobody asks for it, so nobody's rights are asked for.
//
// A recorded event becomes a delivery for each subscription that wants it
// (Relay). Those go to a queue (Ready, Queued), which calls Begin and End
// around each attempt, and again after the time that End says. What a process
// held that is gone (Replica) or stops is made ready again (GiveBack). What is
// in the database is what counts: the queue may lose everything and be filled
// anew (Revive), and may run an attempt twice.
type Webhooks struct{ p *Platform }

const (
	relayBatch = 500
	// inQueue is how many deliveries of a subscription that were never tried
	// the queue holds at once.
	inQueue = 8
	// lostAfter is how long past its time an attempt must be to count as lost.
	lostAfter = 10 * time.Minute
	// relayLock keeps replicas from relaying at the same time.
	relayLock UID = "relay"
)

// Relay turns the next recorded events into deliveries, in the order of the
// feed, and tells how many events there were.
func (w Webhooks) Relay(ctx context.Context) (events int, err error) {
	var held []UID
	err = w.p.store.Write(ctx, func(tx Tx) error {
		if err := tx.Lock(ctx, relayLock); err != nil {
			return err
		}
		at, err := tx.Relayed(ctx)
		if err != nil {
			return err
		}
		recorded, err := tx.EventsAfter(ctx, nil, at, relayBatch)
		if events = len(recorded); err != nil || events == 0 {
			return err
		}
		deliveries, err := w.addressed(ctx, tx, recorded)
		if err != nil {
			return err
		}
		held = held[:0]
		for _, d := range deliveries {
			if d.Stage == StageHeld && !slices.Contains(held, d.UID.Parent()) {
				held = append(held, d.UID.Parent())
			}
		}
		if err := RowsOf[Delivery](tx).Insert(ctx, deliveries...); err != nil {
			return err
		}
		return tx.SetRelayed(ctx, recorded[events-1].Position)
	})
	for _, subscription := range held {
		if err == nil {
			err = w.release(ctx, subscription)
		}
	}
	return events, err
}

// release makes held deliveries of a subscription ready up to the number that
// the queue takes. Each delivery that ends makes one ready, but those that Relay
// counted may have ended before they could see the held ones.
func (w Webhooks) release(ctx context.Context, subscription UID) error {
	return w.p.store.Write(ctx, func(tx Tx) error {
		if err := tx.Lock(ctx, subscription); err != nil {
			return err
		}
		waiting, err := tx.Waiting(ctx, []UID{subscription})
		for n := waiting[subscription]; err == nil && n < inQueue; n++ {
			err = tx.NextHeld(ctx, subscription)
		}
		return err
	})
}

// addressed makes the deliveries of events.
func (w Webhooks) addressed(ctx context.Context, tx Tx, events []*Event) ([]*Delivery, error) {
	roots := make([]UID, len(events))
	for i, e := range events {
		roots[i] = e.Subject.Root()
	}
	slices.Sort(roots)
	subscriptions, err := tx.ActiveSubscriptions(ctx, slices.Compact(roots))
	if err != nil || len(subscriptions) == 0 {
		return nil, err
	}
	uids := make([]UID, len(subscriptions))
	for i, s := range subscriptions {
		uids[i] = s.UID
	}
	waiting, err := tx.Waiting(ctx, uids)
	if err != nil {
		return nil, err
	}
	now := w.p.now()
	var deliveries []*Delivery
	for _, e := range events {
		for _, s := range subscriptions {
			if !s.wants(e) {
				continue
			}
			stage := StageReady
			if waiting[s.UID]++; waiting[s.UID] > inQueue {
				stage = StageHeld
			}
			deliveries = append(deliveries, &Delivery{
				UID: s.UID.newChild(), EventID: e.ID, EventType: e.Type, State: DeliveryPending, Stage: stage,
				NextAttemptTime: now, CreateTime: now, UpdateTime: now,
			})
		}
	}
	return deliveries, nil
}

// wants reports whether an event goes to a subscription. Times are not looked
// at: clocks differ, and an event too many is better than one too few.
func (s *Subscription) wants(e *Event) bool {
	if e.Type == testEventType {
		return e.Subject == s.UID
	}
	return e.Subject.Within(s.UID.Parent()) && (len(s.Types) == 0 || slices.Contains(s.Types, e.Type))
}

// Ready gives the tickets of deliveries that the queue is to be given.
func (w Webhooks) Ready(ctx context.Context, limit int) ([]Ticket, error) {
	return w.p.store.ReadyDeliveries(ctx, limit)
}

// Queued notes that the queue has these tickets.
func (w Webhooks) Queued(ctx context.Context, tickets []Ticket) error {
	return w.p.store.Write(ctx, func(tx Tx) error { return tx.Queued(ctx, tickets) })
}

// GiveBack makes deliveries ready whose tickets nobody can use any more: the
// process that held them is gone, or stops. They get new ones.
func (w Webhooks) GiveBack(ctx context.Context, tickets ...Ticket) error {
	err := w.p.store.Write(ctx, func(tx Tx) error { return tx.GiveBack(ctx, tickets) })
	if err == nil {
		w.p.store.Wake()
	}
	return err
}

// Revive makes ready again what should have been tried long ago; all that has
// not ended, where the queue is known to hold nothing.
func (w Webhooks) Revive(ctx context.Context, all bool) error {
	due := At(w.p.now().Add(-lostAfter))
	if all {
		due = At(w.p.now().Add(2 * longestPause)) // no attempt is put off for longer
	}
	return w.p.store.Write(ctx, func(tx Tx) error { return tx.Revive(ctx, due) })
}

// A Dispatch is all that one attempt of a delivery needs.
type Dispatch struct {
	Delivery *Delivery
	Event    *Event
	Sink     string
	Secrets  []string // each signs, the newest first
	Fault    string   // why nothing can be sent, as the subscriber is told; "" where it can
	Cause    error    // of a fault that is the operator's to mend; nil otherwise
}

// Begin gives what an attempt by a ticket needs; nil where nothing is to be
// sent by it any more.
func (w Webhooks) Begin(ctx context.Context, ticket Ticket) (*Dispatch, error) {
	found, err := TableOf[Delivery, DeliveryFilter](w.p.store).Get(ctx, Keys{uids: []UID{ticket.Delivery}})
	if err != nil || len(found) == 0 || found[0].Stage == StageEnded || found[0].ticket() != ticket {
		return nil, err
	}
	subscriptions, err := TableOf[Subscription, SubscriptionFilter](w.p.store).Get(ctx, Keys{uids: []UID{ticket.Delivery.Parent()}})
	if err != nil || len(subscriptions) == 0 {
		return nil, err
	}
	d, s := found[0], subscriptions[0]
	event, err := w.p.store.Event(ctx, d.EventID)
	if err != nil {
		return nil, err
	}
	if event == nil {
		return nil, w.giveUp(ctx, d, "the event is kept no more")
	}
	if !s.DisableTime.IsZero() {
		return nil, w.giveUp(ctx, d, "the subscription is disabled: "+s.DisableReason)
	}
	secrets, err := s.secrets(w.p)
	dispatch := &Dispatch{Delivery: d, Event: event, Sink: s.Sink, Secrets: secrets, Fault: s.sinkFault(&w.p.options)}
	if err != nil {
		dispatch.Fault, dispatch.Cause = "the service cannot read the secret of the subscription", err
	}
	return dispatch, nil
}

// sinkFault is why nothing may be sent to a sink that was accepted once: the
// operator allowed it then, or the rules were others.
func (s *Subscription) sinkFault(o *Options) string {
	var v violations
	if v.sink(s.Sink, o); len(v) == 0 {
		return ""
	}
	return "the sink is not permitted here any more: it " + v[0].Description
}

func (w Webhooks) giveUp(ctx context.Context, begun *Delivery, reason string) error {
	return w.p.store.Write(ctx, func(tx Tx) error {
		d, mine, err := w.held(ctx, tx, begun)
		if err != nil || !mine {
			return err
		}
		d.end(DeliveryFailed, w.p.now())
		d.LastError = reason
		if err := RowsOf[Delivery](tx).Update(ctx, d, deliveryProgress...); err != nil {
			return err
		}
		return tx.NextHeld(ctx, d.UID.Parent())
	})
}

// held reads a delivery again, in a transaction that no other on one of its
// subscription runs beside. mine tells whether nothing has become of it since
// it was begun: a process that was slow may be late, and another may have
// noted an attempt meanwhile. d is nil where it is gone.
func (w Webhooks) held(ctx context.Context, tx Tx, begun *Delivery) (d *Delivery, mine bool, err error) {
	if err := tx.Lock(ctx, begun.UID.Parent()); err != nil { // its subscription counts failures
		return nil, false, err
	}
	found, err := TableOf[Delivery, DeliveryFilter](tx).Get(ctx, Keys{uids: []UID{begun.UID}})
	if err != nil || len(found) == 0 {
		return nil, false, err
	}
	d = found[0]
	return d, d.Stage != StageEnded && d.Ticket == begun.Ticket && d.Attempts == begun.Attempts, nil
}

// End notes how an attempt went. Where its ticket is to be used again, wait
// says when.
func (w Webhooks) End(ctx context.Context, begun *Dispatch, a Attempt) (wait time.Duration, again bool, err error) {
	var became *Delivery
	err = w.p.store.Write(ctx, func(tx Tx) error {
		now := w.p.now()
		d, err := w.end(ctx, tx, begun.Delivery, a, now)
		if again = d != nil && d.Stage == StageAgain && d.Ticket == begun.Delivery.Ticket; again {
			wait = d.NextAttemptTime.Sub(now.Time)
		}
		became = d
		return err
	})
	if err == nil && became != nil && begun.Event != nil {
		w.p.options.Observer.DeliveryTried(became.State, w.p.now().Sub(begun.Event.Time.Time))
	}
	return wait, again, err
}

// end notes an attempt and gives what has become of the delivery.
func (w Webhooks) end(ctx context.Context, tx Tx, begun *Delivery, a Attempt, now Time) (*Delivery, error) {
	d, mine, err := w.held(ctx, tx, begun)
	if err != nil || !mine {
		return d, err
	}
	subscriptions, err := TableOf[Subscription, SubscriptionFilter](tx).Get(ctx, Keys{uids: []UID{d.UID.Parent()}})
	if err != nil || len(subscriptions) == 0 {
		return nil, err
	}
	s := subscriptions[0]
	d.tried(a, now, rand.Float64(), w.p.options.DeliveryTimeScale) //nolint:gosec // jitter is no secret
	if err := RowsOf[Delivery](tx).Update(ctx, d, deliveryProgress...); err != nil {
		return nil, err
	}
	if err := tx.NextHeld(ctx, s.UID); err != nil {
		return nil, err
	}
	if s.tried(a, now) {
		return d, w.noteHealth(ctx, tx, s)
	}
	return d, nil
}

// noteHealth stores whether the sink of a subscription works. One that is
// given up gets nothing of what is under way, and its group hears of it.
func (w Webhooks) noteHealth(ctx context.Context, tx Tx, s *Subscription) error {
	disabled := !s.DisableTime.IsZero()
	if disabled {
		if err := tx.FailDeliveries(ctx, s.UID, "the subscription is disabled: "+s.DisableReason, w.p.now()); err != nil {
			return err
		}
	}
	if err := RowsOf[Subscription](tx).Update(ctx, s, "failingSince", "disableTime", "disableReason"); err != nil {
		return err
	}
	if disabled {
		ctx = WithActor(ctx, Operator("webhooks"))
		tx.Record(w.p.event(ctx, subscriptionKind.Event, "disabled", s.UID, s.UID.Parent(), s))
	}
	return nil
}

// Keys are the keys that sign deliveries, PKCS #8; the newest is the last.
func (w Webhooks) Keys(ctx context.Context) ([]Key, error) {
	return w.p.ensureKeys(ctx, webhookKeys, newSigningKey)
}
