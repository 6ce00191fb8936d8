package sqlstore

import (
	"context"
	"math"
	"strings"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/table"
)

// The findings of an organization have few different pairs of a vulnerability, with its ids, and a package, in which a search
// looks for words. So a search of a whole organization compares these pairs, which an index has one after the other, and not each
// finding. Its total counts the findings of the pairs with the words. Its page has them sorted, unless they are many: then
// it is found sooner in the order of the list.

// manyFound is how many rows a page sorts at most.
const manyFound = 5_000

// whereWords adds the condition that a finding has the words of a search.
func whereWords(query string, s *table.Statement, byPairs bool) {
	in := "t.vulnerability || ' ' || t.sources || ' ' || t.package"
	if byPairs {
		in = "w.vulnerability || ' ' || w.sources || ' ' || w.package"
		s.Add(" AND t.vulnerability = w.vulnerability AND t.package = w.package AND t.sources = w.sources")
	}
	for _, word := range table.SearchWords(query) {
		s.AddSlow(" AND lower("+in+") LIKE ? ESCAPE '\\'", table.LikePattern(strings.TrimSpace(word)))
	}
}

// addPairs adds the different pairs w of an organization, and the table t of its findings. The limit, which is no limit, keeps
// the conditions on w out of the select, so that SQLite goes from one pair to the next in the index. PostgreSQL would read
// all rows to join them with the pairs, since it does not know how few of these have the words: the offset, which is none,
// makes it find the rows of each pair.
func addPairs(s *table.Statement, organization core.UID) {
	s.Add("(SELECT DISTINCT d.vulnerability, d.package, d.sources FROM finding d WHERE d.root_key = ? LIMIT ?) w CROSS JOIN ", table.ScopeKey(organization), int64(math.MaxInt64))
	if s.Dialect.Lateral {
		s.Add("LATERAL (SELECT * FROM finding t WHERE t.root_key = ? AND t.vulnerability = w.vulnerability AND t.package = w.package AND t.sources = w.sources OFFSET 0) t", table.ScopeKey(organization))
		return
	}
	s.Add("finding t")
}

// planWords returns a reader of a list that finds the words of its filter in the best way.
func planWords(ctx context.Context, r *table.Reader[*inventory.Finding, *inventory.FindingFilter], q core.Query[*inventory.FindingFilter]) (*table.Reader[*inventory.Finding, *inventory.FindingFilter], error) {
	if len(table.SearchWords(q.Filter.Query)) == 0 {
		return r, nil
	}
	for _, b := range q.Scope.Branches {
		if !r.IsOrganization(b) {
			return r, nil
		}
	}
	by := *r
	by.Finder = &table.Finder[*inventory.FindingFilter]{
		AddRows: addPairs,
		Where:   func(f *inventory.FindingFilter, s *table.Statement) { addFindingConditions(f, s, true) },
	}
	if len(q.Scope.Branches) == 0 || !q.Parts.Has(core.PartItems) {
		return &by, nil
	}
	found, err := by.CountUpTo(ctx, q, manyFound)
	by.Finder.IsSorted = found < manyFound
	return &by, err
}
