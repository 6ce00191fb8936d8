package workloads

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// BenchmarkPrimary measures the CPU time of the primary for requests that only read, without
// and with two standbys. Run it as
//
//	scripts/with-standby --read 2 go -C tools test ./workloads -run='^$' -bench=Primary -benchtime=2000x -count=3
func BenchmarkPrimary(b *testing.B) {
	pid := os.Getenv("ATRIUM_TEST_PRIMARY_PID")
	if pid == "" || os.Getenv("ATRIUM_TEST_STANDBYS") == "" {
		b.Skip("there are no standbys: run the benchmark with scripts/with-standby --read 2")
	}
	alone := newWorkbench(b, storetest.Postgres(b))
	url := storetest.Postgres(b)
	// W1, W2 and W4 are a get, a list with its total, and nested lists.
	helped := newWorkbench(b, url, storetest.Standbys(b, url)...)
	to := &sink{header: http.Header{}}
	for _, n := range []int{0, 1, 3} {
		for _, variant := range []struct {
			name string
			*workbench
		}{{"alone", alone}, {"standbys", helped}} {
			load := variant.workloads()[1+n]
			b.Run(load.name+"/"+variant.name, func(b *testing.B) {
				for range 200 { // statements are prepared, and the standbys answer
					load.request.send(b, load.handler, to)
				}
				before := cpuOf(b, pid)
				variant.cost = tripCounter{}
				b.ResetTimer()
				b.SetParallelism(4) // so that the processes of the primary do not wait for work
				b.RunParallel(func(all *testing.PB) {
					to := &sink{header: http.Header{}}
					for all.Next() {
						load.request.send(b, load.handler, to)
					}
				})
				b.ReportMetric(float64(variant.cost.trips)/float64(b.N), "trips/op")
				b.ReportMetric(float64(cpuOf(b, pid)-before)/float64(b.N)/1000, "primary-us/op")
			})
		}
	}
}

// cpuOf returns the CPU time in nanoseconds of the processes that a process has started.
func cpuOf(b *testing.B, parent string) (total int64) {
	b.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		b.Fatal(err)
	}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		_, rest, found := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); err != nil || !found || len(fields) < 2 || fields[1] != parent {
			continue // the process has ended, or has another parent
		}
		if command, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline")); err != nil || strings.Contains(string(command), "autovacuum worker") {
			continue // it ends, and then its time is lost
		}
		total += spentIn(b, filepath.Join(filepath.Dir(path), "schedstat"))
	}
	return total
}

// spentIn returns the CPU time in nanoseconds in a file schedstat of the kernel. It is 0 for a thread that has ended.
func spentIn(b *testing.B, path string) int64 {
	b.Helper()
	spent, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.Fields(string(spent))[0], 10, 64)
	if err != nil {
		b.Fatal(fmt.Errorf("%s: %w", path, err))
	}
	return n
}
