package events

import (
	"context"
	"errors"
	"math"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
)

// Queries read and write events in other ways than a Table does.
type Queries interface {
	// EventsAfter reads events after a position, in order. An empty roots selects
	// all organizations. It returns an event only when no earlier event can still
	// be committed. It may return fewer events than there are, for a moment.
	EventsAfter(ctx context.Context, on core.Conn, roots []core.UID, after core.EventPosition, limit int) ([]*core.Event, error)

	// EventsUpTo reads all events after a position up to the position of an event that
	// EventsAfter has returned, in order, but at most limit.
	EventsUpTo(ctx context.Context, on core.Conn, roots []core.UID, after, upTo core.EventPosition, limit int) ([]*core.Event, error)
}

// EventStore has the operations on events outside of transactions.
type EventStore interface {
	// EventPosition finds the position of an event, or of the newest event if id
	// is "". found is false if there is no such event.
	EventPosition(ctx context.Context, id string) (at core.EventPosition, found bool, err error)

	// Event reads one event, or nil if it does not exist.
	Event(ctx context.Context, id string) (*core.Event, error)

	// Follow exchanges notifications of stored events with other processes until
	// ctx ends. Notifications of others are signalled by Changed. Follow never
	// returns an error. It calls onLost each time notifications stop; callers that
	// wait on Changed must also poll.
	Follow(ctx context.Context, onLost func(error))
}

// Events are the operations on recorded events.
type Events struct{ area *Area }

// An EventRequest asks for the live feed of events.
type EventRequest struct {
	DescendantsOf core.UID // this group and everything below; "" means everything that the caller may see
	Types         []string // the only types; nil means all
	Actor         string   // the only actor, as in an AuditRequest
	// Findings restricts events about findings, and no others; nil means all.
	Findings *inventory.FindingConditions
	// After is the id of the event after which the feed continues, or a position that Position
	// has returned. "" means from the oldest event, and nil means only new events.
	After *string
	First int // number of events after which the feed ends; 0 means no limit
}

// feedBatch is the number of events that a feed reads from the store at once.
const feedBatch = 100

// A Feed is an open live feed of events.
type Feed struct {
	area  *Area
	req   EventRequest
	actor *core.Actor
	after string             // id of the event after which the feed continues; "" means that there is none
	at    core.EventPosition // position of the last event that was read
	left  int                // remaining number of events; a negative number means no limit
}

// Open checks a request and finds the position at which its feed begins. A caller
// needs any grant at, above or below the scope.
func (s Events) Open(ctx context.Context, req EventRequest) (*Feed, error) {
	feed, err := s.open(ctx, req)
	return feed, core.InArea(core.AreaEvents, s.area.Types.ListIn(err))
}

func (s Events) open(ctx context.Context, req EventRequest) (*Feed, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return nil, err
	}
	if err := core.Prove(ctx); err != nil {
		return nil, err // the feed continues after the first response
	}
	var v core.Violations
	if req.DescendantsOf != "" {
		v.CheckUID("within", req.DescendantsOf)
	}
	v.CheckFilter("actor", req.Actor)
	if req.Findings != nil {
		req.Findings.Check(req.DescendantsOf, &v)
	}
	if req.First < 0 {
		v.Add("first", "must not be negative")
	}
	s.area.Types.Check(&v, "kinds", req.Types)
	if req.Types != nil && len(req.Types) == 0 {
		v.Add("kinds", "must not be empty; leave it out for all kinds")
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	if !mayOpenFeed(actor, req.DescendantsOf) {
		return nil, actor.PermissionError(core.CapGroupsList, req.DescendantsOf)
	}
	req.Types = s.area.Types.selectTypes(req.Types)
	feed := &Feed{area: s.area, req: req, actor: actor, left: req.First}
	if req.First == 0 {
		feed.left = -1
	}
	if req.After != nil && *req.After == "" {
		feed.at.Transaction = math.MinInt64 // events of a restored database can have negative positions
		return feed, nil
	}
	if req.After == nil {
		feed.at, _, err = s.area.Store.EventPosition(ctx, "")
		return feed, err
	}
	if feed.after, err = s.eventOf(ctx, *req.After); err != nil {
		return nil, err
	}
	feed.at, err = s.positionAfter(ctx, feed.after)
	return feed, err
}

// feedTokens is the associated data of positions of the feed.
var feedTokens = []byte("feed")

// Position returns where the feed is now, as an After that loses nothing: what the caller reads later
// has all events up to there. It is sealed, because the newest event can belong to an organization that
// the caller does not see. A caller needs any grant.
func (s Events) Position(ctx context.Context) (string, error) {
	actor, err := core.RequireCaller(ctx)
	if err == nil && !mayOpenFeed(actor, "") {
		err = actor.PermissionError(core.CapGroupsList, "")
	}
	if err != nil {
		return "", core.InArea(core.AreaEvents, err)
	}
	at, found, err := s.area.Store.EventPosition(ctx, "")
	if err != nil || !found {
		return "", core.InArea(core.AreaEvents, err)
	}
	newest, err := s.area.tables.EventsUpTo(ctx, s.area.Store, nil, core.EventPosition{Transaction: at.Transaction, Number: at.Number - 1}, at, 1)
	if err != nil || len(newest) == 0 { // Retention may have deleted it; "" is before all that is stored.
		return "", core.InArea(core.AreaEvents, err)
	}
	return s.area.Tokens.Seal(core.Token{Position: core.Position{Value: "", UID: core.UID(newest[0].ID)}}, feedTokens), nil
}

