package platform

import "time"

// A Dispatch is all that one attempt of a delivery needs.
type Dispatch struct {
	Delivery *Delivery // UID, EventID, Attempts ...
	Event    *Event
	Sink     string
	Secrets  []string // whsec_<base64>; the newest first; each signs (two during rotation)
}

// An Attempt tells how one went.
type Attempt struct {
	Status     int           // of the answer; 0: there was none
	Answer     string        // its start, at most 1 KiB, valid UTF-8 without control characters
	RetryAfter time.Duration // as the sink asked; 0: it did not
	Error      string        // why there was no answer
}

// A Delivery is one event on its way to the sink of one subscription.
type Delivery struct {
	UID      UID
	EventID  string
	Attempts int32
}
