package events

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
)

// The audit log tells who had access in the past. A role binding was at some time what it is now, unless the log
// has a change of it since then: the first such change tells what it was before. What was given and taken between
// two times is the log itself. Both are exact from the time on from which the log has all events (RecordedSince).

// The types of the events that change who has access.
var (
	bindingMade      = []string{core.EventTypeOf(iam.RoleBindingKind.Event, "created"), core.EventTypeOf(iam.RoleBindingKind.Event, "created.batch")}
	bindingUpdated   = core.EventTypeOf(iam.RoleBindingKind.Event, "updated")
	bindingExpired   = core.EventTypeOf(iam.RoleBindingKind.Event, iam.VerbExpired)
	BindingConfirmed = core.EventTypeOf(iam.RoleBindingKind.Event, iam.VerbConfirmed) // event type of a review, which changes nothing
	RoleUpdated      = core.EventTypeOf(iam.RoleKind.Event, "updated")                // event type of an update of a role
	RoleDeleted      = core.EventTypeOf(iam.RoleKind.Event, "deleted")                // event type of a deletion of a role
	accessEventTypes = append(slices.Clip(bindingMade), bindingUpdated, core.EventTypeOf(iam.RoleBindingKind.Event, "deleted"), bindingExpired, RoleUpdated)
)

// BindingMade lists the event types of role bindings that were made.
func BindingMade() []string { return bindingMade }

// A PastBindingQuery asks for what role bindings on groups were at a time, in the order of their UIDs. The time and
// the groups must be given.
type PastBindingQuery struct {
	Groups   []core.UID
	Time     core.Time
	After    core.UID // exclusive; "" means the first, or the last if Backward
	Backward bool     // whether the rows before After are read, in descending order
	Limit    int
}

// An AccessGrant is a role that an identity had in a group. Its names are those that the log or the resources have.
type AccessGrant struct {
	BindingUID   core.UID  `json:"bindingUid"` // the role binding
	GroupUID     core.UID  `json:"groupUid"`
	GroupName    string    `json:"groupName,omitempty"`
	IdentityUID  core.UID  `json:"identityUid"`
	IdentityName string    `json:"identityName,omitempty"`
	RoleUID      core.UID  `json:"roleUid"`
	RoleName     string    `json:"roleName,omitempty"`
	CreateTime   core.Time `json:"createTime"`
	ExpireTime   core.Time `json:"expireTime,omitzero"` // zero means never

	at core.Time // when it was so
}

// Cursor returns the position of the grant in a list.
func (g *AccessGrant) Cursor() string { return string(g.BindingUID) }

// newAccessGrant returns what a binding gave at a time.
func newAccessGrant(b *iam.RoleBinding, at core.Time) *AccessGrant {
	return &AccessGrant{b.UID, cmp.Or(b.Group.UID, b.UID.Parent()), b.Group.Name, b.Identity.UID, b.Identity.Name, b.Role.UID, b.Role.Name, b.CreateTime, b.ExpireTime, at}
}

// An AccessChangeKind says how access changed.
type AccessChangeKind string

// The kinds of changes.
const (
	AccessGiven       AccessChangeKind = "GIVEN"        // a role binding was made
	AccessChanged     AccessChangeKind = "CHANGED"      // a role binding got another identity, role or end
	AccessTaken       AccessChangeKind = "TAKEN"        // a role binding was deleted
	AccessExpired     AccessChangeKind = "EXPIRED"      // a role binding ended by itself
	AccessRoleChanged AccessChangeKind = "ROLE_CHANGED" // a role got other capabilities, for all who have it
)

// An AccessChange is one change of who may do what.
type AccessChange struct {
	Kind  AccessChangeKind
	Event *core.Event
	// Before and After are what a role binding gave. Before is nil if it was made, After if it ended, and both
	// are nil if a role has changed.
	Before, After *AccessGrant

	RoleUID  core.UID // the role that was given, taken or changed
	RoleName string

	AddedCapabilities, RemovedCapabilities []core.Capability // of a role that has changed
}

// Cursor returns the position of the change in a list.
func (c *AccessChange) Cursor() string { return c.Event.ID }

// An AccessPage is one page of what the log tells of access.
type AccessPage[T any] struct {
	RecordPage[T]

	RecordedSince core.Time // older events may have been deleted; zero means that none was
	Complete      bool      // whether the log has all that the page depends on
}

