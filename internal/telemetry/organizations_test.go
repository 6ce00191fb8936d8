package telemetry

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The attack is many small organizations, among which the one that floods must not be lost.
func TestTheLargestOrganizationsAreShown(t *testing.T) {
	t.Parallel()
	m := New("test")
	for range 100 {
		m.CountOrganization("flood", 10*time.Millisecond, true)
	}
	for i := range 3 * shownOrganizations {
		m.CountOrganization(fmt.Sprintf("small-%d", i), 0, false)
	}
	m.CountOrganization("", time.Second, false)
	scraped := httptest.NewRecorder()
	m.Handler().ServeHTTP(scraped, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body := scraped.Body.String()
	for _, want := range []string{`atrium_organization_requests_total{organization="flood"} 100`, `atrium_organization_refusals_total{organization="flood"} 100`, `atrium_organization_request_seconds_total{organization="flood"} 1`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if n := strings.Count(body, "\natrium_organization_requests_total{"); n != shownOrganizations || strings.Contains(body, `organization=""`) {
		t.Errorf("%d organizations are shown, want %d, all with a name", n, shownOrganizations)
	}
}

// An organization that was large yesterday gives way to those that are large now, and its counters go on.
func TestAnOrganizationThatFellSilentGivesWay(t *testing.T) {
	t.Parallel()
	o, now := newOrganizations(), time.Now()
	for range 1000 {
		o.count("yesterday", 0, false, now)
	}
	now = now.Add(24 * time.Hour)
	for i := range shownOrganizations {
		o.count(fmt.Sprint(i), 0, false, now)
	}
	for _, one := range o.largest(now) {
		if one.name == "yesterday" {
			t.Error("an organization that fell silent hides one that sends requests")
		}
	}
	for range 2 {
		o.count("yesterday", 0, false, now)
	}
	if first := o.largest(now)[0]; first.name != "yesterday" || first.requests != 1002 {
		t.Errorf("the largest is %s with %v requests, want yesterday with 1002", first.name, first.requests)
	}
}
