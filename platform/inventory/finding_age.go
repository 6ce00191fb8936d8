package inventory

import (
	"context"
	"time"

	"atrium/platform/core"
)

// A FindingAge counts the findings to look after that were first seen within a number of days.
type FindingAge struct {
	FromDays int           `json:"fromDays"`         // they are at least as old
	ToDays   *int          `json:"toDays,omitempty"` // and younger than this; nil for the oldest
	Open     SeverityCount `json:"open"`
}

// Limits of the days that divide ages.
const (
	maxAgeLimits = 10
	maxAgeDays   = 3650
)

// CountAges counts, for each summary, the findings to look after by their ages, with one read. days divide the ages: [7, 30] makes
// those of less than 7 days, of less than 30, and older ones.
func (s Findings) CountAges(ctx context.Context, summaries []*FindingSummary, days []int) ([][]*FindingAge, error) {
	ages, err := s.countAges(ctx, summaries, days)
	return ages, s.rows.Kind.AddArea(err)
}

func (s Findings) countAges(ctx context.Context, summaries []*FindingSummary, days []int) ([][]*FindingAge, error) {
	if err := checkAgeLimits(days); err != nil {
		return nil, err
	}
	scopes, err := s.scopesOf(ctx, summaries)
	if err != nil {
		return nil, err
	}
	now, since := s.area.Now(), make([]core.Time, len(days))
	for i, n := range days {
		since[i] = core.At(now.Add(-time.Duration(n) * core.Day))
	}
	ages := make([][]*FindingAge, len(summaries))
	for i := range ages {
		ages[i] = emptyAges(days)
	}
	err = s.area.tables.CountFindingAges(ctx, s.area.Store, scopes, since, func(scope, age int, rating core.SeverityRating, n int64) {
		ages[scope][age].Open.Add(rating, n)
	})
	return ages, err
}

func checkAgeLimits(days []int) error {
	var v core.Violations
	if len(days) == 0 || len(days) > maxAgeLimits {
		v.Add("days", "must have 1 to %d numbers", maxAgeLimits)
	}
	for i, n := range days {
		if n < 1 || n > maxAgeDays || i > 0 && n <= days[i-1] {
			v.Add("days", "must ascend, from at least 1 to at most %d", maxAgeDays)
			break
		}
	}
	return v.Err()
}

// emptyAges returns the ages that days divide, with no findings.
func emptyAges(days []int) []*FindingAge {
	ages := make([]*FindingAge, len(days)+1)
	for i := range ages {
		ages[i] = new(FindingAge)
		if i > 0 {
			ages[i].FromDays = days[i-1]
		}
		if i < len(days) {
			ages[i].ToDays = &days[i]
		}
	}
	return ages
}

// scopesOf returns the scope of the findings that each summary counts.
func (s Findings) scopesOf(ctx context.Context, summaries []*FindingSummary) ([]core.Scope, error) {
	scopes := make([]core.Scope, len(summaries))
	for i, of := range summaries {
		q, err := s.rows.Query(ctx, core.ListRequest[*FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: of.scope.Repo}})
		if err != nil {
			return nil, err
		}
		for _, b := range q.Scope.Branches {
			b.Digest = of.scope.Digest
			scopes[i].Branches = append(scopes[i].Branches, b)
		}
	}
	return scopes, nil
}
