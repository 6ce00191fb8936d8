package inventory

import (
	"context"

	"atrium/platform/core"
)

// A DuePolicy says within how many days the findings of a group or a repo are to be fixed, from when they were first seen. That of
// the closest group counts, as a whole.
type DuePolicy struct {
	Scope core.UID `json:"scope"` // group or repo
	DueDays
	Author     string    `json:"author,omitempty"` // the UID of an identity, or the name of an operator's command
	UpdateTime core.Time `json:"updateTime,omitzero"`
}

// DueDays are numbers of days by severity; nil means that there is no date. The least counts of those that a finding has.
type DueDays struct {
	KnownExploited *int `json:"knownExploitedDays,omitempty"` // whatever the severity, if the KEV catalog has the vulnerability
	Critical       *int `json:"criticalDays,omitempty"`
	High           *int `json:"highDays,omitempty"`
	Medium         *int `json:"mediumDays,omitempty"`
	Low            *int `json:"lowDays,omitempty"`
}

// maxDueDays limits a policy: ten years.
const maxDueDays = 3650

const verbDuePolicySet = "due_policy_set"

// check adds the violations of the numbers.
func (d DueDays) check(v *core.Violations) {
	for _, x := range []struct {
		field string
		days  *int
	}{{"knownExploitedDays", d.KnownExploited}, {"criticalDays", d.Critical}, {"highDays", d.High}, {"mediumDays", d.Medium}, {"lowDays", d.Low}} {
		if x.days != nil && (*x.days < 1 || *x.days > maxDueDays) {
			v.Add(x.field, "must be between 1 and %d; leave it out for no date", maxDueDays)
		}
	}
}

// daysFor returns the days for a finding; nil means none.
func (d DueDays) daysFor(f *Finding) *int {
	days := map[core.SeverityRating]*int{core.SeverityCritical: d.Critical, core.SeverityHigh: d.High, core.SeverityMedium: d.Medium, core.SeverityLow: d.Low}[f.Severity.Rating]
	if f.KnownExploited && d.KnownExploited != nil && (days == nil || *d.KnownExploited < *days) {
		return d.KnownExploited
	}
	return days
}

// closestPolicy returns the policy that counts in a repo or a group, or nil.
func closestPolicy(policies []*DuePolicy, within core.UID) (closest *DuePolicy) {
	for _, p := range policies {
		if within.Within(p.Scope) && (closest == nil || len(p.Scope) > len(closest.Scope)) {
			closest = p
		}
	}
	return closest
}

// setDue sets by when a finding is to be fixed, unless somebody has set it.
func (r triageRules) setDue(f *Finding) {
	if f.IsDueSet {
		return
	}
	f.DueTime = core.Time{}
	if p := closestPolicy(r.policies, f.Repo); p != nil {
		if days := p.daysFor(f); days != nil {
			f.DueTime = core.Time{Time: f.FirstSeenTime.AddDate(0, 0, *days)}
		}
	}
}

// SetDuePolicy sets within how many days the findings of a group or a repo are to be fixed. Without any days, that of the group around
// it counts again. It needs findings.update, findings.list and tag.list there. Reconcile changes the dates of the findings.
func (s Findings) SetDuePolicy(ctx context.Context, p DuePolicy) (*DuePolicy, error) {
	p.UpdateTime, p.Author = s.area.Now(), core.ChangeActor(ctx, p.Scope).Subject
	err := s.requireOn(ctx, "within", p.Scope, triageCapabilities()...)
	if err == nil {
		var v core.Violations
		p.check(&v)
		err = v.Err()
	}
	if err == nil {
		defer s.area.precedence.Take(p.Scope.Root())()
		err = s.area.Store.Write(ctx, func(tx core.Tx) error {
			tx.Lock(FindingLock(p.Scope.Root()))
			if err := requireExisting(ctx, tx, p.Scope); err != nil {
				return err
			}
			s.area.tables.PutDuePolicy(tx, &p)
			s.area.tables.AddPatternTasks(tx, p.Scope, &FindingFilter{})
			tx.Record(s.area.Event(ctx, s.rows.Kind.Event, verbDuePolicySet, p.Scope, p.Scope, p))
			return nil
		})
	}
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, verbDuePolicySet, p.Scope, err)
	}
	return s.DuePolicy(ctx, p.Scope)
}

// DuePolicy returns the policy that counts in a group or a repo: its own, or that of the closest group around it; nil if there is none. It
// needs findings.list and tag.list there.
func (s Findings) DuePolicy(ctx context.Context, within core.UID) (*DuePolicy, error) {
	if err := s.requireOn(ctx, "within", within, FindingKind.ReadCapabilities()...); err != nil {
		return nil, s.rows.Kind.AddArea(err)
	}
	found, err := s.area.tables.DuePolicies(ctx, s.area.Store, scopesAround([]core.UID{within}))
	if err == nil && len(found) == 0 {
		err = s.rows.ScopeExists(ctx, core.UIDFilter{DescendantsOf: within})
	}
	return closestPolicy(found, within), s.rows.Kind.AddArea(err)
}

// CountOverdue counts, for each summary, the findings to look after that are due already, with one read.
func (s Findings) CountOverdue(ctx context.Context, summaries []*FindingSummary) ([]int64, error) {
	counts := make([]int64, len(summaries))
	scopes, err := s.scopesOf(ctx, summaries)
	if err != nil {
		return nil, s.rows.Kind.AddArea(err)
	}
	filter := &FindingFilter{DueBefore: s.area.Now(), States: OpenStates()}
	found, err := s.area.tables.Findings.ListEach(ctx, s.area.Store, core.Query[*FindingFilter]{Filter: filter, Order: s.rows.Kind.DefaultOrder, Parts: core.PartTotal}, scopes)
	for i, rows := range found {
		counts[i] = rows.Total
	}
	return counts, s.rows.Kind.AddArea(err)
}
