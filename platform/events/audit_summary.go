package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"atrium/platform/core"
)

// MaxSummarized is how many events a summary of the log counts at most.
const MaxSummarized = 10_000

type (
	// An AuditSummary counts the newest events that a request asks for.
	AuditSummary struct {
		Made     int64     `json:"made"`    // changes that were made
		Refused  int64     `json:"refused"` // and those that were refused
		Complete bool      `json:"complete"`
		Since    core.Time `json:"countedSince"` // all later events are counted

		Actors []AuditActor     `json:"actors"`
		Kinds  []core.TextFacet `json:"kinds"` // by names, such as IAM_GROUP_CREATED
		Groups []core.UIDFacet  `json:"groups"`
	}
	// An AuditActor counts what one actor did, and was refused to do.
	AuditActor struct {
		Actor   string `json:"value"` // the UID of an identity, or the name of an operator's command
		Count   int64  `json:"count"`
		Made    int64  `json:"made"`
		Refused int64  `json:"refused"`
	}
	// An AuditCount is what the store counts of events that have all of these in common.
	AuditCount struct {
		Actor, Type string
		Group       core.UID
		Denied      bool
		Rows        int64 // events in the log
		Count       int64 // how often they happened
		Oldest      core.Time
	}
)

// Summarize counts the events of a request, the newest first and at most MaxSummarized, by who made the changes, of which kind they are
// and in which group. It needs what List needs, and a time at which to begin.
func (s AuditLog) Summarize(ctx context.Context, req AuditRequest) (*AuditSummary, error) {
	summary, err := s.summarize(ctx, req)
	return summary, core.InArea(core.AreaEvents, s.area.Types.ListIn(err))
}

func (s AuditLog) summarize(ctx context.Context, req AuditRequest) (*AuditSummary, error) {
	missing := core.Violations(slices.Clone(req.Malformed))
	if req.DescendantsOf == "" {
		missing.Add("within", "is required")
	}
	if req.Since.IsZero() {
		missing.Add("since", "is required")
	}
	req.Malformed = missing
	q, err := req.query(ctx, s.area.Types)
	if err != nil {
		return nil, err
	}
	summary := &AuditSummary{Since: req.Since, Complete: true, Actors: []AuditActor{}, Kinds: []core.TextFacet{}, Groups: []core.UIDFacet{}}
	if q.Types != nil && len(q.Types) == 0 {
		return summary, nil
	}
	q.Limit = MaxSummarized - 1 // the store reads one more
	counts, err := s.area.Store.CountEvents(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("the audit log cannot be counted: %w", err)
	}
	summary.add(counts)
	return summary, nil
}

// add counts what the store has counted.
func (s *AuditSummary) add(counts []AuditCount) {
	var rows int64
	var oldest core.Time
	actors, kinds, groups := map[string]*AuditActor{}, map[string]int64{}, map[core.UID]int64{}
	for _, c := range counts {
		if rows += c.Rows; oldest.IsZero() || c.Oldest.Before(oldest.Time) {
			oldest = c.Oldest
		}
		by := actors[c.Actor]
		if by == nil {
			by = &AuditActor{Actor: c.Actor}
			actors[c.Actor] = by
		}
		by.Count += c.Count
		if c.Denied {
			by.Refused, s.Refused = by.Refused+c.Count, s.Refused+c.Count
		} else {
			by.Made, s.Made = by.Made+c.Count, s.Made+c.Count
		}
		kinds[eventKindName(c.Type)] += c.Count
		groups[c.Group] += c.Count
	}
	if rows >= MaxSummarized {
		s.Complete, s.Since = false, oldest
	}
	for _, by := range actors {
		s.Actors = append(s.Actors, *by)
	}
	slices.SortFunc(s.Actors, func(a, b AuditActor) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Actor, b.Actor)) })
	s.Actors = s.Actors[:min(len(s.Actors), core.MaxFacets)]
	s.Kinds, s.Groups = core.FacetsOf(kinds), core.FacetsOf(groups)
}
