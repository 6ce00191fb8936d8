package sqlstore

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/reports"
	"atrium/store/sqlstore/table"
)

// rankingOrders has the columns that each ranking is sorted by, before the names.
var rankingOrders = map[reports.RankingOrder]string{
	reports.ByFindings: "g.n DESC, g.severity DESC",
	reports.ByImages:   "g.images DESC, g.n DESC, g.severity DESC",
	reports.ByRepos:    "g.repos DESC, g.n DESC, g.severity DESC",
	reports.BySeverity: "g.severity DESC, g.n DESC",
}

// RankFindings counts the findings of a scope by what they are of, with one statement that passes over them once. The
// findings of each image are counted first, then the images of each repo, and so no values are told apart that an engine
// would have to sort.
func (queries) RankFindings(ctx context.Context, on core.Conn, q reports.RankingQuery) (found reports.FindingRanking, err error) {
	found.Nodes = []*reports.RankedFindings{}
	if len(q.Scope.Branches) == 0 {
		return found, nil
	}
	s := tablesOf(on)
	a, b := "vulnerability", ""
	if q.OfPackages {
		a, b = "package", ", ecosystem"
	}
	of := a + b
	r, st := findings.Reader(s), table.NewStatement(s.Dialect)
	st.AddSlow("SELECT g." + a)
	if q.OfPackages {
		st.Add(", g.ecosystem")
	} else {
		st.Add(", ''")
	}
	st.Add(", g.n, g.fixable, g.images, g.repos, g.severity, g.exploited, g.epss, COUNT(*) OVER () FROM (")
	st.Add("SELECT " + of + ", CAST(SUM(n) AS BIGINT) AS n, CAST(SUM(fixable) AS BIGINT) AS fixable, CAST(SUM(images) AS BIGINT) AS images, COUNT(*) AS repos, MAX(severity) AS severity, MAX(exploited) AS exploited, MAX(epss) AS epss FROM (")
	st.Add("SELECT " + of + ", parent, SUM(n) AS n, SUM(fixable) AS fixable, COUNT(*) AS images, MAX(severity) AS severity, MAX(exploited) AS exploited, MAX(epss) AS epss FROM (")
	for i, branch := range q.Scope.Branches {
		if i > 0 {
			st.AddUnion()
		}
		st.Add("SELECT " + of + ", parent, digest, COUNT(*) AS n, SUM(CASE WHEN t.fixed_versions = '' THEN 0 ELSE 1 END) AS fixable")
		st.Add(", MAX(t.severity) AS severity, MAX(CASE WHEN t.known_exploited THEN '1' ELSE '' END) AS exploited, MAX(t.epss) AS epss FROM ")
		r.AddMembers(st, q.Filter, branch)
		st.Add(" GROUP BY " + of + ", parent, digest")
	}
	st.Add(") i GROUP BY " + of + ", parent) p GROUP BY " + of + ") g ORDER BY " + rankingOrders[q.By] + ", " + of)
	st.Add(" LIMIT ?", int64(max(q.Limit, 1))) // The total is in the first row.
	err = s.Reads.Run(ctx, st.Build(func(scan func(...any) error) error {
		var n reports.RankedFindings
		var name, exploited string
		err := scan(&name, &n.Ecosystem, &n.Findings, &n.Fixable, &n.Images, &n.Repos, severityColumn{&n.Severity}, &exploited, epssColumn{&n.EPSS}, &found.TotalCount)
		if n.KnownExploited, n.VulnerabilityID = exploited != "", name; q.OfPackages {
			n.VulnerabilityID, n.Package = "", name
		}
		if len(found.Nodes) < q.Limit {
			found.Nodes = append(found.Nodes, &n)
		}
		return err
	}))
	return found, err
}
