package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/platform/core"
	"atrium/platform/webhooks"
)

// deliveries resolves the fields of deliveries.
type deliveries struct {
	viewerFields[*webhooks.Delivery]
}

func (r root) Delivery() graph.DeliveryResolver {
	return deliveries{newViewerFields(r.p.Deliveries)}
}

func (r *reads) deliveries() *loader[core.UID, *webhooks.Delivery] {
	return loaderOf(r, r.p.Deliveries.GetMany)
}

func (m mutations) Redeliver(ctx context.Context, input graph.RedeliverInput) (*graph.RedeliverPayload, error) {
	redelivered, err := m.p.Deliveries.Redeliver(ctx, input.Uids)
	if err != nil {
		return nil, err
	}
	return &graph.RedeliverPayload{Deliveries: redelivered}, nil
}

func (e entities) FindManyDeliveryByUIDs(ctx context.Context, reps []*graph.DeliveryByUIDsInput) ([]*webhooks.Delivery, error) {
	return readRepresentations(ctx, readsOf(ctx).deliveries(), mapEach(reps, func(r *graph.DeliveryByUIDsInput) core.UID { return r.UID }))
}

func (deliveries) Event(ctx context.Context, all []*webhooks.Delivery) ([]*core.Event, error) {
	found, err := follow(ctx, all, readsOf(ctx).events(), func(d *webhooks.Delivery) string { return d.EventID })
	return found, filterErrors(err, ignoreNotFound)
}

func (deliveries) Subscription(ctx context.Context, all []*webhooks.Delivery) ([]*webhooks.Subscription, error) {
	return follow(ctx, all, readsOf(ctx).subscriptions(), func(d *webhooks.Delivery) core.UID { return d.UID.Parent() })
}
