package webhooks

import (
	"context"
	"fmt"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A Delivery sends one event to the sink of one subscription. A digest is a delivery of several events, in one message for
// people; EventID and EventType are those of the first.
type Delivery struct {
	UID             core.UID      `json:"uid"`
	EventID         string        `json:"eventId"` // id of the event, which is the same on every attempt
	EventType       string        `json:"eventType"`
	State           DeliveryState `json:"state"`
	Attempts        int32         `json:"attempts"`
	LastStatus      int32         `json:"lastStatus,omitempty"` // HTTP status of the last response; 0 means none
	LastError       string        `json:"lastError,omitempty"`  // reason why the last attempt failed
	LastAnswer      string        `json:"lastAnswer,omitempty"` // start of the last response body
	LastAttemptTime core.Time     `json:"lastAttemptTime,omitzero"`
	NextAttemptTime core.Time     `json:"nextAttemptTime,omitzero"` // zero once the delivery has ended
	CreateTime      core.Time     `json:"createTime,omitzero"`
	UpdateTime      core.Time     `json:"updateTime,omitzero"`

	Events int32         `json:"-"` // number of events of a digest; 0 for a delivery of one event
	Stage  DeliveryStage `json:"-"`
	Ticket int64         `json:"-"` // number of the valid ticket
	Lease  core.Time     `json:"-"` // time until which a process holds the delivery; zero if none does
}

// A Ticket is the right to attempt a delivery, which a process gets when it claims the
// delivery. Each claim, and each redelivery, has the next number, and only the newest
// ticket is valid: if the lease of a process has ended and another one has claimed the
// delivery, the result of the first is ignored.
type Ticket struct {
	Delivery core.UID
	Number   int64
}

// EventCount returns the number of events that the delivery tells of.
func (d *Delivery) EventCount() int32 { return max(d.Events, 1) }

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
	core.ChangeFilter

	State DeliveryState `json:",omitempty"`
	Event string        `json:",omitempty"` // exact event id
}

// Check adds the violations of the conditions.
func (f *DeliveryFilter) Check(v *core.Violations) { v.CheckFilter("event_id", f.Event) }

// DeliveryKind has the facts about deliveries.
var DeliveryKind = core.Kind[*Delivery]{
	Name: "Delivery", Plural: "deliveries", Area: core.AreaEvents, Number: 17, GraphOnly: true,
	OtherEvents: []core.EventKind{{Event: "events.subscription", Verbs: []string{verbRedelivered}, Body: core.AreaEvents + ".Delivery", Resource: "Delivery"}},
	Parent:      core.Ref{Name: "Subscription", Area: core.AreaEvents},
	List:        core.CapSubscriptionsList, Create: core.CapSubscriptionsCreate,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "eventId", Mode: fieldmask.OutputOnly},
		{Name: "eventType", Mode: fieldmask.OutputOnly}, {Name: "state", Mode: fieldmask.OutputOnly},
		{Name: "attempts", Mode: fieldmask.OutputOnly}, {Name: "lastStatus", Mode: fieldmask.OutputOnly},
		{Name: "lastError", Mode: fieldmask.OutputOnly}, {Name: "lastAnswer", Mode: fieldmask.OutputOnly},
		{Name: "lastAttemptTime", Mode: fieldmask.OutputOnly}, {Name: "nextAttemptTime", Mode: fieldmask.OutputOnly},
		{Name: "createTime", Mode: fieldmask.OutputOnly}, {Name: "updateTime", Mode: fieldmask.OutputOnly},
	},
	Orders: []core.OrderField[*Delivery]{
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(d *Delivery) any { return d.CreateTime }},
		{Name: "uid", Value: func(d *Delivery) any { return string(d.UID) }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(d *Delivery) any { return d.UpdateTime }},
		{Name: "last_attempt_time", Spellings: []string{"lastAttemptTime"}, Value: func(d *Delivery) any { return d.LastAttemptTime }},
		{Name: "next_attempt_time", Spellings: []string{"nextAttemptTime"}, Value: func(d *Delivery) any { return d.NextAttemptTime }},
		{Name: "event_type", Spellings: []string{"eventType"}, Value: func(d *Delivery) any { return d.EventType }},
	},
	DefaultOrder: core.Order{Field: "create_time", Desc: true},
	UID:          func(d *Delivery) core.UID { return d.UID },
	Group:        func(d *Delivery) core.UID { return d.UID.Parent().Parent() },
}

