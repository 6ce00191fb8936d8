// Package telemetry counts what a process does, for Prometheus. It knows no kind
// and no protocol: whoever counts gives the words. A nil *Metrics counts
// nothing, so that nobody need ask whether metrics are wanted.
//
// Names follow the conventions of Prometheus: a base unit, and _total for what
// only grows. Every label has few values; what clients choose is bounded by
// Names.
package telemetry

import (
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are the counters of one process. They are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	requests        *prometheus.CounterVec
	requestSeconds  *prometheus.HistogramVec
	underway        *prometheus.GaugeVec
	streams         *prometheus.GaugeVec
	cost            prometheus.Histogram
	limited         *prometheus.CounterVec
	authentications *prometheus.CounterVec
	statements      *prometheus.CounterVec
	roundTrips      *prometheus.HistogramVec
	feedLag         prometheus.Histogram
	deliveryLag     prometheus.Histogram
	deliveries      *prometheus.CounterVec
	imported        *prometheus.CounterVec
}

// Buckets of durations: of what answers people, and of what may wait for hours.
var (
	fastBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	slowBuckets = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 36000, 259200}
	costBuckets = []float64{1, 10, 50, 100, 500, 1000, 2500, 5000, 10000, 25000}
)

// New makes the counters of a program of a version.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	info := m.gauges("atrium_build_info", "The version of the program; always 1.", "version")
	info.WithLabelValues(version).Set(1)
	m.requests = m.counters("atrium_requests_total", "Requests that were answered, and operations on websockets.", "protocol", "operation", "code")
	m.requestSeconds = m.histograms("atrium_request_duration_seconds", "How long requests took. Streams are not among them.", fastBuckets, "protocol", "operation")
	m.underway = m.gauges("atrium_requests_in_flight", "Requests that are being answered, streams among them.", "protocol")
	m.streams = m.gauges("atrium_streams_open", "Open websockets and event streams.", "kind")
	m.cost = m.histogram("atrium_graphql_cost", "The cost of GraphQL operations.", costBuckets)
	m.limited = m.counters("atrium_limit_refusals_total", "Requests that a limit refused.", "limit")
	m.authentications = m.counters("atrium_authentications_total", "Requests by what became of their token.", "outcome")
	m.statements = m.counters("atrium_db_statements_total", "SQL statements that were sent.", "operation")
	m.roundTrips = m.histograms("atrium_db_round_trip_duration_seconds", "How long round trips to the database took.", fastBuckets, "outcome")
	m.feedLag = m.histogram("atrium_event_feed_lag_seconds", "The time from recording an event to giving it to live feeds.", slowBuckets)
	m.deliveryLag = m.histogram("atrium_event_delivery_lag_seconds", "The time from recording an event to its delivery.", slowBuckets)
	m.deliveries = m.counters("atrium_delivery_attempts_total", "Attempts to deliver an event, by what became of the delivery.", "state")
	m.imported = m.counters("atrium_import_records_total", "Records that this import has read.", "source")
	return m
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return registered(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
}

func (m *Metrics) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return registered(m, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels))
}

func (m *Metrics) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return registered(m, prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels))
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	return registered(m, prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}))
}

func registered[C prometheus.Collector](m *Metrics, collector C) C {
	m.registry.MustRegister(collector)
	return collector
}

// scrapeTimeout is shorter than Prometheus waits by default.
const scrapeTimeout = 8 * time.Second

// Handler serves /metrics, and profiles of the process at /debug/pprof/. Its
// address must be private: profiles show what is in memory.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Timeout: scrapeTimeout, EnableOpenMetrics: true}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
