package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atrium/store/storetest"
)

func TestAChangeArrivesAtItsSink(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		arrived := make(chan http.Header, 100)
		sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- r.Header }))
		t.Cleanup(sink.Close)
		server := start(t, url, "--dev", "--private-sink", sink.Listener.Addr().String(), "--public-url", "https://atrium.example.com/")
		token := strings.TrimSpace(mustRun(t, url, "token"))
		acme := demoUID(t, server)
		if status, body := server.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, `{"sink": "`+sink.URL+`"}`); status != http.StatusOK {
			t.Fatalf("subscribing: status %d, want 200: %s", status, body)
		}
		if status, body := server.send(http.MethodPost, token, "/registry/v2/repos/"+acme, `{"name": "new-repo"}`); status != http.StatusOK {
			t.Fatalf("making a repo: status %d, want 200: %s", status, body)
		}
		for deadline := time.After(patience); ; {
			select {
			case h := <-arrived:
				if h.Get("ce-source") != "https://atrium.example.com" || !strings.HasPrefix(h.Get("User-Agent"), "atrium/") {
					t.Errorf("the headers are %v, want ce-source 'https://atrium.example.com'", h)
				}
				if !strings.Contains(h.Get("ce-type"), ".repo.created.") {
					continue
				}
			case <-deadline:
				t.Fatal("nothing arrived")
			}
			break
		}
		if err := server.end(); err != nil {
			t.Errorf("serve ended with %v", err)
		}
	})
}

// The attack is a sink at the address of the server's metrics and profiles, under a name that
// the operator has allowed by mistake.
func TestNoDeliveryReachesTheServerItself(t *testing.T) {
	t.Parallel()
	url := demonstration.SQLite(t)
	free := httptest.NewServer(http.NotFoundHandler())
	port := strings.TrimPrefix(free.URL, "http://127.0.0.1:")
	free.Close()
	server := start(t, url, "--dev", "--metrics-addr", "127.0.0.1:"+port, "--private-sink", "localhost:"+port)
	token := strings.TrimSpace(mustRun(t, url, "token"))
	acme := demoUID(t, server)
	if status, body := server.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, `{"sink": "http://localhost:`+port+`/metrics"}`); status != http.StatusOK {
		t.Fatalf("subscribing: status %d, want 200: %s", status, body)
	}
	if status, body := server.send(http.MethodPost, token, "/registry/v2/repos/"+acme, `{"name": "new-repo"}`); status != http.StatusOK {
		t.Fatalf("making a repo: status %d, want 200: %s", status, body)
	}
	const query = `{"query": "{ subscriptions { nodes { deliveries { nodes { attempts lastError } } } } }"}`
	server.await(func() bool {
		_, body := server.send(http.MethodPost, token, "/graphql", query)
		return strings.Contains(body, "the host is this service itself")
	})
}

func TestTheKeysOfDeliveriesArePublic(t *testing.T) {
	t.Parallel()
	server := start(t, storetest.SQLite(t), "--no-webhooks")
	for path, want := range map[string]string{
		"/.well-known/openid-configuration": `"jwks_uri":"` + server.url + `/.well-known/jwks.json"`,
		"/.well-known/jwks.json":            `"kty":"EC"`,
	} {
		if status, body := server.get("", path); status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, want 200: %s, want it to contain %q", path, status, body, want)
		}
	}
}

func TestInvalidWebhookFlagsAreNamed(t *testing.T) {
	t.Parallel()
	_, _, err := atrium(t, nil, "serve", "--public-url", "atrium.example.com", "--audit-retention", "95h", "--delivery-retention", "0s", "--sink-port", "70000")
	if exitCode(err) != 2 {
		t.Fatalf("error %v, want exit code 2", err)
	}
	for _, flag := range []string{"public-url", "audit-retention", "delivery-retention", "sink-port"} {
		if !strings.Contains(err.Error(), "--"+flag+" (") {
			t.Errorf("no fault of --%s in %v", flag, err)
		}
	}
}
