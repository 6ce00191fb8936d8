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
	if out, _, err := atrium(t, nil, "health", "--url", server.url); err != nil || out != "ready\n" {
		t.Errorf("of a server that is ready: %v %q, want %q", err, out, "ready\n")
	}
	if err := server.end(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := atrium(t, nil, "health", "--url", server.url); exitCode(err) != 1 || !strings.Contains(err.Error(), "no server answers at "+server.url) {
		t.Errorf("of none: %v, want exit code 1", err)
	}
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	if _, _, err := atrium(t, nil, "health", "--url", untrusted.URL); exitCode(err) != 1 || !strings.Contains(err.Error(), "at "+untrusted.URL+": ") || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("of one with an untrusted certificate: %v, want an error with 'certificate'", err)
	}
	starting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"status": "unavailable", "message": "the server is starting"}`))
	}))
	t.Cleanup(starting.Close)
	if _, _, err := atrium(t, nil, "health", "--url", starting.URL); exitCode(err) != 1 || !strings.Contains(err.Error(), "is not ready: the server is starting") {
		t.Errorf("of one that starts: %v, want an error with 'is not ready: the server is starting'", err)
	}
	if _, _, err := atrium(t, nil, "health", "--url", "x", "--timeout", "0s"); exitCode(err) != 2 {
		t.Errorf("a faulty URL: %v, want exit code 2", err)
	}
}
