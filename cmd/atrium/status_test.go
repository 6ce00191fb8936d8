package main

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// An operator who is called at night reads one page about all organisations.
func TestTheStatusShowsWhatAnOperatorLooksFor(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
		defer sink.Close()
		server := start(t, url, "--dev", "--private-sink", sink.Listener.Addr().String())
		token := strings.TrimSpace(mustRun(t, url, "token"))
		acme := demoUID(t, server)
		if status, answer := server.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, `{"sink": "`+sink.URL+`/hook"}`); status != http.StatusOK {
			t.Fatalf("status %d: %s", status, answer)
		}
		server.send(http.MethodPost, token, "/iam/v2/groups/"+acme, `{"name": "noticed"}`)
		server.await(func() bool {
			return strings.Contains(server.stderr.String(), `"host":"`+strings.TrimPrefix(sink.URL, "http://")+`","error"`)
		})
		other := regexp.MustCompile("[0-9a-f]{40}").FindString(mustRun(t, url, "bootstrap", "--org", "tiny", "--issuer", "https://issuer.example", "--subject", "me"))
		out := mustRun(t, url, "status")
		for _, want := range []string{"schema      00001 schema, applied 20", " fail or are disabled\n", strings.TrimPrefix(sink.URL, "http://") + "  ", other + "  "} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		if first := strings.Index(out, acme+"  "); first < 0 || first > strings.Index(out, other+"  ") {
			t.Errorf("the largest organisation is not the first in\n%s", out)
		}
		if shown := strings.Contains(out, "PROGRAM  ADDRESS"); shown == strings.HasPrefix(url, "sqlite:") {
			t.Errorf("the connected programs are shown: %t, in\n%s", shown, out)
		}
		if one := mustRun(t, url, "status", "--most", "1"); strings.Contains(one, other) {
			t.Errorf("with --most 1 there are two organisations:\n%s", one)
		}
		t.Log(out)
	})
}
