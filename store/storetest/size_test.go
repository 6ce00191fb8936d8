package storetest_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// sizeVariable is the environment variable with the size of a huge database: 1 means one
// organization with ten million tags, and 10,000 small ones. scripts/scale sets it.
const sizeVariable = "ATRIUM_TEST_SIZE"

// ordinarySizes are the sizes with which the plan tests compare plans with their bars.
var ordinarySizes = sizes{
	repos: 100_000, tags: 100_000, identities: 20_000, bindings: 40_000, advisories: 20_000, organizations: 2_000, events: 100_000, artifacts: 100_000, deliveries: 100_000, findings: 50_000,
}

func hugeSizes(size float64) sizes {
	n := func(rows float64) int { return int(rows * size) }
	return sizes{
		repos: max(n(1e6), ordinarySizes.repos), tags: n(1e7), identities: n(1e6), bindings: n(1e6), advisories: n(2e6), organizations: n(1e4), events: n(2e7),
		artifacts: ordinarySizes.artifacts, deliveries: n(1e6), findings: n(1e6),
	}
}

// A readCost is what PostgreSQL needs for the statements of one read.
type readCost struct {
	buffers int
	cpu     time.Duration
	indexes map[string]bool
	plans   []planNode
}

// TestReadsCostTheSameInAHugeDatabase fills a database of an ordinary size and a huge one,
// and compares the buffers and the CPU of every read of the plan tests.
func TestReadsCostTheSameInAHugeDatabase(t *testing.T) {
	t.Parallel()
	size, err := strconv.ParseFloat(os.Getenv(sizeVariable), 64)
	if err != nil {
		t.Skip("this test takes minutes to hours: run `make scale PARTS=size SIZE=0.1`")
	}
	ordinary, _ := measureReads(t, ordinarySizes)
	huge, bars := measureReads(t, hugeSizes(size))
	const tolerated = 20 // An index of a huge table has one or two more levels.
	var report, plans strings.Builder
	grown := 0
	for _, name := range slices.SortedFunc(maps.Keys(huge), func(a, b string) int { return cmp.Compare(huge[b].buffers, huge[a].buffers) }) {
		small, large := ordinary[name], huge[name]
		verdict := ""
		if float64(large.buffers) > 1.5*float64(small.buffers)+tolerated {
			verdict = cmp.Or(bars[name].grows, "GROWN")
			grown++
			fmt.Fprintf(&plans, "%s:\n", name)
			for _, plan := range large.plans {
				plans.WriteString(plan.String())
			}
		}
		fmt.Fprintf(&report, "| %s | %d | %d | %.2f | %.2f | %s | %s |\n", name, small.buffers, large.buffers, milliseconds(small.cpu), milliseconds(large.cpu),
			strings.Join(slices.Sorted(maps.Keys(large.indexes)), " "), verdict)
		if most := bars[name].bar * 3 / 2; large.buffers > most && bars[name].grows == "" {
			t.Errorf("%s: it touches %d buffers, and the bar is %d", name, large.buffers, most)
		}
	}
	t.Logf("%d of %d reads cost more than 1.5 times the buffers:\n| read | buffers | buffers, huge | CPU ms | CPU ms, huge | indexes | |\n|---|---|---|---|---|---|---|\n%s", grown, len(huge), &report)
	t.Logf("Plans of the reads that have grown:\n%s", &plans)
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// A readBar is what a read may touch in a database of an ordinary size. In a huge one it may
// touch half as much again, because its indexes have more levels.
type readBar struct {
	bar   int
	grows string
}

// measureReads fills a database and returns the cost of each read with its bar.
func measureReads(t *testing.T, n sizes) (costs map[string]readCost, bars map[string]readBar) {
	t.Helper()
	began := time.Now()
	b := newBigWorld(newWorld(t, storetest.PostgresOrPooled(t)), n) // with long timeouts: the disk may be busy for seconds
	t.Logf("filled %+v in %s", n, time.Since(began).Round(time.Second))
	for _, row := range b.query(b.openDirect(), "SELECT relname, n_live_tup, round(pg_total_relation_size(relid) / n_live_tup::numeric) FROM pg_stat_user_tables WHERE n_live_tup > 10000 ORDER BY 3 * n_live_tup DESC") {
		t.Logf("%-20s %10s rows, %5s bytes a row with all indexes", row[0], row[1], row[2])
	}
	spy, e := b.newSpy(), b.explainer()
	p := b.replica(spy)
	costs, bars = map[string]readCost{}, map[string]readBar{}
	for _, r := range b.hotReads(p, spy) {
		statements, err := recordStatements(b.contextOn(p, r.subject), r.run)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		cost := readCost{indexes: map[string]bool{}}
		for _, s := range statements {
			plan, err := e.explain(t.Context(), s, "force_generic_plan")
			if err != nil {
				t.Errorf("%s: %v", r.name, err)
			}
			cost.buffers += plan.buffers()
			cost.plans = append(cost.plans, plan)
			cost.cpu += e.measureCPU(t, s)
			plan.visitAll(func(node planNode) {
				if node.Index != "" {
					cost.indexes[node.Index] = true
				}
			})
		}
		costs[r.name], bars[r.name] = cost, readBar{r.maxBuffers + r.maxTotalBuffers, r.grows}
	}
	b.measureImport(t)
	return costs, bars
}

// measureImport imports tags with their events into repos of the large organization, two
// batches at the same time, as the command does.
func (b *bigWorld) measureImport(t *testing.T) {
	t.Helper()
	const writers, perRepo, all = 2, 50, 200 * core.ImportBatch
	names := times(all, func(int) string { return b.d.hex(32) })
	began := time.Now()
	runTogether(t, writers, func(writer int) error {
		for n := writer * core.ImportBatch; n < all; n += writers * core.ImportBatch {
			batch := times(core.ImportBatch, func(i int) *registry.ImportedTag {
				return &registry.ImportedTag{Repo: b.repos[(n+i)/perRepo], Tag: inventory.Tag{Name: fmt.Sprint("imported-", n+i), Digest: "sha256:" + names[n+i]}}
			})
			done, err := b.p.Registry.ImportTags(b.operator(), batch, core.ImportOptions{})
			if err != nil || done.Added != len(batch) {
				return fmt.Errorf("imported %+v: %w", done, err)
			}
		}
		return nil
	})
	t.Logf("imported %d tags with their events, %.0f a second", all, all/time.Since(began).Seconds())
}

// measureCPU returns the CPU that the server needs for a statement that explain has
// prepared. It returns 0 if the server runs on another machine or system.
func (e explainer) measureCPU(t testing.TB, s dbconn.Statement) time.Duration {
	t.Helper()
	const runs = 5
	var pid int
	readPID := &dbconn.Statement{SQL: "SELECT pg_backend_pid()", Row: func(scan func(...any) error) error { return scan(&pid) }}
	if err := e.engine.Run(t.Context(), readPID); err != nil {
		t.Fatal(err)
	}
	before := processTime(pid)
	for range runs {
		if err := e.engine.Run(t.Context(), &dbconn.Statement{SQL: executeHeard(s)}); err != nil {
			t.Fatal(err)
		}
	}
	return (processTime(pid) - before) / runs
}

// processTime returns the CPU that a process of this machine has used.
func processTime(pid int) (used time.Duration) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid)) // Other systems do not have the file.
	_, _ = fmt.Sscan(string(text), &used)
	return used
}
