package platform

import (
	"context"
	"fmt"
	"slices"
)

// A Delivery is one event on its way to the sink of one subscription.
type Delivery struct {
	UID             UID           `json:"uid"`
	EventID         string        `json:"eventId"` // the same on every attempt
	EventType       string        `json:"eventType"`
	State           DeliveryState `json:"state"`
	Attempts        int32         `json:"attempts"`
	LastStatus      int32         `json:"lastStatus,omitempty"` // HTTP status of the last answer; 0: there was none
	LastError       string        `json:"lastError,omitempty"`  // why the last attempt failed
	LastAnswer      string        `json:"lastAnswer,omitempty"` // the start of what the sink last answered
	LastAttemptTime Time          `json:"lastAttemptTime,omitzero"`
	NextAttemptTime Time          `json:"nextAttemptTime,omitzero"` // none once it has ended
	CreateTime      Time          `json:"createTime,omitzero"`
	UpdateTime      Time          `json:"updateTime,omitzero"`

	Stage  DeliveryStage `json:"-"`
	Ticket int64         `json:"-"` // the number of the one that is good
}

// A Ticket is the right to attempt a delivery. Only one of a delivery is good:
// when it is handed out anew, to be sent again or because the process that had
// it is gone, it gets the next number. An attempt by an older ticket counts for
// nothing.
type Ticket struct {
	Delivery UID
	Number   int64
}

func (d *Delivery) ticket() Ticket { return Ticket{d.UID, d.Ticket} }

// A DeliveryState is what has become of a delivery.
type DeliveryState string

// The states. What failed is tried no more, unless it is asked for.
const (
	DeliveryPending   DeliveryState = "PENDING"
	DeliveryRetrying  DeliveryState = "RETRYING"
	DeliveryDelivered DeliveryState = "DELIVERED"
	DeliveryFailed    DeliveryState = "FAILED"
)

// Values lists every state.
func (DeliveryState) Values() []DeliveryState {
	return []DeliveryState{DeliveryPending, DeliveryRetrying, DeliveryDelivered, DeliveryFailed}
}

// A DeliveryStage is where a delivery is on its way through the queue. The
// numbers are stored.
type DeliveryStage int32

// The stages. A subscription has few deliveries in the queue that were never
// tried: others are held, so that a sink that hangs fills no queue.
const (
	StageHeld   DeliveryStage = iota // until one before it was tried
	StageReady                       // to be given to the queue
	StageQueued                      // in the queue, for its first attempt
	StageAgain                       // in the queue, for a further one
	StageEnded
)

// DeliveryFilter restricts a list of deliveries.
type DeliveryFilter struct {
	State DeliveryState `json:",omitempty"`
	Event string        `json:",omitempty"` // exactly this event's id
}

func (f DeliveryFilter) check(v *violations) { v.filter("event_id", f.Event) }

var deliveryKind = Kind[Delivery]{
	Name: "Delivery", Plural: "deliveries", Area: "events", Number: 17, Parent: "Subscription",
	List: CapSubscriptionsList, Create: CapSubscriptionsCreate,
	Fields: []Field{
		{"uid", OutputOnly}, {"eventId", OutputOnly}, {"eventType", OutputOnly}, {"state", OutputOnly}, {"attempts", OutputOnly},
		{"lastStatus", OutputOnly}, {"lastError", OutputOnly}, {"lastAnswer", OutputOnly}, {"lastAttemptTime", OutputOnly},
		{"nextAttemptTime", OutputOnly}, {"createTime", OutputOnly}, {"updateTime", OutputOnly},
	},
	Orders: []OrderField[Delivery]{
		{"create_time", createTimeSpellings, func(d *Delivery) any { return d.CreateTime }},
		{"uid", nil, func(d *Delivery) any { return string(d.UID) }},
		{"update_time", updateTimeSpellings, func(d *Delivery) any { return d.UpdateTime }},
		{"last_attempt_time", []string{"lastAttemptTime"}, func(d *Delivery) any { return d.LastAttemptTime }},
		{"next_attempt_time", []string{"nextAttemptTime"}, func(d *Delivery) any { return d.NextAttemptTime }},
		{"event_type", []string{"eventType"}, func(d *Delivery) any { return d.EventType }},
	},
	DefaultOrder: Order{Field: "create_time", Desc: true},
	UID:          func(d *Delivery) UID { return d.UID },
	Group:        func(d *Delivery) UID { return d.UID.Parent().Parent() },
}

