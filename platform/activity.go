package platform

import (
	"context"
	"fmt"
	"time"
)

// An ActivityInterval is how long the intervals of an activity are.
type ActivityInterval string

// The intervals: days in UTC, and weeks that begin on Monday.
const (
	EachDay  ActivityInterval = "DAY"
	EachWeek ActivityInterval = "WEEK"
)

const day = 24 * time.Hour

// length is how long an interval is.
func (i ActivityInterval) length() time.Duration {
	if i == EachWeek {
		return 7 * day
	}
	return day
}

// start is when the interval of a moment begins. Go counts from a Monday.
func (i ActivityInterval) start(t Time) Time { return At(t.UTC().Truncate(i.length())) }

// An ActivityRequest asks what happened within a resource, interval by interval.
type ActivityRequest struct {
	Within   UID
	Interval ActivityInterval
	From, To Time // moments in the first and in the last interval; zero: 30 intervals up to now
}

// How many intervals an activity has at most, and where none are asked for.
const (
	maxActivity     = 400
	defaultActivity = 30
)

// An ActivityQuery is a request that may be read as it stands.
type ActivityQuery struct {
	Scope    Scope
	From, To Time          // To is exclusive, and a whole number of intervals later
	Length   time.Duration // of an interval
	Types    []string      // of events; nil: all
}

// An ActivityCount is what was counted in the i-th interval: of two things.
type ActivityCount struct {
	Interval      int
	First, Second int64
}

// intervals checks a request, and gives the beginnings of its intervals.
func (r ActivityRequest) intervals(now Time, v *violations) (starts []Time) {
	if v.uid("within", r.Within); r.To.IsZero() {
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
	case n > maxActivity:
		v.add("from", "must be at most %d intervals before the last, and is %d", maxActivity, n)
	default:
		for i := range n {
			starts = append(starts, At(first.Add(time.Duration(i)*r.Interval.length())))
		}
	}
	return starts
}

// query asks for the intervals that begin at starts.
func (r ActivityRequest) query(starts []Time, scope Scope) ActivityQuery {
	length := r.Interval.length()
	return ActivityQuery{Scope: scope, From: starts[0], To: At(starts[len(starts)-1].Add(length)), Length: length}
}

// An AdvisoryActivity is what became of advisories in one interval.
type AdvisoryActivity struct {
	Time          Time // when it begins
	Opened, Fixed int64
}

// Activity counts, interval by interval, the advisories below a group or of a
// repo that became known, and those that were fixed.
func (s Advisories) Activity(ctx context.Context, req ActivityRequest) ([]AdvisoryActivity, error) {
	activity, err := s.activity(ctx, req)
	return activity, s.kind.in(err)
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
		activity[c.Interval].Opened += c.First
		activity[c.Interval].Fixed += c.Second
	}
	return activity, err
}

// checkActivity checks a request of a known caller, with what else is wrong with it.
func checkActivity(ctx context.Context, req ActivityRequest, now Time, check func(*violations)) ([]Time, error) {
	if _, err := caller(ctx); err != nil {
		return nil, err
	}
	var v violations
	starts := req.intervals(now, &v)
	if check != nil {
		check(&v)
	}
	return starts, v.err()
}

// activityScope is where the advisories of a group, or of a repo, lie.
func (s Advisories) activityScope(ctx context.Context, within UID) (Scope, error) {
	q, err := s.query(ctx, ListRequest[AdvisoryFilter]{UIDP: UIDFilter{DescendantsOf: within}})
	if err != nil || within.IsRoot() {
		return q.Scope, err
	}
	repos, err := TableOf[Repo, RepoFilter](s.p.store).Get(ctx, Keys{uids: []UID{within}})
	if err != nil || len(repos) == 0 {
		return q.Scope, err
	}
	if _, err := need(ctx, within, CapRepoList); err != nil {
		return Scope{}, err
	}
	if q, err = s.query(ctx, ListRequest[AdvisoryFilter]{UIDP: UIDFilter{DescendantsOf: within.Root()}}); err != nil {
		return Scope{}, err
	}
	var narrowed Scope
	repo := adviseRepos(repos)[0]
	for _, b := range q.Scope.branches {
		narrowed.branches = append(narrowed.branches, repo.narrow(b)...)
	}
	return narrowed, nil
}

// An EventActivity is how much was changed, and refused, in one interval.
type EventActivity struct {
	Time          Time // when it begins
	Made, Refused int64
}

// Activity counts, interval by interval, the changes in a group and below it,
// and those that were refused. It needs groups.update on the group.
func (s AuditLog) Activity(ctx context.Context, req ActivityRequest, types []string) ([]EventActivity, error) {
	activity, err := s.activity(ctx, req, types)
	return activity, inArea("events", err)
}

func (s AuditLog) activity(ctx context.Context, req ActivityRequest, types []string) ([]EventActivity, error) {
	starts, err := checkActivity(ctx, req, s.p.now(), func(v *violations) { v.eventTypes(types) })
	if err != nil {
		return nil, err
	}
	if actor := ActorOf(ctx); !actor.Can(CapGroupsUpdate, req.Within) { // to read, as the log is read
		return nil, actor.lacks(CapGroupsUpdate, req.Within)
	}
	if types != nil && len(types) == 0 {
		return []EventActivity{}, nil
	}
	activity := make([]EventActivity, len(starts))
	for i, start := range starts {
		activity[i].Time = start
	}
	q := req.query(starts, subtrees([]UID{req.Within}))
	q.Types = fullEventTypes(types)
	counts, err := s.p.store.EventActivity(ctx, q)
	for _, c := range counts {
		activity[c.Interval].Made += c.First
		activity[c.Interval].Refused += c.Second
	}
	if err != nil {
		return nil, fmt.Errorf("the audit log cannot be counted: %w", err)
	}
	return activity, nil
}
