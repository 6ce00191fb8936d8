package server

import (
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"atrium/internal/server/admission"
	"atrium/internal/telemetry"
)

// FitConcurrency is the value of Config.MaxConcurrent that stands for what the machine and
// the connections to the database suggest.
const FitConcurrency = -1

// newAdmission returns what admits the requests of all protocols.
func (c *Config) newAdmission(refuse errorWriter) *admission.Controller {
	admitting := admission.New(admission.Settings{
		Slots: c.MaxConcurrent, Rate: c.RateLimit, Burst: c.RateBurst, InFlight: c.MaxInFlight,
		Client: peer, Refuse: newRefuser(refuse).refuse,
	})
	c.Metrics.WatchGate(func() telemetry.Gate { return telemetry.Gate(admitting.State()) })
	return admitting
}

// peer returns the address at the other end of a connection. An IPv6 address stands for
// its whole /64 network.
func peer(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return "peer " + remote
	}
	address := at.Addr().Unmap().WithZone("")
	if address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			address = network.Addr()
		}
	}
	return "peer " + address.String()
}

// refusals log requests that were not admitted: one line for all of an interval.
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
	logger.Warn("requests are refused; this is the latest of them", "limit", f.facts.Limit, "refused", s.number, "request_id", f.trace.ID, "remote", f.trace.Remote, "identity", joinUIDs(f.facts.Identities))
	s.last, s.number = time.Now(), 0
}
