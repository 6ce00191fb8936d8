package sqlstore

import (
	"context"
	"math"
	"strings"

	"atrium/platform"
	"atrium/store/sqlstore/dbconn"
)

// The findings of an organisation have few different pairs of a vulnerability and a package, in which a search looks for
// words. So a search of a whole organisation compares these pairs, which an index has one after the other, and not each
// finding. Its total counts the findings of the pairs with the words. Its page has them sorted, unless they are many: then
// it is found sooner in the order of the list.

// manyFound is how many rows a page sorts at most.
const manyFound = 5_000

// A wordPlan says what is found by pairs with the words of a search.
type wordPlan int

const (
	withoutPairs wordPlan = iota
	countByPairs          // only the total
	findByPairs           // the total and the page
)

// whereWords adds the condition that a finding has the words of a search.
func whereWords(f *platform.FindingFilter, s *statement) {
	in := "t.vulnerability || ' ' || t.package"
	if s.byPairs {
		in = "w.vulnerability || ' ' || w.package"
		s.add(" AND t.vulnerability = w.vulnerability AND t.package = w.package")
	}
	for _, word := range searchWords(f.Query) {
		s.addSlow(" AND lower("+in+") LIKE ? ESCAPE '\\'", likePattern(strings.TrimSpace(word)))
	}
}

// addPairs adds the different pairs w of an organisation, and the table t of its rows. The limit, which is no limit, keeps
// the conditions on w out of the select, so that SQLite goes from one pair to the next in the index. PostgreSQL would read
// all rows to join them with the pairs, since it does not know how few of these have the words: the offset, which is none,
// makes it find the rows of each pair.
func (s *statement) addPairs(table string, organisation platform.UID) {
	s.byPairs = true
	s.add("(SELECT DISTINCT d.vulnerability, d.package FROM "+table+" d WHERE d.root_key = ? LIMIT ?) w CROSS JOIN ", scopeKey(organisation), int64(math.MaxInt64))
	if s.dialect.Lateral {
		s.add("LATERAL (SELECT * FROM "+table+" t WHERE t.root_key = ? AND t.vulnerability = w.vulnerability AND t.package = w.package OFFSET 0) t", scopeKey(organisation))
		return
	}
	s.add(table + " t")
}

// planWords returns a reader of a list that finds the words of its filter in the best way.
func (r *reader[T, F]) planWords(ctx context.Context, q platform.Query[F]) (*reader[T, F], error) {
	if r.wordsOf == nil || len(searchWords(r.wordsOf(q.Filter))) == 0 {
		return r, nil
	}
	by := *r
	var found int64
	var run []*dbconn.Statement
	for _, b := range q.Scope.Branches() {
		if k, ok := r.branchKey(b, accessPath{}); !ok || k.column != keyColumns["root"] || k.narrowing.sql != "" {
			return r, nil
		}
		by.words = countByPairs
		s := newStatement(r.dialect).add("SELECT COUNT(*) FROM (SELECT 1 FROM ")
		by.selectCounted(s, q, b)
		run = append(run, s.add(" LIMIT ?) x", int64(manyFound)).build(func(scan func(...any) error) error {
			var n int64
			err := scan(&n)
			found += n
			return err
		}))
	}
	if len(run) == 0 || !q.Parts.Has(platform.PartItems) {
		return &by, nil
	}
	if err := r.conn.Run(ctx, run...); err != nil {
		return nil, err
	}
	if found < manyFound {
		by.words = findByPairs
	}
	return &by, nil
}
