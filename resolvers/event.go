package resolvers

import (
	"cmp"
	"context"

	"github.com/99designs/gqlgen/plugin/federation/fedruntime"

	"atrium/graphql/execute"
	"atrium/platform"
)

// Events hands on the live feed. A reader that is slower than the feed holds it
// up; the transport decides for how long.
func (f feeds) Events(ctx context.Context, descendantsOf *platform.UID, types []string, after *string, first *int) (<-chan *platform.Event, error) {
	req := platform.EventRequest{DescendantsOf: or(descendantsOf), Types: types, After: after, First: or(first)}
	feed, err := f.p.Events.Open(ctx, req)
	if err != nil {
		return nil, err
	}
	events := make(chan *platform.Event)
	go func() {
		defer close(events)
		err := feed.Follow(ctx, func(e *platform.Event) error {
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if err != nil && ctx.Err() == nil {
			execute.EndWith(ctx, err) // the reader can go on after the last event that it got
		}
	}()
	return events, nil
}

// What events lead to is read for a page of them at once, and for all that a
// live feed gives together. What is gone is null.

// Resource is what an event tells of.
func (events) Resource(ctx context.Context, all []*platform.Event) ([]fedruntime.Entity, error) {
	r := readsOf(ctx)
	if burst := burstOf(all); burst != nil {
		r.objects(ctx, resourcesOf(burst.Events)) // and find them below
	}
	found, errs := r.objects(ctx, resourcesOf(all))
	return found, ignoring(joined(errs), unlessMissing)
}

// burstOf is the burst of an event of a live feed, which is answered alone; nil
// of all others.
func burstOf(all []*platform.Event) *platform.Burst {
	if len(all) != 1 {
		return nil
	}
	return all[0].Burst
}

// graphTypes are the types of kinds that the graph names differently.
var graphTypes = map[string]string{"Subscription": "EventSubscription"}

func resourcesOf(all []*platform.Event) []object {
	return keysOf(all, func(e *platform.Event) object {
		kind, uid := e.Resource()
		return object{cmp.Or(graphTypes[kind], kind), string(uid)}
	})
}

func (events) GroupNode(ctx context.Context, all []*platform.Event) ([]*platform.Group, error) {
	groups, groupOf := &readsOf(ctx).groups, func(e *platform.Event) platform.UID { return e.Group }
	if burst := burstOf(all); burst != nil {
		groups.many(ctx, keysOf(burst.Events, groupOf)) // and find them below
	}
	found, err := follow(ctx, all, groups, groupOf)
	return found, ignoring(err, unlessMissing)
}

// Identity is who made a change, where that was an identity.
func (eventActors) Identity(ctx context.Context, all []*platform.EventActor) ([]*platform.Identity, error) {
	identities := &readsOf(ctx).identities
	if len(all) == 1 && all[0].Burst != nil {
		acting := keysOf(all[0].Burst.Events, func(e *platform.Event) *platform.EventActor { return &e.Actor })
		_, _ = follow(ctx, acting, identities, (*platform.EventActor).Identity) // and find them below
	}
	found, err := follow(ctx, all, identities, (*platform.EventActor).Identity)
	return found, ignoring(err, unlessMissing)
}
