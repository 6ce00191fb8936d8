package platform

import (
	"context"
	"fmt"
	"slices"

	"atrium/platform/fieldmask"
)

// A Delivery sends one event to the sink of one subscription.
type Delivery struct {
	UID             UID           `json:"uid"`
	EventID         string        `json:"eventId"` // id of the event, which is the same on every attempt
	EventType       string        `json:"eventType"`
	State           DeliveryState `json:"state"`
	Attempts        int32         `json:"attempts"`
	LastStatus      int32         `json:"lastStatus,omitempty"` // HTTP status of the last response; 0 means none
	LastError       string        `json:"lastError,omitempty"`  // reason why the last attempt failed
	LastAnswer      string        `json:"lastAnswer,omitempty"` // start of the last response body
	LastAttemptTime Time          `json:"lastAttemptTime,omitzero"`
	NextAttemptTime Time          `json:"nextAttemptTime,omitzero"` // zero once the delivery has ended
	CreateTime      Time          `json:"createTime,omitzero"`
	UpdateTime      Time          `json:"updateTime,omitzero"`

	Stage  DeliveryStage `json:"-"`
	Ticket int64         `json:"-"` // number of the valid ticket
	Lease  Time          `json:"-"` // time until which a process holds the delivery; zero if none does
}

// A Ticket is the right to attempt a delivery, which a process gets when it claims the
// delivery. Each claim, and each redelivery, has the next number, and only the newest
// ticket is valid: if the lease of a process has ended and another one has claimed the
// delivery, the result of the first is ignored.
type Ticket struct {
	Delivery UID
	Number   int64
}

func (d *Delivery) ticket() Ticket { return Ticket{d.UID, d.Ticket} }

// A DeliveryState is the state of a delivery as clients see it.
type DeliveryState string

// The states. A failed delivery is not attempted again unless a caller redelivers
// it.
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

// A DeliveryStage says whether a delivery is in the queue. The numbers are stored.
type DeliveryStage int32

// The stages.
const (
	StageQueued DeliveryStage = 1 // the delivery has a time at which its next attempt is due
	StageEnded  DeliveryStage = 4
)

// DeliveryFilter restricts a list of deliveries.
type DeliveryFilter struct {
	ChangeFilter

	State DeliveryState `json:",omitempty"`
	Event string        `json:",omitempty"` // exact event id
}

func (f *DeliveryFilter) check(v *violations) { v.checkFilter("event_id", f.Event) }

var deliveryKind = Kind[*Delivery]{
	Name: "Delivery", Plural: "deliveries", Area: areaEvents, Number: 17, GraphOnly: true,
	OtherEvents: []EventKind{{"events.subscription", []string{verbRedelivered}, areaEvents + ".Delivery", "Delivery"}},
	Parent:      Ref{"Subscription", areaEvents},
	List:        CapSubscriptionsList, Create: CapSubscriptionsCreate,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "eventId", Mode: fieldmask.OutputOnly},
		{Name: "eventType", Mode: fieldmask.OutputOnly}, {Name: "state", Mode: fieldmask.OutputOnly},
		{Name: "attempts", Mode: fieldmask.OutputOnly}, {Name: "lastStatus", Mode: fieldmask.OutputOnly},
		{Name: "lastError", Mode: fieldmask.OutputOnly}, {Name: "lastAnswer", Mode: fieldmask.OutputOnly},
		{Name: "lastAttemptTime", Mode: fieldmask.OutputOnly}, {Name: "nextAttemptTime", Mode: fieldmask.OutputOnly},
		{Name: "createTime", Mode: fieldmask.OutputOnly}, {Name: "updateTime", Mode: fieldmask.OutputOnly},
	},
	Orders: []OrderField[*Delivery]{
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

// Deliveries are the operations on deliveries. Ended deliveries are kept for
// Options.DeliveryRetention.
type Deliveries struct {
	Resources[*Delivery, *DeliveryFilter]
	rows *Collection[*Delivery, *DeliveryFilter]
	area *webhooksArea
}

// verbRedelivered is the verb of the event of a subscription that records a
// redelivery. The subject of the event is the delivery.
const verbRedelivered = "redelivered"

// Redeliver sends events again, with all the attempts of a new delivery, whether
// or not they were delivered before. It records an event for each delivery.
// Deliveries that have not ended stay as they are. It needs subscriptions.create.
func (s Deliveries) Redeliver(ctx context.Context, uids []UID) ([]*Delivery, error) {
	deliveries, err := s.redeliver(ctx, uids)
	return deliveries, s.rows.kind.addArea(err)
}

const maxRedeliveries = 200

func (s Deliveries) redeliver(ctx context.Context, uids []UID) ([]*Delivery, error) {
	if err := s.checkMayRedeliver(ctx, uids); err != nil {
		return nil, err
	}
	again := make([]*Delivery, len(uids))
	err := s.area.store.Write(ctx, func(tx Tx) error {
		lockSubscriptions(tx, parentsOf(uids))
		found, err := s.area.tables.Deliveries.Get(ctx, tx, Keys{UIDs: uids})
		if err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		for i, uid := range uids {
			n := slices.IndexFunc(found, func(d *Delivery) bool { return d.UID == uid })
			if n < 0 {
				return s.rows.kind.notFound(uid)
			}
			if again[i] = found[n]; again[i].Stage != StageEnded {
				continue
			}
			again[i].restart(now)
			if err := s.area.tables.Deliveries.Update(ctx, tx, again[i], deliveryProgress...); err != nil {
				return err
			}
			tx.Record(s.area.event(ctx, subscriptionKind.Event, verbRedelivered, uid, s.rows.kind.Group(again[i]), again[i]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return again, nil
}

func parentsOf(uids []UID) []UID {
	parents := make([]UID, len(uids))
	for i, uid := range uids {
		parents[i] = uid.Parent()
	}
	return parents
}

func (s Deliveries) checkMayRedeliver(ctx context.Context, uids []UID) error {
	if _, err := requireCaller(ctx); err != nil {
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
			v.checkUID(fmt.Sprintf("uids[%d]", i), uid)
		}
	}
	if err := v.err(); err != nil {
		return err
	}
	for _, uid := range uids {
		if _, err := require(ctx, uid, CapSubscriptionsCreate); err != nil {
			return s.area.Subscriptions.rows.recordIfDenied(ctx, verbRedelivered, uid, err)
		}
	}
	return nil
}

// deliveryProgress lists the fields that attempts change.
var deliveryProgress = []string{"state", "stage", "ticket", "attempts", "lastStatus", "lastError", "lastAnswer", "lastAttemptTime", "nextAttemptTime", "lease"}

// restart resets a delivery to its state before the first attempt, with the next
// ticket.
func (d *Delivery) restart(now Time) {
	*d = Delivery{
		UID: d.UID, EventID: d.EventID, EventType: d.EventType, State: DeliveryPending, Stage: StageQueued, Ticket: d.Ticket + 1,
		NextAttemptTime: now, CreateTime: d.CreateTime, UpdateTime: now,
	}
}
