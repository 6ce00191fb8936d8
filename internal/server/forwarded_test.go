package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"atrium/internal/rest"
)

func TestTheClientOfATrustedProxyIsTheLastAddressThatIsNoProxy(t *testing.T) {
	t.Parallel()
	p := proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct{ name, peer, usual, standard, want string }{
		{"no header", "10.0.0.1:5", "", "", "10.0.0.1:5"},
		{"an address", "10.0.0.1:5", "192.0.2.7", "", "192.0.2.7:0"},
		{"an address with a port", "10.0.0.1:5", "192.0.2.7:80", "", "192.0.2.7:80"},
		{"a mapped peer", "[::ffff:10.0.0.1]:5", "192.0.2.7", "", "192.0.2.7:0"},
		{"a mapped address", "10.0.0.1:5", "::ffff:192.0.2.7", "", "192.0.2.7:0"},
		{"IPv6", "[fd00::1]:5", "2001:db8::7", "", "[2001:db8::7]:0"},
		{"IPv6 with a port", "10.0.0.1:5", "[2001:db8::7]:80", "", "[2001:db8::7]:80"},
		{"a zone", "10.0.0.1:5", "fd00::2%eth0, 192.0.2.7", "", "192.0.2.7:0"},
		{"several proxies", "10.0.0.1:5", "192.0.2.7, 10.2.2.2 ,fd00::3", "", "192.0.2.7:0"},
		{"several lines", "10.0.0.1:5", "192.0.2.7\n10.2.2.2", "", "192.0.2.7:0"},
		{"only proxies", "10.0.0.1:5", "10.3.3.3, 10.2.2.2", "", "10.3.3.3:0"},
		{"Forwarded", "10.0.0.1:5", "", "for=192.0.2.7;proto=https;by=10.0.0.1", "192.0.2.7:0"},
		{"Forwarded in capitals", "10.0.0.1:5", "", "Proto=https; For=192.0.2.7", "192.0.2.7:0"},
		{"Forwarded of IPv6", "10.0.0.1:5", "", "for=\"[2001:db8::7]:4711\"", "[2001:db8::7]:4711"},
		{"Forwarded by several", "10.0.0.1:5", "", "for=192.0.2.7, for=\"10.2.2.2\"", "192.0.2.7:0"},
		{"both headers of one client", "10.0.0.1:5", "192.0.2.7", "for=192.0.2.7", "192.0.2.7:0"},

		// The attacks are addresses that a client puts before those that the proxy adds.
		{"no proxy at all", "192.0.2.1:5", "192.0.2.7", "for=192.0.2.7", "192.0.2.1:5"},
		{"a forged start", "10.0.0.1:5", "127.0.0.1, 192.0.2.7", "", "192.0.2.7:0"},
		{"a forged proxy", "10.0.0.1:5", "127.0.0.1, 10.9.9.9, 192.0.2.7, 10.2.2.2", "", "192.0.2.7:0"},
		{"a forged line", "10.0.0.1:5", "127.0.0.1\n192.0.2.7", "", "192.0.2.7:0"},
		{"a forged start of Forwarded", "10.0.0.1:5", "", "for=127.0.0.1, for=192.0.2.7", "192.0.2.7:0"},
		{"an open quote", "10.0.0.1:5", "", "for=\", for=192.0.2.7", "192.0.2.7:0"},
		{"the other header", "10.0.0.1:5", "192.0.2.7", "for=127.0.0.1", "10.0.0.1:5"},
		{"nonsense in the other header", "10.0.0.1:5", "192.0.2.7", "x", "10.0.0.1:5"},

		// A quoted string may contain what a client sent, such as its Host.
		{"an address in a quoted host", "10.0.0.1:5", "", `for=192.0.2.7;proto=https;host="x,for=6.6.6.6"`, "192.0.2.7:0"},
		{"a pair in a quoted host", "10.0.0.1:5", "", `host="x;for=6.6.6.6";for=192.0.2.7`, "192.0.2.7:0"},
		{"an escaped quote in a host", "10.0.0.1:5", "", `for=192.0.2.7;host="x\",for=6.6.6.6"`, "192.0.2.7:0"},
		{"an escaped backslash at the end of a host", "10.0.0.1:5", "", `host="x\\";for=192.0.2.7`, "192.0.2.7:0"},
		{"an escaped address", "10.0.0.1:5", "", `for="192\.0.2.7"`, "192.0.2.7:0"},
		{"a quote that the client opened", "10.0.0.1:5", "", `for=", for=192.0.2.7;host="x,for=6.6.6.6"`, "192.0.2.7:0"},
		{"a quote that the client opened in a line", "10.0.0.1:5", "", "for=\"\nfor=192.0.2.7;host=\"x,for=6.6.6.6\"", "192.0.2.7:0"},
		{"a backslash that the client left", "10.0.0.1:5", "", `for="\, for=192.0.2.7;host="x"`, "192.0.2.7:0"},
		{"an unescaped backslash before a quote", "10.0.0.1:5", "", `for=6.6.6.6, a=", for=192.0.2.7;host="x\"`, "10.0.0.1:5"},
		{"an open quote at the end", "10.0.0.1:5", "", `for="192.0.2.7`, "10.0.0.1:5"},
		{"text behind a quote", "10.0.0.1:5", "", `for="192.0.2.7"x`, "10.0.0.1:5"},
		{"two addresses", "10.0.0.1:5", "", "for=192.0.2.7;for=6.6.6.6", "10.0.0.1:5"},
		{"a name without a value", "10.0.0.1:5", "", "for=192.0.2.7;secret", "10.0.0.1:5"},
		{"an empty value", "10.0.0.1:5", "", "for=192.0.2.7;by=", "10.0.0.1:5"},
		{"a space before the value", "10.0.0.1:5", "", "for= 192.0.2.7", "10.0.0.1:5"},
		{"empty pairs", "10.0.0.1:5", "", ";for=192.0.2.7;;proto=http;", "192.0.2.7:0"},
		{"empty elements", "10.0.0.1:5", "", " ,for=192.0.2.7,,\n, ", "192.0.2.7:0"},
		{"empty elements of X-Forwarded-For", "10.0.0.1:5", "192.0.2.7,\n , ,", "", "192.0.2.7:0"},
		{"a hidden port", "10.0.0.1:5", "", `for="[2001:db8::7]:_x1"`, "[2001:db8::7]:0"},
		{"a port without quotes", "10.0.0.1:5", "", "for=192.0.2.7:80;host=a:443", "192.0.2.7:80"},
		{"brackets without their pair", "10.0.0.1:5", "", `for="192.0.2.7]"`, "10.0.0.1:5"},

		{"an unknown client", "10.0.0.1:5", "", "for=unknown", "10.0.0.1:5"},
		{"a hidden client", "10.0.0.1:5", "", "for=192.0.2.7, for=_hidden, for=10.2.2.2", "10.2.2.2:0"},
		{"no address", "10.0.0.1:5", "192.0.2.7, nobody", "", "10.0.0.1:5"},
		{"no for", "10.0.0.1:5", "", "proto=https", "10.0.0.1:5"},
		{"a socket without an address", "@", "192.0.2.7", "", "@"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = c.peer
		for name, values := range map[string]string{"X-Forwarded-For": c.usual, "Forwarded": c.standard} {
			if values != "" {
				r.Header[name] = strings.Split(values, "\n")
			}
		}
		var got string
		p.locateClients(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr })).ServeHTTP(nil, r)
		if got != c.want {
			t.Errorf("%s: the client is %s, want %s", c.name, got, c.want)
		}
	}
}

