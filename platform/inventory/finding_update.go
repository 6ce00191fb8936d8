package inventory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A FindingUpdate is a decision of a caller about findings: about those that UIDs lists, or about
// those within a group or repo that match a filter.
type FindingUpdate struct {
	UIDs   []core.UID
	Within core.UID       // a group or a repo
	Where  *FindingFilter // required with Within
	Among  []core.UID     // only these of them; nil means all
	// Change has the fields to write: state with justification, note and expireTime, which are one
	// decision, note alone, assignee, and dueTime.
	Change fieldmask.Input[*Finding]

	walk *core.Walk // of a decision in the background; nil means all at once
}

// MaxUpdatedFindings limits the findings of one update.
const MaxUpdatedFindings = 10_000

// Limits of one update.
const (
	maxTriageRules = 1000
)

// FindingJustifications lists the justifications of VEX for NOT_AFFECTED.
func FindingJustifications() []string {
	return []string{
		"component_not_present", "vulnerable_code_not_present", "vulnerable_code_not_in_execute_path",
		"vulnerable_code_cannot_be_controlled_by_adversary", "inline_mitigations_already_exist",
	}
}

// decidableStates are those that callers can set.
var decidableStates = []FindingState{FindingOpen, FindingInTriage, FindingAccepted, FindingNotAffected}

// Update decides about findings, and returns them. It needs findings.update, findings.list and
// tag.list on the repos of the findings, or on Within.
//
// With Within and a filter that has vulnerabilityIds, and beside them only packages and digests, the
// state is also stored as a rule for findings that appear later in the group or the repo. Other
// filters decide only about the findings that exist. OPEN removes what was decided, and the
// rule. A state replaces the whole decision: what is not given of justification, note and
// expireTime is removed.
//
// It fails if more than MaxUpdatedFindings match, or if one of them is resolved.
func (s Findings) Update(ctx context.Context, u FindingUpdate) ([]*Finding, error) {
	return s.update(ctx, &u, s.area.Store.Write)
}

// update is Update, with what runs its transaction.
func (s Findings) update(ctx context.Context, u *FindingUpdate, write func(context.Context, func(core.Tx) error) error) ([]*Finding, error) {
	c, err := s.authorizeTriage(ctx, u)
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "changed", u.subject(ctx), err)
	}
	var updated []*Finding
	defer s.area.precedence.Take(u.roots()...)()
	err = write(ctx, func(tx core.Tx) (err error) {
		updated, err = s.updateInTx(ctx, tx, u, c)
		return err
	})
	if err != nil && u.Within == "" {
		err = s.rows.NameMissing(ctx, err, core.ListOfUIDs, u.UIDs)
	}
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "changed", u.subject(ctx), err)
	}
	return updated, nil
}

// subject returns what a denied update is about: a group, or a repo on which the caller lacks a right.
func (u *FindingUpdate) subject(ctx context.Context) core.UID {
	if u.Within != "" || len(u.UIDs) == 0 {
		return u.Within
	}
	for _, uid := range u.UIDs {
		if _, err := core.Require(ctx, uid.Parent(), triageCapabilities()...); err != nil {
			return uid.Parent()
		}
	}
	return u.UIDs[0].Parent()
}

// triageCapabilities lists what a decision needs. Nobody decides about what they may not see.
func triageCapabilities() []core.Capability {
	return append(FindingKind.UpdateCapabilities(), FindingKind.ReadCapabilities()...)
}

// authorizeTriage checks and authorizes an update.
func (s Findings) authorizeTriage(ctx context.Context, u *FindingUpdate) (*fieldmask.Change[*Finding], error) {
	core.TraceOf(ctx).NoteResource(s.rows.Kind.Name, u.Within)
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, err
	}
	var v core.Violations
	places := u.checkSelection(&v)
	if len(v) == 0 {
		for _, uid := range places {
			if _, err := core.Require(ctx, uid, append(triageCapabilities(), u.Where.Capabilities()...)...); err != nil {
				return nil, err
			}
		}
	}
	c, found := u.Change.DecodeUpdate(s.rows.Kind.Fields)
	v = slices.Concat(v, found, c.Conflicts(nil))
	u.checkChange(c, s.area.Now(), &v)
	if err := s.checkAssignee(ctx, c, places, &v); err != nil {
		return nil, err
	}
	return c, v.Err()
}

