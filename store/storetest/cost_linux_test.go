package storetest_test

import (
	"cmp"
	"context"
	"os"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// maxTimesOfPage is how many times the CPU of a page of repos for a unit of cost any other query
// may take. The goal is ten. At 100,000 rows 81 and 87 times were measured: a page of repos takes 2.7
// to 3.2 µs of a unit, role bindings by the name of their identity 236 to 260 µs, by other names 155 µs,
// advisories by authors of events 158 µs, and searches for texts up to 148 µs. So this bound only
// shows that prices have become worse.
const maxTimesOfPage = 110

// TestCostsFollowWork measures the CPU that each query takes, of the server and of
// PostgreSQL. It takes many minutes: `make costs`.
func TestCostsFollowWork(t *testing.T) {
	if os.Getenv("ATRIUM_COSTS") == "" {
		t.Skip("run `make costs`: it takes many minutes, and measures time")
	}
	n := ordinarySizes
	n.identities, n.bindings, n.advisories = 100_000, 100_000, 100_000
	t.Run("postgres", func(t *testing.T) {
		b := newBigWorld(newWorld(t, storetest.Postgres(t)), n)
		e := b.explainer()
		b.measureCosts(t, func(q *pricedQuery, s dbconn.Statement) {
			if _, err := e.explain(t.Context(), s, "auto"); err != nil {
				t.Errorf("%s: %v", q.text, err)
			}
			q.cpu += e.measureCPU(t, s)
		})
	})
	t.Run("sqlite", func(t *testing.T) { // It runs in this process.
		newBigWorld(newWorld(t, storetest.SQLite(t)), n).measureCosts(t, func(*pricedQuery, dbconn.Statement) {})
	})
}

// measureCosts compares the CPU of all queries with their cost. The function add adds what a statement takes outside of
// this process.
func (b *bigWorld) measureCosts(t *testing.T, add func(*pricedQuery, dbconn.Statement)) {
	t.Helper()
	reads := allReads()
	chosen := regexp.MustCompile(os.Getenv("ATRIUM_COSTS"))
	for field, texts := range filteredReads(t) {
		reads[field] = append(reads[field], texts...)
	}
	for field := range reads {
		reads[field] = slices.DeleteFunc(reads[field], func(text string) bool { return text != pricedReads["Query.repos"][0] && !chosen.MatchString(text) })
	}
	all := b.priceReads(t, reads, func(q *pricedQuery, run func(ctx context.Context) error) {
		const runs = 3
		statements, err := recordStatements(t.Context(), run) // It also warms the caches.
		if err != nil {
			t.Error(err)
		}
		for _, s := range statements {
			add(q, s)
		}
		before := ownTime()
		for range runs {
			_ = run(t.Context())
		}
		q.cpu += (ownTime() - before) / runs
	})
	perCost := func(q pricedQuery) float64 { return float64(q.cpu.Microseconds()) / float64(q.cost+requestCost) }
	slices.SortFunc(all, func(x, y pricedQuery) int { return cmp.Compare(perCost(y), perCost(x)) })
	page := all[slices.IndexFunc(all, func(q pricedQuery) bool { return q.text == pricedReads["Query.repos"][0] })]
	for _, q := range all {
		t.Logf("%8.1f µs of a unit, %9s, cost %5d: %s", perCost(q), q.cpu, q.cost, q.text)
		if perCost(q) > maxTimesOfPage*perCost(page) {
			t.Errorf("%s: %.0f µs of a unit of cost, want at most %d times the %.1f µs of a page of repos", q.text, perCost(q), maxTimesOfPage, perCost(page))
		}
	}
}

// ownTime returns the CPU that this process has used.
func ownTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
