package cases

import (
	"testing"

	"atrium/platform"
	"atrium/store/storetest"
)

// Deliveries are told and steered through GraphQL alone, as the ledger of the
// wire has nothing of them: no row of theirs could run through every protocol.
var _ = newKind(kind{name: "Delivery", plural: "Deliveries", ref: "delivery", area: "events", in: "{subscription}"})

// deliver makes a delivery of a subscription, by a test event.
func deliver(e *env, subscription string) fields {
	e.Helper()
	uid := platform.UID(subscription)
	event, err := e.w.p.Subscriptions.Test(e.operator(), uid)
	for err == nil { // other tests may hold the feed of the server up
		var page platform.Page[platform.Delivery]
		if _, err = e.w.p.Webhooks.Relay(e.Context()); err == nil {
			page, err = e.w.p.Deliveries.List(e.operator(), platform.ListRequest[platform.DeliveryFilter]{
				UIDP: platform.UIDFilter{ChildrenOf: uid}, Filter: platform.DeliveryFilter{Event: event},
			})
		}
		if len(page.Items) == 1 {
			return fields{"uid": string(page.Items[0].UID)}
		}
	}
	e.Fatal(err)
	return nil
}

// Who may see and steer deliveries follows from the roles, as for operations
// that the wire has.
func TestDeliveriesAreSteeredByWhoMayMakeSubscriptions(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorld(t, url)
		e := w.newEnv(t)
		parties := e.parties(w.newEnv(t))
		e.made["delivery"] = deliver(e, e.text("{subscription}"))
		lists, creates := []string{"CAP_EVENTS_SUBSCRIPTION_LIST"}, []string{"CAP_EVENTS_SUBSCRIPTION_CREATE"}
		for _, c := range []struct {
			call
			capabilities []string
		}{
			{call{rpc: "ListDeliveries", on: "{subscription}"}, lists},
			{call{rpc: "Redeliver", on: "{delivery}"}, creates},
			{call{rpc: "RotateSubscriptionSecret", on: "{subscription}"}, creates},
			{call{rpc: "TestSubscription", on: "{subscription}"}, creates},
			{call{rpc: "EnableSubscription", on: "{subscription}"}, creates},
		} {
			t.Run(c.rpc, func(t *testing.T) {
				for _, who := range parties {
					own := *e
					own.T = t
					judge{env: &own, k: subscriptions, p: w.graphQL(), who: who, rpc: rpc{capabilities: c.capabilities}}.judge(own.call(c.call))
				}
			})
		}
	})
}

// graphQL is that protocol.
func (w *world) graphQL() protocol {
	for _, p := range w.protocols {
		if p.name() == "graphql" {
			return p
		}
	}
	return nil
}
