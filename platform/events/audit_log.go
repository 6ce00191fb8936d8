package platform

import (
	"context"
	"slices"
	"strings"

	"atrium/platform/fieldmask"
)

// AuditStore reads recorded events and denials.
type AuditStore interface {
	// EventLog reads events, including denials.
	EventLog(ctx context.Context, q AuditQuery) ([]*Event, error)

	// EventActivity counts changes and denials per interval.
	EventActivity(ctx context.Context, q ActivityQuery) ([]EventCount, error)

	// FirstBindingChanges reads, of each role binding on the groups of a query that has changed
	// since its time, the first event since then. It leaves out bindings that were made since then.
	// The events are in the order of their subjects, and up to the limit.
	FirstBindingChanges(ctx context.Context, q PastBindingQuery) ([]*Event, error)

	// RoleCapabilityChanges reads the events, in their order, by which roles have got other
	// capabilities or were deleted since a time.
	RoleCapabilityChanges(ctx context.Context, roles []UID, since Time) ([]*Event, error)

	// RecordedSince returns the time from which all events are stored. It is zero if none was
	// ever deleted.
	RecordedSince(ctx context.Context) (Time, error)
}

// AuditLog are the operations on the audit log: the recorded events of changes
// and of denied changes.
type AuditLog struct{ area *eventsArea }

// An AuditRequest asks for a page of the log, newest first.
type AuditRequest struct {
	DescendantsOf UID      // this group and everything below; "" means everything that the caller may audit
	Actor         string   // the only actor: the UID of an identity, or the name of an operator's command
	Subject       UID      // only what happened to this resource or was done by it: see AuditQuery
	Target        UID      // only what happened to this resource; not together with Subject
	Types, Kinds  []string // the only event types, and more of them; nil in both means all, and no type means none
	Since, Until  Time     // Since is inclusive, and Until is exclusive; zero means no limit
	Denied        *bool    // true means only denied changes, and false only changes that were made

	After    string // an event id; the page begins after it
	Backward bool   // whether the page ends before After
	PageSize int    // as in a ListRequest, like Empty
	Empty    bool
	Without  CostlyFields

	Malformed []fieldmask.Violation // violations that the adapter found while decoding
}

// A RecordPage is one page of a list that is read from the log.
type RecordPage[T any] struct {
	Items                []T
	HasNext, HasPrevious bool
}

// An AuditPage is one page of the log.
type AuditPage = RecordPage[*Event]

// newRecordPage returns the page of items that were read in the direction of a query, up to one more
// than its limit.
func newRecordPage[T any](items []T, limit int, backward, isFirst bool) RecordPage[T] {
	more := len(items) > limit
	page := RecordPage[T]{Items: items[:min(len(items), limit)], HasNext: more, HasPrevious: !isFirst}
	if backward {
		slices.Reverse(page.Items)
		page.HasNext, page.HasPrevious = page.HasPrevious, more
	}
	return page
}

// An AuditQuery is a checked and authorised request for the store.
type AuditQuery struct {
	Scope Scope
	IDs   []string // ids of the events, in any order; nil means all
	Actor string
	// Target is the subject of the events or stands in their bodies or changes (Event.Mentions).
	// Subject does too, or is their actor. At most one is given.
	Subject, Target UID
	Types           []string
	Denied          *bool
	Access          bool // whether changes of roles count only if they change capabilities
	// After is exclusive. "" means that the page begins with the newest event, or with the
	// oldest if Backward.
	After        string
	From, Before string // bounds of ids: From is inclusive, and Before is exclusive; "" means no limit
	Backward     bool
	Limit        int
	Without      CostlyFields
}

// List reads a page. It needs groups.update on the scope. Without a scope, it
// reads the log of all groups on which the caller holds groups.update.
func (s AuditLog) List(ctx context.Context, req AuditRequest) (AuditPage, error) {
	page, err := s.list(ctx, req)
	return page, inArea(areaEvents, s.area.types.listIn(err))
}

