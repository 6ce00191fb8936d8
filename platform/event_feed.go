package platform

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
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

// feedBatch is how many events a feed reads for itself at once.
const feedBatch = 100

// A Feed is a live feed of events that the caller may open.
type Feed struct {
	p     *Platform
	req   EventRequest
	actor *Actor
	at    EventPosition // of the last event that was read
	left  int           // how many are still to be given; below 0: any number
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
	if err := Prove(ctx); err != nil {
		return nil, err // the feed outlives what is answered first
	}
	var v violations
	if req.DescendantsOf != "" {
		v.uid("descendantsOf", req.DescendantsOf)
	}
	if req.First < 0 {
		v.add("first", "must not be negative")
	}
	v.eventTypes(req.Types)
	if req.Types != nil && len(req.Types) == 0 {
		v.add("types", "must not be empty: a feed of no types gives nothing; leave it out for all")
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if !actor.hearsIn(req.DescendantsOf) {
		return nil, actor.lacks(CapGroupsList, req.DescendantsOf)
	}
	req.Types = fullEventTypes(req.Types)
	feed := &Feed{p: s.p, req: req, actor: actor, left: req.First}
	if req.First == 0 {
		feed.left = -1
	}
	if req.After != nil && *req.After == "" {
		feed.at.Transaction = math.MinInt64 // events of a database that was restored may be below 0
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

var (
	errExpired = inArea("events", Unauthenticated("the token has expired"))
	errEnough  = errors.New("as many events as were asked for have been given")
)

// Follow gives each event that the caller may see, in order, until ctx ends,
// the caller's token expires, yield fails or enough were given. An event may
// be seen by whoever may read its subject, at the moment it is given: grants
// are read anew for every batch. New events come from the broadcast of the
// process; what is older, and what did not fit into the feed's queue because
// yield is slow, the feed reads from the store. It may be called once.
func (f *Feed) Follow(ctx context.Context, yield func(*Event) error) error {
	if !f.actor.Expires.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, f.actor.Expires, errExpired)
		defer cancel()
	}
	err := f.follow(ctx, yield)
	switch {
	case errors.Is(err, errEnough):
		return nil
	case errors.Is(context.Cause(ctx), errExpired):
		return errExpired
	}
	return err
}

func (f *Feed) follow(ctx context.Context, yield func(*Event) error) error {
	b, roots := f.p.broadcast, f.actor.roots(f.req.DescendantsOf)
	caller := b.holders.enter(f.actor)
	defer b.holders.leave(caller)
	give := func(events []*Event, read int64) error { return f.give(ctx, caller, events, read, yield) }
	l, from, err := b.join(ctx, caller, roots, f.req.wants)
	if err != nil {
		return err
	}
	defer b.leave(l)
	for {
		if err := f.catchUp(ctx, roots, from, give); err != nil {
			return err
		}
		if err := f.listen(ctx, l, give); err != nil {
			return err
		}
		from = b.rejoin(l)
	}
}

// catchUp gives what was recorded before the broadcast gives events to this
// feed: all up to a position.
func (f *Feed) catchUp(ctx context.Context, roots []UID, upTo EventPosition, give func([]*Event, int64) error) error {
	for f.at.before(upTo) {
		events, read, err := f.p.broadcast.readAfter(ctx, roots, f.at)
		if err != nil {
			return err
		}
		last := upTo // with fewer than a batch, nothing is left to read up to there
		if len(events) == feedBatch {
			last = events[feedBatch-1].Position
		}
		if err := give(events, read); err != nil {
			return err
		}
		if f.at.before(last) {
			f.at = last
		}
	}
	return nil
}

// listen gives new events, until some are missing because yield is slow.
func (f *Feed) listen(ctx context.Context, l *listener, give func([]*Event, int64) error) error {
	for {
		events, read, behind := l.take()
		if err := give(events, read); err != nil || behind {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.wake:
		}
	}
}

// give yields those of events that the request and the caller's grants allow,
// and that it has not given before.
func (f *Feed) give(ctx context.Context, caller *holder, events []*Event, read int64, yield func(*Event) error) (err error) {
	news := func(e *Event) bool { return f.at.before(e.Position) && f.req.wants(e) }
	if !slices.ContainsFunc(events, news) {
		return nil
	}
	if f.actor, err = f.p.broadcast.holders.fresh(ctx, caller, f.actor, read); err != nil {
		return err
	}
	heard := func(e *Event) bool { return news(e) && f.actor.mayHear(e) }
	burst := &Burst{Actor: f.actor}
	for _, e := range events {
		if heard(e) && len(burst.Events) != f.left {
			one := *e // which other feeds are given too
			one.Burst, one.Actor.Burst = burst, burst
			burst.Events = append(burst.Events, &one)
		}
	}
	for _, e := range burst.Events {
		f.at = e.Position
		if err := yield(e); err != nil {
			return err
		}
		if f.left--; f.left == 0 {
			return errEnough
		}
	}
	f.at = events[len(events)-1].Position
	return nil
}

// A Burst is events that a live feed gives together. What they lead to can be
// read together too, for the caller as it was when they were given.
type Burst struct {
	Actor  *Actor
	Events []*Event

	once sync.Once
	kept any
}

// Keep gives what its reader keeps for all events of a burst, and makes it for
// the first of them.
func (b *Burst) Keep(begin func() any) any {
	b.once.Do(func() { b.kept = begin() })
	return b.kept
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