// An AccessRequest asks who had access to a group, or how that changed.
type AccessRequest struct {
	Group    core.UID
	From, To core.Time // To is exclusive; AccessAt uses only From
	Identity core.UID  // only changes for this identity; "" means all
	Actor    string    // only changes by this actor, as in an AuditRequest

	After    string
	Backward bool
	PageSize int
	Empty    bool // as in a ListRequest

	Malformed []fieldmask.Violation // violations that the adapter found while decoding
}

// check checks the request and the right of the caller, and returns the size of the page. Both rights are needed: the
// answer shows role bindings, and what the audit log has of them.
func (r AccessRequest) check(ctx context.Context, v *core.Violations) (limit int, err error) {
	if _, err := core.RequireCaller(ctx); err != nil {
		return 0, err
	}
	limit = core.PageLimit(r.PageSize, r.Empty, v)
	if err := v.Err(); err != nil {
		return 0, err
	}
	_, err = core.Require(ctx, r.Group, core.CapRoleBindingsList, core.CapGroupsUpdate)
	return limit, err
}

// AccessAt lists the role bindings that counted on a group at a time, its own and those of the groups above, in the
// order of their UIDs. It needs role_bindings.list and groups.update on the group, and leaves out groups above on which
// the caller lacks one of them.
func (s AuditLog) AccessAt(ctx context.Context, req AccessRequest) (AccessPage[*AccessGrant], error) {
	page, err := s.accessAt(ctx, req)
	return page, iam.RoleBindingKind.AddArea(err)
}

func (s AuditLog) accessAt(ctx context.Context, req AccessRequest) (page AccessPage[*AccessGrant], err error) {
	v := core.Violations(slices.Clone(req.Malformed))
	v.CheckUID("within", req.Group)
	if req.From.After(s.area.Now().Time) {
		v.Add("time", "must not be in the future")
	}
	if req.After != "" && !core.UID(req.After).Valid() {
		v.Add("page_token", "is not a cursor of this list")
	}
	limit, err := req.check(ctx, &v)
	if err != nil {
		return page, err
	}
	q := PastBindingQuery{Time: req.From, After: core.UID(req.After), Backward: req.Backward, Limit: limit + 1}
	for _, g := range append(req.Group.Ancestors(), req.Group) {
		if actor := core.ActorOf(ctx); actor.Can(core.CapRoleBindingsList, g) && actor.Can(core.CapGroupsUpdate, g) {
			q.Groups = append(q.Groups, g)
		}
	}
	grants, err := s.readGrants(ctx, q)
	if err != nil {
		return page, err
	}
	page.RecordPage = newRecordPage(grants, limit, req.Backward, req.After == "")
	return completePage(ctx, s, page, req.From)
}

// readGrants reads as many grants as a query asks for, or more. It reads on where bindings had expired, but were not
// deleted yet.
func (s AuditLog) readGrants(ctx context.Context, q PastBindingQuery) (grants []*AccessGrant, err error) {
	for {
		some, last, err := s.readSomeGrants(ctx, q)
		grants = append(grants, some...)
		if err != nil || last == "" || len(grants) >= q.Limit {
			return grants, err
		}
		q.After = last
	}
}

// readSomeGrants reads the bindings that were made before the time of a query: each was what its first change since then
// tells, or is what it is now. After the UID last, which is "" at the end, it has not read all of both.
func (s AuditLog) readSomeGrants(ctx context.Context, q PastBindingQuery) (grants []*AccessGrant, last core.UID, err error) {
	asked := core.Query[*iam.RoleBindingFilter]{
		Filter: &iam.RoleBindingFilter{CreatedBefore: q.Time}, Order: core.Order{Field: "uid"}, Backward: q.Backward, Limit: q.Limit, Parts: core.PartItems, Without: core.BindingTexts | core.BindingRules,
	}
	if q.After != "" {
		asked.From = &core.Position{UID: q.After}
	}
	for _, g := range q.Groups {
		asked.Scope.Branches = append(asked.Scope.Branches, core.Branch{Relation: core.Children, UID: g})
	}
	now, err := s.area.iam.Tables.RoleBindings.List(ctx, s.area.Store, asked)
	if err != nil {
		return nil, "", err
	}
	changed, err := s.area.Store.FirstBindingChanges(ctx, q)
	if err != nil {
		return nil, "", err
	}
	grants, last = q.merge(now.Items, changed)
	return grants, last, nil
}

