package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// createDeliveries creates a subscription with n deliveries, and a hundred with a few. They
// ended at random times, in as many partitions as there are by default.
func (b *bigWorld) createDeliveries(n int) {
	const others = 100
	b.partitionDeliveries(epoch, epoch.Add(12*24*time.Hour), 3*24*time.Hour)
	subscriptions := times(1+others, func(i int) *webhooks.Subscription {
		return &webhooks.Subscription{UID: b.d.below(b.root), Sink: fmt.Sprintf("https://outbox.example.com/%d", i), EncryptedSecret: []byte("x"), CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
	})
	for _, s := range subscriptions {
		b.subscriptions = append(b.subscriptions, s.UID)
	}
	b.insert(func(tx core.Tx) error {
		return storetest.Tables.Webhooks.Subscriptions.Insert(b.t.Context(), tx, subscriptions...)
	})
	states := []webhooks.DeliveryState{webhooks.DeliveryDelivered, webhooks.DeliveryDelivered, webhooks.DeliveryDelivered, webhooks.DeliveryFailed}
	chunks(b, n+n/others, storetest.Tables.Webhooks.Deliveries, func(i int) *webhooks.Delivery {
		subscription := b.subscriptions[0]
		if i >= n {
			subscription = b.subscriptions[1+i%others]
		}
		return &webhooks.Delivery{
			UID: b.d.below(subscription), EventID: b.d.eventID(), EventType: fmt.Sprintf("type %d", i%20), State: pick(b.d, states), Stage: webhooks.StageEnded,
			LastAttemptTime: b.randomTime(), NextAttemptTime: b.randomTime(), CreateTime: b.randomTime(), UpdateTime: b.randomTime(),
		}
	})
}

// addDeliveries adds lists of deliveries, and reads of events by id.
func (r *readList) addDeliveries() {
	type request = core.ListRequest[*webhooks.DeliveryFilter]
	busy := childrenOf(r.b.subscriptions[0])
	for _, order := range []string{"create_time desc", "create_time"} {
		r.addPageOfDeliveries("deliveries of a busy subscription by "+order, request{UIDP: busy, OrderBy: order})
		r.addPageOfDeliveries("failed deliveries of a busy subscription by "+order, request{UIDP: busy, OrderBy: order, Filter: &webhooks.DeliveryFilter{State: webhooks.DeliveryFailed}})
	}
	// Each list visits all partitions.
	r.add("deliveries of 50 subscriptions", 2*eachBuffers, askEach(r.p.Deliveries.ListEach, "create_time desc", r.b.subscriptions[1:51])).maxTotalBuffers = eachBuffers
	var own []string // One of every four events belongs to another organization.
	for i, id := range r.b.eventIDs[:120] {
		if i%4 != 0 {
			own = append(own, id)
		}
	}
	r.add("90 events by id", 90*4+20, func(ctx context.Context) error {
		_, errs := r.p.AuditLog.GetMany(ctx, own)
		return errors.Join(errs...)
	})
}

// partitionBuffers is what a page reads of the indexes of all partitions.
const partitionBuffers = 25

// addPageOfDeliveries adds a page without its total, because there is no counter for it.
func (r *readList) addPageOfDeliveries(name string, req core.ListRequest[*webhooks.DeliveryFilter]) {
	req.Parts = core.PartItems
	r.add(name, pageBuffers+partitionBuffers, askList(r.p.Deliveries.List, req))
}
