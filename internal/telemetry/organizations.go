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

// organizations count the requests of each organization. A scrape gets only those that have sent most lately, because
// every series costs memory in Prometheus; their counters go on if they come back later.
type organizations struct {
	lock   sync.Mutex
	counts *lru.Cache[string, *organization]
}

// An organization has the counters of one organization.
type organization struct {
	name              string
	requests, refused float64
	seconds           float64

	score   float64 // number of requests, of which half is forgotten every halfLife
	updated time.Time
}

// Limits of what is counted and shown, and the time in which an organization falls behind those that send more.
const (
	maxOrganizations   = 4096
	shownOrganizations = 20
	halfLife           = 5 * time.Minute
)

func newOrganizations() *organizations {
	return &organizations{counts: lru.New[string, *organization](maxOrganizations, nil)}
}

// CountOrganization counts a request of an organization. took is 0 for a stream. An empty name is not counted.
func (m *Metrics) CountOrganization(name string, took time.Duration, refused bool) {
	if m == nil || name == "" {
		return
	}
	m.organizations.count(name, took, refused, time.Now())
}

func (o *organizations) count(name string, took time.Duration, refused bool, now time.Time) {
	o.lock.Lock()
	defer o.lock.Unlock()
	counted, found := o.counts.Get(name)
	if !found {
		counted = &organization{name: name, updated: now}
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
func (o *organization) scoreAt(now time.Time) float64 {
	return o.score * math.Exp2(-now.Sub(o.updated).Seconds()/halfLife.Seconds())
}

// largest returns copies of the organizations with the highest scores.
func (o *organizations) largest(now time.Time) []organization {
	o.lock.Lock()
	all := make([]organization, 0, o.counts.Len())
	for one := range o.counts.Values() {
		all = append(all, *one)
	}
	o.lock.Unlock() // Requests wait for it.
	for i := range all {
		all[i].score, all[i].updated = all[i].scoreAt(now), now
	}
	slices.SortFunc(all, func(a, b organization) int { return cmp.Compare(b.score, a.score) })
	return all[:min(len(all), shownOrganizations)]
}

var (
	organizationRequests = prometheus.NewDesc("atrium_organization_requests_total", "Requests of the 20 organizations with the most recent requests, including refused requests.", []string{"organization"}, nil)
	organizationRefusals = prometheus.NewDesc("atrium_organization_refusals_total", "Requests of an organization that a limit refused, of its callers or of the server.", []string{"organization"}, nil)
	organizationSeconds  = prometheus.NewDesc("atrium_organization_request_seconds_total", "How long the requests of an organization took, without streams.", []string{"organization"}, nil)
)

// Describe sends the descriptions of the metrics.
func (*organizations) Describe(to chan<- *prometheus.Desc) {
	to <- organizationRequests
	to <- organizationRefusals
	to <- organizationSeconds
}

// Collect sends the counters of the largest organizations.
func (o *organizations) Collect(to chan<- prometheus.Metric) {
	for _, one := range o.largest(time.Now()) {
		to <- prometheus.MustNewConstMetric(organizationRequests, prometheus.CounterValue, one.requests, one.name)
		to <- prometheus.MustNewConstMetric(organizationRefusals, prometheus.CounterValue, one.refused, one.name)
		to <- prometheus.MustNewConstMetric(organizationSeconds, prometheus.CounterValue, one.seconds, one.name)
	}
}
