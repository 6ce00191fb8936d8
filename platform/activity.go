package platform

import (
	"context"
	"fmt"
	"time"
)

// An ActivityInterval is the length of the intervals that an activity counts by.
type ActivityInterval string

// The intervals are days in UTC, and weeks that begin on Monday.
const (
	EachDay  ActivityInterval = "DAY"
	EachWeek ActivityInterval = "WEEK"
)

const day = 24 * time.Hour

// length returns the length of an interval.
func (i ActivityInterval) length() time.Duration {
	if i == EachWeek {
		return 7 * day
	}
	return day
}

// start returns the beginning of the interval that contains t. Truncating to
// weeks works because Go's zero time is a Monday.
func (i ActivityInterval) start(t Time) Time { return At(t.UTC().Truncate(i.length())) }

// An ActivityRequest asks for counts per interval within a resource.
type ActivityRequest struct {
	Within   UID
	Interval ActivityInterval
	// From and To are times in the first and in the last interval. Zero means the last 30
	// intervals.
	From, To Time
}

// The maximum and the default number of intervals.
const (
	maxActivity     = 400
	defaultActivity = 30
)

// An ActivityQuery is a checked and authorised request for the store.
type ActivityQuery struct {
	Scope    Scope
	From, To Time          // To is exclusive, and a whole number of intervals after From
	Length   time.Duration // the length of an interval
	Types    []string      // event types; nil means all
}

// intervals checks a request and returns the start times of its intervals.
func (r ActivityRequest) intervals(now Time, v *violations) (starts []Time) {
	if v.checkUID("within", r.Within); r.To.IsZero() {
		r.To = now
	}
	last := r.Interval.start(r.To)
	first := At(last.Add(-(defaultActivity - 1) * r.Interval.length()))
	if !r.From.IsZero() {
		first = r.Interval.start(r.From)
	}
	switch n := int(last.Sub(first.Time)/r.Interval.length()) + 1; {
	case n < 1:
		v.add("to", "must not be before from")
	case first.Year() < 1: // databases have no such years
		v.add("to", "must be later, so that the first interval begins in the year 1 or after it")
	case n > maxActivity:
		v.add("from", "must select at most %d intervals; it selects %d", maxActivity, n)
	default:
		for i := range n {
			starts = append(starts, At(first.Add(time.Duration(i)*r.Interval.length())))
		}
	}
	return starts
}

// query builds the query for the intervals that begin at starts.
func (r ActivityRequest) query(starts []Time, scope Scope) ActivityQuery {
	length := r.Interval.length()
	return ActivityQuery{Scope: scope, From: starts[0], To: At(starts[len(starts)-1].Add(length)), Length: length}
}

// An AdvisoryActivity counts the advisories that were opened and fixed in one
// interval.
type AdvisoryActivity struct {
	Time          Time // start of the interval
	Opened, Fixed int64
}

// An AdvisoryCount is what the store counts of advisories in one interval.
type AdvisoryCount struct {
	Interval      int // position of the interval, from 0
	Opened, Fixed int64
}

// Activity counts, per interval, the advisories of a group or a repo that were
// opened, and those that were fixed.
func (s Advisories) Activity(ctx context.Context, req ActivityRequest) ([]AdvisoryActivity, error) {
	activity, err := s.activity(ctx, req)
	return activity, s.kind.addArea(err)
}

func (s Advisories) activity(ctx context.Context, req ActivityRequest) ([]AdvisoryActivity, error) {
	starts, err := checkActivity(ctx, req, s.p.now(), nil)
	if err != nil {
		return nil, err
	}
	scope, err := s.activityScope(ctx, req.Within)
	if err != nil {
		return nil, err
	}
	counts, err := s.p.store.AdvisoryActivity(ctx, req.query(starts, scope))
	if err == nil && len(counts) == 0 {
		err = s.scopeExists(ctx, UIDFilter{DescendantsOf: req.Within})
	}
	activity := make([]AdvisoryActivity, len(starts))
	for i, start := range starts {
		activity[i].Time = start
	}
	for _, c := range counts {
		activity[c.Interval].Opened += c.Opened
		activity[c.Interval].Fixed += c.Fixed
	}
	return activity, err
}

// checkActivity checks the caller and the request, and calls check to add further
// violations. It returns the start times of the intervals.
func checkActivity(ctx context.Context, req ActivityRequest, now Time, check func(*violations)) ([]Time, error) {
	if _, err := requireCaller(ctx); err != nil {
		return nil, err
	}
	var v violations
	starts := req.intervals(now, &v)
	if check != nil {
		check(&v)
	}
	return starts, v.err()
}

// activityScope returns the scope of the advisories of a group or of a repo.
func (s Advisories) activityScope(ctx context.Context, within UID) (Scope, error) {
	q, err := s.query(ctx, ListRequest[*AdvisoryFilter]{UIDP: UIDFilter{DescendantsOf: within}})
	if err != nil || within.IsRoot() {
		return q.Scope, err
	}
	repos, err := s.p.store.Repos().Get(ctx, Keys{uids: []UID{within}})
	if err != nil || len(repos) == 0 {
		return q.Scope, err
	}
	return s.affecting(ctx, ImageKey{Repo: within}, UIDFilter{})
}

// An EventActivity counts the changes that were made and those that were denied in
// one interval.
type EventActivity struct {
	Time    Time // start of the interval
	Changes int64
	Denials int64
}

// An EventCount is what the store counts of events in one interval.
type EventCount struct {
	Interval         int // position of the interval, from 0
	Changes, Denials int64
}

// Activity counts, per interval, the changes in a group and below it, and the
// changes that were denied, of the types and kinds; nil in both means all. It needs
// groups.update on the group.
func (s AuditLog) Activity(ctx context.Context, req ActivityRequest, types, kinds []string) ([]EventActivity, error) {
	activity, err := s.activity(ctx, req, types, kinds)
	return activity, inArea(areaEvents, listEventTypes(err))
}

func (s AuditLog) activity(ctx context.Context, req ActivityRequest, types, kinds []string) ([]EventActivity, error) {
	starts, err := checkActivity(ctx, req, s.p.now(), func(v *violations) {
		v.checkEventTypes("types", types)
		v.checkEventTypes("kinds", kinds)
	})
	if err != nil {
		return nil, err
	}
	if actor := ActorOf(ctx); !actor.Can(CapGroupsUpdate, req.Within) { // reading the audit log needs the same capability
		return nil, actor.permissionError(CapGroupsUpdate, req.Within)
	}
	selected := selectedTypes(types, kinds)
	if selected != nil && len(selected) == 0 {
		return []EventActivity{}, nil
	}
	activity := make([]EventActivity, len(starts))
	for i, start := range starts {
		activity[i].Time = start
	}
	q := req.query(starts, subtreeScope([]UID{req.Within}))
	q.Types = selected
	counts, err := s.p.store.EventActivity(ctx, q)
	for _, c := range counts {
		activity[c.Interval].Changes += c.Changes
		activity[c.Interval].Denials += c.Denials
	}
	if err != nil {
		return nil, fmt.Errorf("the audit log cannot be counted: %w", err)
	}
	return activity, nil
}
