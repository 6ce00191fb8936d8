package platform

import "time"

// An Observer hears what a process does beside requests, for metrics. Its
// methods return at once.
type Observer interface {
	// EventRead is called when the live feeds are given an event, with the time
	// since it was recorded.
	EventRead(lag time.Duration)

	// DeliveryTried is called after each attempt of a delivery, with what became
	// of the delivery, and the time since its event was recorded.
	DeliveryTried(state DeliveryState, lag time.Duration)
}

// nobody observes nothing.
type nobody struct{}

func (nobody) EventRead(time.Duration)                    {}
func (nobody) DeliveryTried(DeliveryState, time.Duration) {}
