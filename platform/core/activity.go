package platform

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// An ActivityInterval is the length of the intervals that an activity counts by.
type ActivityInterval string

// The intervals are days, and weeks that begin on Monday.
const (
	EachDay  ActivityInterval = "DAY"
	EachWeek ActivityInterval = "WEEK"
)

const day = 24 * time.Hour

// days returns the number of days of an interval.
func (i ActivityInterval) days() int {
	if i == EachWeek {
		return 7
	}
	return 1
}

// first returns the date on which the interval that contains t begins, at noon in UTC.
func (i ActivityInterval) first(t time.Time) time.Time {
	date := time.Date(t.Year(), t.Month(), t.Day(), 12, 0, 0, 0, time.UTC)
	if i == EachWeek {
		return date.AddDate(0, 0, -(int(date.Weekday())+6)%7)
	}
	return date
}

// An ActivityRequest asks for counts per interval within a resource.
type ActivityRequest struct {
	Within   UID
	Interval ActivityInterval
	// From and To are times in the first and in the last interval. Zero means the last 30
	// intervals.
	From, To Time
	TimeZone *string // name of the zone in which days begin and end, such as Europe/Berlin; nil means UTC
}

// The maximum and the default number of intervals.
const (
	maxActivity     = 400
	defaultActivity = 30
)

// An ActivityQuery is a checked and authorised request for the store. The store counts in steps of equal length, which
// is that of the intervals unless the clocks of the zone are changed between them.
type ActivityQuery struct {
	Scope    Scope
	From, To Time          // To is exclusive, and a whole number of steps after From
	Length   time.Duration // the length of a step
	Types    []string      // event types; nil means all
}

// intervals are the intervals of an activity.
type intervals struct {
	starts []Time
	end    Time
}

// step returns the greatest length of which all intervals are multiples.
func (s intervals) step() time.Duration {
	var step time.Duration
	for i := range s.starts {
		step = commonDivisor(s.after(i).Sub(s.starts[i].Time), step)
	}
	return step
}

