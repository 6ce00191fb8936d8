package rest

import (
	"net/http"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/webhooks"
)

func eventsRoutes(p *platform.Platform) []route {
	return []route{
		list("/events/v2/subscriptions", p.Subscriptions),
		get("/events/v2/subscriptions/{uid=**}", p.Subscriptions),
		create("/events/v2/subscriptions/{parent=**}", p.Subscriptions),
		remove("/events/v2/subscriptions/{uid=**}", p.Subscriptions),
		{
			name: "TestSubscription", method: http.MethodPost, pattern: "/events/v2/subscriptions:test",
			capabilities: capabilityList(core.CapSubscriptionsCreate), body: subscriptionTest{}, answer: webhooks.TestResult{}, call: testSubscription(p.Subscriptions),
		},
	}
}

// subscriptionTest names the subscription to test.
type subscriptionTest struct {
	UID core.UID `json:"uid"`
}

func testSubscription(operations webhooks.Subscriptions) operation {
	return func(r *request) (any, error) {
		var uid core.UID
		if err := r.decode(func(d *decoding, body []byte) { uid = d.uid("uid", d.object("", body, "uid")["uid"]) }); err != nil {
			return nil, err
		}
		return operations.Test(r.Context(), uid)
	}
}