// merge returns what bindings gave at the time of a query, up to the UID last.
func (q PastBindingQuery) merge(now []*iam.RoleBinding, changed []*core.Event) (grants []*AccessGrant, last core.UID) {
	compare := cmp.Compare[core.UID]
	if q.Backward {
		compare = func(x, y core.UID) int { return cmp.Compare(y, x) }
	}
	past := map[core.UID]*iam.RoleBinding{}
	var ends []core.UID // of what was read up to the limit
	for i, b := range now {
		if past[b.UID] = b; i == q.Limit-1 {
			ends = append(ends, b.UID)
		}
	}
	for i, e := range changed {
		if past[e.Subject], _ = bindingsOf(e); i == q.Limit-1 {
			ends = append(ends, e.Subject)
		}
	}
	if len(ends) > 0 {
		last = slices.MinFunc(ends, compare)
	}
	for _, uid := range slices.SortedFunc(maps.Keys(past), compare) {
		b := past[uid]
		if last != "" && compare(uid, last) > 0 {
			break
		}
		if b.ExpireTime.IsZero() || b.ExpireTime.After(q.Time.Time) {
			grants = append(grants, newAccessGrant(b, q.Time))
		}
	}
	return grants, last
}

// bindingsOf returns what a role binding was before its event and after it. One of them is nil if the event made or
// ended the binding.
func bindingsOf(e *core.Event) (before, after *iam.RoleBinding) {
	shown := new(iam.RoleBinding)
	_ = json.Unmarshal(e.Body, shown) // the service has encoded it
	switch {
	case slices.Contains(bindingMade, e.Type):
		return nil, shown
	case e.Type != bindingUpdated:
		return shown, nil
	}
	was := *shown
	for _, c := range e.Changes {
		switch c.Field {
		case "identity":
			_ = json.Unmarshal(c.Before, &was.Identity)
		case "role":
			_ = json.Unmarshal(c.Before, &was.Role)
		case "expireTime":
			was.ExpireTime = core.Time{}
			_ = json.Unmarshal(c.Before, &was.ExpireTime) // it has no value if the binding never expired
		}
	}
	return &was, shown
}

// completePage adds to a page from when on the log has all events.
func completePage[T any](ctx context.Context, s AuditLog, page AccessPage[T], since core.Time) (AccessPage[T], error) {
	var err error
	page.RecordedSince, err = s.area.Store.RecordedSince(ctx)
	page.Complete = !since.Before(page.RecordedSince.Time)
	return page, err
}

// AccessChanges lists what changed who has access to a group and to what is below it, the newest change first: role
// bindings that were made, changed or ended, and capabilities of roles. It needs role_bindings.list and groups.update on
// the group.
func (s AuditLog) AccessChanges(ctx context.Context, req AccessRequest) (AccessPage[*AccessChange], error) {
	page, err := s.accessChanges(ctx, req)
	return page, iam.RoleBindingKind.AddArea(err)
}

func (s AuditLog) accessChanges(ctx context.Context, req AccessRequest) (page AccessPage[*AccessChange], err error) {
	v := core.Violations(slices.Clone(req.Malformed))
	v.CheckUID("within", req.Group)
	if req.To.Before(req.From.Time) {
		v.Add("to", "must not be before from")
	}
	if req.Identity != "" {
		v.CheckUID("identity", req.Identity)
	}
	v.CheckFilter("actor", req.Actor)
	if req.After != "" && !core.IsEventID(req.After) {
		v.Add("page_token", "is not a cursor of this list")
	}
	limit, err := req.check(ctx, &v)
	if err != nil {
		return page, err
	}
	events, err := s.area.Store.EventLog(ctx, AuditQuery{
		Scope: core.SubtreeScope([]core.UID{req.Group}), Actor: req.Actor, Target: req.Identity, Types: accessEventTypes, Denied: new(bool), Access: true,
		From: core.FirstEventID(req.From), Before: core.FirstEventID(req.To), After: req.After, Backward: req.Backward, Limit: limit,
	})
	if err != nil {
		return page, err
	}
	changes := make([]*AccessChange, len(events))
	for i, e := range events {
		changes[i] = accessChangeOf(e)
	}
	page.RecordPage = newRecordPage(changes, limit, req.Backward, req.After == "")
	return completePage(ctx, s, page, req.From)
}