// checkSelection checks which findings an update is about, and returns their repos or their group.
func (u *FindingUpdate) checkSelection(v *core.Violations) (places []core.UID) {
	switch {
	case len(u.UIDs) > 0 && (u.Within != "" || u.Where != nil):
		v.Add("uids", "cannot be given together with within and where")
	case len(u.UIDs) == 0 && u.Within == "":
		v.Add("uids", "is required, unless within and where are given")
	case u.Within != "":
		v.CheckUID("within", u.Within)
		u.checkWhere(v)
		return []core.UID{u.Within}
	case len(u.UIDs) > MaxUpdatedFindings:
		v.Add("uids", "must have at most %d items", MaxUpdatedFindings)
	}
	for i, uid := range u.UIDs {
		if v.CheckUID(fmt.Sprintf("uids[%d]", i), uid); len(*v) > 0 {
			return nil
		}
		places = append(places, uid.Parent())
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// checkWhere checks the filter of an update.
func (u *FindingUpdate) checkWhere(v *core.Violations) {
	if u.Where == nil {
		v.Add("where", "is required with within")
		return
	}
	var inside core.Violations
	u.Where.Check(&inside)
	if len(u.Among) > core.MaxIDs {
		inside.Add("uids", "must have at most %d UIDs; give them in uids instead of where.uids", core.MaxIDs)
	}
	for _, uid := range u.Among {
		if !uid.Valid() {
			inside.CheckUID("uids", uid)
			break
		}
	}
	if slices.Contains(u.Where.WantedStates(), FindingResolved) {
		inside.Add("states", "must not select %s findings: you cannot decide about them", FindingResolved)
	}
	if n := len(u.Where.VulnerabilityIDs) * max(1, len(u.Where.Packages)) * max(1, len(u.Where.Digests)); u.makesRules() && n > maxTriageRules {
		inside.Add("vulnerabilityIds", "make %d rules together with packages and digests; at most %d are permitted", n, maxTriageRules)
	}
	for _, x := range inside {
		v.Add("where."+x.Field, "%s", x.Description)
	}
}

// makesRules reports whether the update decides about later findings too, if it sets a state.
func (u *FindingUpdate) makesRules() bool {
	if u.Within == "" || u.Where == nil || u.Among != nil || core.MatchesNothing(u.Where) || len(u.Where.VulnerabilityIDs) == 0 {
		return false
	}
	others := *u.Where
	others.VulnerabilityIDs, others.Packages, others.Digests = nil, nil, nil
	return core.EqualJSON(others, FindingFilter{})
}

// checkChange checks what an update writes.
func (*FindingUpdate) checkChange(c *fieldmask.Change[*Finding], now core.Time, v *core.Violations) {
	f := c.Row
	if len(c.Fields) == 0 && len(*v) == 0 {
		v.Add("state", "is required, unless note, assignee or dueTime are given")
	}
	if c.Writes("state") && !v.Has("state") {
		f.checkState(now, v)
	}
	for _, part := range []string{"justification", "expireTime"} {
		if c.Writes(part) && !c.Writes("state") && !v.Has(part) {
			v.Add(part, "is part of a decision; give state too")
		}
	}
	if c.Writes("note") && !v.Has("note") {
		v.CheckText("note", f.Note, core.MaxNoteBytes)
	}
}

// checkState checks a decision.
func (f *Finding) checkState(now core.Time, v *core.Violations) {
	core.CheckOneOf(v, "state", f.State, decidableStates)
	justifications := FindingJustifications()
	switch {
	case f.State == "":
		v.Add("state", "must be one of %s", strings.Join(fieldmask.Texts(decidableStates), ", "))
	case f.State == FindingNotAffected && f.Justification == "":
		v.Add("justification", "is required with %s: give one of %s", FindingNotAffected, strings.Join(justifications, ", "))
	case f.State != FindingNotAffected && f.Justification != "":
		v.Add("justification", "can be given only with %s", FindingNotAffected)
	default:
		core.CheckOneOf(v, "justification", f.Justification, justifications)
	}
	switch {
	case f.ExpireTime.IsZero():
	case f.State == FindingOpen:
		v.Add("expireTime", "cannot be given with %s", FindingOpen)
	case f.decision().hasEnded(now):
		v.Add("expireTime", "must be in the future")
	}
}

// checkAssignee checks that the assignee is an identity that the caller may see.
func (s Findings) checkAssignee(ctx context.Context, c *fieldmask.Change[*Finding], places []core.UID, v *core.Violations) error {
	if !c.Writes("assignee") || c.Row.Assignee == "" || v.Has("assignee") {
		return nil
	}
	if v.CheckUID("assignee", c.Row.Assignee); v.Has("assignee") {
		return nil
	}
	for _, place := range places {
		if place.Root() != c.Row.Assignee.Root() {
			v.Add("assignee", "must be an identity of the organization of the findings")
			return nil
		}
	}
	_, err := s.area.iam.Identities.Get(ctx, c.Row.Assignee)
	if err != nil && (core.AsError(err).Code == core.CodeNotFound || core.AsError(err).Code == core.CodePermissionDenied) {
		v.Add("assignee", "must be an identity that exists and that you may see")
		return nil
	}
	return err
}

// updateInTx decides about findings in a transaction.
func (s Findings) updateInTx(ctx context.Context, tx core.Tx, u *FindingUpdate, c *fieldmask.Change[*Finding]) ([]*Finding, error) {
	for _, root := range u.roots() {
		tx.Lock(FindingLock(root))
	}
	if u.walk.IsFirst() {
		if err := s.changeRules(ctx, tx, u, c); err != nil {
			return nil, err
		}
	}
	chosen, err := s.choose(ctx, tx, u)
	if err != nil || len(chosen) == 0 {
		return nil, err
	}
	t, err := s.newTriage(ctx, tx, chosen, c)
	if err != nil {
		return nil, err
	}
	updated, changes := t.decideAll(chosen)
	if err := s.store(ctx, tx, changes...); err != nil {
		return nil, err
	}
	s.record(ctx, tx, t.events)
	return updated, nil
}

// roots lists the organizations of the update, sorted, so that two updates do not wait for each other.
func (u *FindingUpdate) roots() []core.UID {
	if u.Within != "" {
		return []core.UID{u.Within.Root()}
	}
	roots := make([]core.UID, len(u.UIDs))
	for i, uid := range u.UIDs {
		roots[i] = uid.Root()
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// choose reads the findings that an update is about.
func (s Findings) choose(ctx context.Context, tx core.Tx, u *FindingUpdate) ([]*Finding, error) {
	if u.Within == "" {
		return s.chooseListed(ctx, tx, u.UIDs)
	}
	limit := MaxUpdatedFindings
	if u.walk != nil {
		limit = u.walk.Size
	}
	rows, err := s.list(ctx, tx, u, u.walk.From(), limit, core.PartItems|core.PartMore)
	switch {
	case err != nil:
		return nil, err
	case rows.More && u.walk == nil:
		var v core.Violations
		v.Add("where", "matches more than %d findings; set background to decide about them in an operation, or narrow it, for example by vulnerabilityIds, packages or severities", MaxUpdatedFindings)
		return nil, v.Err()
	}
	core.NoteRows(u.walk, s.rows.Kind, rows)
	if len(rows.Items) == 0 {
		return nil, requireExisting(ctx, tx, u.Within)
	}
	return rows.Items, nil
}

// list reads the findings within a group or repo that an update is about, by their UIDs.
func (s Findings) list(ctx context.Context, on core.Conn, u *FindingUpdate, from *core.Position, limit int, parts core.Parts) (rows core.Rows[*Finding], err error) {
	where := u.Where.ForCaller(core.ActorOf(ctx))
	if core.MatchesNothing(where) {
		return rows, nil
	}
	return s.area.tables.Findings.List(ctx, on, core.Query[*FindingFilter]{
		Scope:  s.rows.Kind.NarrowScope(core.UIDFilter{DescendantsOf: u.Within, IDs: u.Among}, []core.UID{u.Within}),
		Filter: where, Order: core.Order{Field: "uid"}, From: from, Limit: limit, Parts: parts,
	})
}

// chooseListed reads findings by UID.
func (s Findings) chooseListed(ctx context.Context, tx core.Tx, uids []core.UID) ([]*Finding, error) {
	sorted := slices.Clone(uids)
	slices.Sort(sorted)
	found, err := s.area.tables.Findings.Get(ctx, tx, core.Keys{UIDs: slices.Compact(sorted)})
	if err != nil {
		return nil, err
	}
	byUID := make(map[core.UID]*Finding, len(found))
	for _, f := range found {
		byUID[f.UID] = f
	}
	var v core.Violations
	for i, uid := range uids {
		switch f := byUID[uid]; {
		case f == nil:
			return nil, s.rows.Kind.NotFound(uid)
		case f.State == FindingResolved:
			v.Add(fmt.Sprintf("uids[%d]", i), "is resolved, so you cannot decide about it")
		}
	}
	return found, v.Err()
}

// TriageFacts are what an update of findings needs to know beside them.
type TriageFacts struct {
	Repos      []*Repo
	Statuses   []*ImageStatus // by repo and digest
	Advisories []*Advisory
}

// A triage is a decision about findings, with what it follows from.
type triage struct {
	*fieldmask.Change[*Finding]
	TriageFacts
	now        core.Time
	author     string
	advisories map[core.UID][]*Advisory // by those that represent them
	rules      triageRules
	events     findingEvents
}

func (s Findings) newTriage(ctx context.Context, tx core.Tx, chosen []*Finding, c *fieldmask.Change[*Finding]) (*triage, error) {
	images, about := map[core.ImageKey]bool{}, map[core.UID]bool{}
	for _, f := range chosen {
		images[f.Image()], about[f.Representative] = true, true
	}
	facts, err := s.area.tables.TriageFacts(ctx, tx, ImageKeys{slices.Collect(maps.Keys(images))}, slices.Sorted(maps.Keys(about)))
	if err != nil {
		return nil, err
	}
	t := &triage{Change: c, TriageFacts: facts, now: s.area.Now(), author: core.ChangeActor(ctx, chosen[0].Repo).Subject, advisories: map[core.UID][]*Advisory{}, events: findingEvents{}}
	for _, a := range facts.Advisories {
		t.advisories[a.Representative] = append(t.advisories[a.Representative], a)
	}
	if c.Writes("state") || c.Writes("dueTime") {
		t.rules, err = s.readRules(ctx, tx, facts.Repos, facts.Advisories, nil)
	}
	return t, err
}

// decideAll decides about findings, and notes what changes in each repo. It returns them in the order of their UIDs.
func (t *triage) decideAll(chosen []*Finding) (updated []*Finding, changes []*findingChanges) {
	byImage, byRepo := map[core.ImageKey][]*Finding{}, map[core.UID]*findingChanges{}
	for _, f := range chosen {
		byImage[f.Image()] = append(byImage[f.Image()], f)
	}
	for _, repo := range t.Repos {
		byRepo[repo.UID] = &findingChanges{now: t.now, repo: repo, events: t.events}
	}
	for _, status := range t.Statuses {
		c := byRepo[status.Repo]
		var changed []*Finding
		for _, was := range byImage[core.ImageKey{Repo: status.Repo, Digest: status.Digest}] {
			is := *was
			if t.apply(&is); !was.sameAs(&is) {
				c.replace(status, was, &is)
				changed = append(changed, &is)
			}
			updated = append(updated, &is)
		}
		c.note(verbChanged, changed)
		c.statuses = append(c.statuses, status)
	}
	slices.SortFunc(updated, func(a, b *Finding) int { return strings.Compare(string(a.UID), string(b.UID)) })
	for _, repo := range slices.Sorted(maps.Keys(byRepo)) { // in the same order as others, so that nobody waits in a circle
		changes = append(changes, byRepo[repo])
	}
	return updated, changes
}

// apply writes the fields of the update into a finding.
func (t *triage) apply(f *Finding) {
	switch {
	case t.Writes("state"):
		t.decide(f)
	case t.Writes("note") && f.Decision == "":
		f.Note = t.Row.Note
	case t.Writes("note"):
		d := f.decision()
		d.note, d.author = t.Row.Note, t.author
		f.decide(d, DecisionOfFinding)
	}
	if t.Writes("assignee") {
		f.Assignee = t.Row.Assignee
	}
	if t.Writes("dueTime") {
		f.DueTime, f.IsDueSet = t.Row.DueTime, !t.Row.DueTime.IsZero()
		t.rules.setDue(f)
	}
}

// decide makes the decision of the update that of the finding. If rules, or the lack of any decision,
// lead to the same, the finding has no decision of its own.
func (t *triage) decide(f *Finding) {
	wanted := t.Row.decision()
	wanted.author = t.author
	f.decide(decision{state: FindingOpen}, "")
	var sources []*Advisory
	for _, a := range t.advisories[f.Representative] {
		if slices.Contains(f.Sources, a.AdvisoryID) && IsAbove(a.UID.Parent(), f.Repo) {
			sources = append(sources, a)
		}
	}
	slices.SortFunc(sources, compareSources)
	f.undecide(sources...)
	t.rules.decide(f, t.now)
	if f.Decision == "" && wanted.state == FindingOpen {
		f.Note = wanted.note
	}
	if !f.decision().equals(wanted) {
		f.decide(wanted, DecisionOfFinding)
	}
}
