package platform

import "context"

// A SeverityCount counts advisories by severity.
type SeverityCount struct{ Total, Critical, High, Medium, Low, None, Unknown int64 }

func (c *SeverityCount) add(rating SeverityRating, n int64) {
	c.Total += n
	switch rating {
	case SeverityCritical:
		c.Critical += n
	case SeverityHigh:
		c.High += n
	case SeverityMedium:
		c.Medium += n
	case SeverityLow:
		c.Low += n
	case SeverityNone:
		c.None += n
	default:
		c.Unknown += n
	}
}

// An AdvisorySummary counts advisories by state and severity, without withdrawn
// ones.
type AdvisorySummary struct{ Open, Fixed, NotAffected SeverityCount }

// Add adds n advisories to a count.
func (s *AdvisorySummary) Add(rating SeverityRating, state AdvisoryState, n int64) {
	switch state {
	case AdvisoryFixed:
		s.Fixed.add(rating, n)
	case AdvisoryNotAffected:
		s.NotAffected.add(rating, n)
	default:
		s.Open.add(rating, n)
	}
}

// Summarize counts the advisories below a group that the caller may see. If
// group is "", it counts all that the caller may see.
func (s Advisories) Summarize(ctx context.Context, group UID) (*AdvisorySummary, error) {
	summaries, errs := s.SummarizeGroups(ctx, []UID{group})
	if errs[0] == nil && *summaries[0] == (AdvisorySummary{}) {
		errs[0] = s.kind.addArea(s.scopeExists(ctx, UIDFilter{DescendantsOf: group}))
	}
	if errs[0] != nil {
		return nil, errs[0]
	}
	return summaries[0], nil
}

// SummarizeGroups counts the advisories below each group with one read of the
// counters. The groups must exist.
func (s Advisories) SummarizeGroups(ctx context.Context, groups []UID) ([]*AdvisorySummary, []error) {
	return s.summarize(ctx, len(groups), func(i int) (UIDFilter, func(Branch) []Branch) {
		return UIDFilter{DescendantsOf: groups[i]}, func(b Branch) []Branch { return []Branch{b} }
	})
}

// summarize counts n lists of advisories with one read. The function scopeAt
// returns the scope of the i-th list, and a function that narrows each branch of
// the visible part of that scope.
func (s Advisories) summarize(ctx context.Context, n int, scopeAt func(i int) (UIDFilter, func(Branch) []Branch)) ([]*AdvisorySummary, []error) {
	errs, scopes, readable := make([]error, n), make([]Scope, n), 0
	for i := range n {
		asked, narrow := scopeAt(i)
		q, err := s.query(ctx, ListRequest[*AdvisoryFilter]{UIDP: asked})
		if errs[i] = s.kind.addArea(err); err != nil {
			continue
		}
		readable++
		for _, b := range q.Scope.branches {
			scopes[i].branches = append(scopes[i].branches, narrow(b)...)
		}
	}
	if readable == 0 {
		return make([]*AdvisorySummary, n), errs
	}
	summaries, err := s.p.store.SummarizeAdvisories(ctx, scopes)
	if err != nil {
		summaries = make([]*AdvisorySummary, n)
	}
	for i := range n {
		if errs[i] == nil {
			errs[i] = s.kind.addArea(err)
		}
		if errs[i] != nil {
			summaries[i] = nil
		}
	}
	return summaries, errs
}
