package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Request describes a request that has been answered.
type Request struct {
	Protocol  string
	Operation string // name of the operation, from a small set
	Code      string // OK, or the code of the first error
	Took      time.Duration
	Stream    bool   // the response was a stream, so Took is not counted
	Cost      int    // cost of a GraphQL document; 0 means none
	Limit     string // the limit that the request exceeded; "" means none
	TraceID   string // id of the recorded trace of the request; "" means none
}

// CountRequest counts a request.
func (m *Metrics) CountRequest(r Request) {
	if m == nil {
		return
	}
	m.requests.WithLabelValues(r.Protocol, r.Operation, r.Code).Inc()
	if !r.Stream {
		observe(m.requestSeconds.WithLabelValues(r.Protocol, r.Operation), r.Took, r.TraceID)
	}
	if r.Cost > 0 {
		m.cost.Observe(float64(r.Cost))
	}
	if r.Limit != "" {
		m.limitRefusals.WithLabelValues(r.Limit).Inc()
	}
}

// observe observes a duration, with its trace as the exemplar.
func observe(histogram prometheus.Observer, took time.Duration, traceID string) {
	if with, ok := histogram.(prometheus.ExemplarObserver); ok && traceID != "" {
		with.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": traceID})
		return
	}
	histogram.Observe(took.Seconds())
}

// Begin counts a request in flight until end is called.
func (m *Metrics) Begin(protocol string) (end func()) {
	if m == nil {
		return func() {}
	}
	return raise(m.inFlight.WithLabelValues(protocol))
}

// Open counts an open stream of a kind, such as sse, until end is called.
func (m *Metrics) Open(kind string) (end func()) {
	if m == nil {
		return func() {}
	}
	return raise(m.streams.WithLabelValues(kind))
}

// raise adds 1 to a gauge and returns the function that subtracts it again.
func raise(gauge prometheus.Gauge) func() {
	gauge.Inc()
	return gauge.Dec
}

// CountAuthentication counts the check of a token by its outcome, such as accepted.
func (m *Metrics) CountAuthentication(outcome string) {
	if m != nil {
		m.authentications.WithLabelValues(outcome).Inc()
	}
}

// CountRoundTrip counts statements that were sent to the database in one round trip, and
// its duration. traceID is the id of the recorded trace that they are part of, or "".
func (m *Metrics) CountRoundTrip(operations []string, took time.Duration, failed bool, traceID string) {
	if m == nil {
		return
	}
	for _, operation := range operations {
		m.statements.WithLabelValues(operation).Inc()
	}
	outcome := "ok"
	if failed {
		outcome = "error"
	}
	observe(m.roundTrips.WithLabelValues(outcome), took, traceID)
}

// CountEventRead counts an event that was passed to live feeds. lag is the time since it
// was recorded.
func (m *Metrics) CountEventRead(lag time.Duration) {
	if m != nil {
		m.feedLag.Observe(lag.Seconds())
	}
}

// CountDelivery counts an attempt by the state of its delivery. If delivered is true, lag
// is the time since the event was recorded.
func (m *Metrics) CountDelivery(state string, lag time.Duration, delivered bool) {
	if m == nil {
		return
	}
	m.deliveries.WithLabelValues(state).Inc()
	if delivered {
		m.deliveryLag.Observe(lag.Seconds())
	}
}

// CountDeliveryFailure counts an attempt that failed at the host of a sink.
func (m *Metrics) CountDeliveryFailure(host string) {
	if m != nil {
		m.failures.WithLabelValues(host).Inc()
	}
}

// CountImported counts records that an import has read from a source.
func (m *Metrics) CountImported(source string, records int) {
	if m != nil {
		m.imported.WithLabelValues(source).Add(float64(records))
	}
}

// NotePendingMigrations notes how many migrations the process has still to apply.
func (m *Metrics) NotePendingMigrations(n int) {
	if m != nil {
		m.migrations.Set(float64(n))
	}
}

// A Pool is the state of a pool of database connections.
type Pool struct {
	Used, Idle, Max int           // numbers of connections
	Waits           int64         // number of statements that waited for a connection
	Waited          time.Duration // total waiting time of statements
}

