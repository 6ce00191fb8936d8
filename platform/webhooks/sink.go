package webhooks

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"atrium/platform/core"
)

const maxSinkBytes = 2048

// checkSink rejects sinks that deliveries must not be sent to.
func checkSink(v *core.Violations, sink string, o *Options) {
	CheckURL(v, "sink", sink, o.PrivateSinks, o.SinkPorts)
}

// CheckURL rejects URLs that clients choose and that the service must not send requests to. Each of private is the host:port of a URL
// that may be private, use plain http or another port. Other hosts may have port 443, or one of ports. The addresses of a host are
// checked again on every request.
func CheckURL(v *core.Violations, field, given string, private, ports []string) {
	u, err := url.Parse(given)
	if given == "" || len(given) > maxSinkBytes || err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		switch {
		case given == "":
			v.Add(field, "is required")
		case len(given) > maxSinkBytes:
			v.Add(field, "must be at most %d bytes", maxSinkBytes)
		default:
			v.Add(field, "must be an https URL without user and fragment")
		}
		return
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	named := slices.ContainsFunc(private, func(private string) bool {
		return strings.EqualFold(private, net.JoinHostPort(u.Hostname(), port))
	})
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !named):
		v.Add(field, "must be an https URL")
	case named:
	case !isASCII(u.Hostname()): // The host could be converted into one that is rejected here.
		v.Add(field, "must have its host in Punycode: each part with letters other than a to z begins with xn--")
	case !isPublicHost(u.Hostname()):
		v.Add(field, "must be a host that is reachable from the internet")
	case port != "443" && !slices.Contains(ports, port):
		v.Add(field, "must use port 443 or a port that the operator of the service allows, not %s", port)
	}
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// isPublicHost reports whether a host can be public, judged by its name alone.
func isPublicHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return IsPublicAddress(ip)
	}
	labels := strings.Split(strings.ToLower(strings.TrimSuffix(host, ".")), ".")
	plain := func(label string) bool {
		return label != "" && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
	}
	last := labels[len(labels)-1]
	switch {
	case len(labels) < 2 || slices.ContainsFunc(labels, func(label string) bool { return !plain(label) }):
		return false
	case last == "localhost" || last == "internal":
		return false
	default:
		// This rejects unusual forms of addresses: 127.1, 0x7f.0.0.1, 0177.0.0.1.
		return last[0] < '0' || last[0] > '9'
	}
}

// IsPublicAddress reports whether ip can be on the internet. Addresses that come
// from clients must be public before the service connects to them.
func IsPublicAddress(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsValid() && ip.Zone() == "" && !slices.ContainsFunc(specialNetworks, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// specialNetworks are those of the IANA special-purpose registries, and all of
// IPv6 outside of global unicast (2000::/3).
var specialNetworks = func() []netip.Prefix {
	var networks []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"::/3", "4000::/2", "8000::/1", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	} {
		networks = append(networks, netip.MustParsePrefix(s))
	}
	return networks
}()
