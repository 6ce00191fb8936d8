package resolvers

import (
	"context"
	"slices"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// eventSubscriptions resolves the fields of event subscriptions.
type eventSubscriptions struct {
	p *platform.Platform
	viewerFields[*webhooks.Subscription]
}

func (r root) EventSubscription() graph.EventSubscriptionResolver {
	return eventSubscriptions{r.p, newViewerFields(r.p.Subscriptions)}
}

// eventConditions and findingConditions resolve the fields of what events must meet to be sent, and testResults those of tests.
type (
	eventConditions   struct{}
	findingConditions struct{}
	testResults       struct{}
)

func (root) EventConditions() graph.EventConditionsResolver { return eventConditions{} }

func (root) FindingConditions() graph.FindingConditionsResolver { return findingConditions{} }

func (root) TestSubscriptionPayload() graph.TestSubscriptionPayloadResolver { return testResults{} }

func (eventConditions) Within(ctx context.Context, all []*webhooks.EventConditions) ([][]scalar.Node, error) {
	return readsOf(ctx).visiblePlaces(ctx, mapEach(all, func(c *webhooks.EventConditions) []core.UID { return c.Within }))
}

func (eventConditions) ActorIdentities(ctx context.Context, all []*webhooks.EventConditions) ([][]*iam.Identity, error) {
	return followAll(ctx, all, readsOf(ctx).identities(), func(c *webhooks.EventConditions) []core.UID {
		return slices.DeleteFunc(mapEach(c.Actors, identityUID), func(uid core.UID) bool { return uid == "" })
	}, ignoreHidden)
}

func (findingConditions) Within(ctx context.Context, all []*inventory.FindingConditions) ([][]scalar.Node, error) {
	return readsOf(ctx).visiblePlaces(ctx, mapEach(all, func(c *inventory.FindingConditions) []core.UID { return c.Within }))
}

func (testResults) Event(ctx context.Context, all []*webhooks.TestResult) ([]*core.Event, error) {
	found, err := follow(ctx, all, readsOf(ctx).events(), func(t *webhooks.TestResult) string { return t.EventID })
	return found, filterErrors(err, ignoreNotFound)
}

func (r *reads) subscriptions() *loader[core.UID, *webhooks.Subscription] {
	return loaderOf(r, r.p.Subscriptions.GetMany)
}

func (q queries) Subscription(ctx context.Context, uid core.UID) (*webhooks.Subscription, error) {
	return readsOf(ctx).subscriptions().load(ctx, uid)
}

func (q queries) Subscriptions(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.EventSubscriptionFilter) (*scalar.EventSubscriptionConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Subscriptions.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.SubscriptionFilter, window)))
}

// CreateSubscription creates a subscription. Besides RotateSubscriptionSecret, its
// response is the only one that shows the secret.
func (m mutations) CreateSubscription(ctx context.Context, input map[string]any) (*graph.CreateSubscriptionPayload, error) {
	conditions, _ := input["conditions"].(*webhooks.EventConditions)
	findings, _ := input["findings"].(*inventory.FindingConditions)
	parent, in := decodeInput[*webhooks.Subscription](without(input, "conditions", "findings"))
	made, err := m.p.Subscriptions.CreateConditional(withConditions(ctx, input), parent, in, conditions, findings)
	if err != nil {
		return nil, err
	}
	edge := newEdges(ctx, m.p.Subscriptions.ListEach, parent, made)[0]
	return &graph.CreateSubscriptionPayload{Subscription: made, SubscriptionEdge: edge, Secret: made.Secret}, nil
}

func (m mutations) DeleteSubscription(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("EventSubscription", input, m.p.Subscriptions.Delete(withDeletionConditions(ctx, input), input.UID))
}

// BatchCreateSubscriptions creates several subscriptions. Its response is the only one that shows their secrets.
func (m mutations) BatchCreateSubscriptions(ctx context.Context, input map[string]any) (*graph.BatchCreateSubscriptionsPayload, error) {
	given, _ := input["requests"].([]map[string]any)
	requests := make([]webhooks.SubscriptionRequest, len(given))
	for i, one := range given {
		requests[i].Conditions, _ = one["conditions"].(*webhooks.EventConditions)
		requests[i].Findings, _ = one["findings"].(*inventory.FindingConditions)
		requests[i].UID, requests[i].Input = decodeInput[*webhooks.Subscription](without(one, "conditions", "findings"))
		requests[i].Input = requests[i].Input.Malformed(refuseConditions(one)...)
	}
	made, err := m.p.Subscriptions.CreateBatch(ctx, requests)
	if err != nil {
		return nil, err
	}
	return &graph.BatchCreateSubscriptionsPayload{Subscriptions: made, Secrets: mapEach(made, func(s *webhooks.Subscription) string { return s.Secret })}, nil
}

func (m mutations) BatchDeleteSubscriptions(ctx context.Context, input graph.BatchDeleteSubscriptionsInput) (*graph.BatchDeleteSubscriptionsPayload, error) {
	if err := m.p.Subscriptions.DeleteBatch(ctx, input.Uids); err != nil {
		return nil, err
	}
	return &graph.BatchDeleteSubscriptionsPayload{DeletedIds: globalIDs("EventSubscription", input.Uids), DeletedUids: input.Uids}, nil
}

// RotateSubscriptionSecret replaces the secret. Its response is the only one that
// shows the new secret.
func (m mutations) RotateSubscriptionSecret(ctx context.Context, input graph.RotateSubscriptionSecretInput) (*graph.RotateSubscriptionSecretPayload, error) {
	rotated, err := m.p.Subscriptions.RotateSecret(ctx, input.UID)
	if err != nil {
		return nil, err
	}
	return &graph.RotateSubscriptionSecretPayload{Subscription: rotated, Secret: rotated.Secret}, nil
}

func (m mutations) TestSubscription(ctx context.Context, input graph.TestSubscriptionInput) (*webhooks.TestResult, error) {
	return m.p.Subscriptions.Test(ctx, input.UID)
}

func (m mutations) EnableSubscription(ctx context.Context, input graph.EnableSubscriptionInput) (*graph.EnableSubscriptionPayload, error) {
	enabled, err := m.p.Subscriptions.Enable(ctx, input.UID)
	if err != nil {
		return nil, err
	}
	return &graph.EnableSubscriptionPayload{Subscription: enabled}, nil
}

func (e entities) FindManyEventSubscriptionByUIDs(ctx context.Context, reps []*graph.EventSubscriptionByUIDsInput) ([]*webhooks.Subscription, error) {
	return readRepresentations(ctx, readsOf(ctx).subscriptions(), mapEach(reps, func(r *graph.EventSubscriptionByUIDsInput) core.UID { return r.UID }))
}

func (eventSubscriptions) Group(ctx context.Context, all []*webhooks.Subscription) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(s *webhooks.Subscription) core.UID { return s.UID.Parent() })
}

func (r eventSubscriptions) Deliveries(ctx context.Context, all []*webhooks.Subscription, window scalar.Window, where *webhooks.DeliveryFilter) ([]*scalar.DeliveryConnection, error) {
	scopes := mapEach(all, func(s *webhooks.Subscription) core.UIDFilter { return core.UIDFilter{ChildrenOf: s.UID} })
	return newConnections(r.p.Deliveries.ListEach(ctx, request(ctx, core.UIDFilter{}, where, window), scopes))
}