// Deliveries are the operations on deliveries. Ended deliveries are kept for
// Options.DeliveryRetention.
type Deliveries struct {
	core.Resources[*Delivery, *DeliveryFilter]
	rows *core.Collection[*Delivery, *DeliveryFilter]
	area *Area
}

// verbRedelivered is the verb of the event of a subscription that records a
// redelivery. The subject of the event is the delivery.
const verbRedelivered = "redelivered"

// Redeliver sends events again, with all the attempts of a new delivery, whether
// or not they were delivered before. It records an event for each delivery.
// Deliveries that have not ended stay as they are. It needs subscriptions.create.
func (s Deliveries) Redeliver(ctx context.Context, uids []core.UID) ([]*Delivery, error) {
	deliveries, err := s.redeliver(ctx, uids)
	return deliveries, s.rows.Kind.AddArea(err)
}

const maxRedeliveries = 200

func (s Deliveries) redeliver(ctx context.Context, uids []core.UID) ([]*Delivery, error) {
	if err := s.checkMayRedeliver(ctx, uids); err != nil {
		return nil, err
	}
	again := make([]*Delivery, len(uids))
	err := s.area.store.Write(ctx, func(tx core.Tx) error {
		lockSubscriptions(tx, parentsOf(uids))
		found, err := s.area.tables.Deliveries.Get(ctx, tx, core.Keys{UIDs: uids})
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
				return s.rows.Kind.NotFound(uid)
			}
			if again[i] = found[n]; again[i].Stage != StageEnded {
				continue
			}
			again[i].restart(now)
			if err := s.area.tables.Deliveries.Update(ctx, tx, again[i], deliveryProgress...); err != nil {
				return err
			}
			tx.Record(s.area.Event(ctx, SubscriptionKind.Event, verbRedelivered, uid, s.rows.Kind.Group(again[i]), again[i]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return again, nil
}

func parentsOf(uids []core.UID) []core.UID {
	parents := make([]core.UID, len(uids))
	for i, uid := range uids {
		parents[i] = uid.Parent()
	}
	return parents
}

func (s Deliveries) checkMayRedeliver(ctx context.Context, uids []core.UID) error {
	if _, err := core.RequireCaller(ctx); err != nil {
		return err
	}
	var v core.Violations
	switch {
	case len(uids) == 0:
		v.Add("uids", "is required")
	case len(uids) > maxRedeliveries:
		v.Add("uids", "must have at most %d items", maxRedeliveries)
	default:
		for i, uid := range uids {
			v.CheckUID(fmt.Sprintf("uids[%d]", i), uid)
		}
	}
	if err := v.Err(); err != nil {
		return err
	}
	for _, uid := range uids {
		if _, err := core.Require(ctx, uid, core.CapSubscriptionsCreate); err != nil {
			return s.area.Subscriptions.rows.RecordIfDenied(ctx, verbRedelivered, uid, err)
		}
	}
	return nil
}

// deliveryProgress lists the fields that attempts change.
var deliveryProgress = []string{"state", "stage", "ticket", "attempts", "lastStatus", "lastError", "lastAnswer", "lastAttemptTime", "nextAttemptTime", "lease"}

// restart resets a delivery to its state before the first attempt, with the next
// ticket.
func (d *Delivery) restart(now core.Time) {
	*d = Delivery{
		UID: d.UID, EventID: d.EventID, EventType: d.EventType, Events: d.Events, State: DeliveryPending, Stage: StageQueued, Ticket: d.Ticket + 1,
		NextAttemptTime: now, CreateTime: d.CreateTime, UpdateTime: now,
	}
}
