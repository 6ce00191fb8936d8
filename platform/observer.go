package platform

import "time"

// An Observer receives measurements of work outside of requests, for metrics. Its
// methods must return immediately.
type Observer interface {
	EventObserver
	DeliveryObserver
}

// noopObserver discards all measurements.
type noopObserver struct{}

func (noopObserver) EventRead(time.Duration)                            {}
func (noopObserver) DeliveryTried(string, DeliveryState, time.Duration) {}
