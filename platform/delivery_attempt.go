package platform

import (
	"fmt"
	"time"
)

// What follows from one attempt is decided here, from nothing but the attempt,
// the clock and a random number.

// deliverySchedule is what is waited before each attempt: 75 h 35 m in all.
var deliverySchedule = [...]time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	deliveryJitter = 0.1                // of a wait, either way
	longestPause   = 24 * time.Hour     // that a Retry-After is honoured for
	patience       = 5 * 24 * time.Hour // with a sink that only fails
)

// HTTP statuses that mean more than failure.
const (
	statusGone               = 410
	statusTooManyRequests    = 429
	statusServiceUnavailable = 503
)

// An Attempt tells how an attempt of a delivery went.
type Attempt struct {
	Status     int           // of the answer; 0: there was none
	Answer     string        // how it starts
	RetryAfter time.Duration // as the sink asked; 0: it did not
	Error      string        // why there was no answer
}

func (a Attempt) succeeded() bool {
	return a.Status >= 200 && a.Status < 300
}

// gone: the sink wants nothing more, ever.
func (a Attempt) gone() bool { return a.Status == statusGone }

func (a Attempt) failure() string {
	switch {
	case a.succeeded():
		return ""
	case a.Status == 0:
		return a.Error
	default:
		return fmt.Sprintf("the sink answered %d", a.Status)
	}
}

// pause is how long the sink asked to be left alone.
func (a Attempt) pause() time.Duration {
	if a.Status != statusTooManyRequests && a.Status != statusServiceUnavailable {
		return 0
	}
	return min(a.RetryAfter, longestPause)
}

// tried notes an attempt. random is in [0, 1); waits are multiplied by scale,
// which is 1 but in tests.
func (d *Delivery) tried(a Attempt, now Time, random, scale float64) {
	d.Attempts++
	d.LastStatus, d.LastAnswer, d.LastError, d.LastAttemptTime = int32(a.Status), a.Answer, a.failure(), now //nolint:gosec // three digits
	switch {
	case a.succeeded():
		d.end(DeliveryDelivered, now)
	case a.gone() || int(d.Attempts) >= len(deliverySchedule):
		d.end(DeliveryFailed, now)
	default:
		wait := float64(deliverySchedule[d.Attempts]) * (1 + deliveryJitter*(2*random-1))
		wait = max(wait, float64(a.pause())) * scale
		d.State, d.Stage, d.NextAttemptTime, d.UpdateTime = DeliveryRetrying, StageAgain, At(now.Add(time.Duration(wait))), now
	}
}

func (d *Delivery) end(state DeliveryState, now Time) {
	d.State, d.Stage, d.NextAttemptTime, d.UpdateTime = state, StageEnded, Time{}, now
}

// tried notes how an attempt of one of its deliveries went, and reports
// whether that changes anything for the subscription.
func (s *Subscription) tried(a Attempt, now Time) (changed bool) {
	switch {
	case a.succeeded():
		changed = !s.FailingSince.IsZero()
		s.FailingSince = Time{}
	case !s.DisableTime.IsZero():
	case a.gone():
		s.disable(a.failure(), now)
		changed = true
	case s.FailingSince.IsZero():
		s.FailingSince, changed = now, true
	case now.Sub(s.FailingSince.Time) >= patience:
		s.disable("nothing but failures for five days: "+a.failure(), now)
		changed = true
	}
	return changed
}

func (s *Subscription) disable(reason string, now Time) {
	s.DisableTime, s.DisableReason = now, reason
}
