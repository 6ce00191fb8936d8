package cases

import (
	"testing"

	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// Only GraphQL has deliveries, because the reference does not have them. So they have no
// rows that run in every protocol.
var _ = newKind(kind{name: "Delivery", plural: "Deliveries", ref: "delivery", area: "events", in: "{subscription}"})

// deliver creates a delivery of a subscription, with a test event.
func createDelivery(e *env, subscription string) fields {
	e.Helper()
	uid := core.UID(subscription)
	tested, err := e.w.p.Subscriptions.Test(e.operator(), uid)
	for err == nil { // Other tests may delay the feed of the server.
		var page core.Page[*webhooks.Delivery]
		if _, err = e.w.p.Webhooks.Relay(e.Context()); err == nil {
			page, err = e.w.p.Deliveries.List(e.operator(), core.ListRequest[*webhooks.DeliveryFilter]{
				UIDP: core.UIDFilter{ChildrenOf: uid}, Filter: &webhooks.DeliveryFilter{Event: tested.EventID},
			})
		}
		if len(page.Items) == 1 {
			return fields{"uid": string(page.Items[0].UID)}
		}
	}
	e.Fatal(err)
	return nil
}

// The roles decide who may see and control deliveries, as for operations of the reference.
func TestDeliveriesNeedTheCapabilitiesOfSubscriptions(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		e := w.newEnv(t)
		parties := e.parties(w.newEnv(t))
		e.made["delivery"] = createDelivery(e, e.text("{subscription}"))
		lists, creates := []string{"CAP_EVENTS_SUBSCRIPTION_LIST"}, []string{"CAP_EVENTS_SUBSCRIPTION_CREATE"}
		for _, c := range []struct {
			call
			capabilities []string
		}{
			{call{rpc: "ListDeliveries", target: "{subscription}"}, lists},
			{call{rpc: "Redeliver", target: "{delivery}"}, creates},
			{call{rpc: "RotateSubscriptionSecret", target: "{subscription}"}, creates},
			{call{rpc: "TestSubscription", target: "{subscription}"}, creates},
			{call{rpc: "EnableSubscription", target: "{subscription}"}, creates},
		} {
			t.Run(c.rpc, func(t *testing.T) {
				for _, who := range parties {
					own := *e
					own.T = t
					judge{env: &own, k: subscriptions, p: w.graphQL(), who: who, rpc: rpc{capabilities: c.capabilities}}.judge(own.fillCall(c.call))
				}
			})
		}
	})
}

// graphQL returns the GraphQL protocol.
func (w *world) graphQL() protocol {
	for _, p := range w.protocols {
		if p.name() == "graphql" {
			return p
		}
	}
	return nil
}
