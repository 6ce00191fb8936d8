package platform

import (
	"context"
	"slices"
	"strings"
)

// AuditLog are the operations on the record of who changed what, and of who
// was refused to. The recorded events are that record.
type AuditLog struct{ p *Platform }

// An AuditRequest asks for a page of the log, the newest first.
type AuditRequest struct {
	DescendantsOf UID      // of this group and everything below; "": all that the caller may audit
	Actor         string   // of this one only: an identity's UID, or the operator's command
	Types         []string // of these event types only; nil: of all; empty: of none
	Since, Until  Time     // Since is inclusive, Until is not; zero: unbounded
	Denied        *bool    // only what was refused, or only what was done

	After    string // an id: the page begins behind it
	Backward bool   // the page ends before it
	PageSize int
	Without  LongTexts

	Malformed []Violation // what else is wrong with it, found when it was decoded
}

// An AuditPage is what was found.
type AuditPage struct {
	Items                []*Event
	HasNext, HasPrevious bool
}

// An AuditQuery is a request that may be read as it stands.
type AuditQuery struct {
	Scope        Scope
	IDs          []string // of these events, whatever else is asked for, in no order; nil: of all
	Actor        string
	Types        []string
	Denied       *bool
	After        string // exclusive; "": from the newest, or the oldest for Backward
	From, Before string // bounds of ids: From is inclusive, Before is not; "": none
	Backward     bool
	Limit        int
	Without      LongTexts
}

// List reads a page. It needs groups.update on the scope; without one it reads
// what lies where the caller has that.
func (s AuditLog) List(ctx context.Context, req AuditRequest) (AuditPage, error) {
	page, err := s.list(ctx, req)
	return page, inArea("events", err)
}

func (s AuditLog) list(ctx context.Context, req AuditRequest) (AuditPage, error) {
	q, err := req.query(ctx)
	if err != nil {
		return AuditPage{}, err
	}
	if req.Types != nil && len(req.Types) == 0 {
		return AuditPage{HasPrevious: req.After != ""}, nil
	}
	events, err := s.p.store.EventLog(ctx, q)
	if err != nil {
		return AuditPage{}, err
	}
	more := len(events) > q.Limit
	events = events[:min(len(events), q.Limit)]
	page := AuditPage{Items: events, HasNext: more, HasPrevious: req.After != ""}
	if req.Backward {
		slices.Reverse(events)
		page.HasNext, page.HasPrevious = page.HasPrevious, more
	}
	return page, nil
}

// GetMany reads events in the order of ids, with one read. Each place holds an
// event or an error; one that lies where the caller may not read the log is not
// found.
func (s AuditLog) GetMany(ctx context.Context, ids []string) ([]*Event, []error) {
	return s.GetManyWithout(ctx, ids, 0)
}

// GetManyWithout is GetMany without long texts.
func (s AuditLog) GetManyWithout(ctx context.Context, ids []string, texts LongTexts) ([]*Event, []error) {
	events, errs := make([]*Event, len(ids)), make([]error, len(ids))
	q := AuditQuery{IDs: []string{}, Limit: len(ids), Without: texts}
	actor, err := caller(ctx)
	if err == nil {
		q.Scope, err = auditable(actor)
	}
	for i, id := range ids {
		switch {
		case err != nil:
			errs[i] = inArea("events", err)
		case !IsEventID(id):
			errs[i] = inArea("events", Invalid(Violation{"id", "is not the id of an event"}))
		default:
			q.IDs = append(q.IDs, id)
		}
	}
	if len(q.IDs) == 0 {
		return events, errs
	}
	found, err := s.p.store.EventLog(ctx, q)
	for i, id := range ids {
		if errs[i] != nil {
			continue
		}
		if at := slices.IndexFunc(found, func(e *Event) bool { return e.ID == id }); at >= 0 {
			events[i] = found[at]
		} else if errs[i] = err; err == nil {
			errs[i] = inArea("events", missing("Event", UID(id)))
		}
	}
	return events, errs
}

// auditable is where an actor may read the log.
func auditable(actor *Actor) (Scope, error) {
	held, err := actor.everywhere(CapGroupsUpdate)
	if err != nil {
		return Scope{}, err
	}
	return subtrees(held), nil
}

// query checks a request and decides what may be read for it.
func (r AuditRequest) query(ctx context.Context) (AuditQuery, error) {
	actor, err := caller(ctx)
	if err != nil {
		return AuditQuery{}, err
	}
	v := violations(slices.Clone(r.Malformed))
	q := r.checked(&v)
	if err := v.err(); err != nil {
		return q, err
	}
	switch {
	case r.DescendantsOf != "" && !actor.Can(CapGroupsUpdate, r.DescendantsOf):
		return q, actor.lacks(CapGroupsUpdate, r.DescendantsOf)
	case r.DescendantsOf != "":
		q.Scope = subtrees([]UID{r.DescendantsOf})
	default:
		q.Scope, err = auditable(actor)
	}
	return q, err
}

func (r AuditRequest) checked(v *violations) AuditQuery {
	if r.DescendantsOf != "" {
		v.uid("descendantsOf", r.DescendantsOf)
	}
	v.filter("actor", r.Actor)
	v.eventTypes(r.Types)
	if !r.Since.IsZero() && !r.Until.IsZero() && r.Until.Before(r.Since.Time) {
		v.add("until", "must not be before since")
	}
	if r.After != "" && !IsEventID(r.After) {
		v.add("page_token", "is not a cursor of this log")
	}
	q := AuditQuery{Actor: r.Actor, Types: fullEventTypes(r.Types), Denied: r.Denied, After: r.After, Backward: r.Backward, Limit: min(r.PageSize, MaxPageSize), Without: r.Without}
	switch {
	case r.PageSize < 0:
		v.add("page_size", "must not be negative")
	case r.PageSize == 0:
		q.Limit = DefaultPageSize
	}
	if !r.Since.IsZero() {
		q.From = FirstEventID(r.Since)
	}
	if !r.Until.IsZero() {
		q.Before = FirstEventID(r.Until)
	}
	return q
}

// Export gives every entry that a request asks for, the newest first, as the
// operator: to yield one after the other.
func (s AuditLog) Export(ctx context.Context, req AuditRequest, yield func(*Event) error) error {
	var v violations
	q := req.checked(&v)
	if err := v.err(); err != nil {
		return err
	}
	q.Scope, q.Limit = scopeOf(Branch{Relation: Everything}), MaxPageSize
	if req.DescendantsOf != "" {
		q.Scope = subtrees([]UID{req.DescendantsOf})
	}
	for {
		events, err := s.p.store.EventLog(ctx, q)
		if err != nil {
			return err
		}
		for _, e := range events[:min(len(events), q.Limit)] {
			if err := yield(e); err != nil {
				return err
			}
			q.After = e.ID
		}
		if len(events) <= q.Limit {
			return nil
		}
	}
}

// IsEventID reports whether id has the form of newEventID's.
func IsEventID(id string) bool {
	return len(id) == len(FirstEventID(Time{})) && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' &&
		lowerHex(strings.ReplaceAll(id, "-", ""))
}

// FirstEventID is an id before which all lie that were made before t, and no
// other.
func FirstEventID(t Time) string {
	ms := max(t.UnixMilli(), 0)
	return eventIDOf([16]byte{
		byte(ms >> 40), byte(ms >> 32), byte(ms >> 24), byte(ms >> 16), byte(ms >> 8), byte(ms),
	})
}
