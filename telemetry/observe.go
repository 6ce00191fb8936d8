package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Request is one that has been answered.
type Request struct {
	Protocol  string
	Operation string // one of few
	Code      string // OK, or that of its first error
	Took      time.Duration
	Stream    bool   // it lasted as long as somebody listened
	Cost      int    // of a GraphQL document; 0: it has none
	Limit     string // the limit that refused it; ""
}

// Request counts a request.
func (m *Metrics) Request(r Request) {
	if m == nil {
		return
	}
	m.requests.WithLabelValues(r.Protocol, r.Operation, r.Code).Inc()
	if !r.Stream {
		m.requestSeconds.WithLabelValues(r.Protocol, r.Operation).Observe(r.Took.Seconds())
	}
	if r.Cost > 0 {
		m.cost.Observe(float64(r.Cost))
	}
	if r.Limit != "" {
		m.limited.WithLabelValues(r.Limit).Inc()
	}
}

// Begin counts a request under way until the function that it gives is called.
func (m *Metrics) Begin(protocol string) (end func()) {
	if m == nil {
		return func() {}
	}
	return raised(m.underway.WithLabelValues(protocol))
}

// Open counts an open stream of a kind until the function that it gives is
// called.
func (m *Metrics) Open(kind string) (end func()) {
	if m == nil {
		return func() {}
	}
	return raised(m.streams.WithLabelValues(kind))
}

func raised(gauge prometheus.Gauge) func() {
	gauge.Inc()
	return gauge.Dec
}

// Authentication counts what became of a token.
func (m *Metrics) Authentication(outcome string) {
	if m != nil {
		m.authentications.WithLabelValues(outcome).Inc()
	}
}

// RoundTrip counts statements that were sent to the database together.
func (m *Metrics) RoundTrip(operations []string, took time.Duration, failed bool) {
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
	m.roundTrips.WithLabelValues(outcome).Observe(took.Seconds())
}

// EventRead counts an event that live feeds were given.
func (m *Metrics) EventRead(lag time.Duration) {
	if m != nil {
		m.feedLag.Observe(lag.Seconds())
	}
}

// Delivery counts an attempt. Where the event was delivered by it, lag is how
// long that took.
func (m *Metrics) Delivery(state string, lag time.Duration, delivered bool) {
	if m == nil {
		return
	}
	m.deliveries.WithLabelValues(state).Inc()
	if delivered {
		m.deliveryLag.Observe(lag.Seconds())
	}
}

// Imported counts records of a source that an import has read.
func (m *Metrics) Imported(source string, records int) {
	if m != nil {
		m.imported.WithLabelValues(source).Add(float64(records))
	}
}

// A Pool tells how the connections to the database are used.
type Pool struct {
	Used, Idle, Max int
	Waits           int64
	Waited          time.Duration
}

// WatchPool lets each scrape ask how the connections are used.
func (m *Metrics) WatchPool(pool func() Pool) {
	if m == nil {
		return
	}
	gauge := func(name, help string, value func(Pool) float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return value(pool()) }))
	}
	counter := func(name, help string, value func(Pool) float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return value(pool()) }))
	}
	gauge("atrium_db_connections_used", "Connections to the database that run a statement.", func(p Pool) float64 { return float64(p.Used) })
	gauge("atrium_db_connections_idle", "Connections to the database that wait for a statement.", func(p Pool) float64 { return float64(p.Idle) })
	gauge("atrium_db_connections_max", "Connections to the database that the process may have.", func(p Pool) float64 { return float64(p.Max) })
	counter("atrium_db_connection_waits_total", "How often a statement found no connection free.", func(p Pool) float64 { return float64(p.Waits) })
	counter("atrium_db_connection_wait_seconds_total", "How long statements have waited for a connection.", func(p Pool) float64 { return p.Waited.Seconds() })
}

// WatchQueue lets each scrape ask how many deliveries wait, by state. Where
// depth fails, the scrape goes without.
func (m *Metrics) WatchQueue(depth func() (map[string]int, error)) {
	if m != nil {
		m.registry.MustRegister(queueCollector{depth})
	}
}

type queueCollector struct {
	depth func() (map[string]int, error)
}

var queueDepth = prometheus.NewDesc("atrium_delivery_queue_jobs", "Deliveries in the queue, by the state of their job.", []string{"state"}, nil)

// Describe tells what is collected.
func (queueCollector) Describe(to chan<- *prometheus.Desc) { to <- queueDepth }

// Collect asks for the depth.
func (c queueCollector) Collect(to chan<- prometheus.Metric) {
	depth, err := c.depth()
	if err != nil {
		return
	}
	for state, n := range depth {
		to <- prometheus.MustNewConstMetric(queueDepth, prometheus.GaugeValue, float64(n), state)
	}
}
