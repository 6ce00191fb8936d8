package telemetry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func scrape(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

func TestMetricsShowWhatWasRecorded(t *testing.T) {
	t.Parallel()
	m := New("v1")
	m.CountRequest(Request{Protocol: "rest", Operation: "ListRepos", Code: "OK", Took: time.Millisecond, Cost: 3, Limit: "cost"})
	m.CountRequest(Request{Protocol: "graphql", Operation: "Live", Code: "OK", Took: time.Hour, Stream: true})
	end, closeStream := m.Begin("rest"), m.Open("sse")
	m.Begin("rest")()
	m.CountAuthentication("accepted")
	m.CountRoundTrip([]string{"SELECT", "INSERT"}, time.Second, true, "")
	m.CountEventRead(time.Second)
	m.CountDelivery("delivered", time.Second, true)
	m.CountDelivery("retrying", time.Second, false)
	m.CountImported("osv", 7)
	m.WatchPool(func() Pool { return Pool{Used: 1, Idle: 2, Max: 3, Waits: 4, Waited: 5 * time.Second} })
	m.WatchAdmission(func() Admission {
		return Admission{Working: 7, Waiting: 8, Slots: 9, Waits: 10, Waited: 11 * time.Second}
	})
	m.WatchAttempts(func() int { return 6 })
	m.WatchReady(func() (bool, bool) { return true, true })
	m.WatchBacklog(func() (Backlog, error) { return Backlog{Event: 12 * time.Second, Delivery: 13 * time.Second}, nil })
	text := scrape(m)
	for _, sample := range []string{
		`atrium_requests_total{code="OK",operation="ListRepos",protocol="rest"} 1`, `atrium_request_duration_seconds_count{operation="ListRepos",protocol="rest"} 1`,
		`atrium_requests_in_flight{protocol="rest"} 1`, `atrium_streams_open{kind="sse"} 1`, `atrium_graphql_cost_sum 3`, `atrium_limit_refusals_total{limit="cost"} 1`,
		`atrium_authentications_total{outcome="accepted"} 1`, `atrium_db_statements_total{operation="INSERT"} 1`, `atrium_db_round_trip_duration_seconds_count{outcome="error"} 1`,
		`atrium_event_feed_lag_seconds_count 1`, `atrium_event_delivery_lag_seconds_count 1`, `atrium_delivery_attempts_total{state="retrying"} 1`,
		`atrium_import_records_total{source="osv"} 7`, `atrium_db_connections_used 1`, `atrium_db_connections_idle 2`, `atrium_db_connections_max 3`,
		`atrium_db_connection_waits_total 4`, `atrium_db_connection_wait_seconds_total 5`, `atrium_delivery_attempts_running 6`, `atrium_build_info{version="v1"} 1`,
		`atrium_event_waiting_seconds 12`, `atrium_delivery_waiting_seconds 13`, `atrium_ready 1`,
		`atrium_requests_working 7`, `atrium_requests_waiting 8`, `atrium_requests_slots 9`, `atrium_request_waits_total 10`, `atrium_request_wait_seconds_total 11`,
	} {
		if !strings.Contains(text, sample+"\n") {
			t.Errorf("no %s", sample)
		}
	}
	if strings.Contains(text, `atrium_request_duration_seconds_count{operation="Live"`) {
		t.Error("a stream counts as a slow request")
	}
	end()
	closeStream()
	if text := scrape(m); !strings.Contains(text, `atrium_requests_in_flight{protocol="rest"} 0`) || !strings.Contains(text, `atrium_streams_open{kind="sse"} 0`) {
		t.Error("what has ended still counts")
	}
}

func TestAScrapeOmitsABacklogThatFails(t *testing.T) {
	t.Parallel()
	m := New("v1")
	m.WatchBacklog(func() (Backlog, error) { return Backlog{}, errors.New("away") })
	if text := scrape(m); !strings.Contains(text, "atrium_build_info") || strings.Contains(text, "waiting_seconds") {
		t.Errorf("scraped %.300s, want it to contain 'atrium_build_info'", text)
	}
}

func TestNilMetricsRecordNothing(t *testing.T) {
	t.Parallel()
	var m *Metrics
	m.CountRequest(Request{})
	m.Begin("x")()
	m.Open("x")()
	m.CountAuthentication("x")
	m.CountRoundTrip([]string{"x"}, 0, false, "")
	m.CountEventRead(0)
	m.CountDelivery("x", 0, true)
	m.CountDeliveryFailure("x")
	m.CountOrganization("x", 0, false)
	m.CountImported("x", 1)
	m.WatchPool(nil)
	m.WatchAdmission(nil)
	m.WatchAttempts(nil)
	m.WatchReady(nil)
	m.WatchCertificate(nil)
	m.WatchLog(nil)
	m.WatchBacklog(nil)
}

// From a slow bucket of a dashboard, an operator opens a trace of a slow request.
func TestDurationsHaveATraceAsExemplar(t *testing.T) {
	t.Parallel()
	m := New("v1")
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	m.CountRequest(Request{Protocol: "rest", Operation: "ListRepos", Code: "OK", Took: time.Second, TraceID: trace})
	m.CountRequest(Request{Protocol: "rest", Operation: "GetRepo", Code: "OK", Took: time.Second})
	m.CountRoundTrip([]string{"SELECT"}, time.Second, false, trace)
	r, w := httptest.NewRequest(http.MethodGet, "/metrics", nil), httptest.NewRecorder()
	r.Header.Set("Accept", "application/openmetrics-text")
	m.Handler().ServeHTTP(w, r)
	for _, want := range []string{`atrium_request_duration_seconds_bucket{operation="ListRepos",protocol="rest",le="1.0"} 1 # {trace_id="` + trace + `"} 1.0`, `atrium_db_round_trip_duration_seconds_bucket{outcome="ok",le="1.0"} 1 # {trace_id="` + trace + `"}`} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("no %s in\n%s", want, w.Body)
		}
	}
	if n := strings.Count(w.Body.String(), "trace_id"); n != 2 {
		t.Errorf("%d exemplars, want 2", n)
	}
}

func TestNamesThatClientsChooseAreLimited(t *testing.T) {
	t.Parallel()
	names := NewNames(2, 64, "Trusted")
	for _, name := range []struct {
		name   string
		useful bool
		want   string
	}{
		{"Trusted", false, "Trusted"}, {"Failed", false, Other}, {"A", true, "A"}, {"", true, Other}, {strings.Repeat("x", 65), true, Other},
		{"B", true, "B"}, {"C", true, Other}, {"A", false, "A"},
	} {
		if got := names.Limit(name.name, name.useful); got != name.want {
			t.Errorf("%q is %q, want %q", name.name, got, name.want)
		}
	}
}
