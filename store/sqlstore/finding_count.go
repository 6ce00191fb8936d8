package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// A findingCountKey is what findings that finding_count counts together have in common.
type findingCountKey struct {
	repo      core.UID
	ecosystem string
	class     int64
}

// findingCounts are changes of finding_count. Whoever writes them has locked the findings of the organization.
type findingCounts map[findingCountKey]int64

// add adds by to the count of a finding, if it is counted.
func (c findingCounts) add(f *inventory.Finding, by int64) {
	if class := classOfFinding(f); class != 0 {
		c[findingCountKey{f.Repo, f.Ecosystem, class}] += by
	}
}

// statements returns the statements that write the changes. No row stays that counts nothing.
func (c findingCounts) statements(d *dbconn.Dialect) (run []*dbconn.Statement) {
	const perStatement = 50
	maps.DeleteFunc(c, func(_ findingCountKey, by int64) bool { return by == 0 })
	keys := slices.SortedFunc(maps.Keys(c), func(a, b findingCountKey) int {
		return cmp.Or(core.CompareTexts(a.repo, b.repo), strings.Compare(a.ecosystem, b.ecosystem), cmp.Compare(a.class, b.class))
	})
	var fewer []core.UID
	for some := range slices.Chunk(keys, perStatement) {
		q := table.NewStatement(d).Add("INSERT INTO finding_count AS t (parent, ecosystem, class, n) VALUES ")
		for i, k := range some {
			if i > 0 {
				q.Add(", ")
			}
			if q.Add("(?, ?, ?, ?)", k.repo, k.ecosystem, k.class, c[k]); c[k] < 0 {
				fewer = append(fewer, k.repo)
			}
		}
		run = append(run, q.Add(" ON CONFLICT (parent, ecosystem, class) DO UPDATE SET n = t.n + excluded.n").Build(nil))
	}
	if len(fewer) > 0 {
		run = append(run, table.NewStatement(d).Add("DELETE FROM finding_count WHERE n = 0 AND parent ?", table.UIDValues(slices.Compact(fewer))).Build(nil))
	}
	return run
}

// recountFindings corrects finding_count, and returns how many counts were wrong.
func recountFindings(ctx context.Context, tx *dbconn.Tx, d *dbconn.Dialect) (wrong int64, err error) {
	counts := findingCounts{}
	q := table.NewStatement(d).Add("SELECT a.parent, a.ecosystem, a.class, CAST(SUM(a.n) AS BIGINT) FROM (" +
		"SELECT t.parent, t.ecosystem, t.count_class AS class, COUNT(*) AS n FROM finding t WHERE t.count_class <> 0 GROUP BY t.parent, t.ecosystem, t.count_class" +
		" UNION ALL SELECT c.parent, c.ecosystem, c.class, -c.n FROM finding_count c) a GROUP BY a.parent, a.ecosystem, a.class HAVING SUM(a.n) <> 0")
	err = tx.Run(ctx, q.Build(func(scan func(...any) error) error {
		var k findingCountKey
		var by int64
		err := scan(table.UIDOf(&k.repo), &k.ecosystem, &k.class, &by)
		counts[k] = by
		return err
	}))
	if run := counts.statements(d); err == nil && len(run) > 0 {
		err = tx.Run(ctx, run...)
	}
	return int64(len(counts)), err
}

// FacetFindings counts findings by severity, state, ecosystem, repo and group: from the counts of their repos if
// these have all that the filter asks for, and else from the findings. What else they are counted by is read from them.
func (queries) FacetFindings(ctx context.Context, on core.Conn, filter *inventory.FindingFilter, scopes []core.Scope, parts inventory.FindingFacetParts) ([]*inventory.FindingFacets, error) {
	s := tablesOf(on)
	sums := facetSums{table.EmptyEach[inventory.FindingFacets](len(scopes)), table.Counting[core.SeverityRating]{}, table.Counting[inventory.FindingState]{}, table.Counting[string]{}, table.Counting[core.UID]{}}
	run := s.countFindingsBy(filter, scopes, sums, parts)
	if parts&inventory.FindingFacetsSummed != 0 {
		summed, counted := s.sumFindingCounts(filter, scopes, sums)
		if !counted {
			summed = s.countFindings(filter, scopes, sums)
		}
		run = append(run, summed...)
	}
	return sums.facets, s.RunAll(ctx, run)
}

