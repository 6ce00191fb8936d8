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
	byUsual, byStandard := p.follow(peer, usual, lastComma, parseHop), p.follow(peer, standard, lastUnquotedComma, parseForwarded)
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
// address that is not one of a trusted proxy: what is before that may be forged, and need
// not even be well formed. Empty elements of a list count for nothing (RFC 9110, section 5.6.1).
func (p proxies) follow(client netip.AddrPort, values []string, separator func(string) int, parse func(string) (netip.AddrPort, bool)) netip.AddrPort {
	for _, value := range slices.Backward(values) {
		for before := value; before != ""; {
			comma := separator(before)
			element := strings.Trim(before[comma+1:], optionalSpace)
			before = before[:max(comma, 0)]
			if element == "" {
				continue
			}
			hop, isAddress := parse(element)
			if !isAddress {
				return client
			}
			if client = hop; !p.trust(client) {
				return client
			}
		}
	}
	return client
}

const optionalSpace = " \t"

func lastComma(list string) int { return strings.LastIndexByte(list, ',') }

// lastUnquotedComma returns the index of the last comma that is in no quoted string. It reads from
// the end, so that a quote that a client has opened does not reach into what the proxy has added.
func lastUnquotedComma(list string) int {
	isQuoted := false
	for i := len(list) - 1; i >= 0; i-- {
		switch {
		case list[i] == '"':
			before := strings.TrimRight(list[:i], `\`)
			if isEscaped := (i-len(before))%2 == 1; !isEscaped {
				isQuoted = !isQuoted
			}
		case list[i] == ',' && !isQuoted:
			return i
		}
	}
	return -1
}

// parseForwarded parses an element of the Forwarded header of RFC 7239: pairs of a name and a
// value, which is a token or a quoted string. An element that is not well formed names nobody.
func parseForwarded(element string) (client netip.AddrPort, isAddress bool) {
	hasFor := false
	for rest := element; ; rest = rest[1:] {
		rest = strings.TrimLeft(rest, optionalSpace)
		name, after := cutToken(rest, "")
		if name != "" {
			value, end, isPair := cutValue(after)
			if !isPair {
				return netip.AddrPort{}, false
			}
			if strings.EqualFold(name, "for") {
				if hasFor {
					return netip.AddrPort{}, false
				}
				hasFor = true
				client, isAddress = parseNode(value)
			}
			after = end
		}
		if rest = strings.TrimLeft(after, optionalSpace); rest == "" {
			return client, isAddress
		}
		if rest[0] != ';' {
			return netip.AddrPort{}, false
		}
	}
}

// cutToken cuts the token off with which a text begins. A token has visible characters that delimit
// nothing (RFC 9110, section 5.6.2), and here also those of more.
func cutToken(text, more string) (token, after string) {
	end := strings.IndexFunc(text, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) && !strings.ContainsRune(more, c)
	})
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

// cutValue cuts off the value of a pair, after its name. Many proxies do not quote addresses with
// colons and brackets, as they should. These delimit nothing, and so are read too.
func cutValue(text string) (value, after string, isValue bool) {
	text, isPair := strings.CutPrefix(text, "=")
	if !isPair || !strings.HasPrefix(text, `"`) {
		value, after = cutToken(text, ":[]")
		return value, after, isPair && value != ""
	}
	var unquoted strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return unquoted.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text):
			i++
			fallthrough
		default:
			unquoted.WriteByte(text[i])
		}
	}
	return "", "", false
}

// parseNode parses an address, whose port may be hidden: its name then begins with an underscore.
func parseNode(text string) (netip.AddrPort, bool) {
	if i := strings.LastIndex(text, ":_"); i > 0 {
		text = text[:i]
	}
	return parseHop(text)
}

// parseHop parses an address with or without a port.
func parseHop(text string) (netip.AddrPort, bool) {
	at, err := netip.ParseAddrPort(text)
	if err != nil {
		var address netip.Addr
		if inner, isBracketed := strings.CutPrefix(text, "["); isBracketed && strings.HasSuffix(inner, "]") {
			text = inner[:len(inner)-1]
		}
		address, err = netip.ParseAddr(text)
		at = netip.AddrPortFrom(address, 0)
	}
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port()), err == nil
}
