package telemetry

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"atrium/internal/lru"
)

// organisations count the requests of each organisation. A scrape gets only those that have sent most lately, because
// every series costs memory in Prometheus; their counters go on if they come back later.
type organisations struct {
	lock   sync.Mutex
	counts *lru.Cache[string, *organisation]
}

// An organisation has the counters of one organisation.
type organisation struct {
	name              string
	requests, refused float64
	seconds           float64

	score   float64 // number of requests, of which half is forgotten every halfLife
	updated time.Time
}

// Limits of what is counted and shown, and the time in which an organisation falls behind those that send more.
const (
	maxOrganisations   = 4096
	shownOrganisations = 20
	halfLife           = 5 * time.Minute
)

func newOrganisations() *organisations {
	return &organisations{counts: lru.New[string, *organisation](maxOrganisations, nil)}
}

// CountOrganisation counts a request of an organisation. took is 0 for a stream. An empty name is not counted.
func (m *Metrics) CountOrganisation(name string, took time.Duration, refused bool) {
	if m == nil || name == "" {
		return
	}
	m.organisations.count(name, took, refused, time.Now())
}

func (o *organisations) count(name string, took time.Duration, refused bool, now time.Time) {
	o.lock.Lock()
	defer o.lock.Unlock()
	counted, found := o.counts.Get(name)
	if !found {
		counted = &organisation{name: name, updated: now}
		o.counts.Add(name, counted)
	}
	counted.score, counted.updated = counted.scoreAt(now)+1, now
	counted.requests++
	counted.seconds += took.Seconds()
	if refused {
		counted.refused++
	}
}

// scoreAt returns the score at a time.
func (o *organisation) scoreAt(now time.Time) float64 {
	return o.score * math.Exp2(-now.Sub(o.updated).Seconds()/halfLife.Seconds())
}

// largest returns copies of the organisations with the highest scores.
func (o *organisations) largest(now time.Time) []organisation {
	o.lock.Lock()
	all := make([]organisation, 0, o.counts.Len())
	for one := range o.counts.Values() {
		all = append(all, *one)
	}
	o.lock.Unlock() // Requests wait for it.
	for i := range all {
		all[i].score, all[i].updated = all[i].scoreAt(now), now
	}
	slices.SortFunc(all, func(a, b organisation) int { return cmp.Compare(b.score, a.score) })
	return all[:min(len(all), shownOrganisations)]
}

var (
	organisationRequests = prometheus.NewDesc("atrium_organisation_requests_total", "Requests of the 20 organizations with the most recent requests, including refused requests.", []string{"organisation"}, nil)
	organisationRefusals = prometheus.NewDesc("atrium_organisation_refusals_total", "Requests of an organization that a limit refused, of its callers or of the server.", []string{"organisation"}, nil)
	organisationSeconds  = prometheus.NewDesc("atrium_organisation_request_seconds_total", "How long the requests of an organisation took, without streams.", []string{"organisation"}, nil)
)

// Describe sends the descriptions of the metrics.
func (*organisations) Describe(to chan<- *prometheus.Desc) {
	to <- organisationRequests
	to <- organisationRefusals
	to <- organisationSeconds
}

// Collect sends the counters of the largest organisations.
func (o *organisations) Collect(to chan<- prometheus.Metric) {
	for _, one := range o.largest(time.Now()) {
		to <- prometheus.MustNewConstMetric(organisationRequests, prometheus.CounterValue, one.requests, one.name)
		to <- prometheus.MustNewConstMetric(organisationRefusals, prometheus.CounterValue, one.refused, one.name)
		to <- prometheus.MustNewConstMetric(organisationSeconds, prometheus.CounterValue, one.seconds, one.name)
	}
}
