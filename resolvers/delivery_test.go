package resolvers

import (
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// No test in this file causes an event of this type.
const unusedEventType = "dev.atrium.api.iam.roles.deleted.v1"

func TestADeliveryShowsItsResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sink := w.subscription(w.org, "https://hooks.example.com/a", unusedEventType)
	delivery, event := w.deliver(sink)
	const query = `query($s: UID!, $state: DeliveryState) { subscription(uid: $s) { failingSince disableTime disableReason deliveries(where: {state: $state}) {
		totalCount nodes { uid eventId eventType state attempts lastStatus lastError lastAnswer lastAttemptTime nextAttemptTime createTime updateTime } } } }`
	one := "subscription.deliveries.nodes.0."
	got := w.ask(query, "s", sink).expect("subscription.failingSince", nil).expect("subscription.deliveries.totalCount", 1)
	got.expect(one+"uid", string(delivery)).expect(one+"eventId", event).expect(one+"eventType", "dev.atrium.api.events.subscription.test.v1").
		expect(one+"state", "PENDING").expect(one+"attempts", 0).expect(one+"lastStatus", nil).expect(one+"lastError", nil).expect(one+"lastAttemptTime", nil)

	w.attempt(delivery, webhooks.Attempt{Status: 500, Answer: "oh no"})
	got = w.ask(query, "s", sink, "state", "RETRYING").expect(one+"attempts", 1).expect(one+"lastStatus", 500).
		expect(one+"lastAnswer", "oh no").expect(one+"lastError", "the sink responded with status 500")
	if got.value("subscription.failingSince") != got.value(one+"lastAttemptTime") || got.value(one+"nextAttemptTime") == nil {
		t.Errorf("after a failure: %v", got.Data)
	}
	w.ask(query, "s", sink, "state", "DELIVERED").expect("subscription.deliveries.totalCount", 0)

	w.attempt(delivery, webhooks.Attempt{Status: 204})
	w.ask(query, "s", sink, "state", "DELIVERED").expect(one+"attempts", 2).expect(one+"lastError", nil).expect(one+"nextAttemptTime", nil).
		expect("subscription.failingSince", nil)
}

func TestFailedDeliveriesOfAnEnabledSubscriptionAreSentAgainOnRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sink := w.subscription(w.org, "https://hooks.example.com/a", unusedEventType)
	delivery, _ := w.deliver(sink)
	w.attempt(delivery, webhooks.Attempt{Status: 410})
	const health = `query($s: UID!) { subscription(uid: $s) { disableTime disableReason deliveries { nodes { state } } } }`
	off := w.ask(health, "s", sink).expect("subscription.disableReason", "the sink responded with status 410").expect("subscription.deliveries.nodes.*.state", "FAILED")
	if off.value("subscription.disableTime") == nil {
		t.Error("it has no time when it was disabled")
	}
	w.askAs(theOwner, `mutation($s: UID!) { testSubscription(input: {uid: $s}) { eventId } }`, "s", sink).
		expectErrors("FAILED_PRECONDITION testSubscription").expect("testSubscription", nil)
	w.ask(`mutation($s: UID!) { enableSubscription(input: {uid: $s}) { subscription { disableTime disableReason failingSince } } }`, "s", sink).
		expect("enableSubscription.subscription", map[string]any{"disableTime": nil, "disableReason": nil, "failingSince": nil})
	w.ask(`mutation($d: UID!) { redeliver(input: {uids: [$d]}) { deliveries { uid state attempts lastStatus subscription { sink } } } }`, "d", delivery).
		expect("redeliver.deliveries.0.state", "PENDING").expect("redeliver.deliveries.0.attempts", 0).expect("redeliver.deliveries.0.lastStatus", nil).
		expect("redeliver.deliveries.0.subscription.sink", "https://hooks.example.com/a")
	w.askAs(theOwner, `mutation($d: [UID!]!) { redeliver(input: {uids: $d}) { deliveries { uid } } }`, "d", []core.UID{delivery, sink + "/0123456789abcdef"}).
		expectErrors("NOT_FOUND redeliver")
	w.deliver(sink)
}