// WatchPool adds metrics of a connection pool. Each scrape calls pool.
func (m *Metrics) WatchPool(pool func() Pool) {
	if m == nil {
		return
	}
	m.gauge("atrium_db_connections_used", "Connections to the database that run a statement.", func() float64 { return float64(pool().Used) })
	m.gauge("atrium_db_connections_idle", "Connections to the database that wait for a statement.", func() float64 { return float64(pool().Idle) })
	m.gauge("atrium_db_connections_max", "Connections to the database that the process may have.", func() float64 { return float64(pool().Max) })
	m.counter("atrium_db_connection_waits_total", "How often a statement found no connection free.", func() float64 { return float64(pool().Waits) })
	m.counter("atrium_db_connection_wait_seconds_total", "How long statements have waited for a connection.", func() float64 { return pool().Waited.Seconds() })
}

// An Admission is the state of the admission of requests.
type Admission struct {
	Working, Waiting, Slots int           // numbers of requests; Slots is the limit of Working
	Waits                   int64         // number of requests that waited
	Waited                  time.Duration // total waiting time of requests
}

// WatchAdmission adds metrics of the admission. Each scrape calls state.
func (m *Metrics) WatchAdmission(state func() Admission) {
	if m == nil {
		return
	}
	m.gauge("atrium_requests_working", "Requests that have a slot to be worked on.", func() float64 { return float64(state().Working) })
	m.gauge("atrium_requests_waiting", "Requests that wait for a slot.", func() float64 { return float64(state().Waiting) })
	m.gauge("atrium_requests_slots", "Requests that may be worked on at the same time; 0 means no limit.", func() float64 { return float64(state().Slots) })
	m.counter("atrium_request_waits_total", "How often a request found no slot free.", func() float64 { return float64(state().Waits) })
	m.counter("atrium_request_wait_seconds_total", "How long requests have waited for a slot.", func() float64 { return state().Waited.Seconds() })
}

// WatchCertificate adds from when and until when the TLS certificate is valid. Each scrape calls validity.
func (m *Metrics) WatchCertificate(validity func() (begin, end time.Time)) {
	if m != nil {
		m.gauge("atrium_tls_certificate_begin_timestamp_seconds", "When the validity of the TLS certificate of the server began, in seconds since 1970.", func() float64 {
			begin, _ := validity()
			return float64(begin.Unix())
		})
		m.gauge("atrium_tls_certificate_expiry_timestamp_seconds", "When the TLS certificate of the server expires, in seconds since 1970.", func() float64 {
			_, end := validity()
			return float64(end.Unix())
		})
	}
}

// WatchLog adds the number of lines of the log that could not be written. Each scrape calls lost.
func (m *Metrics) WatchLog(lost func() int64) {
	if m != nil {
		m.counter("atrium_log_lines_lost_total", "Lines of the log that could not be written, such as to a full disk.", func() float64 { return float64(lost()) })
	}
}

