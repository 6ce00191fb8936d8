package webhooks

import (
	"fmt"
	"time"

	"atrium/platform/core"
)

// The consequences of an attempt follow only from the attempt, the clock and a
// random number.

// deliverySchedule holds the delay before each attempt: 75 h 35 m in total. With the longest
// jitter and the longest Retry-After it is 88 h 30 m.
var deliverySchedule = [...]time.Duration{
	0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

const (
	deliveryJitter = 0.1                // fraction by which delays vary in both directions
	maxRetryAfter  = 2 * time.Hour      // limit of Retry-After, so that all attempts fit into DeliveryPeriod
	disableAfter   = 5 * 24 * time.Hour // time without success after which a subscription is disabled; the reason below and schema/ name it
)

// DeliveryPeriod is the time in which all attempts of a delivery are made. Events must be kept for longer; docs/events.md
// names it too.
const DeliveryPeriod = 90 * time.Hour

// HTTP statuses with a special meaning.
const (
	statusGone               = 410
	statusTooManyRequests    = 429
	statusServiceUnavailable = 503
)

// An Attempt is the result of an attempt to deliver an event.
type Attempt struct {
	Status     int           // HTTP status; 0 means no response
	Answer     string        // start of the response body
	RetryAfter time.Duration // delay that the sink asked for; 0 means none
	Error      string        // reason why there was no response

	// OwnFault is an error of this service that ends by itself. The sink has not failed, so
	// the attempt does not count.
	OwnFault error
}

func (a Attempt) hasSucceeded() bool {
	return a.Status >= 200 && a.Status < 300
}

// isGone reports whether the sink wants no further deliveries.
func (a Attempt) isGone() bool { return a.Status == statusGone }

func (a Attempt) failure() string {
	switch {
	case a.hasSucceeded():
		return ""
	case a.Status == 0:
		return a.Error
	default:
		return fmt.Sprintf("the sink responded with status %d", a.Status)
	}
}

// requestedDelay returns the delay that the sink asked for.
func (a Attempt) requestedDelay() time.Duration {
	if a.Status != statusTooManyRequests && a.Status != statusServiceUnavailable {
		return 0
	}
	return min(a.RetryAfter, maxRetryAfter)
}

// recordAttempt updates a delivery after an attempt. random is in [0, 1). Delays
// are multiplied by scale, which is 1 except in tests.
func (d *Delivery) recordAttempt(a Attempt, now core.Time, random, scale float64) {
	d.Attempts++
	d.LastStatus, d.LastAnswer, d.LastError, d.LastAttemptTime = int32(a.Status), a.Answer, a.failure(), now //nolint:gosec // three digits
	switch {
	case a.hasSucceeded():
		d.finish(DeliveryDelivered, now)
	case a.isGone() || int(d.Attempts) >= len(deliverySchedule):
		d.finish(DeliveryFailed, now)
	default:
		wait := float64(deliverySchedule[d.Attempts]) * (1 + deliveryJitter*(2*random-1))
		wait = max(wait, float64(a.requestedDelay())) * scale
		d.State, d.NextAttemptTime, d.Lease, d.UpdateTime = DeliveryRetrying, core.At(now.Add(time.Duration(wait))), core.Time{}, now
	}
}

func (d *Delivery) finish(state DeliveryState, now core.Time) {
	d.State, d.Stage, d.NextAttemptTime, d.Lease, d.UpdateTime = state, StageEnded, core.Time{}, core.Time{}, now
}

// recordAttempt updates a subscription after an attempt of one of its deliveries.
// It reports whether the subscription changed.
func (s *Subscription) recordAttempt(a Attempt, now core.Time) (changed bool) {
	switch {
	case a.hasSucceeded():
		changed = !s.FailingSince.IsZero()
		s.FailingSince = core.Time{}
	case !s.DisableTime.IsZero():
	case a.isGone():
		s.disable(a.failure(), now)
		changed = true
	case s.FailingSince.IsZero():
		s.FailingSince, changed = now, true
	case now.Sub(s.FailingSince.Time) >= disableAfter:
		s.disable("every delivery failed for five days; the last failure: "+a.failure(), now)
		changed = true
	}
	return changed
}

func (s *Subscription) disable(reason string, now core.Time) {
	s.DisableTime, s.DisableReason = now, reason
}
