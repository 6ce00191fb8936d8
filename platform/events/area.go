package events

import (
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// Options are the settings of events.
type Options struct {
	AuditRetention    time.Duration // how long events are kept
	DeliveryRetention time.Duration // how long ended deliveries are kept
	Observer          Observer
}

// An Observer receives measurements of live feeds. Its methods must return immediately.
type Observer interface {
	// EventRead is called when an event is dispatched to the live feeds. lag is the
	// time since the event was recorded.
	EventRead(lag time.Duration)
}

// Store is what the operations on events need of the database.
type Store interface {
	core.Store
	EventStore
	AuditStore
	RetentionStore
}

// An Area has the operations on recorded events.
type Area struct {
	*core.Core
	Store     Store
	tables    Queries
	options   Options
	Types     *Types
	iam       *iam.Area
	broadcast *broadcast // sends new events to the live feeds

	Events   Events
	AuditLog AuditLog
}

// New returns the area.
func New(c *core.Core, store Store, tables Queries, types *Types, iam *iam.Area, options Options) *Area {
	area := &Area{Core: c, Store: store, tables: tables, Types: types, iam: iam, options: options}
	area.broadcast = newBroadcast(area)
	area.Events, area.AuditLog = Events{area}, AuditLog{area}
	return area
}
