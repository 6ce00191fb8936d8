package core

import (
	"context"
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

// Day is the length of a day without a change of clocks.
const Day = 24 * time.Hour

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

// An ActivityQuery is a checked and authorized request for the store. The store counts in steps of equal length, which
// is that of the intervals unless the clocks of the zone are changed between them.
type ActivityQuery struct {
	Scope    Scope
	From, To Time          // To is exclusive, and a whole number of steps after From
	Length   time.Duration // the length of a step
	Types    []string      // event types; nil means all
}

// Intervals are the intervals of an activity.
type Intervals struct {
	Starts []Time
	end    Time
}

// step returns the greatest length of which all intervals are multiples.
func (s Intervals) step() time.Duration {
	var step time.Duration
	for i := range s.Starts {
		step = commonDivisor(s.after(i).Sub(s.Starts[i].Time), step)
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
func (s Intervals) after(i int) Time {
	if i+1 < len(s.Starts) {
		return s.Starts[i+1]
	}
	return s.end
}

// Position returns the interval in which a step lies that the store has counted, or the number of intervals if it lies
// after them.
func (s Intervals) Position(q ActivityQuery, step int) int {
	at := s.Starts[0].Add(time.Duration(step) * q.Length)
	if !at.Before(s.end.Time) {
		return len(s.Starts)
	}
	following, _ := slices.BinarySearchFunc(s.Starts, at, func(start Time, at time.Time) int {
		if start.After(at) {
			return 1
		}
		return -1
	})
	return following - 1
}

// intervals checks a request and returns its intervals.
func (r ActivityRequest) intervals(now Time, v *Violations) (found Intervals) {
	v.CheckUID("within", r.Within)
	zone, err := loadTimeZone(r.TimeZone)
	if err != nil {
		v.Add("timeZone", "%s", err)
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
	switch n := int(last.Sub(first)/Day)/r.Interval.days() + 1; {
	case last.Before(first):
		v.Add("to", "must not be before from")
	case first.Year() < 1: // databases have no such years
		v.Add("to", "must be later, so that the first interval begins in the year 1 or after it")
	case n > maxActivity:
		v.Add("from", "must select at most %d intervals; it selects %d", maxActivity, n)
	default:
		for i := range n {
			found.Starts = append(found.Starts, startOfDay(first.AddDate(0, 0, i*r.Interval.days()), zone))
		}
		found.Starts = slices.CompactFunc(found.Starts, func(a, b Time) bool { return a.Equal(b.Time) }) // a zone can leave a day out
		found.end = startOfDay(last.AddDate(0, 0, r.Interval.days()), zone)
	}
	return found
}

// Query builds the query for intervals.
func (r ActivityRequest) Query(in Intervals, scope Scope) ActivityQuery {
	return ActivityQuery{Scope: scope, From: in.Starts[0], To: in.end, Length: in.step()}
}

// CheckActivity checks the caller and the request, and calls check to add further
// violations. It returns the intervals.
func CheckActivity(ctx context.Context, req ActivityRequest, now Time, check func(*Violations)) (Intervals, error) {
	if _, err := RequireCaller(ctx); err != nil {
		return Intervals{}, err
	}
	var v Violations
	in := req.intervals(now, &v)
	if check != nil {
		check(&v)
	}
	return in, v.Err()
}