// gauge adds a gauge. Each scrape calls value.
func (m *Metrics) gauge(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// counter adds a counter. Each scrape calls value.
func (m *Metrics) counter(name, help string, value func() float64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}

// WatchReady adds whether the server is ready. Each scrape calls ready; if known is false, the
// scrape omits this metric.
func (m *Metrics) WatchReady(ready func() (ready, known bool)) {
	if m != nil {
		m.registry.MustRegister(readyCollector{ready})
	}
}

type readyCollector struct {
	ready func() (ready, known bool)
}

var readyGauge = prometheus.NewDesc("atrium_ready", "Whether /readyz answers that the server can serve requests: 1 or 0. A server that shuts down does not have this metric.", nil, nil)

// Describe sends the description of the metric.
func (readyCollector) Describe(to chan<- *prometheus.Desc) { to <- readyGauge }

// Collect calls ready and sends its result.
func (c readyCollector) Collect(to chan<- prometheus.Metric) {
	ready, known := c.ready()
	if !known {
		return
	}
	value := 0.0
	if ready {
		value = 1
	}
	to <- prometheus.MustNewConstMetric(readyGauge, prometheus.GaugeValue, value)
}

// A Backlog says how late the delivery of events is.
type Backlog struct {
	Event    time.Duration // age of the first event that has not been relayed
	Delivery time.Duration // time since the first delivery was due
}

// WatchBacklog adds the age of the events and deliveries that wait. Each scrape calls backlog;
// if that fails, the scrape omits these metrics.
func (m *Metrics) WatchBacklog(backlog func() (Backlog, error)) {
	if m != nil {
		m.registry.MustRegister(backlogCollector{backlog})
	}
}

type backlogCollector struct {
	backlog func() (Backlog, error)
}

var (
	eventWait    = prometheus.NewDesc("atrium_event_waiting_seconds", "The age of the first event that has not been relayed to subscriptions; 0 if there is none.", nil, nil)
	deliveryWait = prometheus.NewDesc("atrium_delivery_waiting_seconds", "The time since the first delivery was due that has not been attempted since; 0 if there is none.", nil, nil)
)

// Describe sends the descriptions of the metrics.
func (backlogCollector) Describe(to chan<- *prometheus.Desc) { to <- eventWait; to <- deliveryWait }

// Collect calls backlog and sends its result.
func (c backlogCollector) Collect(to chan<- prometheus.Metric) {
	backlog, err := c.backlog()
	if err != nil {
		return
	}
	to <- prometheus.MustNewConstMetric(eventWait, prometheus.GaugeValue, backlog.Event.Seconds())
	to <- prometheus.MustNewConstMetric(deliveryWait, prometheus.GaugeValue, backlog.Delivery.Seconds())
}

// WatchAttempts adds the number of deliveries that the process attempts. Each scrape calls
// running.
func (m *Metrics) WatchAttempts(running func() int) {
	if m != nil {
		m.gauge("atrium_delivery_attempts_running", "Deliveries that the process attempts at the moment.", func() float64 { return float64(running()) })
	}
}

// CountSourceRun counts a run of a source by its type, and what came of the records.
func (m *Metrics) CountSourceRun(of, state string, read, failed int) {
	if m == nil {
		return
	}
	m.sourceRuns.WithLabelValues(of, state).Inc()
	m.sourceRecords.WithLabelValues(of, "read").Add(float64(read))
	m.sourceRecords.WithLabelValues(of, "failed").Add(float64(failed))
}

// A Source is the state of a source.
type Source struct {
	Type          string
	Feed          string        // name of one of the operator; "" for others
	Age, Interval time.Duration // time since it was last read, and between two runs
	IsFailing     bool
	IsStale       bool // it has not been read for too long
}

// WatchSources adds the ages of the feeds, and how many sources fail or are old. Each scrape calls sources; if that fails, the scrape
// omits these metrics.
func (m *Metrics) WatchSources(sources func() ([]Source, error)) {
	if m != nil {
		m.registry.MustRegister(sourceCollector{sources})
	}
}

type sourceCollector struct{ sources func() ([]Source, error) }

var (
	feedAge        = prometheus.NewDesc("atrium_feed_age_seconds", "The time since a feed of the operator was last read.", []string{"feed"}, nil)
	feedInterval   = prometheus.NewDesc("atrium_feed_interval_seconds", "The time between two runs of a feed of the operator.", []string{"feed"}, nil)
	failingSources = prometheus.NewDesc("atrium_sources_failing", "Sources of all organizations whose last run failed.", []string{"type"}, nil)
	staleSources   = prometheus.NewDesc("atrium_sources_stale", "Sources of all organizations that have not been read for three of their intervals.", []string{"type"}, nil)
)

// Describe sends the descriptions of the metrics.
func (sourceCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{feedAge, feedInterval, failingSources, staleSources} {
		to <- d
	}
}

// Collect calls sources and sends what it returns.
func (c sourceCollector) Collect(to chan<- prometheus.Metric) {
	all, err := c.sources()
	if err != nil {
		return
	}
	failing, stale := map[string]float64{}, map[string]float64{}
	for _, s := range all {
		if s.Feed != "" {
			to <- prometheus.MustNewConstMetric(feedAge, prometheus.GaugeValue, s.Age.Seconds(), s.Feed)
			to <- prometheus.MustNewConstMetric(feedInterval, prometheus.GaugeValue, s.Interval.Seconds(), s.Feed)
		}
		failing[s.Type] += one(s.IsFailing)
		stale[s.Type] += one(s.IsStale)
	}
	for of, n := range failing {
		to <- prometheus.MustNewConstMetric(failingSources, prometheus.GaugeValue, n, of)
		to <- prometheus.MustNewConstMetric(staleSources, prometheus.GaugeValue, stale[of], of)
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