func commonDivisor(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// after returns the end of an interval.
func (s intervals) after(i int) Time {
	if i+1 < len(s.starts) {
		return s.starts[i+1]
	}
	return s.end
}

// position returns the interval in which a step lies that the store has counted, or the number of intervals if it lies
// after them.
func (s intervals) position(q ActivityQuery, step int) int {
	at := s.starts[0].Add(time.Duration(step) * q.Length)
	if !at.Before(s.end.Time) {
		return len(s.starts)
	}
	following, _ := slices.BinarySearchFunc(s.starts, at, func(start Time, at time.Time) int {
		if start.After(at) {
			return 1
		}
		return -1
	})
	return following - 1
}

// intervals checks a request and returns its intervals.
func (r ActivityRequest) intervals(now Time, v *violations) (found intervals) {
	v.checkUID("within", r.Within)
	zone, err := loadTimeZone(r.TimeZone)
	if err != nil {
		v.add("timeZone", "%s", err)
		return found
	}
	if r.To.IsZero() {
		r.To = now
	}
	last := r.Interval.first(r.To.In(zone))
	first := last.AddDate(0, 0, -(defaultActivity-1)*r.Interval.days())
	if !r.From.IsZero() {
		first = r.Interval.first(r.From.In(zone))
	}
	switch n := int(last.Sub(first)/day)/r.Interval.days() + 1; {
	case last.Before(first):
		v.add("to", "must not be before from")
	case first.Year() < 1: // databases have no such years
		v.add("to", "must be later, so that the first interval begins in the year 1 or after it")
	case n > maxActivity:
		v.add("from", "must select at most %d intervals; it selects %d", maxActivity, n)
	default:
		for i := range n {
			found.starts = append(found.starts, startOfDay(first.AddDate(0, 0, i*r.Interval.days()), zone))
		}
		found.starts = slices.CompactFunc(found.starts, func(a, b Time) bool { return a.Equal(b.Time) }) // a zone can leave a day out
		found.end = startOfDay(last.AddDate(0, 0, r.Interval.days()), zone)
	}
	return found
}

// query builds the query for intervals.
func (r ActivityRequest) query(in intervals, scope Scope) ActivityQuery {
	return ActivityQuery{Scope: scope, From: in.starts[0], To: in.end, Length: in.step()}
}

// An AdvisoryActivity counts the advisories that were opened and fixed in one
// interval.
type AdvisoryActivity struct {
	Time          Time // start of the interval
	Opened, Fixed int64
}

// An AdvisoryCount is what the store counts of advisories in one step of a query.
type AdvisoryCount struct {
	Step          int // position of the step, from 0
	Opened, Fixed int64
}

// Activity counts, per interval, the advisories of a group or a repo that were
// opened, and those that were fixed.
func (s Advisories) Activity(ctx context.Context, req ActivityRequest) ([]AdvisoryActivity, error) {
	activity, err := s.activity(ctx, req)
	return activity, s.rows.kind.addArea(err)
}

func (s Advisories) activity(ctx context.Context, req ActivityRequest) ([]AdvisoryActivity, error) {
	in, err := checkActivity(ctx, req, s.area.now(), nil)
	if err != nil {
		return nil, err
	}
	scope, err := s.activityScope(ctx, req.Within)
	if err != nil {
		return nil, err
	}
	q := req.query(in, scope)
	counts, err := s.area.tables.AdvisoryActivity(ctx, s.area.store, q)
	if err == nil && len(counts) == 0 {
		err = s.rows.scopeExists(ctx, UIDFilter{DescendantsOf: req.Within})
	}
	activity := make([]AdvisoryActivity, len(in.starts))
	for i, start := range in.starts {
		activity[i].Time = start
	}
	for _, c := range counts {
		counted := &activity[in.position(q, c.Step)]
		counted.Opened += c.Opened
		counted.Fixed += c.Fixed
	}
	return activity, err
}

// checkActivity checks the caller and the request, and calls check to add further
// violations. It returns the intervals.
func checkActivity(ctx context.Context, req ActivityRequest, now Time, check func(*violations)) (intervals, error) {
	if _, err := requireCaller(ctx); err != nil {
		return intervals{}, err
	}
	var v violations
	in := req.intervals(now, &v)
	if check != nil {
		check(&v)
	}
	return in, v.err()
}

// activityScope returns the scope of the advisories of a group or of a repo.
func (s Advisories) activityScope(ctx context.Context, within UID) (Scope, error) {
	q, err := s.rows.query(ctx, ListRequest[*AdvisoryFilter]{UIDP: UIDFilter{DescendantsOf: within}})
	if err != nil || within.IsRoot() {
		return q.Scope, err
	}
	repos, err := s.area.tables.Repos.Get(ctx, s.area.store, Keys{UIDs: []UID{within}})
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

// An EventCount is what the store counts of events in one step of a query.
type EventCount struct {
	Step             int // position of the step, from 0
	Changes, Denials int64
}

// Activity counts, per interval, the changes in a group and below it, and the
// changes that were denied, of the types and kinds; nil in both means all. It needs
// groups.update on the group.
func (s AuditLog) Activity(ctx context.Context, req ActivityRequest, types, kinds []string) ([]EventActivity, error) {
	activity, err := s.activity(ctx, req, types, kinds)
	return activity, inArea(areaEvents, s.area.types.listIn(err))
}

func (s AuditLog) activity(ctx context.Context, req ActivityRequest, types, kinds []string) ([]EventActivity, error) {
	in, err := checkActivity(ctx, req, s.area.now(), func(v *violations) {
		s.area.types.check(v, "types", types)
		s.area.types.check(v, "kinds", kinds)
	})
	if err != nil {
		return nil, err
	}
	if actor := ActorOf(ctx); !actor.Can(CapGroupsUpdate, req.Within) { // reading the audit log needs the same capability
		return nil, actor.permissionError(CapGroupsUpdate, req.Within)
	}
	selected := s.area.types.selectTypes(types, kinds)
	if selected != nil && len(selected) == 0 {
		return []EventActivity{}, nil
	}
	activity := make([]EventActivity, len(in.starts))
	for i, start := range in.starts {
		activity[i].Time = start
	}
	q := req.query(in, subtreeScope([]UID{req.Within}))
	q.Types = selected
	counts, err := s.area.store.EventActivity(ctx, q)
	for _, c := range counts {
		counted := &activity[in.position(q, c.Step)]
		counted.Changes += c.Changes
		counted.Denials += c.Denials
	}
	if err != nil {
		return nil, fmt.Errorf("the audit log cannot be counted: %w", err)
	}
	return activity, nil
}
