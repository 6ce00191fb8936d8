package platform

import "time"

// EventOptions are the settings of events.
type EventOptions struct {
	AuditRetention    time.Duration // how long events are kept
	DeliveryRetention time.Duration // how long ended deliveries are kept
	Observer          EventObserver
}

// An EventObserver receives measurements of live feeds. Its methods must return immediately.
type EventObserver interface {
	// EventRead is called when an event is dispatched to the live feeds. lag is the
	// time since the event was recorded.
	EventRead(lag time.Duration)
}

// EventsStore is what the operations on events need of the database.
type EventsStore interface {
	CoreStore
	EventStore
	AuditStore
	RetentionStore
}

// An eventsArea has the operations on recorded events.
type eventsArea struct {
	*Core
	store     EventsStore
	tables    EventQueries
	options   EventOptions
	types     *EventTypes
	iam       *iamArea
	broadcast *broadcast // sends new events to the live feeds

	Events   Events
	AuditLog AuditLog
}

func newEvents(c *Core, store EventsStore, tables EventQueries, types *EventTypes, iam *iamArea, options EventOptions) *eventsArea {
	area := &eventsArea{Core: c, store: store, tables: tables, types: types, iam: iam, options: options}
	area.broadcast = newBroadcast(area)
	area.Events, area.AuditLog = Events{area}, AuditLog{area}
	return area
}