// accessChangeOf returns how an event changed access.
func accessChangeOf(e *core.Event) *AccessChange {
	change := &AccessChange{Event: e}
	if e.Type == RoleUpdated {
		change.describeRole(e)
		return change
	}
	before, after := bindingsOf(e)
	for _, side := range []struct {
		binding *iam.RoleBinding
		grant   **AccessGrant
	}{{before, &change.Before}, {after, &change.After}} {
		if b := side.binding; b != nil {
			*side.grant = newAccessGrant(b, e.Time)
			change.RoleUID, change.RoleName = b.Role.UID, b.Role.Name
		}
	}
	switch {
	case before == nil:
		change.Kind = AccessGiven
	case after != nil:
		change.Kind = AccessChanged
	case e.Type == bindingExpired:
		change.Kind = AccessExpired
	default:
		change.Kind = AccessTaken
	}
	return change
}

// describeRole sets what an update changed of the capabilities of a role.
func (c *AccessChange) describeRole(e *core.Event) {
	var role iam.Role
	_ = json.Unmarshal(e.Body, &role) // the service has encoded it
	c.Kind, c.RoleUID, c.RoleName = AccessRoleChanged, e.Subject, role.Name
	before, after := core.CapabilitySetOf(capabilitiesBefore(e)), core.CapabilitySetOf(role.Capabilities)
	c.AddedCapabilities, c.RemovedCapabilities = after.Without(before).List(), before.Without(after).List()
}

// capabilitiesBefore returns the capabilities of a role before an event that changed or deleted it.
func capabilitiesBefore(e *core.Event) []core.Capability {
	var role iam.Role
	if e.Type == RoleDeleted {
		_ = json.Unmarshal(e.Body, &role) // the service has encoded it
	}
	for _, c := range e.Changes {
		if c.Field == "capabilities" {
			_ = json.Unmarshal(c.Before, &role.Capabilities) // it has no value if there were none
		}
	}
	return role.Capabilities
}

// AccessCapabilities returns what the roles of grants held at the time of each grant: nil if the caller may not read the
// role, or if nothing is known of it. Built-in roles change only with the program, and are as they are now.
func (s AuditLog) AccessCapabilities(ctx context.Context, grants []*AccessGrant) ([][]core.Capability, error) {
	held := make([][]core.Capability, len(grants))
	now, changes, err := s.readRoles(ctx, grants)
	for i, g := range grants {
		set, isKnown := now[g.RoleUID]
		at := slices.IndexFunc(changes, func(e *core.Event) bool { return e.Subject == g.RoleUID && e.ID >= core.FirstEventID(g.at) })
		if at >= 0 {
			set, isKnown = capabilitiesBefore(changes[at]), true
		}
		if isKnown {
			held[i] = append([]core.Capability{}, set...)
		}
	}
	return held, err
}

// readRoles reads the capabilities that the roles of grants have now, and the events by which they have changed since the
// first of the grants. It leaves out roles that the caller may not read.
func (s AuditLog) readRoles(ctx context.Context, grants []*AccessGrant) (now map[core.UID][]core.Capability, changes []*core.Event, err error) {
	seen := map[core.UID]bool{}
	for _, g := range grants {
		seen[g.RoleUID] = true
	}
	uids := slices.Sorted(maps.Keys(seen))
	roles, errs := s.area.iam.Roles.GetMany(ctx, uids)
	now = map[core.UID][]core.Capability{}
	var custom []core.UID
	for i, uid := range uids {
		switch {
		case errs[i] == nil:
			now[uid] = roles[i].Capabilities
		case errors.Is(errs[i], &core.Error{Code: core.CodePermissionDenied}):
			continue
		case !errors.Is(errs[i], &core.Error{Code: core.CodeNotFound}): // the log tells what a role held that is gone
			return nil, nil, errs[i]
		}
		if !iam.IsBuiltInRole(uid) {
			custom = append(custom, uid)
		}
	}
	if len(custom) == 0 {
		return now, nil, nil
	}
	first := slices.MinFunc(grants, func(x, y *AccessGrant) int { return x.at.Compare(y.at.Time) })
	changes, err = s.area.Store.RoleCapabilityChanges(ctx, custom, first.at)
	return now, changes, err
}
