package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atrium/platform"
	"atrium/store/storetest"
)

// createDeliveries creates a subscription with n deliveries, and a hundred with a few. They
// ended at random times, in as many partitions as there are by default.
func (b *bigWorld) createDeliveries(n int) {
	const others = 100
	b.partitionDeliveries(epoch, epoch.Add(12*24*time.Hour), 3*24*time.Hour)
	subscriptions := times(1+others, func(i int) *platform.Subscription {
		return &platform.Subscription{UID: b.d.below(b.root), Sink: fmt.Sprintf("https://outbox.example.com/%d", i), EncryptedSecret: []byte("x"), CreateTime: b.randomTime(), UpdateTime: b.randomTime()}
	})
	for _, s := range subscriptions {
		b.subscriptions = append(b.subscriptions, s.UID)
	}
	b.insert(func(tx platform.Tx) error {
		return storetest.Tables.Webhooks.Subscriptions.Insert(b.t.Context(), tx, subscriptions...)
	})
	states := []platform.DeliveryState{platform.DeliveryDelivered, platform.DeliveryDelivered, platform.DeliveryDelivered, platform.DeliveryFailed}
	chunks(b, n+n/others, storetest.Tables.Webhooks.Deliveries, func(i int) *platform.Delivery {
		subscription := b.subscriptions[0]
		if i >= n {
			subscription = b.subscriptions[1+i%others]
		}
		return &platform.Delivery{
			UID: b.d.below(subscription), EventID: b.d.eventID(), EventType: fmt.Sprintf("type %d", i%20), State: pick(b.d, states), Stage: platform.StageEnded,
			LastAttemptTime: b.randomTime(), NextAttemptTime: b.randomTime(), CreateTime: b.randomTime(), UpdateTime: b.randomTime(),
		}
	})
}

// addDeliveries adds lists of deliveries, and reads of events by id.
func (r *readList) addDeliveries() {
	type request = platform.ListRequest[*platform.DeliveryFilter]
	busy := childrenOf(r.b.subscriptions[0])
	for _, order := range []string{"create_time desc", "create_time"} {
		r.addPageOfDeliveries("deliveries of a busy subscription by "+order, request{UIDP: busy, OrderBy: order})
		r.addPageOfDeliveries("failed deliveries of a busy subscription by "+order, request{UIDP: busy, OrderBy: order, Filter: &platform.DeliveryFilter{State: platform.DeliveryFailed}})
	}
	// Each list visits all partitions.
	r.add("deliveries of 50 subscriptions", 2*eachBuffers, askEach(r.p.Deliveries.ListEach, "create_time desc", r.b.subscriptions[1:51])).maxTotalBuffers = eachBuffers
	var own []string // One of every four events belongs to another organisation.
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
func (r *readList) addPageOfDeliveries(name string, req platform.ListRequest[*platform.DeliveryFilter]) {
	req.Parts = platform.PartItems
	r.add(name, pageBuffers+partitionBuffers, askList(r.p.Deliveries.List, req))
}