func (s AuditLog) list(ctx context.Context, req AuditRequest) (AuditPage, error) {
	q, err := req.query(ctx, s.area.types)
	if err != nil {
		return AuditPage{}, err
	}
	if q.Types != nil && len(q.Types) == 0 {
		return AuditPage{HasPrevious: req.After != ""}, nil
	}
	events, err := s.area.store.EventLog(ctx, q)
	if err != nil {
		return AuditPage{}, err
	}
	return newRecordPage(events, q.Limit, req.Backward, req.After == ""), nil
}

// GetMany reads events by id with one read. The results are in the order of ids;
// each has an event or an error. An event that the caller may not read is
// NOT_FOUND.
func (s AuditLog) GetMany(ctx context.Context, ids []string) ([]*Event, []error) {
	return s.GetManyWithout(ctx, ids, 0)
}

// GetManyWithout is like GetMany, but leaves the given fields empty.
func (s AuditLog) GetManyWithout(ctx context.Context, ids []string, fields CostlyFields) ([]*Event, []error) {
	events, errs := make([]*Event, len(ids)), make([]error, len(ids))
	q := AuditQuery{IDs: []string{}, Limit: len(ids), Without: fields}
	actor, err := requireCaller(ctx)
	if err == nil {
		q.Scope, err = auditScope(actor)
	}
	for i, id := range ids {
		switch {
		case err != nil:
			errs[i] = inArea(areaEvents, err)
		case !IsEventID(id):
			errs[i] = inArea(areaEvents, Invalid(fieldmask.Violation{Field: "id", Description: "is not the id of an event"}))
		default:
			q.IDs = append(q.IDs, id)
		}
	}
	if len(q.IDs) == 0 {
		return events, errs
	}
	found, err := s.area.store.EventLog(ctx, q)
	for i, id := range ids {
		if errs[i] != nil {
			continue
		}
		if at := slices.IndexFunc(found, func(e *Event) bool { return e.ID == id }); at >= 0 {
			events[i] = found[at]
		} else if errs[i] = err; err == nil {
			errs[i] = inArea(areaEvents, newNotFound(Ref{"Event", areaEvents}, id))
		}
	}
	return events, errs
}

// auditScope returns the scope in which an actor may read the log.
func auditScope(actor *Actor) (Scope, error) {
	held, err := actor.scopesWithAll(CapGroupsUpdate)
	if err != nil {
		return Scope{}, err
	}
	return subtreeScope(held), nil
}

// query checks and authorises a request.
func (r AuditRequest) query(ctx context.Context, types *EventTypes) (AuditQuery, error) {
	actor, err := requireCaller(ctx)
	if err != nil {
		return AuditQuery{}, err
	}
	v := violations(slices.Clone(r.Malformed))
	q := r.buildQuery(types, &v)
	if err := v.err(); err != nil {
		return q, err
	}
	switch {
	case r.DescendantsOf != "" && !actor.Can(CapGroupsUpdate, r.DescendantsOf):
		return q, actor.permissionError(CapGroupsUpdate, r.DescendantsOf)
	case r.DescendantsOf != "":
		q.Scope = subtreeScope([]UID{r.DescendantsOf})
	default:
		q.Scope, err = auditScope(actor)
	}
	return q, err
}

// buildQuery checks a request and converts it into a query without a scope.
func (r AuditRequest) buildQuery(types *EventTypes, v *violations) AuditQuery {
	if r.DescendantsOf != "" {
		v.checkUID("descendantsOf", r.DescendantsOf)
	}
	v.checkFilter("actor", r.Actor)
	if r.Subject != "" {
		v.checkUID("subject", r.Subject)
	}
	if r.Target != "" {
		if v.checkUID("target", r.Target); r.Subject != "" {
			v.add("target", "cannot be combined with subject")
		}
	}
	types.check(v, "types", r.Types)
	types.check(v, "kinds", r.Kinds)
	v.checkTimes("since", r.Since, "until", r.Until)
	if r.After != "" && !IsEventID(r.After) {
		v.add("page_token", "is not a cursor of this log")
	}
	q := AuditQuery{
		Actor: r.Actor, Subject: r.Subject, Target: r.Target, Types: types.selectTypes(r.Types, r.Kinds), Denied: r.Denied,
		After: r.After, Backward: r.Backward, Limit: pageLimit(r.PageSize, r.Empty, v), Without: r.Without,
	}
	if !r.Since.IsZero() {
		q.From = FirstEventID(r.Since)
	}
	if !r.Until.IsZero() {
		q.Before = FirstEventID(r.Until)
	}
	return q
}

