package events

import (
	"context"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
)

// AuditStore reads recorded events and denials.
type AuditStore interface {
	// EventLog reads events, including denials.
	EventLog(ctx context.Context, q AuditQuery) ([]*core.Event, error)

	// EventActivity counts changes and denials per interval.
	EventActivity(ctx context.Context, q core.ActivityQuery) ([]EventCount, error)

	// CountEvents counts the events of the page that EventLog reads, with one more than the limit, by what they have in common. The scope
	// has one branch.
	CountEvents(ctx context.Context, q AuditQuery) ([]AuditCount, error)

	// CountLog counts the events of the page that EventLog reads, with one more than the limit, and returns the id of the oldest.
	// The scope has one branch.
	CountLog(ctx context.Context, q AuditQuery) (count int, oldest string, err error)

	// FirstBindingChanges reads, of each role binding on the groups of a query that has changed
	// since its time, the first event since then. It leaves out bindings that were made since then.
	// The events are in the order of their subjects, and up to the limit.
	FirstBindingChanges(ctx context.Context, q PastBindingQuery) ([]*core.Event, error)

	// RoleCapabilityChanges reads the events, in their order, by which roles have got other
	// capabilities or were deleted since a time.
	RoleCapabilityChanges(ctx context.Context, roles []core.UID, since core.Time) ([]*core.Event, error)

	// RecordedSince returns the time from which all events are stored. It is zero if none was
	// ever deleted.
	RecordedSince(ctx context.Context) (core.Time, error)
}

// AuditLog are the operations on the audit log: the recorded events of changes
// and of denied changes.
type AuditLog struct{ area *Area }

// An AuditRequest asks for a page of the log, newest first.
type AuditRequest struct {
	DescendantsOf core.UID  // this group and everything below; "" means everything that the caller may audit
	Actor         string    // the only actor: the UID of an identity, or the name of an operator's command
	Subject       core.UID  // only what happened to this resource or was done by it: see AuditQuery
	Target        core.UID  // only what happened to this resource; not together with Subject
	Types         []string  // the only event types; nil means all, and no type means none
	Since, Until  core.Time // Since is inclusive, and Until is exclusive; zero means no limit
	Denied        *bool     // true means only denied changes, and false only changes that were made

	After    string // an event id; the page begins after it
	Backward bool   // whether the page ends before After
	PageSize int    // as in a ListRequest, like Empty
	Empty    bool
	Without  core.CostlyFields

	Malformed []fieldmask.Violation // violations that the adapter found while decoding
}

// A RecordPage is one page of a list that is read from the log.
type RecordPage[T any] struct {
	Items                []T
	HasNext, HasPrevious bool
}

// An AuditPage is one page of the log.
type AuditPage = RecordPage[*core.Event]

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

// An AuditQuery is a checked and authorized request for the store.
type AuditQuery struct {
	Scope core.Scope
	IDs   []string // ids of the events, in any order; nil means all
	Actor string
	// Target is the subject of the events or stands in their bodies or changes (Event.Mentions).
	// Subject does too, or is their actor. At most one is given.
	Subject, Target core.UID
	Types           []string
	Denied          *bool
	Access          bool        // whether changes of roles count only if they change capabilities
	Unlike          *core.Event // only events that would not belong to the same run as this one; nil means all
	// After is exclusive. "" means that the page begins with the newest event, or with the
	// oldest if Backward.
	After        string
	From, Before string // bounds of ids: From is inclusive, and Before is exclusive; "" means no limit
	Backward     bool
	Limit        int
	Without      core.CostlyFields
}

// List reads a page. It needs groups.update on the scope. Without a scope, it
// reads the log of all groups on which the caller holds groups.update.
func (s AuditLog) List(ctx context.Context, req AuditRequest) (AuditPage, error) {
	page, err := s.list(ctx, req)
	return page, core.InArea(core.AreaEvents, s.area.Types.ListIn(err))
}

