package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/platform"
)

// deliveries resolves the fields of deliveries.
type deliveries struct {
	viewerFields[*platform.Delivery]
}

func (r root) Delivery() graph.DeliveryResolver {
	return deliveries{newViewerFields(r.p.Deliveries)}
}

func (r *reads) deliveries() *loader[platform.UID, *platform.Delivery] {
	return loaderOf(r, r.p.Deliveries.GetMany)
}

func (m mutations) Redeliver(ctx context.Context, input graph.RedeliverInput) (*graph.RedeliverPayload, error) {
	redelivered, err := m.p.Deliveries.Redeliver(ctx, input.Uids)
	if err != nil {
		return nil, err
	}
	return &graph.RedeliverPayload{Deliveries: redelivered}, nil
}

func (e entities) FindManyDeliveryByUIDs(ctx context.Context, reps []*graph.DeliveryByUIDsInput) ([]*platform.Delivery, error) {
	return readRepresentations(ctx, readsOf(ctx).deliveries(), mapEach(reps, func(r *graph.DeliveryByUIDsInput) platform.UID { return r.UID }))
}

func (deliveries) Subscription(ctx context.Context, all []*platform.Delivery) ([]*platform.Subscription, error) {
	return follow(ctx, all, readsOf(ctx).subscriptions(), func(d *platform.Delivery) platform.UID { return d.UID.Parent() })
}
