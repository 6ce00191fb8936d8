package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/store/storetest"
)

func TestTheHealthCommandReportsReadiness(t *testing.T) {
	t.Parallel()
	server := start(t, storetest.SQLite(t))
	if out, _, err := atrium(t, nil, "health", "--timeout", "1m", "--url", server.url); err != nil || out != "ready\n" {
		t.Errorf("of a server that is ready: %v %q, want %q", err, out, "ready\n")
	}
	if err := server.end(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := atrium(t, nil, "health", "--timeout", "1m", "--url", server.url); exitCode(err) != 1 || !strings.Contains(err.Error(), "no server answers at "+server.url) {
		t.Errorf("of none: %v, want exit code 1", err)
	}
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	if _, _, err := atrium(t, nil, "health", "--timeout", "1m", "--url", untrusted.URL); exitCode(err) != 1 || !strings.Contains(err.Error(), "at "+untrusted.URL+": ") || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("of one with an untrusted certificate: %v, want an error with 'certificate'", err)
	}
	starting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"status": "unavailable", "message": "the server is starting"}`))
	}))
	t.Cleanup(starting.Close)
	if _, _, err := atrium(t, nil, "health", "--timeout", "1m", "--url", starting.URL); exitCode(err) != 1 || !strings.Contains(err.Error(), "is not ready: the server is starting") {
		t.Errorf("of one that starts: %v, want an error with 'is not ready: the server is starting'", err)
	}
	if _, _, err := atrium(t, nil, "health", "--url", "x", "--timeout", "0s"); exitCode(err) != 2 {
		t.Errorf("a faulty URL: %v, want exit code 2", err)
	}
}

// A container has no other settings than those of the server. The certificate of the server is
// for its public name, and rarely signed by somebody whom the container trusts.
func TestTheHealthCommandFindsTheServerByTheSettingsOfTheServer(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		pair := newPair(t, "atrium")
		secure := start(t, url, "--tls-cert", pair.certFile, "--tls-key", pair.keyFile)
		plain := start(t, storetest.SQLite(t))
		port := func(r *running) string { return r.url[strings.LastIndex(r.url, ":"):] }
		other := newPair(t, "other")
		for name, c := range map[string]struct {
			addr, cert string
			code       int
			says       string
		}{
			"with TLS":               {"0.0.0.0" + port(secure), pair.certFile, 0, ""},
			"with TLS, on all":       {port(secure), pair.certFile, 0, ""},
			"with TLS, by IPv6":      {"[::]" + port(secure), pair.certFile, 0, ""},
			"with TLS, on loopback":  {"127.0.0.1" + port(secure), pair.certFile, 0, ""},
			"without TLS":            {"0.0.0.0" + port(plain), "", 0, ""},
			"of another certificate": {"0.0.0.0" + port(secure), other.certFile, 1, "not the first one in the file of --tls-cert"},
			"without its setting":    {"0.0.0.0" + port(secure), "", 1, "http://127.0.0.1" + port(secure)},
			"with a key instead":     {"0.0.0.0" + port(secure), pair.keyFile, 2, "contains no certificate"},
			"of no address":          {"x", "", 2, "--addr"},
		} {
			out, _, err := atrium(t, map[string]string{"ATRIUM_ADDR": c.addr, "ATRIUM_TLS_CERT": c.cert}, "health", "--timeout", "1m")
			if exitCode(err) != c.code || err == nil && out != "ready\n" || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v %q, want exit code %d and %q", name, err, out, c.code, c.says)
			}
		}
	})
}
