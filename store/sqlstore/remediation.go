package sqlstore

import (
	"context"
	"strconv"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
	"atrium/store/sqlstore/table"
)

// CountRemediations groups the findings of a scope by repo, vulnerability and package, also those that are over, with one
// statement that passes over them once. A finding of an image to which no tag points any more was last updated when it ceased to
// count. What stood for less than an hour counts nowhere.
func (queries) CountRemediations(ctx context.Context, on core.Conn, a core.ActivityQuery) (counts []reports.RemediationCount, err error) {
	if len(a.Scope.Branches) == 0 {
		return nil, nil
	}
	s := tablesOf(on)
	q := table.NewStatement(s.Dialect)
	from, to, length := q.Arg(a.From), q.Arg(a.To), strconv.Itoa(int(a.Length.Seconds()))
	step := func(column string) string {
		return "CASE WHEN " + column + " >= " + from + " AND " + column + " < " + to + " THEN " + s.Dialect.Intervals(column, from, length) + " ELSE -1 END"
	}
	q.AddSlow("SELECT opened_step, ended_step, CASE WHEN ended_step < 0 THEN '' ELSE reason END, rank, CASE WHEN ended_step < 0 THEN 0 ELSE hours END, COUNT(*) FROM (")
	q.Add("SELECT " + step("u.opened") + " AS opened_step, CASE WHEN u.stays = '1' THEN -1 ELSE " + step("u.ended") + " END AS ended_step, substr(u.severity, 1, 1) AS rank")
	q.Add(", CASE WHEN u.stays = '1' THEN -1 ELSE " + s.Dialect.Intervals("u.ended", "u.opened", "3600") + " END AS hours")
	q.Add(", CASE WHEN u.resolved >= u.ended THEN ? WHEN EXISTS (SELECT 1 FROM image_status m WHERE m.parent = u.parent AND m.number > u.number AND m.live AND m.basis = ?) THEN ? ELSE ? END AS reason FROM (",
		string(reports.EndResolved), string(inventory.BasisVersion), string(reports.EndFixed), string(reports.EndRemoved))
	q.Add("SELECT t.parent AS parent, MAX(t.severity) AS severity, MAX(t.number) AS number, MIN(t.first_seen_time) AS opened, MAX(t.resolved_time) AS resolved")
	q.Add(", MAX(CASE WHEN t.state = ? THEN t.resolved_time ELSE t.update_time END) AS ended, MAX(CASE WHEN t.count_class > 0 THEN '1' ELSE '' END) AS stays FROM (", string(inventory.FindingResolved))
	every := &inventory.FindingFilter{WithoutLiveTags: true, States: []inventory.FindingState{inventory.FindingOpen, inventory.FindingInTriage, inventory.FindingAccepted, inventory.FindingResolved}}
	for i, branch := range a.Scope.Branches {
		if i > 0 {
			q.AddUnion()
		}
		q.Add("SELECT t.parent, t.vulnerability, t.package, t.severity, t.state, t.first_seen_time, t.resolved_time, t.update_time, t.count_class")
		q.Add(", CASE WHEN t.count_class > 0 THEN 0 ELSE (SELECT m.number FROM image_status m WHERE m.parent = t.parent AND m.digest = t.digest) END AS number FROM ")
		findings.Reader(s).AddMembers(q, every, branch)
	}
	q.Add(") t GROUP BY t.parent, t.vulnerability, t.package) u) v WHERE hours <> 0 AND (opened_step >= 0 OR ended_step >= 0) GROUP BY 1, 2, 3, 4, 5")
	return counts, s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var c reports.RemediationCount
		var opened, ended int64
		var rank string
		err := scan(&opened, &ended, (*string)(&c.End), &rank, &c.Hours, &c.N)
		c.Opened, c.Ended = int(opened), int(ended)
		c.Rating, _ = inventory.ParseSeverityKey(rank)
		counts = append(counts, c)
		return err
	}))
}
