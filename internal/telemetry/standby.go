package telemetry

import "github.com/prometheus/client_golang/prometheus"

// A Standby is the state of a standby of the database that answers reads.
type Standby struct {
	Name      string
	Available bool
	Lag       float64 // seconds
	Reads     int64
}

// WatchStandbys adds metrics of standbys. Each scrape calls states, which also returns
// how often the primary had to answer instead, by reason.
func (m *Metrics) WatchStandbys(states func() ([]Standby, map[string]int64)) {
	if m != nil {
		m.registry.MustRegister(standbyCollector{states})
	}
}

// A standbyCollector collects the metrics of standbys.
type standbyCollector struct {
	states func() ([]Standby, map[string]int64)
}

var (
	readsByTarget     = prometheus.NewDesc("atrium_db_reads_total", "Round trips of reads that a standby may answer, by the server that answered.", []string{"target"}, nil)
	readFallbacks     = prometheus.NewDesc("atrium_db_read_fallbacks_total", "Round trips of reads that the primary answered in place of a standby, by the reason.", []string{"reason"}, nil)
	standbyLag        = prometheus.NewDesc("atrium_db_standby_lag_seconds", "For how long the standby has not replayed a position that a request needed.", []string{"standby"}, nil)
	standbyAvailable  = prometheus.NewDesc("atrium_db_standby_available", "Whether the standby answers reads.", []string{"standby"}, nil)
	standbyCollection = []*prometheus.Desc{readsByTarget, readFallbacks, standbyLag, standbyAvailable}
)

// Describe sends the descriptions of the metrics.
func (standbyCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range standbyCollection {
		to <- desc
	}
}

// Collect sends the metrics. Several URLs may lead to one server, which is counted once.
func (c standbyCollector) Collect(to chan<- prometheus.Metric) {
	states, fallbacks := c.states()
	byName := map[string]Standby{}
	for _, one := range states {
		known := byName[one.Name]
		one.Reads += known.Reads
		one.Lag = max(one.Lag, known.Lag)
		byName[one.Name] = one
	}
	for name, one := range byName {
		available := 0.0
		if one.Available {
			available = 1
		}
		to <- prometheus.MustNewConstMetric(readsByTarget, prometheus.CounterValue, float64(one.Reads), name)
		to <- prometheus.MustNewConstMetric(standbyLag, prometheus.GaugeValue, one.Lag, name)
		to <- prometheus.MustNewConstMetric(standbyAvailable, prometheus.GaugeValue, available, name)
	}
	total := int64(0)
	for reason, n := range fallbacks {
		total += n
		to <- prometheus.MustNewConstMetric(readFallbacks, prometheus.CounterValue, float64(n), reason)
	}
	to <- prometheus.MustNewConstMetric(readsByTarget, prometheus.CounterValue, float64(total), "primary")
}
