package platform

import "time"

// WebhookOptions are the settings of deliveries to sinks.
type WebhookOptions struct {
	PrivateSinks      []string // host:port of event sinks that may be private or use plain http
	SinkPorts         []string // ports of public hosts that event sinks may use, besides 443
	DeliveryTimeScale float64  // factor for the pauses between attempts
	Observer          DeliveryObserver
}

// A DeliveryObserver receives measurements of deliveries. Its methods must return immediately.
type DeliveryObserver interface {
	// DeliveryTried is called after each attempt of a delivery to a sink, with the resulting
	// state. lag is the time since the event was recorded.
	DeliveryTried(sink string, state DeliveryState, lag time.Duration)
}

// WebhooksStore is what deliveries need of the database.
type WebhooksStore interface {
	CoreStore
	WebhookStore
}

// A webhooksArea has the operations on subscriptions and their deliveries.
type webhooksArea struct {
	*Core
	store   WebhooksStore
	tables  SubscriptionTables
	options WebhookOptions
	secrets *Secrets
	events  *eventsArea
	relayed relayProgress

	Subscriptions Subscriptions
	Deliveries    Deliveries
	Webhooks      Webhooks
}

func newWebhooks(c *Core, store WebhooksStore, tables SubscriptionTables, secrets *Secrets, events *eventsArea, options WebhookOptions) *webhooksArea {
	area := &webhooksArea{Core: c, store: store, tables: tables, secrets: secrets, events: events, options: options}
	subscriptions := newCollection(c, area.subscriptionKind(), subscriptionKeyFilter, tables.Subscriptions)
	area.Subscriptions = Subscriptions{subscriptions.Resources(), subscriptions, area}
	deliveries := newCollection(c, &deliveryKind, nil, tables.Deliveries)
	area.Deliveries = Deliveries{deliveries.Resources(), deliveries, area}
	area.Webhooks = Webhooks{area}
	return area
}

// SubscriptionTables has who wants which events, and what was sent.
type SubscriptionTables struct {
	Subscriptions Table[*Subscription, *SubscriptionFilter]
	Deliveries    Table[*Delivery, *DeliveryFilter]

	SubscriptionQueries
	WebhookQueries
}