// The client chooses what the headers had before, and the host that the proxy quotes.
func FuzzAProxyNeverTellsAClientThatIsForged(f *testing.F) {
	f.Add("for=\"", "127.0.0.1, ", "x,for=6.6.6.6")
	f.Add("for=6.6.6.6, a=\"\\", "", "\";for=6.6.6.6;a=\"\\")
	f.Fuzz(func(t *testing.T, standard, usual, host string) {
		p, client := proxies{netip.MustParsePrefix("10.0.0.0/8")}, netip.MustParseAddr("192.0.2.7")
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(host) + `"`
		for value, name := range map[string]string{
			standard + ",for=192.0.2.7":                                                   "Forwarded",
			standard + ",for=192.0.2.7;proto=https;host=" + quoted:                        "Forwarded",
			standard + ", host=" + quoted + `;for="192.0.2.7:80"`:                         "Forwarded",
			standard + ", host=" + quoted + ";for=192.0.2.7, for=10.1.1.1;host=" + quoted: "Forwarded",
			usual + ",192.0.2.7":                                                          "X-Forwarded-For",
		} {
			if got := p.client(netip.MustParseAddrPort("10.0.0.1:5"), http.Header{name: {value}}); got.Addr() != client {
				t.Fatalf("%s: %q: the client is %s, want %s", name, value, got, client)
			}
		}
	})
}

func TestTheLimitsAndTheLogKnowTheClientOfAProxy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ burst, status int }{"answered": {1, http.StatusOK}, "refused": {0, http.StatusTooManyRequests}} {
		log := &strings.Builder{}
		o := rest.Options{Logger: slog.New(slog.NewJSONHandler(log, nil))}
		limited := limitHandler(Config{RateLimit: 1, RateBurst: c.burst}, answerOK)
		recorder := (&Config{Logger: o.Logger}).newRecorder()
		handler := addOuterLayers(limited, o, recorder, proxies{netip.MustParsePrefix("10.0.0.0/8")})
		for _, client := range []string{"192.0.2.7", "192.0.2.8"} { // Both have the burst of one address.
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/registry/v2/repos", http.NoBody)
			r.RemoteAddr = "10.0.0.1:5"
			r.Header.Set("X-Forwarded-For", client)
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r)
			if answer.Code != c.status {
				t.Errorf("%s: %s gets %d, want %d", name, client, answer.Code, c.status)
			}
		}
		recorder.refusals.flush()
		if !strings.Contains(log.String(), `"remote":"192.0.2.7"`) { // without a port, since the proxy has told none
			t.Errorf("%s: the log does not name the client: %s", name, log)
		}
	}
}
