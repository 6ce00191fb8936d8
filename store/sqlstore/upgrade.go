package sqlstore

import (
	"context"
	"strconv"
	"strings"

	"atrium/platform/core"
	"atrium/platform/reports"
	"atrium/store/sqlstore/table"
)

// isFixable is the condition that there is a version without the vulnerability of a finding.
const isFixable = " AND t.fixed_versions <> ''"

// RankUpgrades counts findings as RankFindings does: with one statement that passes over them once, first those of each image, then
// the images of each repo.
func (queries) RankUpgrades(ctx context.Context, on core.Conn, q reports.RankingQuery) (found reports.UpgradeRanking, err error) {
	found.Nodes = []*reports.Upgrade{}
	s := tablesOf(on)
	r, st := findings.Reader(s), table.NewStatement(s.Dialect)
	// These are summed up: the number of findings, of those that are exploited, and of those with each rating.
	sums, counted := []string{"n", "exploited"}, "COUNT(*) AS n, SUM(CASE WHEN t.known_exploited THEN 1 ELSE 0 END) AS exploited"
	for rank := range core.SeverityRatings() {
		n := strconv.Itoa(rank)
		sums, counted = append(sums, "rated"+n), counted+", SUM(CASE WHEN substr(t.severity, 1, 1) = '"+n+"' THEN 1 ELSE 0 END) AS rated"+n
	}
	sum := func(how string) (text string) {
		for _, column := range sums {
			text += strings.ReplaceAll(how, "?", column)
		}
		return text
	}
	const extremes = "MAX(t.severity) AS severity, MAX(t.epss) AS epss, MIN(t.first_seen_time) AS first_seen_time, MIN(t.due_time) AS due_time"
	st.AddSlow("SELECT g.package, g.ecosystem, g.severity, g.epss, g.first_seen_time, g.due_time, g.images, g.repos" + sum(", g.?") + ", COUNT(*) OVER () FROM (")
	st.Add("SELECT package, ecosystem, " + extremes + ", CAST(SUM(images) AS BIGINT) AS images, COUNT(*) AS repos" + sum(", CAST(SUM(?) AS BIGINT) AS ?") + " FROM (")
	st.Add("SELECT package, ecosystem, parent, " + extremes + ", COUNT(*) AS images" + sum(", SUM(?) AS ?") + " FROM (")
	for i, branch := range q.Scope.Branches {
		if i > 0 {
			st.AddUnion()
		}
		st.Add("SELECT package, ecosystem, parent, digest, " + extremes + ", " + counted + " FROM ")
		r.AddMembers(st, q.Filter, branch)
		st.Add(isFixable + " GROUP BY package, ecosystem, parent, digest")
	}
	st.Add(") t GROUP BY package, ecosystem, parent) t GROUP BY package, ecosystem) g ORDER BY CASE WHEN g.exploited > 0 THEN 0 ELSE 1 END")
	st.Add(", CASE WHEN g.epss = '' THEN '0' ELSE substr(g.epss, 1, 1) END DESC, substr(g.severity, 1, 1) DESC, g.images DESC, g.n DESC, g.first_seen_time, g.due_time, g.package, g.ecosystem")
	st.Add(" LIMIT ?", int64(max(q.Limit, 1))) // The total is in the first row.
	err = s.Reads.Run(ctx, st.Build(func(scan func(...any) error) error {
		var u reports.Upgrade
		to := []any{
			&u.Package, &u.Ecosystem, severityColumn{&u.Severity}, epssColumn{&u.EPSS}, table.TimeOf(&u.FirstSeenTime), table.DeadlineOf(&u.DueTime),
			&u.Images, &u.Repos, &u.Gone.Fixable, &u.Gone.KnownExploited,
		}
		rated := make([]int64, len(core.SeverityRatings()))
		for rank := range rated {
			to = append(to, &rated[rank])
		}
		err := scan(append(to, &found.TotalCount)...)
		for rank, n := range rated {
			u.Gone.Add(core.RatingOfRank(rank), n)
		}
		if len(found.Nodes) < q.Limit {
			found.Nodes = append(found.Nodes, &u)
		}
		return err
	}))
	return found, err
}

// FindFixes counts findings by what they have in common.
func (queries) FindFixes(ctx context.Context, on core.Conn, q reports.RankingQuery) (found []reports.FixedFindings, err error) {
	s := tablesOf(on)
	r, st := findings.Reader(s), table.NewStatement(s.Dialect)
	const of = "package, ecosystem, version, fixed_versions"
	st.AddSlow("SELECT " + of + ", CAST(SUM(n) AS BIGINT) FROM (")
	for i, branch := range q.Scope.Branches {
		if i > 0 {
			st.AddUnion()
		}
		st.Add("SELECT " + of + ", COUNT(*) AS n FROM ")
		r.AddMembers(st, q.Filter, branch)
		st.Add(isFixable + " GROUP BY " + of)
	}
	st.Add(") f GROUP BY " + of + " ORDER BY " + of)
	err = s.Reads.Run(ctx, st.Build(func(scan func(...any) error) error {
		var f reports.FixedFindings
		err := scan(&f.Package, &f.Ecosystem, &f.Version, table.JSONOf(&f.FixedVersions), &f.N)
		found = append(found, f)
		return err
	}))
	return found, err
}
