package rpc

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"

	eventsv2 "atrium/gen/platform/events/v2"
	"atrium/gen/platform/events/v2/eventsv2connect"
	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

func eventsServices(p *platform.Platform, o connect.HandlerOption) []service {
	return []service{
		newService(eventsv2connect.NewSubscriptionBatchesServiceHandler(eventsBatches{wire.New(p)}, o)),
		newService(eventsv2connect.NewEventsServiceHandler(events{wire.New(p)}, o)),
		newService(eventsv2connect.NewSubscriptionsServiceHandler(subscriptions{p.Subscriptions}, o)),
	}
}

type subscriptions struct{ operations webhooks.Subscriptions }

func (s subscriptions) GetSubscription(ctx context.Context, r *eventsv2.GetSubscriptionRequest) (*eventsv2.Subscription, error) {
	return convert(subscription)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s subscriptions) CreateSubscription(ctx context.Context, r *eventsv2.CreateSubscriptionRequest) (*eventsv2.Subscription, error) {
	var conditions *webhooks.EventConditions
	if c := r.GetConditions(); c != nil {
		conditions = &webhooks.EventConditions{Within: texts[core.UID](c.GetWithin()), Actors: c.GetActors(), IncludeDenied: c.GetIncludeDenied()}
	}
	var findings *inventory.FindingConditions
	if c := r.GetFindings(); c != nil {
		findings = &inventory.FindingConditions{KnownExploited: c.GetKnownExploited(), Within: texts[core.UID](c.GetWithin())}
		if rating := c.GetMinSeverity(); rating != 0 {
			findings.MinSeverity = core.SeverityRating(rating.String())
		}
	}
	return convert(subscription)(s.operations.CreateConditional(ctx, core.UID(r.GetParent()), input[*webhooks.Subscription](r.GetSubscription(), nil), conditions, findings))
}

func (s subscriptions) ListSubscriptions(ctx context.Context, r *eventsv2.ListSubscriptionsRequest) (*eventsv2.ListSubscriptionsResponse, error) {
	page, err := s.operations.List(ctx, list(r, &webhooks.SubscriptionFilter{}))
	return &eventsv2.ListSubscriptionsResponse{
		Subscriptions: convertEach(page.Items, subscription),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s subscriptions) DeleteSubscription(ctx context.Context, r *eventsv2.DeleteSubscriptionRequest) (*emptypb.Empty, error) {
	return emptyResult(s.operations.Delete(ctx, core.UID(r.GetUid())))
}

func (s subscriptions) TestSubscription(ctx context.Context, r *eventsv2.TestSubscriptionRequest) (*eventsv2.TestSubscriptionResponse, error) {
	return convert(testResult)(s.operations.Test(ctx, core.UID(r.GetUid())))
}

func testResult(r *webhooks.TestResult) *eventsv2.TestSubscriptionResponse {
	return &eventsv2.TestSubscriptionResponse{EventId: r.EventID, Delivered: r.Delivered, Status: r.Status, Error: r.Error, Answer: r.Answer}
}

func subscription(s *webhooks.Subscription) *eventsv2.Subscription {
	return &eventsv2.Subscription{
		Uid: string(s.UID), Sink: s.Sink, Types: s.Types, Secret: s.Secret,
		Format:     enumValue[eventsv2.SubscriptionFormat](eventsv2.SubscriptionFormat_value, s.Format),
		Digest:     enumValue[eventsv2.SubscriptionDigest](eventsv2.SubscriptionDigest_value, s.Digest),
		CreateTime: timestamp(s.CreateTime), UpdateTime: timestamp(s.UpdateTime),
	}
}