// countFindingsBy returns the statements that pass over findings to count them by what no counter has.
func (s tables) countFindingsBy(filter *inventory.FindingFilter, scopes []core.Scope, sums facetSums, parts inventory.FindingFacetParts) (run []*dbconn.Statement) {
	r := findings.Reader(s)
	var assignee core.UID
	if parts&inventory.FindingFacetsByAssignee != 0 {
		run = r.CountBy(filter, scopes, "", []string{"t.assignee"}, []any{table.UIDOf(&assignee)}, func(scope int, n int64) {
			sums.uids.Add(&sums.facets[scope].Assignees, assignee, n)
		})
	}
	count := func(part inventory.FindingFacetParts, joined, column string, facet func(*inventory.FindingFacets) *[]core.TextFacet) {
		if parts&part == 0 {
			return
		}
		var value string
		run = append(run, r.CountBy(filter, scopes, joined, []string{column}, []any{&value}, func(scope int, n int64) {
			sums.texts.Add(facet(sums.facets[scope]), value, n)
		})...)
	}
	count(inventory.FindingFacetsByVulnerability, "", "t.vulnerability", func(f *inventory.FindingFacets) *[]core.TextFacet { return &f.Vulnerabilities })
	count(inventory.FindingFacetsByPackage, "", "t.package", func(f *inventory.FindingFacets) *[]core.TextFacet { return &f.Packages })
	count(inventory.FindingFacetsByLabel, " JOIN repo_label v ON v.uid = "+table.WithoutIndex("t.parent")+" AND v.alias LIKE '%=%'", "v.alias", func(f *inventory.FindingFacets) *[]core.TextFacet { return &f.Labels })
	return run
}

// CountFindingAges counts findings by age and rating.
func (queries) CountFindingAges(ctx context.Context, on core.Conn, scopes []core.Scope, since []core.Time, add func(scope, age int, rating core.SeverityRating, n int64)) error {
	s := tablesOf(on)
	q, age := table.NewStatement(s.Dialect), "CASE"
	for i, at := range since {
		age += " WHEN t.first_seen_time > " + q.Arg(at) + " THEN " + strconv.Itoa(i)
	}
	age += " ELSE " + strconv.Itoa(len(since)) + " END"
	var position int64
	var rank string
	return s.RunAll(ctx, findings.Reader(s).CountIn(q, &inventory.FindingFilter{States: inventory.OpenStates()}, scopes, "", []string{age, "substr(t.severity, 1, 1)"}, []any{&position, &rank}, func(scope int, n int64) {
		rating, _ := inventory.ParseSeverityKey(rank)
		add(scope, int(position), rating, n)
	}))
}

// facetSums are the facets of findings of each scope.
type facetSums struct {
	facets  []*inventory.FindingFacets
	ratings table.Counting[core.SeverityRating]
	states  table.Counting[inventory.FindingState]
	texts   table.Counting[string]
	uids    table.Counting[core.UID]
}

// addClass adds n findings of a scope to the facets that their rating, state and ecosystem are of.
func (s facetSums) addClass(scope int, rating core.SeverityRating, state inventory.FindingState, ecosystem string, n int64) {
	to := s.facets[scope]
	s.ratings.Add(&to.Severities, rating, n)
	s.states.Add(&to.States, state, n)
	s.texts.Add(&to.Ecosystems, ecosystem, n)
}

// addRepo adds n findings of a scope to the facets of their repo.
func (s facetSums) addRepo(scope int, repo core.UID, n int64) {
	to := s.facets[scope]
	s.uids.Add(&to.Repos, repo, n)
	s.uids.Add(&to.Groups, repo.Parent(), n)
}