// eventOf returns the id of the event that an After names.
func (s Events) eventOf(ctx context.Context, after string) (string, error) {
	if core.IsEventID(after) || !core.LooksSealed(after) {
		return after, nil
	}
	t, err := s.area.Tokens.Open(ctx, after, feedTokens)
	if errors.Is(err, core.ErrToken) {
		return "", core.Invalid(fieldmask.Violation{Field: "after", Description: "is neither the id of an event nor a feedPosition"})
	}
	return string(t.UID), err
}

// positionAfter returns the position from which a feed misses no event that is not stored
// yet when it continues after the event id. That is the position of the event, or an earlier
// one: the audit log has events at once, while a transaction that still runs can store events
// at earlier positions.
func (s Events) positionAfter(ctx context.Context, id string) (core.EventPosition, error) {
	at, found, err := s.area.Store.EventPosition(ctx, id)
	if err != nil {
		return at, err
	}
	if !found {
		return at, core.Invalid(fieldmask.Violation{Field: "after", Description: "is not the id of a stored event"})
	}
	settled, _, err := s.area.Store.EventPosition(ctx, "")
	if settled.Before(at) {
		at = settled
	}
	return at, err
}

var (
	errExpired = core.InArea(core.AreaEvents, core.Unauthenticated("the token has expired"))
	errEnough  = errors.New("the requested number of events has been delivered")
)

// Follow calls yield for each event that the caller may see, in order, until ctx
// ends, the token of the caller expires, yield fails, or the requested number of
// events was delivered. The caller may see an event if it may read the subject at
// the time of delivery: grants are read again for every batch. New events come
// from the broadcast of the process. The feed reads older events from the store,
// and also events that did not fit into its queue because yield is slow. Follow
// may be called once.
func (f *Feed) Follow(ctx context.Context, yield func(*core.Event) error) error {
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

func (f *Feed) follow(ctx context.Context, yield func(*core.Event) error) error {
	b, roots := f.area.broadcast, feedRootsOf(f.actor, f.req.DescendantsOf)
	caller, err := b.callers.acquire(ctx, f.actor)
	if err != nil {
		return err
	}
	defer b.callers.release(caller)
	l, from, err := b.subscribe(ctx, caller, roots, f.req.wants)
	if err != nil {
		return err
	}
	defer b.unsubscribe(l)
	give := func(events []*core.Event, read int64) error {
		if l.isLost() {
			return errEventsLost
		}
		return f.deliver(ctx, caller, events, read, yield)
	}
	for {
		if err := f.catchUp(ctx, roots, from, give); err != nil {
			return err
		}
		if err := f.listen(ctx, l, give); err != nil {
			return err
		}
		from = b.resume(l)
	}
}

// catchUp delivers the stored events up to the position at which the broadcast
// takes over, which is that of an event that the broadcast has read.
func (f *Feed) catchUp(ctx context.Context, roots []core.UID, upTo core.EventPosition, give func([]*core.Event, int64) error) error {
	for f.at.Before(upTo) {
		events, read, err := f.area.broadcast.readUpTo(ctx, roots, f.at, upTo)
		if err != nil {
			return err
		}
		last := upTo // a batch that is not full reaches upTo
		if len(events) == feedBatch {
			last = events[feedBatch-1].Position
		}
		if err := give(events, read); err != nil {
			return err
		}
		if f.at.Before(last) {
			f.at = last
		}
	}
	return nil
}

// listen delivers new events until some were not queued because yield is slow.
func (f *Feed) listen(ctx context.Context, l *listener, give func([]*core.Event, int64) error) error {
	for {
		events, read, behind := l.drain()
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

// deliver yields the events that the request and the caller's grants allow and
// that were not delivered before.
func (f *Feed) deliver(ctx context.Context, caller *feedCaller, events []*core.Event, read int64, yield func(*core.Event) error) error {
	isNew := func(e *core.Event) bool { return f.at.Before(e.Position) && e.ID != f.after && f.req.wants(e) }
	if !slices.ContainsFunc(events, isNew) {
		return nil
	}
	round, err := f.area.broadcast.callers.join(ctx, caller, read)
	if err != nil {
		return err
	}
	f.actor = round.Actor
	maySee := func(e *core.Event) bool { return isNew(e) && f.area.Types.maySee(f.actor, e) }
	burst := core.NewBurst(round)
	for _, e := range events {
		if maySee(e) && len(burst.Events) != f.left {
			own := *e // other feeds get the same event
			own.Burst = burst
			inventory.HideNames(&own)
			burst.Events = append(burst.Events, &own)
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

func (r EventRequest) wants(e *core.Event) bool {
	return (len(r.Types) == 0 || slices.Contains(r.Types, e.Type)) && (r.Actor == "" || r.Actor == e.Actor.Subject) &&
		(r.DescendantsOf == "" || e.Subject.Within(r.DescendantsOf)) && (r.Findings == nil || r.Findings.AreMet(e))
}

// mayOpenFeed reports whether the actor has any grant at, above or below a scope.
func mayOpenFeed(a *core.Actor, scope core.UID) bool {
	return a.Operator != "" || slices.ContainsFunc(a.Grants, func(g core.HeldGrant) bool {
		return scope == "" || scope.Within(g.Scope) || g.Scope.Within(scope)
	})
}

// feedRootsOf lists the organizations whose events the actor can receive, whatever
// it is granted later: the organization of the scope, or those of its identities
// and providers.
func feedRootsOf(a *core.Actor, scope core.UID) []core.UID {
	if scope != "" {
		return []core.UID{scope.Root()}
	}
	var roots []core.UID
	for _, identity := range a.Identities {
		roots = append(roots, identity.Root())
	}
	for _, m := range a.MappedGroups {
		roots = append(roots, m.Provider.Root())
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}
