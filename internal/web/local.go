package web

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// isLocal reports whether a browser on this machine requested the page by a name of this machine.
//
// It checks the host, because a site can give its own name a loopback address and then read the page as its own. It
// checks the address, because programs other than browsers can send any host.
func isLocal(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback() && isLoopbackHost(r.Host)
}

// isLoopbackHost reports whether a Host header, with or without a port, is localhost or a loopback address.
func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
