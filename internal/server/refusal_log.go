package server

import (
	"cmp"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"atrium/platform/core"
)

// A refusalLog logs requests that were not admitted: after an interval with some, one line for each of the
// sources that had most of them, and one for all others.
type refusalLog struct {
	logger *slog.Logger

	lock    sync.Mutex
	counts  map[refusalSource]*refusalCount // of the current interval; empty if there is none
	timer   *time.Timer                     // ends the interval
	unknown refusalCount                    // those for which counts has no room
}

// refusalInterval is how late a refusal is logged.
const refusalInterval = 5 * time.Second

// Limits of one interval: how many sources are counted, because clients can choose them, and how many have a line.
const (
	maxRefusalSources = 1000
	maxRefusalLines   = 10
)

// A refusalSource is what refusals are counted by: the caller, or its address if the caller is not known.
type refusalSource struct {
	limit           string
	organization    core.UID
	issuer, subject string
	address         string
}

// A refusalCount counts the refused requests of a source.
type refusalCount struct {
	number    int
	requestID string // of the latest of them
}

func (r *refusalCount) add(n int, requestID string) { r.number, r.requestID = r.number+n, requestID }

func refusalSourceOf(f finished) refusalSource {
	source := refusalSource{limit: f.facts.Limit, organization: f.facts.Organization(), issuer: cut(f.facts.Issuer), subject: cut(f.facts.Subject)}
	if source.issuer == "" {
		source.address = strings.TrimPrefix(peer(f.trace.Remote), "peer ")
	}
	return source
}

// add counts a refusal. It is logged when the interval ends.
func (s *refusalLog) add(f finished) {
	source := refusalSourceOf(f)
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.counts == nil {
		s.counts = map[refusalSource]*refusalCount{}
		s.timer = time.AfterFunc(refusalInterval, s.flush)
	}
	switch known := s.counts[source]; {
	case known != nil:
		known.add(1, f.trace.ID)
	case len(s.counts) < maxRefusalSources:
		s.counts[source] = &refusalCount{1, f.trace.ID}
	default:
		s.unknown.add(1, f.trace.ID)
	}
}

// flush ends the interval and logs its refusals, those of the largest sources first.
func (s *refusalLog) flush() {
	s.lock.Lock()
	counts, others := s.counts, s.unknown
	if s.timer != nil {
		s.timer.Stop()
	}
	s.counts, s.unknown, s.timer = nil, refusalCount{}, nil
	s.lock.Unlock()
	sources := make([]refusalSource, 0, len(counts))
	for source := range counts {
		sources = append(sources, source)
	}
	slices.SortFunc(sources, func(a, b refusalSource) int { return cmp.Compare(counts[b].number, counts[a].number) })
	for i, source := range sources {
		if i >= maxRefusalLines {
			others.add(counts[source].number, counts[source].requestID)
			continue
		}
		s.warn(*counts[source], source.attributes()...)
	}
	if others.number > 0 {
		s.warn(others, "of", "others")
	}
}

// warn logs the refusals of a source.
func (s *refusalLog) warn(r refusalCount, of ...any) {
	s.logger.Warn("requests are refused", append([]any{"refused", r.number, "request_id", r.requestID}, of...)...)
}

// attributes returns what is known of a source.
func (s refusalSource) attributes() []any {
	attributes := []any{"limit", s.limit}
	for _, known := range [][2]string{{"organization", string(s.organization)}, {"issuer", s.issuer}, {"subject", s.subject}, {"remote", s.address}} {
		if known[1] != "" {
			attributes = append(attributes, known[0], known[1])
		}
	}
	return attributes
}