func (s AuditLog) list(ctx context.Context, req AuditRequest) (AuditPage, error) {
	q, err := req.query(ctx, s.area.Types)
	if err != nil {
		return AuditPage{}, err
	}
	if q.Types != nil && len(q.Types) == 0 {
		return AuditPage{HasPrevious: req.After != ""}, nil
	}
	events, err := s.area.Store.EventLog(ctx, q)
	if err != nil {
		return AuditPage{}, err
	}
	return newRecordPage(events, q.Limit, req.Backward, req.After == ""), nil
}

// GetMany reads events by id with one read. The results are in the order of ids;
// each has an event or an error. An event that the caller may not read is
// NOT_FOUND.
func (s AuditLog) GetMany(ctx context.Context, ids []string) ([]*core.Event, []error) {
	return s.GetManyWithout(ctx, ids, 0)
}

// GetManyWithout is like GetMany, but leaves the given fields empty.
func (s AuditLog) GetManyWithout(ctx context.Context, ids []string, fields core.CostlyFields) ([]*core.Event, []error) {
	events, errs := make([]*core.Event, len(ids)), make([]error, len(ids))
	q := AuditQuery{IDs: []string{}, Limit: len(ids), Without: fields}
	actor, err := core.RequireCaller(ctx)
	if err == nil {
		q.Scope, err = auditScope(actor)
	}
	for i, id := range ids {
		switch {
		case err != nil:
			errs[i] = core.InArea(core.AreaEvents, err)
		case !core.IsEventID(id):
			errs[i] = core.InArea(core.AreaEvents, core.Invalid(fieldmask.Violation{Field: "id", Description: "is not the id of an event"}))
		default:
			q.IDs = append(q.IDs, id)
		}
	}
	if len(q.IDs) == 0 {
		return events, errs
	}
	found, err := s.area.Store.EventLog(ctx, q)
	for i, id := range ids {
		if errs[i] != nil {
			continue
		}
		if at := slices.IndexFunc(found, func(e *core.Event) bool { return e.ID == id }); at >= 0 {
			events[i] = found[at]
		} else if errs[i] = err; err == nil {
			errs[i] = core.InArea(core.AreaEvents, core.NewNotFound(core.Ref{Name: "Event", Area: core.AreaEvents}, id))
		}
	}
	return events, errs
}

// auditScope returns the scope in which an actor may read the log.
func auditScope(actor *core.Actor) (core.Scope, error) {
	held, err := actor.ScopesWithAll(core.CapGroupsUpdate)
	if err != nil {
		return core.Scope{}, err
	}
	return core.SubtreeScope(held), nil
}

// query checks and authorizes a request.
func (r AuditRequest) query(ctx context.Context, types *Types) (AuditQuery, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return AuditQuery{}, err
	}
	v := core.Violations(slices.Clone(r.Malformed))
	q := r.buildQuery(types, &v)
	if err := v.Err(); err != nil {
		return q, err
	}
	switch {
	case r.DescendantsOf != "" && !actor.Can(core.CapGroupsUpdate, r.DescendantsOf):
		return q, actor.PermissionError(core.CapGroupsUpdate, r.DescendantsOf)
	case r.DescendantsOf != "":
		q.Scope = core.SubtreeScope([]core.UID{r.DescendantsOf})
	default:
		q.Scope, err = auditScope(actor)
	}
	return q, err
}

// buildQuery checks a request and converts it into a query without a scope.
func (r AuditRequest) buildQuery(types *Types, v *core.Violations) AuditQuery {
	if r.DescendantsOf != "" {
		v.CheckUID("within", r.DescendantsOf)
	}
	v.CheckFilter("actor", r.Actor)
	if r.Subject != "" {
		v.CheckUID("subject", r.Subject)
	}
	if r.Target != "" {
		if v.CheckUID("target", r.Target); r.Subject != "" {
			v.Add("target", "cannot be combined with subject")
		}
	}
	types.Check(v, "kinds", r.Types)
	v.CheckTimes("since", r.Since, "until", r.Until)
	if r.After != "" && !core.IsEventID(r.After) {
		v.Add("page_token", "is not a cursor of this log")
	}
	q := AuditQuery{
		Actor: r.Actor, Subject: r.Subject, Target: r.Target, Types: types.selectTypes(r.Types), Denied: r.Denied,
		After: r.After, Backward: r.Backward, Limit: core.PageLimit(r.PageSize, r.Empty, v), Without: r.Without,
	}
	if !r.Since.IsZero() {
		q.From = core.FirstEventID(r.Since)
	}
	if !r.Until.IsZero() {
		q.Before = core.FirstEventID(r.Until)
	}
	return q
}

