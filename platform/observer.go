package platform

import "time"

// An Observer receives measurements of work outside of requests, for metrics. Its
// methods must return immediately.
type Observer interface {
	// EventRead is called when an event is dispatched to the live feeds. lag is the
	// time since the event was recorded.
	EventRead(lag time.Duration)

	// DeliveryTried is called after each attempt of a delivery to a sink, with the resulting
	// state. lag is the time since the event was recorded.
	DeliveryTried(sink string, state DeliveryState, lag time.Duration)
}

// noopObserver discards all measurements.
type noopObserver struct{}

func (noopObserver) EventRead(time.Duration)                            {}
func (noopObserver) DeliveryTried(string, DeliveryState, time.Duration) {}
