package main

import (
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"atrium/platform"
)

// Settings arrive as text and are checked here, by functions that add to the
// faults and give what they can.

var domainPattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

func checkAddress(f *faults, flag, address string) {
	_, port, err := net.SplitHostPort(address)
	if n, convErr := strconv.Atoi(port); err != nil || convErr != nil || n < 0 || n > 65535 {
		f.add(flag, "must be host:port, such as 127.0.0.1:8080")
	}
}

// checkIssuer refuses what no token's iss can be.
func checkIssuer(f *faults, flag, issuer string) {
	u, err := url.Parse(issuer)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		f.add(flag, "%.200q must be an https URL without query and fragment", issuer)
	}
}

// sharedIssuer reads an issuer and the pattern of its tenants.
func sharedIssuer(f *faults, flag, text string) platform.SharedIssuer {
	issuer, pattern, _ := strings.Cut(text, "=")
	checkIssuer(f, flag, issuer)
	tenant, err := regexp.Compile(`\A(?:` + pattern + `)`)
	if err != nil || pattern == "" {
		f.add(flag, "%.200q must be URL=PATTERN, with an RE2 pattern such as repo:[^/:]+/", text)
	}
	return platform.SharedIssuer{Issuer: issuer, Tenant: tenant}
}

// serverURL reads where a server is; nil where the text does not say it. It
// never shows the text, which may hold a password.
func serverURL(f *faults, flag, text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		f.add(flag, "must be a URL of scheme and host only, such as https://atrium.example.com")
		return nil
	}
	return u
}

// checkHost takes host and host:port.
func checkHost(f *faults, flag, host string) {
	u, err := url.Parse("https://" + host)
	if err != nil || u.Host != host || u.Hostname() == "" {
		f.add(flag, "%.200q must be a host or host:port", host)
	}
}

// checkOrigin refuses what no browser sends as Origin.
func checkOrigin(f *faults, flag, origin string) {
	u, err := url.Parse(origin)
	plain := err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.Scheme+"://"+u.Host == origin
	if !plain || origin != strings.ToLower(origin) || strings.ContainsAny(origin, `*?\`) {
		f.add(flag, "%.200q must be an origin as browsers send it, such as https://app.example.com", origin)
	}
}

func checkUID(f *faults, flag, uid string) {
	switch {
	case uid == "":
		f.add(flag, "is required")
	case !platform.UID(uid).Valid():
		f.add(flag, "must be a UID: 40 lower-case hex digits, then /-separated segments of 16")
	}
}

const encryptionKeyBytes = 32

// encryptionKey reads an AES-256 key in hex or base64; nil where there is
// none. It never shows what it was given.
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
	f.add(flag, "must be %d bytes in hex or base64, as of: openssl rand -base64 %d", encryptionKeyBytes, encryptionKeyBytes)
	return nil
}
