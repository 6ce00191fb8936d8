package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/table"
)

// A severityColumn stores rating and score as their sort key.
type severityColumn struct{ to *inventory.AdvisorySeverity }

// StoredText returns the sort key.
func (c severityColumn) StoredText() string { return c.to.SortKey() }

// Scan reads a sort key.
func (c severityColumn) Scan(src any) error {
	switch src := src.(type) {
	case string:
		c.to.Rating, c.to.Score = inventory.ParseSeverityKey(src)
	case []byte:
		c.to.Rating, c.to.Score = inventory.ParseSeverityKey(string(src))
	default:
		return fmt.Errorf("cannot read a severity from %T", src)
	}
	return nil
}

// addRatings adds the condition that an advisory has one of ratings, as ranges of
// the indexed sort key. Neighboring ratings form one range, which is read in order.
func addRatings(s *table.Statement, ratings []core.SeverityRating) {
	ranks := make([]int, len(ratings))
	for i, r := range ratings {
		ranks[i] = r.Rank()
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	s.Add(" AND (")
	for first := 0; first < len(ranks); {
		past := first + 1
		for past < len(ranks) && ranks[past] == ranks[past-1]+1 {
			past++
		}
		if first > 0 {
			s.Add(" OR ")
		}
		s.Add("t.severity >= ? AND t.severity < ?", strconv.Itoa(ranks[first]), strconv.Itoa(ranks[past-1]+1))
		first = past
	}
	s.Add(")")
}

// addStates adds the condition that an advisory is in one of states. The open ones
// are all that no event has settled. Those that are not withdrawn have indexes.
func addStates(s *table.Statement, wanted []inventory.AdvisoryState, withdrawn bool) {
	wanted = slices.Compact(slices.Sorted(slices.Values(wanted)))
	if !withdrawn && len(wanted) == 1 && wanted[0] == inventory.AdvisoryOpen {
		s.Add(" AND t.count_class % 3 = 1") // the indexes have this condition, without an argument
		return
	}
	var settled, others []inventory.EventType
	for _, state := range inventory.AdvisoryStates() {
		switch settling := state.SettlingEvent(); {
		case settling == "": // this state is the open one
		case slices.Contains(wanted, state):
			settled = append(settled, settling)
		default:
			others = append(others, settling)
		}
	}
	if !slices.Contains(wanted, inventory.AdvisoryOpen) {
		table.AddAnyOf(s, "latest_event_type", settled)
		return
	}
	for _, settling := range others {
		s.Add(" AND t.latest_event_type <> ?", string(settling))
	}
}

// The class of an advisory determines its counters. It is 0 for withdrawn
// advisories, and otherwise follows from the rating and the state. A scope has a
// counter of all advisories that are not withdrawn, and one for each class. These
// numbers are stored.
const (
	allAdvisories = 7 // number of the kind, whose counter includes withdrawn advisories

	standing   = 127
	firstClass = 128
	states     = 3
)

func classOf(a *inventory.Advisory) int64 {
	if !a.DeleteTime.IsZero() {
		return 0
	}
	return int64(1 + a.Severity.Rating.Rank()*states + a.State().Rank())
}

// advisoryCounters returns the counters of a class, besides that of the kind.
func advisoryCounters(class int64) []byte {
	if class == 0 {
		return nil
	}
	return []byte{standing, classCounter(class)}
}

func classCounter(class int64) byte { return byte(firstClass + class - 1) }

// countersOfAdvisories returns the counters whose sum is the total of a filter.
func countersOfAdvisories(f *inventory.AdvisoryFilter) table.CounterSum {
	severities, wanted, withdrawn := f.Severities, f.States, f.Withdrawn
	others := *f
	others.Severities, others.States, others.Withdrawn = nil, nil, false
	switch {
	case table.Restricts(&others), withdrawn && len(severities)+len(wanted) > 0:
		return table.CounterSum{}
	case withdrawn:
		return table.CounterSum{Added: []byte{allAdvisories}}
	case len(severities)+len(wanted) == 0:
		return table.CounterSum{Added: []byte{standing}}
	case len(severities) == 0:
		severities = core.SeverityRatings()
	case len(wanted) == 0:
		wanted = inventory.AdvisoryStates()
	}
	var counters []byte
	for _, r := range severities {
		for _, state := range wanted {
			counters = append(counters, classCounter(1+int64(r.Rank()*states+state.Rank())))
		}
	}
	slices.Sort(counters)
	return table.CounterSum{Added: slices.Compact(counters)}
}

// AdvisoriesInheriting reads the advisories that have one of names as id or alias,
// and no CVSS severity of their own.
func (queries) AdvisoriesInheriting(ctx context.Context, on core.Conn, names []string) ([]*inventory.Advisory, error) {
	s := tablesOf(on)
	var found []*inventory.Advisory
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT "+advisories.ProjectAll().Selected+" FROM advisory t WHERE t.severity_source <> ?", string(inventory.SeverityOfAdvisory))
	q.Add(" AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias ?", table.Values(names))
	q.Add(" UNION SELECT n.uid FROM advisory n WHERE n.advisory_id ?) ORDER BY t.uid", table.Values(names))
	err := s.Reads.Run(ctx, q.Build(advisories.ProjectAll().Collect(&found)))
	return found, err
}
