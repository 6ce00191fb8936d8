package server

import (
	"log/slog"
	"sync"
	"time"
)

// refusals log requests that the gate has refused: one line for all of an interval.
type refusals struct {
	lock   sync.Mutex
	last   time.Time
	number int // since last
}

const refusalInterval = 10 * time.Second

// log counts a refusal, and logs it if none has been logged for some time.
func (s *refusals) log(logger *slog.Logger, f finished) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.number++
	if time.Since(s.last) < refusalInterval {
		return
	}
	logger.Warn("requests are refused; this is the latest of them", "limit", f.facts.Limit, "refused", s.number, "request_id", f.trace.ID, "identity", joinUIDs(f.facts.Identities))
	s.last, s.number = time.Now(), 0
}

// isGateLimit reports whether a limit is one of the gate.
func isGateLimit(limit string) bool {
	switch limit {
	case limitRate, limitInFlight, limitQueue, limitWait:
		return true
	}
	return false
}
