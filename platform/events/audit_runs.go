package events

import (
	"context"
	"slices"
	"strings"

	"atrium/platform/core"
)

// MaxPassed is how many events a page of runs passes over at most, beside those that it compares.
const MaxPassed = 40_000

const (
	comparedAtOnce = 500 // how many events are compared one by one, of which the last run may go on
	foldingRounds  = 2   // how often a page compares events and then finds the end of the last run
)

// longTexts are the fields that events are compared without.
const longTexts = core.EventBodies | core.EventChanges

// An AuditLogRun stands for events that follow each other in the log, of the same kind, actor and outcome.
type AuditLogRun struct {
	Newest   *core.Event
	OldestID string
	Count    int64
}

// Cursor returns the id of the oldest event, after which the next run begins.
func (r *AuditLogRun) Cursor() string { return r.OldestID }

// OldestTime returns when the oldest event happened.
func (r *AuditLogRun) OldestTime() core.Time { return core.EventTime(r.OldestID) }

// continuesWith reports whether the event that follows a run belongs to it.
func (r *AuditLogRun) continuesWith(e *core.Event) bool {
	return r.Newest.Actor.Subject == e.Actor.Subject && LikeTypes(r.Newest.Type)[0] == LikeTypes(e.Type)[0] && (r.Newest.Denied == "") == (e.Denied == "")
}

// LikeTypes returns the types of events that belong to the same run: of single changes, and of changes in a batch.
func LikeTypes(full string) [2]string {
	kind := strings.TrimSuffix(strings.TrimSuffix(full, core.BatchVersion), core.EventVersion)
	return [2]string{kind + core.EventVersion, kind + core.BatchVersion}
}

// ListRuns reads a page of the log in which events that are alike and follow each other are one run. It reads forward, and
// needs what List needs, and a group. A page ends early where many events had to be passed over. A run that is longer than that is
// several runs in a row.
func (s AuditLog) ListRuns(ctx context.Context, req AuditRequest) (RecordPage[*AuditLogRun], error) {
	page, err := s.listRuns(ctx, req)
	return page, core.InArea(core.AreaEvents, s.area.Types.ListIn(err))
}

func (s AuditLog) listRuns(ctx context.Context, req AuditRequest) (RecordPage[*AuditLogRun], error) {
	page := RecordPage[*AuditLogRun]{HasPrevious: req.After != ""}
	if req.DescendantsOf == "" {
		missing := core.Violations(slices.Clone(req.Malformed))
		missing.Add("within", "is required")
		req.Malformed = missing
	}
	q, err := req.query(ctx, s.area.Types)
	if err != nil || q.Types != nil && len(q.Types) == 0 {
		return page, err
	}
	page.Items, page.HasNext, err = s.fold(ctx, q)
	if err != nil || len(page.Items) == 0 || q.Without&longTexts == longTexts {
		return page, err
	}
	page.Items, err = s.completeRuns(ctx, q, page.Items)
	return page, err
}

// completeRuns reads the newest event of each run with its texts. It leaves out runs whose newest event has been deleted since.
func (s AuditLog) completeRuns(ctx context.Context, q AuditQuery, runs []*AuditLogRun) ([]*AuditLogRun, error) {
	whole := AuditQuery{Scope: q.Scope, Limit: len(runs), Without: q.Without}
	for _, r := range runs {
		whole.IDs = append(whole.IDs, r.Newest.ID)
	}
	found, err := s.area.Store.EventLog(ctx, whole)
	byID := make(map[string]*core.Event, len(found))
	for _, e := range found {
		byID[e.ID] = e
	}
	return slices.DeleteFunc(runs, func(r *AuditLogRun) bool {
		r.Newest = byID[r.Newest.ID]
		return r.Newest == nil
	}), err
}

// fold returns as many runs as a page has, and whether there are more. It compares events one by one. Where the last of them is
// in a long run, the end of that run is found and its events are counted in the database.
func (s AuditLog) fold(ctx context.Context, q AuditQuery) (runs []*AuditLogRun, more bool, err error) {
	most, left := q.Limit, MaxPassed/max(1, len(q.Types)) // the store reads as many events of each type
	q.Limit, q.Without = comparedAtOnce, longTexts
	for range foldingRounds {
		compared, err := s.area.Store.EventLog(ctx, q)
		if err != nil {
			return nil, false, err
		}
		for _, e := range compared[:min(len(compared), comparedAtOnce)] {
			if n := len(runs); n == 0 || !runs[n-1].continuesWith(e) {
				if n == most {
					return runs, true, nil
				}
				runs = append(runs, &AuditLogRun{Newest: e})
			}
			last := runs[len(runs)-1]
			last.OldestID, last.Count = e.ID, last.Count+1
		}
		if len(compared) <= comparedAtOnce {
			return runs, false, nil
		}
		last := runs[len(runs)-1]
		passed, goesOn, err := s.pass(ctx, q, last, left)
		if left -= passed; err != nil || !goesOn || left <= 0 || len(runs) == most {
			return runs, goesOn, err
		}
		q.After = last.OldestID
	}
	return runs, true, nil
}

// pass adds to a run the events with which it goes on, up to a limit. It returns how many these are, and whether other events
// follow them.
func (s AuditLog) pass(ctx context.Context, q AuditQuery, run *AuditLogRun, most int) (passed int, goesOn bool, err error) {
	q.After, q.Limit = run.OldestID, most
	passed, oldest, err := s.area.Store.CountLog(ctx, q)
	if err != nil || passed == 0 {
		return 0, false, err
	}
	other := q
	other.Limit, other.Unlike, other.From = 0, run.Newest, oldest
	others, err := s.area.Store.EventLog(ctx, other)
	if err != nil {
		return 0, false, err
	}
	goesOn = passed > most || len(others) > 0
	switch {
	case len(others) > 0:
		q.From = others[0].ID + "0" // sorts before every later id
		passed, oldest, err = s.area.Store.CountLog(ctx, q)
	case goesOn:
		q.Limit--
		passed, oldest, err = s.area.Store.CountLog(ctx, q)
	}
	if err == nil && passed > 0 {
		run.OldestID, run.Count = oldest, run.Count+int64(passed)
	}
	return passed, goesOn, err
}
