package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atrium/internal/telemetry"
	"atrium/platform/core"
	"atrium/platform/webhooks"
)

// The attack is a client that invents names of operations until no other name is counted.
func TestInventedNamesOfOperationsHideNoTrustedOnes(t *testing.T) {
	t.Parallel()
	manifest := filepath.Join(t.TempDir(), "documents.json")
	if err := os.WriteFile(manifest, []byte(`{"a": "query OfTheOperator { ping }"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	settings := DefaultGraphQL()
	settings.Trusted = check(ReadTrustedDocuments(manifest))(t)
	r := (&Config{GraphQL: settings}).newRecorder()
	count := func(name string) string {
		return r.operation(finished{protocol: "graphql", code: "OK", facts: core.Facts{Operation: name}})
	}
	for i := range 2 * maxOperationNames {
		count(fmt.Sprintf("Invented%d", i))
	}
	for name, want := range map[string]string{"Invented0": "Invented0", "InventedLast": telemetry.Other, "OfTheOperator": "OfTheOperator", consoleOperations()[0]: consoleOperations()[0]} {
		if got := count(name); got != want {
			t.Errorf("%s is counted as %s, want %s", name, got, want)
		}
	}
}

func TestFailuresOfSinksAreCountedByHost(t *testing.T) {
	t.Parallel()
	metrics := telemetry.New("test")
	r := (&Config{Metrics: metrics}).newRecorder()
	r.DeliveryTried("https://fails.example.com/events?key=hush", webhooks.DeliveryRetrying, 0)
	r.DeliveryTried("https://fails.example.com/other", webhooks.DeliveryFailed, 0)
	r.DeliveryTried("https://works.example.com/", webhooks.DeliveryDelivered, 0)
	long := strings.Repeat(strings.Repeat("a", 62)+".", 4) + ":65535" // as long as a host can be
	r.DeliveryTried("https://"+long+"/", webhooks.DeliveryRetrying, 0)
	for i := range maxSinkNames {
		r.DeliveryTried(fmt.Sprintf("https://%d.example.com/", i), webhooks.DeliveryRetrying, 0)
	}
	scraped := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(scraped, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body := scraped.Body.String()
	for _, want := range []string{`atrium_delivery_failures_total{sink="fails.example.com"} 2`, `atrium_delivery_failures_total{sink="` + long + `"} 1`, `atrium_delivery_failures_total{sink="other"} 2`} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(body, "works.example.com") || strings.Contains(body, "hush") {
		t.Errorf("a sink that works, or a secret of a URL, is in %s", body)
	}
}
