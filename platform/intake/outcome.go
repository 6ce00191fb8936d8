package intake

import (
	"time"

	"atrium/platform/core"
)

// What follows a run is decided here from the source, the run, the clock and a random number alone.

const (
	// firstRetry is the pause after a run that failed. It is doubled with each further failure, up to the interval and lastRetry.
	firstRetry = time.Minute
	lastRetry  = 6 * time.Hour
	// jitter is the fraction by which pauses vary in both directions, so that the servers of many do not ask a feed at the same moment.
	jitter = 0.1
)

// record updates a source after a run. random is in [0, 1).
func (s *Source) record(run *SourceRun, now core.Time, random float64) {
	s.State, s.LastRun, s.Lease, s.CancelAsked = run.State, run, core.Time{}, false
	switch run.State {
	case Succeeded:
		s.LastSuccessTime, s.FailingSince, s.Failures = now, core.Time{}, 0
	case Failed:
		s.Failures++
		if s.FailingSince.IsZero() {
			s.FailingSince = now
		}
	}
	var next core.Time
	if !s.Paused {
		next = core.At(now.Add(s.pause(random)))
	}
	if asked := s.NextRunTime; asked.After(run.StartTime.Time) && (next.IsZero() || asked.Before(next.Time)) {
		next = asked // It was due when the run began. Somebody has asked for another run since.
	}
	s.NextRunTime = next
}

// pause returns how long a source rests after a run.
func (s *Source) pause(random float64) time.Duration {
	wait := time.Duration(s.Interval)
	if s.Failures > 0 {
		wait = min(wait, lastRetry, firstRetry<<min(s.Failures-1, 10))
	}
	return time.Duration(float64(wait) * (1 + jitter*(2*random-1)))
}

// StaleAfter is after how many intervals without success a source is old.
const StaleAfter = 3

// KnownSince returns since when what the source has is known: the time of its last success, or of its creation.
func (s *Source) KnownSince() core.Time {
	if s.LastSuccessTime.IsZero() {
		return s.CreateTime
	}
	return s.LastSuccessTime
}

// IsStale reports whether a source that should be read has not been for too long.
func (s *Source) IsStale(now core.Time) bool {
	return !s.Paused && now.Sub(s.KnownSince().Time) > StaleAfter*time.Duration(s.Interval)
}
