package sqlstore

import (
	"context"
	"strconv"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// SummarizeAdvisories counts the advisories of each scope by class, from the counters alone.
func (queries) SummarizeAdvisories(ctx context.Context, on core.Conn, scopes []core.Scope) ([]*inventory.AdvisorySummary, error) {
	s := tablesOf(on)
	summaries := make([]*inventory.AdvisorySummary, len(scopes))
	for i := range summaries {
		summaries[i] = &inventory.AdvisorySummary{}
	}
	return summaries, s.sumCounters(ctx, scopes, firstClass, firstFindingClass, func(i int, number, n int64) {
		class := number - firstClass
		summaries[i].Add(core.SeverityRatings()[class/states], inventory.AdvisoryStates()[class%states], n)
	})
}

// sumCounters calls add with the counters of each scope whose numbers are at least first and below past,
// with one statement for all scopes.
func (s tables) sumCounters(ctx context.Context, scopes []core.Scope, first, past int, add func(scope int, number, n int64)) error {
	var indices []int
	var within []string
	for i, scope := range scopes {
		for _, b := range scope.Branches {
			indices, within = append(indices, i), append(within, string(b.UID))
		}
	}
	if len(within) == 0 {
		return nil
	}
	q := table.NewStatement(s.Dialect).Add("SELECT p.i, c.kind, CAST(SUM(c.n) AS BIGINT) FROM ")
	q.Add(q.Parents(dbconn.ParentColumn{Name: "k", Texts: within}))
	q.Add(" CROSS JOIN counter c WHERE c.scope = p.k AND c.kind >= " + strconv.Itoa(first) + " AND c.kind < " + strconv.Itoa(past) + " GROUP BY p.i, c.kind")
	return s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var place, number, n int64
		if err := scan(&place, &number, &n); err != nil {
			return err
		}
		add(indices[place-1], number, n)
		return nil
	}))
}
