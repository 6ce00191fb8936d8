package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atrium/internal/auth"
	"atrium/internal/webhook"
	"atrium/platform/core"
	"atrium/platform/webhooks"
)

// guardedSender returns the Sender of the program with these private sinks.
func guardedSender(t *testing.T, private ...string) *webhook.Sender {
	t.Helper()
	return newSender(t, auth.NewGuard(private))
}

func newSender(t *testing.T, guard *auth.Guard) *webhook.Sender {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	material, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return webhook.NewSender(webhook.SenderOptions{
		Client: guard.SinkClient(15*time.Second, 1<<10),
		Keys:   func(context.Context) ([]core.Key, error) { return []core.Key{{ID: 1, Material: material}}, nil },
		Issuer: "https://atrium.example",
	})
}

func delivery(sink string) *webhooks.Dispatch {
	const group = core.UID("0123456789abcdef0123456789abcdef01234567")
	return &webhooks.Dispatch{
		Delivery: &webhooks.Delivery{UID: group + "/0000000000000001/0000000000000002"},
		Event:    &core.Event{ID: "1", Type: "dev.atrium.api.iam.group.created.v1", Subject: group, Group: group, Body: json.RawMessage("{}"), Time: core.At(time.Now())},
		Sink:     sink,
		Secrets:  []string{"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="},
	}
}

const privateAddress = "the host has a private address"

func TestNoDeliveryGoesToAPrivateAddress(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	trap := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	trap.Config.ErrorLog = log.New(io.Discard, "", 0)
	trap.StartTLS()
	t.Cleanup(trap.Close)
	port := trap.Listener.Addr().String()[len("127.0.0.1"):]
	sender := guardedSender(t)
	for _, host := range []string{
		"localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0", "[::]",
		"10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "[fe80::1]", "[fd00::1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]",
	} {
		got := sender.Send(t.Context(), delivery("https://"+host+port))
		// A machine may lack an IPv6 network, but it has a loopback interface.
		if got.Status != 0 || got.Error != privateAddress && !strings.Contains(host, ":") {
			t.Errorf("%s: %+v, want Status 0", host, got)
		}
	}
	if got := sender.Send(t.Context(), delivery("http://sink.example")); got.Error != "the URL must be https" {
		t.Errorf("plain http: %+v, want Error 'the URL must be https'", got)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the trap was reached %d times", n)
	}
	// A sender with this private sink reaches the trap and fails only at its certificate.
	if got := guardedSender(t, "127.0.0.1"+port).Send(t.Context(), delivery("https://127.0.0.1"+port)); got.Error != "the certificate is not signed by a known authority" {
		t.Errorf("a private sink: %+v", got)
	}
}

func TestARedirectToAPrivateAddressIsNotFollowed(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(trap.Close)
	sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, trap.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(sink.Close)
	host := sink.Listener.Addr().String()
	// The redirect is not followed even if the host of the trap is allowed.
	for _, private := range [][]string{{host}, {host, trap.Listener.Addr().String()}} {
		if got := guardedSender(t, private...).Send(t.Context(), delivery(sink.URL)); got.Status != http.StatusTemporaryRedirect || got.Error != "" {
			t.Errorf("the attempt: %+v, want Status %v and Error \"\"", got, http.StatusTemporaryRedirect)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the trap was reached %d times", n)
	}
	if response, err := http.Post(sink.URL, "text/plain", nil); err != nil || response.Body.Close() != nil || reached.Load() != 1 {
		t.Errorf("the redirect leads nowhere: %v", err)
	}
}

// The attack is a subscription to another port of a private sink, such as that of its metrics.
func TestOnlyTheStatusOfAPrivateSinkIsShown(t *testing.T) {
	t.Parallel()
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "atrium serve --encryption-key secret")
	})
	private, other := httptest.NewServer(answer), httptest.NewServer(answer)
	t.Cleanup(private.Close)
	t.Cleanup(other.Close)
	sender := guardedSender(t, private.Listener.Addr().String())
	for range 2 { // the second delivery uses the connection of the first
		if got, want := sender.Send(t.Context(), delivery(private.URL)), (webhooks.Attempt{Status: http.StatusTeapot}); got != want {
			t.Errorf("the private sink: %+v, want %+v", got, want)
		}
	}
	if got := sender.Send(t.Context(), delivery(other.URL)); got != (webhooks.Attempt{Error: "the URL must be https"}) {
		t.Errorf("another port of its host: %+v, want an Error", got)
	}
}