func TestARotatedSecretIsShownOnceAndBothSign(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ask(`mutation($org: UID!) { createSubscription(input: {parent: $org, sink: "https://hooks.example.com/a"}) { subscription { uid } secret } }`, "org", w.org)
	first, sink := made.text("createSubscription.secret"), made.uid("createSubscription.subscription.uid")
	second := w.ask(`mutation($s: UID!) { rotateSubscriptionSecret(input: {uid: $s}) { subscription { uid } secret } }`, "s", sink).text("rotateSubscriptionSecret.secret")
	if !strings.HasPrefix(second, "whsec_") || second == first {
		t.Errorf("the secret was %s and is %s, want it to begin with 'whsec_'", first, second)
	}
	delivery, _ := w.deliver(sink)
	dispatch := must(w.p.Webhooks.BeginAttempt(t.Context(), webhooks.Ticket{Delivery: delivery}))(t)
	if got := strings.Join(dispatch.Secrets, " "); got != second+" "+first {
		t.Errorf("deliveries are signed with %q, want the new secret and the old one", got)
	}
	audit := w.ask(`{ auditLog { nodes { type body } } subscriptions { nodes { sink } } }`)
	if text := audit.text("auditLog.nodes"); strings.Contains(text, first) || strings.Contains(text, second) || !strings.Contains(text, "hooks.example.com") {
		t.Errorf("the audit log says %s", text)
	}
	w.askAs(theOwner, `query($s: UID!) { subscription(uid: $s) { secret } }`, "s", sink).expectErrors("GRAPHQL_VALIDATION_FAILED")
}

func TestDeliveriesArePagedForwardAndBackward(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		sink := w.subscription(w.org, "https://hooks.example.com/a", unusedEventType)
		var newest []string
		for range 5 {
			delivery, _ := w.deliver(sink)
			newest = append([]string{string(delivery)}, newest...)
		}
		const list = `deliveries(orderBy: {field: CREATE_TIME, direction: DESC}, `
		all := strings.Fields(w.ask(`query($s: UID!) { subscription(uid: $s) { deliveries { nodes { uid } } } }`, "s", sink).text("subscription.deliveries.nodes.*.uid"))
		if len(all) != len(newest) {
			t.Fatalf("there are %d deliveries, want %d", len(all), len(newest))
		}
		walk := func(arguments, info, more string) (pages []string) {
			for cursor := any(nil); ; {
				got := w.ask(`query($s: UID!, $cursor: String) { subscription(uid: $s) { `+list+arguments+`) { nodes { uid } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`, "s", sink, "cursor", cursor)
				pages = append(pages, got.text("subscription.deliveries.nodes.*.uid"))
				if cursor = got.value("subscription.deliveries.pageInfo." + info); got.value("subscription.deliveries.pageInfo."+more) == false {
					return pages
				}
			}
		}
		join := func(uids ...string) string { return strings.Join(uids, " ") }
		forward := walk(`first: 2, after: $cursor`, "endCursor", "hasNextPage")
		if got, want := strings.Join(forward, "|"), join(all[:2]...)+"|"+join(all[2:4]...)+"|"+all[4]; got != want {
			t.Errorf("forward: %s, want %s", got, want)
		}
		backward := walk(`last: 2, before: $cursor`, "startCursor", "hasPreviousPage")
		if got, want := strings.Join(backward, "|"), join(all[3:]...)+"|"+join(all[1:3]...)+"|"+all[0]; got != want {
			t.Errorf("backward: %s, want %s", got, want)
		}
		got := w.askAs(theOwner, `query($s: UID!) { subscription(uid: $s) { deliveries(first: 1, last: 1, where: {event: "\u0000"}) { totalCount } } }`, "s", sink)
		if got.expectErrors("INVALID_ARGUMENT subscription.deliveries").violations() != "first event" {
			t.Errorf("it names %q, want violations of 'first event'", got.violations())
		}
	})
}