// checkRecorded fails if there is neither a group nor an event of it. The events of a deleted
// group stay in the log.
func (s AuditLog) checkRecorded(ctx context.Context, group core.UID, scope core.Scope) error {
	groups, err := s.area.iam.Tables.Groups.Get(ctx, s.area.Store, core.Keys{UIDs: []core.UID{group}})
	if err != nil || len(groups) > 0 {
		return err
	}
	events, err := s.area.Store.EventLog(ctx, AuditQuery{Scope: scope, Limit: 1, Without: core.EventBodies | core.EventChanges})
	if err != nil || len(events) > 0 {
		return err
	}
	return iam.GroupKind.NotFound(group)
}

// Export calls yield for every entry that a request asks for, newest first. It checks
// no rights: it is for commands of the operator, without a caller.
func (s AuditLog) Export(ctx context.Context, req AuditRequest, yield func(*core.Event) error) error {
	var v core.Violations
	q := req.buildQuery(s.area.Types, &v)
	if err := s.area.Types.ListIn(v.Err()); err != nil {
		return err
	}
	q.Scope, q.Limit = core.NewScope(core.Branch{Relation: core.Everything}), core.MaxPageSize
	if req.DescendantsOf != "" {
		q.Scope = core.SubtreeScope([]core.UID{req.DescendantsOf})
		if err := s.checkRecorded(ctx, req.DescendantsOf, q.Scope); err != nil {
			return err
		}
	}
	if q.Types == nil && q.Denied == nil {
		return s.exportPages(ctx, q, func(events []*core.Event) error { return yieldEach(events, yield) })
	}
	// No index finds rare events of all groups. A statement with this filter could read the
	// whole table, and exceed the time limit of statements. Therefore pages without long
	// texts are filtered here, and the events that remain are read by their ids.
	types, denied, texts := q.Types, q.Denied, q.Without
	q.Types, q.Without, q.Limit = nil, texts|core.EventBodies|core.EventChanges, exportScan
	if denied == nil || !*denied || req.DescendantsOf.Depth() != 1 { // an index has the denials of an organization
		q.Denied = nil
	}
	return s.exportPages(ctx, q, func(events []*core.Event) error {
		wanted := AuditQuery{Scope: q.Scope, Without: texts}
		for _, e := range events {
			if (types == nil || slices.Contains(types, e.Type)) && (denied == nil || *denied == (e.Denied != "")) {
				wanted.IDs = append(wanted.IDs, e.ID)
			}
		}
		for ids := range slices.Chunk(wanted.IDs, core.MaxPageSize) {
			wanted.IDs, wanted.Limit = ids, len(ids)
			found, err := s.area.Store.EventLog(ctx, wanted)
			if err != nil {
				return err
			}
			slices.SortFunc(found, func(x, y *core.Event) int { return strings.Compare(y.ID, x.ID) })
			if err := yieldEach(found, yield); err != nil {
				return err
			}
		}
		return nil
	})
}

// exportScan is the number of events that a statement of a filtered export reads.
const exportScan = 10 * core.MaxPageSize

// exportPages calls yield for every page of a query.
func (s AuditLog) exportPages(ctx context.Context, q AuditQuery, yield func([]*core.Event) error) error {
	for {
		events, err := s.area.Store.EventLog(ctx, q)
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
func yieldEach(events []*core.Event, yield func(*core.Event) error) error {
	for _, e := range events {
		if err := yield(e); err != nil {
			return err
		}
	}
	return nil
}
