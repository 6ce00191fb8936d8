package platform

import (
	"time"

	"atrium/platform/events"
	"atrium/platform/intake"
	"atrium/platform/webhooks"
)

// An Observer receives measurements of work outside of requests, for metrics. Its
// methods must return immediately.
type Observer interface {
	events.Observer
	webhooks.Observer
	intake.Observer
}

// noopObserver discards all measurements.
type noopObserver struct{}

func (noopObserver) EventRead(time.Duration) {}

func (noopObserver) DeliveryTried(string, webhooks.DeliveryState, time.Duration) {}

func (noopObserver) SourceRan(string, intake.SourceRun) {}
