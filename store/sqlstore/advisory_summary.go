package sqlstore

import (
	"context"
	"fmt"
	"strconv"

	"atrium/platform"
)

// SummarizeAdvisories counts the advisories of each scope by class, with one
// statement for all scopes. It uses the counters for subtrees, and an index that
// contains the class for artifacts.
func (s tables) SummarizeAdvisories(ctx context.Context, scopes []platform.Scope) ([]*platform.AdvisorySummary, error) {
	summaries := make([]*platform.AdvisorySummary, len(scopes))
	for i := range summaries {
		summaries[i] = &platform.AdvisorySummary{}
	}
	parts, rest := newReader(advisories, s).parts(scopes, approach{})
	if len(rest) > 0 {
		return nil, fmt.Errorf("advisories cannot be summarized in the scope %v", scopes[rest[0]])
	}
	if len(parts) == 0 {
		return summaries, nil
	}
	q := newStatement(s.dialect)
	for n, p := range parts {
		if n > 0 {
			q.addUnion()
		}
		p.classes(q, n)
	}
	err := s.reads.Run(ctx, q.build(func(scan func(...any) error) error {
		var n, i, class, count int64
		if err := scan(&n, &i, &class, &count); err != nil {
			return err
		}
		rating, state := platform.SeverityRatings()[(class-1)/states], platform.AdvisoryStates()[(class-1)%states]
		summaries[parts[n].scopes[i-1]].Add(rating, state, count)
		return nil
	}))
	return summaries, err
}

// classes selects how many rows of each class the scopes of part n hold.
func (p *part) classes(q *statement, n int) {
	selected := "SELECT " + strconv.Itoa(n) + ", p.i, "
	if counterColumn(p.column) == "n" {
		q.add(selected + fmt.Sprintf("c.kind - %d, CAST(SUM(c.n) AS BIGINT) FROM ", firstClass-1))
		q.add(q.parents(p.scopeColumns()...))
		q.add(fmt.Sprintf(" JOIN counter c ON c.scope = p.inside AND c.kind >= %d AND c.kind < %d GROUP BY p.i, c.kind", firstClass, firstFindingClass))
		return
	}
	q.addSlow(selected + "t.count_class, COUNT(*) FROM ")
	q.add(q.parents(p.columns()...))
	q.add(" JOIN advisory t ON ")
	p.addParentCondition(q)
	q.add(" WHERE t.count_class > 0 GROUP BY p.i, t.count_class")
}
