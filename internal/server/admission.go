package server

import (
	"net/netip"

	"atrium/internal/server/admission"
	"atrium/internal/telemetry"
)

// FitConcurrency is the value of Config.MaxConcurrent that stands for slotsPerConnection requests for each connection
// to the database.
const FitConcurrency = -1

// slotsPerConnection is above 1, because a request does more than to read, and because quick reads of many requests share a
// round trip: the more requests work at the same time, the more share one.
const slotsPerConnection = 2

// newAdmission returns what admits the requests of all protocols.
func (c *Config) newAdmission(refuse errorWriter) *admission.Controller {
	admitting := admission.New(admission.Settings{
		Slots: c.MaxConcurrent, Connections: c.connections, Rate: c.RateLimit, Burst: c.RateBurst, InFlight: c.MaxInFlight, Shared: c.SharedIdentities,
		Client: peer, Refuse: newRefuser(refuse).refuse,
	})
	c.Metrics.WatchAdmission(func() telemetry.Admission { return telemetry.Admission(admitting.State()) })
	return admitting
}

// peer returns the address at the other end of a connection. An IPv6 address stands for
// its whole /64 network.
func peer(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	address := at.Addr()
	if err != nil {
		address, err = netip.ParseAddr(remote)
	}
	if err != nil {
		return "peer " + remote
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			address = network.Addr()
		}
	}
	return "peer " + address.String()
}
