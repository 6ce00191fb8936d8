package platform

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Events are the operations on recorded events.
type Events struct{ p *Platform }

// An EventRequest asks for the live feed of events.
type EventRequest struct {
	DescendantsOf UID      // of this group and everything below; "": all that the caller may see
	Types         []string // of these types only; nil: of all
	After         *string  // resume behind this event's id; "": from the oldest kept; nil: from now on
	First         int      // end after so many; 0: never
}

// How the feed is read: at once when Changed tells, and in any case so often,
// since it need not hear of what other replicas store.
const (
	feedInterval = time.Second
	feedBatch    = 100
)

// A Feed is a live feed of events that the caller may open.
type Feed struct {
	p     *Platform
	req   EventRequest
	actor *Actor
	at    EventPosition // of the last event that was read
}

// Open checks a request and finds where its feed begins. Whoever holds
// anything at, above or below the scope may open it.
func (s Events) Open(ctx context.Context, req EventRequest) (*Feed, error) {
	feed, err := s.open(ctx, req)
	return feed, inArea("events", err)
}

func (s Events) open(ctx context.Context, req EventRequest) (*Feed, error) {
	actor, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	var v violations
	if req.DescendantsOf != "" {
		v.uid("descendantsOf", req.DescendantsOf)
	}
	if req.First < 0 {
		v.add("first", "must not be negative")
	}
	v.lines("types", req.Types, 100)
	if req.Types != nil && len(req.Types) == 0 {
		v.add("types", "must not be empty: a feed of no types gives nothing; leave it out for all")
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if !actor.hearsIn(req.DescendantsOf) {
		return nil, actor.lacks(CapGroupsList, req.DescendantsOf)
	}
	feed := &Feed{p: s.p, req: req, actor: actor}
	if req.After != nil && *req.After == "" {
		return feed, nil
	}
	id := ""
	if req.After != nil {
		id = *req.After
	}
	at, found, err := s.p.store.EventPosition(ctx, id)
	if err == nil && !found && id != "" {
		return nil, Invalid(Violation{"after", "is not the id of an event that is kept"})
	}
	feed.at = at
	return feed, err
}

var errExpired = inArea("events", Unauthenticated("the token has expired"))

// Follow gives each event that the caller may see, in order, until ctx ends,
// the caller's token expires, yield fails or enough were given. An event may
// be seen by whoever may read its subject, at the moment it is given: grants
// are read anew for every batch.
func (f *Feed) Follow(ctx context.Context, yield func(*Event) error) error {
	if !f.actor.Expires.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, f.actor.Expires, errExpired)
		defer cancel()
	}
	err := f.follow(ctx, yield)
	if errors.Is(context.Cause(ctx), errExpired) {
		return errExpired
	}
	return err
}

func (f *Feed) follow(ctx context.Context, yield func(*Event) error) error {
	for given := 0; ; {
		changed := f.p.store.Changed()
		events, err := f.next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			if f.at = e.Position; !f.req.wants(e) || !f.actor.mayHear(e) {
				continue
			}
			if err := yield(e); err != nil {
				return err
			}
			if given++; given == f.req.First {
				return nil
			}
		}
		if len(events) == feedBatch {
			continue // more are waiting
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-time.After(feedInterval):
		}
	}
}

// next reads the next events, and only then what the caller holds: of an event
// that was recorded after a right was lost, the loss is seen.
func (f *Feed) next(ctx context.Context) (events []*Event, err error) {
	events, err = f.p.store.EventsAfter(ctx, f.actor.roots(f.req.DescendantsOf), f.at, feedBatch)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	f.actor, err = f.actor.refreshed(ctx, f.p.store)
	return events, err
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

// roots lists the organisations that a may ever hear of, whatever it is granted
// meanwhile: those of its identities and providers. Of a scope, its own.
func (a *Actor) roots(scope UID) []UID {
	if scope != "" {
		return []UID{scope.Root()}
	}
	var roots []UID
	for _, identity := range a.Identities {
		roots = append(roots, identity.Root())
	}
	for _, m := range a.mapped {
		roots = append(roots, m.provider.Root())
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}
