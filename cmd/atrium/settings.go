package main

import (
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// The functions of this file check and parse settings. They report faults and return what
// they could parse.

var domainPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

func checkAddress(f *faults, flag, address string) {
	_, port, err := net.SplitHostPort(address)
	if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || n < 0 || n > 65535 {
		f.add(flag, "must be host:port, such as 127.0.0.1:8080")
	}
}

// checkAudience rejects audiences that no token can have.
func checkAudience(f *faults, audience []string) {
	if len(audience) == 0 || slices.Contains(audience, "") {
		f.add("audience", "must not be empty")
	}
}

// checkIssuer rejects a URL that cannot be the issuer of a token.
func checkIssuer(f *faults, flag, issuer string) {
	u, err := url.Parse(issuer)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		f.add(flag, "%.200q must be an https URL without a user, a query and a fragment", issuer)
	}
}

// sharedIssuer parses an issuer and the pattern of its tenants.
func sharedIssuer(f *faults, flag, text string) iam.SharedIssuer {
	issuer, pattern, _ := strings.Cut(text, "=")
	checkIssuer(f, flag, issuer)
	tenant, err := regexp.Compile(`\A(?:` + pattern + `)`)
	if err != nil || pattern == "" {
		f.add(flag, "%.200q must be URL=PATTERN, with an RE2 pattern such as repo:[^/:]+/", text)
	}
	return iam.SharedIssuer{Issuer: issuer, Tenant: tenant}
}

// serverURL parses the URL of a server; nil means that it is invalid. The fault does not
// show the text, because it may contain a password.
func serverURL(f *faults, flag, text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		f.add(flag, "must be a URL of scheme and host only, such as https://atrium.example.com")
		return nil
	}
	return u
}

// otherLetters says in which form a host with other letters is compared with what clients and DNS call it.
const otherLetters = "must have its host in Punycode: each part with letters other than a to z begins with xn--"

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// checkHost rejects a text that is not host:port.
func checkHost(f *faults, flag, host string) {
	u, err := url.Parse("https://" + host)
	if err == nil && !isASCII(u.Host) {
		f.add(flag, "%.200q %s", host, otherLetters)
		return
	}
	if err != nil || u.Host != host || u.Hostname() == "" || u.Port() == "" {
		f.add(flag, "%.200q must be host:port, such as 127.0.0.1:3010", host)
	}
}

// network parses a network of proxies. One that has every address is a fault, because then
// clients could name any address.
func network(f *faults, flag, text string) netip.Prefix {
	found, err := netip.ParsePrefix(text)
	if err != nil || found.Bits() == 0 || found.Addr().Is4In6() {
		f.add(flag, "%.200q must be a network in CIDR notation, such as 10.0.0.0/8, and not all addresses", text)
	}
	return found
}

// checkOrigin rejects a text that no browser sends as Origin.
func checkOrigin(f *faults, flag, origin string) {
	u, err := url.Parse(origin)
	plain := err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.Scheme+"://"+u.Host == origin
	if err == nil && !isASCII(u.Host) {
		f.add(flag, "%.200q %s", origin, otherLetters)
		return
	}
	if !plain || origin != strings.ToLower(origin) || strings.ContainsAny(origin, `*?\`) {
		f.add(flag, "%.200q must be an origin as browsers send it, such as https://app.example.com", origin)
	}
}

func checkUID(f *faults, flag, uid string) {
	switch {
	case uid == "":
		f.add(flag, "is required")
	case !core.UID(uid).Valid():
		f.add(flag, "must be a UID: 40 lower-case hex digits, then /-separated segments of 16")
	}
}

const encryptionKeyBytes = 32

// encryptionKey parses an AES-256 key in hex or base64; nil means none. The fault does not
// show the text, because it is a secret.
func encryptionKey(f *faults, flag, text string) []byte {
	if text == "" {
		return nil
	}
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString,
		base64.URLEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if key, err := decode(strings.TrimSpace(text)); err == nil && len(key) == encryptionKeyBytes {
			return key
		}
	}
	f.add(flag, "must be %d bytes in hex or base64, such as the output of: openssl rand -base64 %d", encryptionKeyBytes, encryptionKeyBytes)
	return nil
}
