package resolvers

import (
	"cmp"
	"context"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graph/scalar"
	"atrium/internal/graphql/analysis"
	"atrium/internal/graphql/execute"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// Events forwards the events of a live feed. A client that reads slower than
// events arrive blocks its feed; the transport limits for how long.
func (f liveFeeds) Events(ctx context.Context, within *core.UID, kinds []string, actor *string, findings *inventory.FindingConditions, after *string, first *int) (<-chan *core.Event, error) {
	req := events.EventRequest{DescendantsOf: valueOrZero(within), Types: kinds, Actor: valueOrZero(actor), Findings: findings, After: after, First: valueOrZero(first)}
	feed, err := f.p.Events.Open(ctx, req)
	if err != nil {
		return nil, err
	}
	stream := make(chan *core.Event)
	go func() {
		defer close(stream)
		err := feed.Follow(ctx, func(e *core.Event) error {
			select {
			case stream <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil && ctx.Err() == nil {
			execute.EndWith(ctx, err) // the client can resume after the last event it received
		}
	}()
	return stream, nil
}

// feedPosition is the field of which readFeedPosition reads the value.
const feedPosition = "Query.feedPosition"

// readFeedPosition reads the position of the feed if a query selects it, before the query reads anything
// else: an event up to the position must be in the rest of the response.
func (r *reads) readFeedPosition(ctx context.Context) {
	if graphql.HasOperationContext(ctx) && analysis.Selects(graphql.GetOperationContext(ctx), feedPosition) {
		position, err := r.p.Events.Position(ctx)
		r.feedPosition = func() (string, error) { return position, err }
	}
}

func (q queries) FeedPosition(ctx context.Context) (*string, error) {
	position, err := readsOf(ctx).feedPosition()
	if err != nil {
		return nil, err
	}
	return &position, nil
}

// The edges of events are read for a whole page at once, and for all events that
// a live feed delivers together. An edge to a deleted object is null.

// sharableFields are the fields that read only by loaders, which record whether the caller may read what their keys name. Live
// feeds of callers who may read the same share answers that have no other fields that read.
var sharableFields = map[string][]string{
	"Event": {"resource", "group", "detail"}, "ChangedFinding": {"finding"}, "EventActor": {"identity"}, "Group": {"parent"}, "Repo": {"group"}, "Tag": {"repo"},
}

// Resource reads the objects that the events are about.
func (eventFields) Resource(ctx context.Context, all []*core.Event) ([]scalar.Node, error) {
	r := readsOf(ctx)
	if r.burst != nil {
		r.objects(ctx, resourcesOf(r.burst.Events)) // loads all; the read below finds them
	}
	found, errs := r.objects(ctx, resourcesOf(all))
	return found, filterErrors(joinErrors(errs), ignoreNotFound)
}

// graphTypes maps the kinds whose GraphQL type has another name to that type.
var graphTypes = map[string]string{"Subscription": "EventSubscription"}

func resourcesOf(all []*core.Event) []object {
	return mapEach(all, func(e *core.Event) object {
		kind, uid := platform.AllEventTypes().ResourceOf(e)
		return object{cmp.Or(graphTypes[kind], kind), string(uid)}
	})
}

func (eventFields) Group(ctx context.Context, all []*core.Event) ([]*iam.Group, error) {
	r, groupOf := readsOf(ctx), func(e *core.Event) core.UID { return e.Group }
	groups := r.groups()
	if r.burst != nil {
		groups.loadMany(ctx, mapEach(r.burst.Events, groupOf)) // loads all; the read below finds them
	}
	found, err := follow(ctx, all, groups, groupOf)
	return found, filterErrors(err, ignoreNotFound)
}

// Identity reads the identity that made a change. It is nil if the actor was not an
// identity.
func (eventActors) Identity(ctx context.Context, all []*core.EventActor) ([]*iam.Identity, error) {
	r := readsOf(ctx)
	identities := r.identities()
	if r.burst != nil {
		acting := mapEach(r.burst.Events, func(e *core.Event) *core.EventActor { return &e.Actor })
		_, _ = follow(ctx, acting, identities, (*core.EventActor).Identity) // loads all; the read below finds them
	}
	found, err := follow(ctx, all, identities, (*core.EventActor).Identity)
	return found, filterErrors(err, ignoreNotFound)
}
