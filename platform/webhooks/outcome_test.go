package webhooks

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
)

var attemptsStart = core.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

func TestADeliveryIsTriedTenTimesOverThreeDays(t *testing.T) {
	t.Parallel()
	want := []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	for _, jitter := range []struct{ random, factor float64 }{{0, 0.9}, {0.5, 1}, {0.9999999, 1.1}} {
		d, now := &Delivery{State: DeliveryPending, Stage: StageQueued}, attemptsStart
		for i, wait := range want {
			d.recordAttempt(Attempt{Status: 500}, now, jitter.random, 1)
			got := d.NextAttemptTime.Sub(now.Time)
			if off := got - time.Duration(float64(wait)*jitter.factor); off.Abs() > time.Second || d.State != DeliveryRetrying || d.Stage != StageQueued {
				t.Errorf("after attempt %d: %s, and %s to wait; want %s times %g", i+1, d.State, got, wait, jitter.factor)
			}
			now = d.NextAttemptTime
		}
		d.recordAttempt(Attempt{Status: 500}, now, jitter.random, 1)
		if d.State != DeliveryFailed || d.Stage != StageEnded || d.Attempts != 10 || !d.NextAttemptTime.IsZero() {
			t.Errorf("the last attempt leaves %+v", d)
		}
		total := time.Duration(float64(75*time.Hour+35*time.Minute) * jitter.factor)
		if off := now.Sub(attemptsStart.Time) - total; off.Abs() > time.Minute {
			t.Errorf("the last attempt was after %s, want %s", now.Sub(attemptsStart.Time), total)
		}
	}
}

// The attack is a sink that postpones each attempt, until the event is deleted or the receiver
// has forgotten its id.
func TestTenAttemptsFitIntoTheDocumentedTime(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	if says := fmt.Sprintf("ten attempts within %g h", DeliveryPeriod.Hours()); !strings.Contains(string(guide), says) {
		t.Errorf("docs/events.md does not say %q", says)
	}
	d, now := &Delivery{State: DeliveryPending, Stage: StageQueued}, attemptsStart
	for d.State != DeliveryFailed {
		d.recordAttempt(Attempt{Status: 503, RetryAfter: 24 * time.Hour}, now, 0.9999999, 1)
		if d.State != DeliveryFailed {
			now = d.NextAttemptTime
		}
	}
	if took := now.Sub(attemptsStart.Time); d.Attempts != 10 || took > DeliveryPeriod-time.Hour {
		t.Errorf("%d attempts took %s, want 10 and an hour less than %s, for attempts that begin late", d.Attempts, took, DeliveryPeriod)
	}
}

func TestTheResultOfAnAttemptDecidesTheDelivery(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attempt Attempt
		state   DeliveryState
		wait    time.Duration
		failure string
	}{
		"200":                       {Attempt{Status: 200, Answer: "thanks"}, DeliveryDelivered, 0, ""},
		"204":                       {Attempt{Status: 204}, DeliveryDelivered, 0, ""},
		"a redirect":                {Attempt{Status: 302}, DeliveryRetrying, 5 * time.Second, "the sink responded with status 302"},
		"a status of no name":       {Attempt{Status: 599}, DeliveryRetrying, 5 * time.Second, "the sink responded with status 599"},
		"no answer":                 {Attempt{Error: "the sink did not answer"}, DeliveryRetrying, 5 * time.Second, "the sink did not answer"},
		"410":                       {Attempt{Status: 410}, DeliveryFailed, 0, "the sink responded with status 410"},
		"429 and a time":            {Attempt{Status: 429, RetryAfter: time.Hour}, DeliveryRetrying, time.Hour, "the sink responded with status 429"},
		"503 and a time":            {Attempt{Status: 503, RetryAfter: time.Minute}, DeliveryRetrying, time.Minute, "the sink responded with status 503"},
		"a time below the schedule": {Attempt{Status: 503, RetryAfter: time.Second}, DeliveryRetrying, 5 * time.Second, "the sink responded with status 503"},
		"a time beyond two hours":   {Attempt{Status: 503, RetryAfter: 365 * 24 * time.Hour}, DeliveryRetrying, 2 * time.Hour, "the sink responded with status 503"},
		"500 and a time":            {Attempt{Status: 500, RetryAfter: time.Hour}, DeliveryRetrying, 5 * time.Second, "the sink responded with status 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &Delivery{State: DeliveryPending}
			d.recordAttempt(c.attempt, attemptsStart, 0.5, 1)
			wait := time.Duration(0)
			if !d.NextAttemptTime.IsZero() {
				wait = d.NextAttemptTime.Sub(attemptsStart.Time)
			}
			if d.State != c.state || wait != c.wait || strings.TrimSpace(d.LastError) != c.failure {
				t.Errorf("%s, %s to wait, %q; want %s, %s, %q", d.State, wait, d.LastError, c.state, c.wait, c.failure)
			}
			if d.Attempts != 1 || int(d.LastStatus) != c.attempt.Status || d.LastAnswer != c.attempt.Answer || d.LastAttemptTime != attemptsStart {
				t.Errorf("noted as %+v, want Attempts 1, LastAnswer %v and LastAttemptTime %v", d, c.attempt.Answer, attemptsStart)
			}
		})
	}
}

func TestASubscriptionIsDisabledAfterFiveDaysOfFailures(t *testing.T) {
	t.Parallel()
	failure, success := Attempt{Status: 500}, Attempt{Status: 200}
	at := func(hours int) core.Time { return core.At(attemptsStart.Add(time.Duration(hours) * time.Hour)) }
	s := &Subscription{}
	if !s.recordAttempt(failure, at(0)) || s.FailingSince != at(0) {
		t.Errorf("the first failure leaves %+v", s)
	}
	if s.recordAttempt(failure, at(119)) || !s.DisableTime.IsZero() {
		t.Errorf("failures of less than five days leave %+v", s)
	}
	if !s.recordAttempt(success, at(119)) || !s.FailingSince.IsZero() {
		t.Errorf("a success leaves %+v", s)
	}
	if s.recordAttempt(success, at(119)) {
		t.Error("one more success changes something")
	}
	s.recordAttempt(failure, at(119))
	if s.recordAttempt(failure, at(238)) || !s.DisableTime.IsZero() {
		t.Errorf("a success between is forgotten: %+v", s)
	}
	if !s.recordAttempt(failure, at(239)) || s.DisableTime != at(239) || s.DisableReason == "" {
		t.Errorf("five days of failures leave %+v", s)
	}
	if s.recordAttempt(failure, at(240)) || s.DisableTime != at(239) {
		t.Errorf("a failure after it was given up leaves %+v", s)
	}
	gone := &Subscription{}
	if !gone.recordAttempt(Attempt{Status: 410}, at(0)) || gone.DisableTime != at(0) || gone.DisableReason != "the sink responded with status 410" {
		t.Errorf("a sink that is gone leaves %+v", gone)
	}
}
