package inventory

import (
	"context"

	"atrium/platform/core"
)

// A SeverityCount counts advisories by severity.
type SeverityCount struct {
	Total    int64 `json:"total"`
	Critical int64 `json:"critical"`
	High     int64 `json:"high"`
	Medium   int64 `json:"medium"`
	Low      int64 `json:"low"`
	None     int64 `json:"none"`
	Unknown  int64 `json:"unknown"`
}

// Add adds n to the count of a rating.
func (c *SeverityCount) Add(rating core.SeverityRating, n int64) {
	c.Total += n
	switch rating {
	case core.SeverityCritical:
		c.Critical += n
	case core.SeverityHigh:
		c.High += n
	case core.SeverityMedium:
		c.Medium += n
	case core.SeverityLow:
		c.Low += n
	case core.SeverityNone:
		c.None += n
	default:
		c.Unknown += n
	}
}

// An AdvisorySummary counts advisories by state and severity, without withdrawn
// ones.
type AdvisorySummary struct {
	Open        SeverityCount `json:"open"`
	Fixed       SeverityCount `json:"fixed"`
	NotAffected SeverityCount `json:"notAffected"`
}

// Add adds n advisories to a count.
func (s *AdvisorySummary) Add(rating core.SeverityRating, state AdvisoryState, n int64) {
	switch state {
	case AdvisoryFixed:
		s.Fixed.Add(rating, n)
	case AdvisoryNotAffected:
		s.NotAffected.Add(rating, n)
	default:
		s.Open.Add(rating, n)
	}
}

// Summarize counts the advisories below a group that the caller may see. If
// group is "", it counts all that the caller may see.
func (s Advisories) Summarize(ctx context.Context, group core.UID) (*AdvisorySummary, error) {
	summaries, errs := s.SummarizeGroups(ctx, []core.UID{group})
	if errs[0] == nil && *summaries[0] == (AdvisorySummary{}) {
		errs[0] = s.rows.Kind.AddArea(s.rows.ScopeExists(ctx, core.UIDFilter{DescendantsOf: group}))
	}
	if errs[0] != nil {
		return nil, errs[0]
	}
	return summaries[0], nil
}

// SummarizeGroups counts the advisories below each group with one read of the
// counters. The groups must exist.
func (s Advisories) SummarizeGroups(ctx context.Context, groups []core.UID) ([]*AdvisorySummary, []error) {
	return summarizeEach(ctx, s.rows, groups, s.area.tables.SummarizeAdvisories)
}

// summarizeEach summarizes what the caller may see of the rows within each UID, with one read.
func summarizeEach[T, V any, F core.Filter](ctx context.Context, r *core.Collection[T, F], within []core.UID, read func(context.Context, core.Conn, []core.Scope) ([]*V, error)) ([]*V, []error) {
	var scopes []core.Scope
	check := func(uid core.UID) error {
		err := checkWithin(uid)
		var q core.Query[F]
		if err == nil {
			q, err = r.Query(ctx, core.ListRequest[F]{UIDP: core.UIDFilter{DescendantsOf: uid}})
		}
		if err == nil {
			scopes = append(scopes, q.Scope)
		}
		return r.Kind.AddArea(err)
	}
	return core.ReadPermitted(within, check, func([]core.UID) ([]*V, error) {
		found, err := read(ctx, r.Core.Store, scopes)
		return found, r.Kind.AddArea(err)
	})
}
