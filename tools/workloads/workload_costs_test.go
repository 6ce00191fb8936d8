package workloads

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"testing"
)

// A workloadCost is the cost of one request of a workload. It contains no times, so that
// every machine measures the same.
type workloadCost struct {
	Allocations, Bytes    uint64
	Statements, RoundTrip int
}

// costTable has the current costs, by workload and engine.
const costTable = "testdata/workloads.json"

// The costs may differ from the table by this much, because other goroutines allocate now
// and then, and buffers do not always grow at the same moment.
const (
	moreAllocations = 8
	morePercent     = 2
)

// TestWorkloadCosts compares the costs of the workloads with the table, and fails if one
// has grown. `make workloads` runs it. With ATRIUM_WORKLOADS=write it writes the table.
func TestWorkloadCosts(t *testing.T) {
	mode := os.Getenv("ATRIUM_WORKLOADS")
	if mode == "" {
		t.Skip("counts allocations, which nothing may run beside: make workloads")
	}
	table := map[string]workloadCost{}
	if text, err := os.ReadFile(costTable); err == nil {
		if err := json.Unmarshal(text, &table); err != nil {
			t.Fatal(costTable, err)
		}
	}
	measured := map[string]workloadCost{}
	for engine, url := range workloadEngines(t) {
		w := newWorkbench(t, url)
		for _, load := range append(w.workloads(), w.floors(t, url)...) {
			measured[load.name+"/"+engine] = w.measure(t, load)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(measured)) {
		was, is := table[name], measured[name]
		t.Logf("%-18s allocations %5d -> %5d, bytes %7d -> %7d, statements %2d -> %2d, round trips %d -> %d",
			name, was.Allocations, is.Allocations, was.Bytes, is.Bytes, was.Statements, is.Statements, was.RoundTrip, is.RoundTrip)
		switch {
		case mode == "write":
		case was == workloadCost{}:
			t.Errorf("%s is not in %s; write it: make workloads WRITE=1", name, costTable)
		case is.Allocations > was.Allocations*(100+morePercent)/100+moreAllocations:
			t.Errorf("%s allocates more than %s says, by %d", name, costTable, is.Allocations-was.Allocations)
		case is.Statements != was.Statements || is.RoundTrip != was.RoundTrip:
			t.Errorf("%s takes %d statements in %d round trips, and %s says %d in %d", name, is.Statements, is.RoundTrip, costTable, was.Statements, was.RoundTrip)
		}
	}
	if mode == "write" {
		writeCosts(t, measured)
	}
}

// measure returns the cost of one request: the lowest of several rounds, because other
// goroutines allocate as well.
func (w *workbench) measure(t *testing.T, load workload) workloadCost {
	const rounds, requests = 5, 50
	to := &sink{header: http.Header{}}
	least := workloadCost{Allocations: ^uint64(0), Bytes: ^uint64(0)}
	for range requests {
		load.request.send(t, load.handler, to)
	}
	var before, after runtime.MemStats
	for range rounds {
		runtime.ReadMemStats(&before)
		for range requests {
			w.cost = tripCounter{}
			load.request.send(t, load.handler, to)
		}
		runtime.ReadMemStats(&after)
		least.Allocations = min(least.Allocations, (after.Mallocs-before.Mallocs)/requests)
		least.Bytes = min(least.Bytes, (after.TotalAlloc-before.TotalAlloc)/requests)
	}
	least.Statements, least.RoundTrip = w.cost.statements, w.cost.trips
	return least
}

// writeCosts writes the table, one workload a line.
func writeCosts(t *testing.T, costs map[string]workloadCost) {
	t.Helper()
	var text bytes.Buffer
	separator := "{"
	for _, name := range slices.Sorted(maps.Keys(costs)) {
		cost, err := json.Marshal(costs[name])
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s\n  %q: %s", separator, name, cost)
		separator = ","
	}
	text.WriteString("\n}\n")
	if err := os.WriteFile(costTable, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