// Deliveries are the operations on deliveries. They are kept for a while after
// they have ended (Options.DeliveryRetention).
type Deliveries struct {
	resources[Delivery, DeliveryFilter]
}

// redelivered is what happens to a subscription when one of its deliveries is
// sent again. The event is about the delivery.
const redelivered = "redelivered"

// Redeliver sends events again, whether they had arrived or not, with all the
// attempts of a new delivery, and records that for each. It needs
// subscriptions.create. What is still under way stays as it is.
func (s Deliveries) Redeliver(ctx context.Context, uids []UID) ([]*Delivery, error) {
	again, err := s.redeliver(ctx, uids)
	return again, s.kind.in(err)
}

const maxRedeliveries = 200

func (s Deliveries) redeliver(ctx context.Context, uids []UID) ([]*Delivery, error) {
	if err := s.mayRedeliver(ctx, uids); err != nil {
		return nil, err
	}
	again := make([]*Delivery, len(uids))
	err := s.p.store.Write(ctx, func(tx Tx) error {
		for _, subscription := range subscriptionsOf(uids) { // no attempt is noted meanwhile
			if err := tx.Lock(ctx, subscription); err != nil {
				return err
			}
		}
		found, err := TableOf[Delivery, DeliveryFilter](tx).Get(ctx, Keys{uids: uids})
		if err != nil {
			return err
		}
		for i, uid := range uids {
			n := slices.IndexFunc(found, func(d *Delivery) bool { return d.UID == uid })
			if n < 0 {
				return s.kind.notFound(uid)
			}
			if again[i] = found[n]; again[i].Stage != StageEnded {
				continue
			}
			again[i].restart(s.p.now())
			if err := RowsOf[Delivery](tx).Update(ctx, again[i], deliveryProgress...); err != nil {
				return err
			}
			tx.Record(s.p.event(ctx, subscriptionKind.Event, redelivered, uid, s.kind.Group(again[i]), again[i]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return again, nil
}

// subscriptionsOf lists those that deliveries are of, each once, in order.
func subscriptionsOf(deliveries []UID) []UID {
	subscriptions := make([]UID, len(deliveries))
	for i, uid := range deliveries {
		subscriptions[i] = uid.Parent()
	}
	slices.Sort(subscriptions)
	return slices.Compact(subscriptions)
}

func (s Deliveries) mayRedeliver(ctx context.Context, uids []UID) error {
	if _, err := caller(ctx); err != nil {
		return err
	}
	var v violations
	switch {
	case len(uids) == 0:
		v.add("uids", "is required")
	case len(uids) > maxRedeliveries:
		v.add("uids", "must be at most %d", maxRedeliveries)
	default:
		for i, uid := range uids {
			v.uid(fmt.Sprintf("uids[%d]", i), uid)
		}
	}
	if err := v.err(); err != nil {
		return err
	}
	for _, uid := range uids {
		if _, err := need(ctx, uid, CapSubscriptionsCreate); err != nil {
			return s.p.Subscriptions.refused(ctx, redelivered, uid, err)
		}
	}
	return nil
}

// deliveryProgress are the fields that change on the way.
var deliveryProgress = []string{"state", "stage", "ticket", "attempts", "lastStatus", "lastError", "lastAnswer", "lastAttemptTime", "nextAttemptTime"}

// restart makes d what it was before its first attempt, by the next ticket.
func (d *Delivery) restart(now Time) {
	*d = Delivery{
		UID: d.UID, EventID: d.EventID, EventType: d.EventType, State: DeliveryPending, Stage: StageReady, Ticket: d.Ticket + 1,
		NextAttemptTime: now, CreateTime: d.CreateTime, UpdateTime: now,
	}
}
