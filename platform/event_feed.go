package platform

import (
	"context"
	"slices"
	"strings"
	"time"
)

// Events are the operations on recorded events.
type Events struct{ p *Platform }

// An EventRequest asks for the live feed of events.
type EventRequest struct {
	DescendantsOf UID      // of this group and everything below; "": all that the caller may see
	Types         []string // of these types only; none: of all
	After         *string  // resume behind this event's id; "": from the oldest kept; nil: from now on
	First         int      // end after so many; 0: never
}

// How the feed is read: at once when this process stored an event, and in any
// case so often, since other replicas store events too.
const (
	feedInterval = time.Second
	feedBatch    = 100
)

// Follow gives the caller each event that it may see, in order, until ctx
// ends, its token expires, yield fails or enough were given. An event may be
// seen by whoever may read its subject, at the moment it is given: grants are
// read anew for every batch.
func (s Events) Follow(ctx context.Context, req EventRequest, yield func(*Event) error) error {
	actor, at, err := s.start(ctx, req)
	if err != nil {
		return inArea("events", err)
	}
	if !actor.Expires.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, actor.Expires)
		defer cancel()
	}
	given := 0
	for {
		changed := s.p.store.Changed()
		if actor, err = actor.refreshed(ctx, s.p.store); err != nil {
			return err
		}
		events, err := s.p.store.EventsAfter(ctx, actor.roots(req.DescendantsOf), at, feedBatch)
		if err != nil {
			return err
		}
		for _, e := range events {
			at = e.Position
			if !req.wants(e) || !actor.mayHear(e) {
				continue
			}
			if err := yield(e); err != nil {
				return err
			}
			if given++; given == req.First {
				return nil
			}
		}
		if len(events) == feedBatch {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-time.After(feedInterval):
		}
	}
}

// start checks a request and finds where the feed begins.
func (s Events) start(ctx context.Context, req EventRequest) (*Actor, EventPosition, error) {
	var at EventPosition
	actor, err := caller(ctx)
	if err != nil {
		return nil, at, err
	}
	var v violations
	if req.DescendantsOf != "" {
		v.uid("descendantsOf", req.DescendantsOf)
	}
	if req.After != nil {
		v.filter("after", *req.After)
	}
	if req.First < 0 {
		v.add("first", "must not be negative")
	}
	v.lines("types", req.Types, 100)
	if err := v.err(); err != nil {
		return nil, at, err
	}
	if !actor.hearsIn(req.DescendantsOf) {
		return nil, at, actor.lacks(CapGroupsList, req.DescendantsOf)
	}
	if req.After != nil && *req.After == "" {
		return actor, at, nil
	}
	id := ""
	if req.After != nil {
		id = *req.After
	}
	at, found, err := s.p.store.EventPosition(ctx, id)
	if err == nil && !found && id != "" {
		return nil, at, Invalid(Violation{"after", "is not the id of an event that is kept"})
	}
	return actor, at, err
}

func (r EventRequest) wants(e *Event) bool {
	return (len(r.Types) == 0 || slices.Contains(r.Types, e.Type)) &&
		(r.DescendantsOf == "" || e.Subject.Within(r.DescendantsOf))
}

// hearsIn reports whether a holds anything at, above or below a scope.
func (a *Actor) hearsIn(scope UID) bool {
	return a.operator != "" || slices.ContainsFunc(a.grants, func(g grant) bool {
		return scope == "" || scope.Within(g.scope) || g.scope.Within(scope)
	})
}

// roots lists the organisations that a may hear of; of a scope, its own.
func (a *Actor) roots(scope UID) []UID {
	if scope != "" {
		return []UID{scope.Root()}
	}
	var roots []UID
	for _, g := range a.grants {
		roots = append(roots, g.scope.Root())
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// mayHear reports whether a may read what an event tells of.
func (a *Actor) mayHear(e *Event) bool {
	for kind, capability := range listCapability {
		if strings.HasPrefix(e.Type, eventPrefix+kind+".") {
			return a.Can(capability, e.Subject)
		}
	}
	return false
}

// listCapability is what reading a kind needs, by the middle of its event
// types.
var listCapability = map[string]Capability{
	groupKind.Event: groupKind.List, identityKind.Event: identityKind.List, roleKind.Event: roleKind.List,
	roleBindingKind.Event: roleBindingKind.List, repoKind.Event: repoKind.List, tagKind.Event: tagKind.List,
	subscriptionKind.Event: subscriptionKind.List,
}
