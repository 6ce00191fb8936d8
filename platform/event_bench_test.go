//go:build unix

package platform_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// BenchmarkAnotherTenantBesideFeeds measures the time of a list of one organization while
// another one has open feeds and writes 40 times a second. It reports p50 and p95, the
// processor time of the process per second, and the statements of the feeds per write. A
// p95 needs 300 lists: -benchtime 300x.
func BenchmarkAnotherTenantBesideFeeds(b *testing.B) {
	for engine, open := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		for _, crowd := range []struct{ feeds, callers int }{{0, 0}, {1_000, 1}, {10_000, 100}} {
			b.Run(fmt.Sprintf("%s/%dfeeds-%dcallers", engine, crowd.feeds, crowd.callers), func(b *testing.B) {
				url := open(b)
				w := &world{TB: b, url: url, store: storetest.Open(b, url)}
				counting := &countingStore{Store: w.store}
				w.p = w.replica(counting, platform.Options{})
				runs(b, w.p)
				besideFeeds(b, w, counting, crowd.feeds, crowd.callers)
			})
		}
	}
}

func besideFeeds(b *testing.B, w *world, counting *countingStore, feeds, callers int) {
	b.Helper()
	acme, tenant := w.found("acme"), w.found("tenant")
	for range 50 {
		w.repo(tenant.uid)
	}
	if feeds > 0 {
		w.listening(w.p, acme.uid, feeds, w.many(acme.uid, callers))
	}
	writing, stop := context.WithCancel(b.Context())
	var writer sync.WaitGroup
	writes := 0
	writer.Go(func() {
		tick := time.NewTicker(time.Second / 40)
		defer tick.Stop()
		for {
			select {
			case <-writing.Done():
				return
			case <-tick.C:
				w.repo(acme.uid)
				writes++
			}
		}
	})
	counting.events.Store(0)
	counting.grants.Store(0)
	before, began := processorTime(), time.Now()
	var took []time.Duration
	for b.Loop() {
		at := time.Now()
		_, err := w.p.Repos.List(tenant.owner, core.ListRequest[*inventory.RepoFilter]{PageSize: 50})
		must(b, err)
		took = append(took, time.Since(at))
		time.Sleep(10 * time.Millisecond) // The caller pauses between lists.
	}
	b.ReportMetric((processorTime()-before).Seconds()*1e3/time.Since(began).Seconds(), "cpu-ms/s")
	stop()
	writer.Wait()
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "p50-ms")
	b.ReportMetric(took[len(took)*95/100].Seconds()*1e3, "p95-ms")
	b.ReportMetric(float64(counting.events.Load()+counting.grants.Load())/float64(max(1, writes)), "statements/write")
}

// processorTime returns the processor time that the process has used.
func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
