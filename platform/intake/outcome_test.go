package intake

import (
	"testing"
	"time"

	"atrium/platform/core"
)

func TestASourceThatFailsIsReadLessAndLessOften(t *testing.T) {
	t.Parallel()
	now := core.At(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC))
	s := &Source{Interval: core.Duration(10 * time.Minute), CreateTime: now}
	end := func(state SourceState, random float64) *Source {
		s.NextRunTime = now // as when it was claimed
		s.record(&SourceRun{State: state, StartTime: now}, now, random)
		return s
	}
	for i, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
		end(Failed, 0.5)
		if got := s.NextRunTime.Sub(now.Time); got != want || !s.FailingSince.Equal(now.Time) {
			t.Errorf("after %d failures it waits for %s, want %s", i+1, got, want)
		}
	}
	if end(Succeeded, 0); s.NextRunTime.Sub(now.Time) != 9*time.Minute || !s.FailingSince.IsZero() || s.Failures != 0 {
		t.Errorf("after a success it is %+v", s)
	}
	if end(Succeeded, 1); s.NextRunTime.Sub(now.Time) != 11*time.Minute {
		t.Errorf("with the longest jitter it waits for %s", s.NextRunTime.Sub(now.Time))
	}
	if end(Cancelled, 0.5); s.NextRunTime.Sub(now.Time) != 10*time.Minute {
		t.Errorf("after it was cancelled it waits for %s", s.NextRunTime.Sub(now.Time))
	}
	s.Paused = true
	if end(Succeeded, 0.5); !s.NextRunTime.IsZero() {
		t.Error("a paused source has a next run")
	}
	asked := core.At(now.Add(time.Second))
	s.NextRunTime = asked
	if s.record(&SourceRun{State: Succeeded, StartTime: now}, core.At(now.Add(time.Minute)), 0.5); !s.NextRunTime.Equal(asked.Time) {
		t.Errorf("a source that somebody asked for during the run is read next at %s", s.NextRunTime)
	}
}

func TestASourceIsOldAfterThreeIntervals(t *testing.T) {
	t.Parallel()
	now := core.At(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		source Source
		want   bool
	}{
		{Source{CreateTime: core.At(now.Add(-time.Hour))}, false},
		{Source{CreateTime: core.At(now.Add(-4 * time.Hour))}, true},
		{Source{CreateTime: core.At(now.Add(-40 * time.Hour)), LastSuccessTime: core.At(now.Add(-3 * time.Hour))}, false},
		{Source{CreateTime: core.At(now.Add(-40 * time.Hour)), LastSuccessTime: core.At(now.Add(-181 * time.Minute))}, true},
		{Source{CreateTime: core.At(now.Add(-40 * time.Hour)), Paused: true}, false},
	} {
		if c.source.Interval = core.Duration(time.Hour); c.source.IsStale(now) != c.want {
			t.Errorf("%+v is old: %t", c.source, !c.want)
		}
	}
}
