package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks of trusted proxies, which tell for whom they send requests.
type proxies []netip.Prefix

// locateClients replaces the address of a trusted proxy by that of its client, for limits,
// logs and everything else that tells clients apart by their addresses.
func (p proxies) locateClients(next http.Handler) http.Handler {
	if len(p) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && p.trust(peer) {
			located := *r
			located.RemoteAddr = p.client(peer, r.Header).String()
			r = &located
		}
		next.ServeHTTP(w, r)
	})
}

// trust reports whether an address is one of a trusted proxy.
func (p proxies) trust(at netip.AddrPort) bool {
	address := at.Addr().Unmap().WithZone("")
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// client returns the address of the client of a trusted proxy, with port 0 if the headers
// tell no port. A proxy that writes only one of the two headers passes on the other one,
// which its client may have forged. So headers that name two clients name none: the
// request then counts for the proxy.
func (p proxies) client(peer netip.AddrPort, h http.Header) netip.AddrPort {
	usual, standard := h["X-Forwarded-For"], h["Forwarded"]
	byUsual, byStandard := p.follow(peer, usual, parseHop), p.follow(peer, standard, parseForwarded)
	switch {
	case len(standard) == 0:
		return byUsual
	case len(usual) == 0 || byUsual.Addr() == byStandard.Addr():
		return byStandard
	default:
		return peer
	}
}

// follow returns the client that the values of a header name. Each proxy adds at their end
// from where it has received the request. So they are read from the end up to the first
// address that is not one of a trusted proxy: what is before that may be forged.
func (p proxies) follow(client netip.AddrPort, values []string, parse func(string) (netip.AddrPort, bool)) netip.AddrPort {
	for _, value := range slices.Backward(values) {
		for before := value; before != ""; {
			comma := strings.LastIndexByte(before, ',')
			hop, isAddress := parse(strings.TrimSpace(before[comma+1:]))
			if !isAddress {
				return client
			}
			if client = hop; !p.trust(client) {
				return client
			}
			before = before[:max(comma, 0)]
		}
	}
	return client
}

// parseForwarded parses an element of the Forwarded header of RFC 7239.
func parseForwarded(element string) (netip.AddrPort, bool) {
	for pair := range strings.SplitSeq(element, ";") {
		if name, value, _ := strings.Cut(pair, "="); strings.EqualFold(strings.TrimSpace(name), "for") {
			return parseHop(strings.Trim(value, " \t\""))
		}
	}
	return netip.AddrPort{}, false
}

// parseHop parses an address with or without a port.
func parseHop(text string) (netip.AddrPort, bool) {
	at, err := netip.ParseAddrPort(text)
	if err != nil {
		var address netip.Addr
		address, err = netip.ParseAddr(strings.Trim(text, "[]"))
		at = netip.AddrPortFrom(address, 0)
	}
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port()), err == nil
}
