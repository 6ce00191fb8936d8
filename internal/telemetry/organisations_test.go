package telemetry

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The attack is many small organisations, among which the one that floods must not be lost.
func TestTheLargestOrganisationsAreShown(t *testing.T) {
	t.Parallel()
	m := New("test")
	for range 100 {
		m.CountOrganisation("flood", 10*time.Millisecond, true)
	}
	for i := range 3 * shownOrganisations {
		m.CountOrganisation(fmt.Sprintf("small-%d", i), 0, false)
	}
	m.CountOrganisation("", time.Second, false)
	scraped := httptest.NewRecorder()
	m.Handler().ServeHTTP(scraped, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body := scraped.Body.String()
	for _, want := range []string{`atrium_organisation_requests_total{organisation="flood"} 100`, `atrium_organisation_refusals_total{organisation="flood"} 100`, `atrium_organisation_request_seconds_total{organisation="flood"} 1`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if n := strings.Count(body, "\natrium_organisation_requests_total{"); n != shownOrganisations || strings.Contains(body, `organisation=""`) {
		t.Errorf("%d organisations are shown, want %d, all with a name", n, shownOrganisations)
	}
}

// An organisation that was large yesterday gives way to those that are large now, and its counters go on.
func TestAnOrganisationThatFellSilentGivesWay(t *testing.T) {
	t.Parallel()
	o, now := newOrganisations(), time.Now()
	for range 1000 {
		o.count("yesterday", 0, false, now)
	}
	now = now.Add(24 * time.Hour)
	for i := range shownOrganisations {
		o.count(fmt.Sprint(i), 0, false, now)
	}
	for _, one := range o.largest(now) {
		if one.name == "yesterday" {
			t.Error("an organisation that fell silent hides one that sends requests")
		}
	}
	for range 2 {
		o.count("yesterday", 0, false, now)
	}
	if first := o.largest(now)[0]; first.name != "yesterday" || first.requests != 1002 {
		t.Errorf("the largest is %s with %v requests, want yesterday with 1002", first.name, first.requests)
	}
}