// checkRecorded fails if there is neither a group nor an event of it. The events of a deleted
// group stay in the log.
func (s AuditLog) checkRecorded(ctx context.Context, group UID, scope Scope) error {
	groups, err := s.area.iam.tables.Groups.Get(ctx, s.area.store, Keys{UIDs: []UID{group}})
	if err != nil || len(groups) > 0 {
		return err
	}
	events, err := s.area.store.EventLog(ctx, AuditQuery{Scope: scope, Limit: 1, Without: EventBodies | EventChanges})
	if err != nil || len(events) > 0 {
		return err
	}
	return groupKind.notFound(group)
}

// Export calls yield for every entry that a request asks for, newest first. It checks
// no rights: it is for commands of the operator, without a caller.
func (s AuditLog) Export(ctx context.Context, req AuditRequest, yield func(*Event) error) error {
	var v violations
	q := req.buildQuery(s.area.types, &v)
	if err := s.area.types.listIn(v.err()); err != nil {
		return err
	}
	q.Scope, q.Limit = newScope(Branch{Relation: Everything}), MaxPageSize
	if req.DescendantsOf != "" {
		q.Scope = subtreeScope([]UID{req.DescendantsOf})
		if err := s.checkRecorded(ctx, req.DescendantsOf, q.Scope); err != nil {
			return err
		}
	}
	if q.Types == nil && q.Denied == nil {
		return s.exportPages(ctx, q, func(events []*Event) error { return yieldEach(events, yield) })
	}
	// No index finds rare events of all groups. A statement with this filter could read the
	// whole table, and exceed the time limit of statements. Therefore pages without long
	// texts are filtered here, and the events that remain are read by their ids.
	types, denied, texts := q.Types, q.Denied, q.Without
	q.Types, q.Without, q.Limit = nil, texts|EventBodies|EventChanges, exportScan
	if denied == nil || !*denied || req.DescendantsOf.Depth() != 1 { // an index has the denials of an organisation
		q.Denied = nil
	}
	return s.exportPages(ctx, q, func(events []*Event) error {
		wanted := AuditQuery{Scope: q.Scope, Without: texts}
		for _, e := range events {
			if (types == nil || slices.Contains(types, e.Type)) && (denied == nil || *denied == (e.Denied != "")) {
				wanted.IDs = append(wanted.IDs, e.ID)
			}
		}
		for ids := range slices.Chunk(wanted.IDs, MaxPageSize) {
			wanted.IDs, wanted.Limit = ids, len(ids)
			found, err := s.area.store.EventLog(ctx, wanted)
			if err != nil {
				return err
			}
			slices.SortFunc(found, func(x, y *Event) int { return strings.Compare(y.ID, x.ID) })
			if err := yieldEach(found, yield); err != nil {
				return err
			}
		}
		return nil
	})
}

// exportScan is the number of events that a statement of a filtered export reads.
const exportScan = 10 * MaxPageSize

// exportPages calls yield for every page of a query.
func (s AuditLog) exportPages(ctx context.Context, q AuditQuery, yield func([]*Event) error) error {
	for {
		events, err := s.area.store.EventLog(ctx, q)
		if err != nil {
			return err
		}
		page := events[:min(len(events), q.Limit)]
		if err := yield(page); err != nil || len(events) <= q.Limit {
			return err
		}
		q.After = page[len(page)-1].ID
	}
}

// yieldEach calls yield for each event.
func yieldEach(events []*Event, yield func(*Event) error) error {
	for _, e := range events {
		if err := yield(e); err != nil {
			return err
		}
	}
	return nil
}
