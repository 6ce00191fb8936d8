package webhooks

import (
	"time"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/secrets"
)

// Options are the settings of deliveries to sinks.
type Options struct {
	PrivateSinks      []string      // host:port of event sinks that may be private or use plain http
	SinkPorts         []string      // ports of public hosts that event sinks may use, besides 443
	DeliveryTimeScale float64       // factor for the pauses between attempts, and for the time in which events are collected
	Mail              bool          // whether this service can send mail
	MailInterval      time.Duration // shortest time between two messages of a subscription by mail
	TestPatience      time.Duration // how long a test waits for the answer of the sink
	Observer          Observer
}

// An Observer receives measurements of deliveries. Its methods must return immediately.
type Observer interface {
	// DeliveryTried is called after each attempt of a delivery to a sink, with the resulting
	// state. lag is the time since the event was recorded.
	DeliveryTried(sink string, state DeliveryState, lag time.Duration)
}

// Store is what deliveries need of the database.
type Store interface {
	core.Store
	WebhookStore
}

// An Area has the operations on subscriptions and their deliveries.
type Area struct {
	*core.Core
	store     Store
	tables    Tables
	options   Options
	secrets   *secrets.Secrets
	Events    *events.Area
	iam       *iam.Area
	inventory *inventory.Area
	relayed   relayProgress

	Subscriptions Subscriptions
	Deliveries    Deliveries
	Webhooks      Webhooks
}

// New returns the area.
func New(c *core.Core, store Store, tables Tables, secrets *secrets.Secrets, iam *iam.Area, inventory *inventory.Area, events *events.Area, options Options) *Area {
	area := &Area{Core: c, store: store, tables: tables, secrets: secrets, iam: iam, inventory: inventory, Events: events, options: options}
	subscriptions := core.NewCollection(c, area.SubscriptionKind(), subscriptionKeyFilter, tables.Subscriptions)
	area.Subscriptions = Subscriptions{subscriptions.Resources(), subscriptions, area}
	deliveries := core.NewCollection(c, &DeliveryKind, nil, tables.Deliveries)
	area.Deliveries = Deliveries{deliveries.Resources(), deliveries, area}
	area.Webhooks = Webhooks{area}
	return area
}

// Tables has who wants which events, and what was sent.
type Tables struct {
	Subscriptions core.Table[*Subscription, *SubscriptionFilter]
	Deliveries    core.Table[*Delivery, *DeliveryFilter]

	SubscriptionQueries
	WebhookQueries
}
