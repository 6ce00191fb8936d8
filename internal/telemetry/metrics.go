// Package telemetry exports metrics for Prometheus and traces for OpenTelemetry. It
// must not know any kind or protocol: its callers give the values of the labels.
//
//	metrics.go  the metrics, and the handler that serves them
//	observe.go  methods by which other packages record something
//	standby.go  metrics of the standbys of the database
//	serve.go    an HTTP server for the handler
//	organizations.go  counters of the organizations that send most
//	names.go    a limit for label values that clients choose
//	traces.go   traces and their spans
//	otlp.go     sends spans to a collector
//
// A nil *Metrics and a nil *Traces record nothing, so callers need not check whether
// they are enabled.
//
// Names of metrics follow the conventions of Prometheus: they end in a base unit, and
// counters in _total. Every label has few values.
package telemetry

import (
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics holds the metrics of one process. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	requests        *prometheus.CounterVec
	requestSeconds  *prometheus.HistogramVec
	inFlight        *prometheus.GaugeVec
	streams         *prometheus.GaugeVec
	cost            prometheus.Histogram
	limitRefusals   *prometheus.CounterVec
	authentications *prometheus.CounterVec
	statements      *prometheus.CounterVec
	roundTrips      *prometheus.HistogramVec
	feedLag         prometheus.Histogram
	deliveryLag     prometheus.Histogram
	deliveries      *prometheus.CounterVec
	failures        *prometheus.CounterVec
	imported        *prometheus.CounterVec
	sourceRuns      *prometheus.CounterVec
	sourceRecords   *prometheus.CounterVec
	migrations      prometheus.Gauge
	organizations   *organizations
}

// The buckets of the histograms: fastBuckets for requests and statements,
// slowBuckets for deliveries, which may wait for days, and costBuckets for the cost
// of GraphQL operations.
var (
	fastBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	slowBuckets = []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 36000, 259200}
	costBuckets = []float64{1, 10, 50, 100, 500, 1000, 2500, 5000, 10000, 25000}
)

// New returns the metrics of this process. version is the version of the program.
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
	m.inFlight = m.gauges("atrium_requests_in_flight", "Requests that are being answered, streams among them.", "protocol")
	m.streams = m.gauges("atrium_streams_open", "Open websockets and event streams.", "kind")
	m.cost = m.histogram("atrium_graphql_cost", "The cost of GraphQL operations.", costBuckets)
	m.limitRefusals = m.counters("atrium_limit_refusals_total", "Requests that a limit refused.", "limit")
	m.authentications = m.counters("atrium_authentications_total", "Requests by the outcome of their token's check.", "outcome")
	m.statements = m.counters("atrium_db_statements_total", "SQL statements that were sent.", "operation")
	m.roundTrips = m.histograms("atrium_db_round_trip_duration_seconds", "How long round trips to the database took.", fastBuckets, "outcome")
	m.feedLag = m.histogram("atrium_event_feed_lag_seconds", "The time from recording an event to giving it to live feeds.", slowBuckets)
	m.deliveryLag = m.histogram("atrium_event_delivery_lag_seconds", "The time from recording an event to its delivery.", slowBuckets)
	m.deliveries = m.counters("atrium_delivery_attempts_total", "Attempts to deliver an event, by the outcome of the delivery.", "state")
	m.failures = m.counters("atrium_delivery_failures_total", "Attempts to deliver an event that failed, by host of the sink; other stands for all after the first 100 that have failed.", "sink")
	m.imported = m.counters("atrium_import_records_total", "Records that this import has read.", "source")
	m.sourceRuns = m.counters("atrium_source_runs_total", "Runs of sources, by how they ended.", "type", "state")
	m.sourceRecords = m.counters("atrium_source_records_total", "Records of sources, by outcome.", "type", "outcome")
	m.migrations = register(m, prometheus.NewGauge(prometheus.GaugeOpts{Name: "atrium_migrations_pending", Help: "Migrations of the schema that this process has still to apply before it is ready."}))
	m.organizations = register(m, newOrganizations())
	return m
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return register(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels))
}

func (m *Metrics) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return register(m, prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels))
}

func (m *Metrics) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return register(m, prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels))
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	return register(m, prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}))
}

func register[C prometheus.Collector](m *Metrics, collector C) C {
	m.registry.MustRegister(collector)
	return collector
}

// scrapeTimeout is shorter than the default scrape timeout of Prometheus, 10 s.
const scrapeTimeout = 8 * time.Second

// Handler serves /metrics, and profiles of the process at /debug/pprof/. It must be
// served at a private address, because profiles show the contents of the memory.
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