// sumFindingCounts returns statements that sum finding_count: by class and ecosystem, and by repo. It returns false if it
// does not have what the filter or a scope asks for.
func (s tables) sumFindingCounts(f *inventory.FindingFilter, scopes []core.Scope, sums facetSums) (run []*dbconn.Statement, counted bool) {
	others := *f
	others.Severities, others.States, others.Fixable, others.KnownExploited, others.Ecosystems, others.LabelFilter = nil, nil, nil, nil, nil, core.LabelFilter{}
	if table.Restricts(&others) {
		return nil, false
	}
	var indices []int
	lows, pasts := dbconn.ParentColumn{Name: "inside"}, dbconn.ParentColumn{Name: "past"}
	for i, scope := range scopes {
		for _, b := range scope.Branches {
			low, past, whole := countedRange(b)
			if !whole {
				return nil, false
			}
			indices, lows.Bytes, pasts.Bytes = append(indices, i), append(lows.Bytes, low), append(pasts.Bytes, past)
		}
	}
	if len(indices) == 0 {
		return nil, true
	}
	sum := func(columns string, add func(scope int, n int64), destinations ...any) {
		q := table.NewStatement(s.Dialect)
		q.AddSlow("SELECT p.i, CAST(SUM(t.n) AS BIGINT), " + columns + " FROM " + q.Parents(lows, pasts))
		q.Add(" CROSS JOIN finding_count t WHERE t.parent >= p.inside AND t.parent < p.past AND t.class IN (" + strings.Join(classesOf(f), ", ") + ")")
		addAnyEcosystem(q, f.Ecosystems)
		addLabels(q, "repo_label", "t.parent", f.Labels)
		run = append(run, q.Add(" GROUP BY p.i, "+columns).Build(func(scan func(...any) error) error {
			var place, n int64
			if err := scan(append([]any{&place, &n}, destinations...)...); err != nil {
				return err
			}
			add(indices[place-1], n)
			return nil
		}))
	}
	var class int64
	var ecosystem string
	var repo core.UID
	sum("t.class, t.ecosystem", func(scope int, n int64) {
		is := inventory.FindingClassOf(numberOfClass(class))
		sums.addClass(scope, is.Rating, is.State, ecosystem, n)
	}, &class, &ecosystem)
	sum("t.parent", func(scope int, n int64) { sums.addRepo(scope, repo, n) }, table.UIDOf(&repo))
	return run, true
}

// countedRange returns the range of the UIDs of the repos whose findings are those of a branch, or false if no range has these.
func countedRange(b core.Branch) (low, past []byte, whole bool) {
	switch {
	case b.Digest != "":
		return nil, nil, false
	case b.Relation == core.Everything:
		return []byte{}, table.PastSubtree(""), true
	case b.Relation == core.Within || b.Relation == core.Below:
		return table.PackUID(b.UID), table.PastSubtree(b.UID), true
	case b.Relation == core.Children:
		return table.PackUID(b.UID), bytes.Join([][]byte{table.PackUID(b.UID), {0}}, nil), true
	default:
		return nil, nil, false
	}
}

// findingFacets are the columns that the facets of findings follow from.
var findingFacets = []string{"substr(t.severity, 1, 1)", "t.state", "t.ecosystem", "t.parent"}

// countFindings returns the statement that passes over findings to count them.
func (s tables) countFindings(filter *inventory.FindingFilter, scopes []core.Scope, sums facetSums) []*dbconn.Statement {
	var rank, state, ecosystem string
	var repo core.UID
	return findings.Reader(s).CountBy(filter, scopes, "", findingFacets, []any{&rank, &state, &ecosystem, table.UIDOf(&repo)}, func(scope int, n int64) {
		rating, _ := inventory.ParseSeverityKey(rank)
		sums.addClass(scope, rating, inventory.FindingState(state), ecosystem, n)
		sums.addRepo(scope, repo, n)
	})
}
