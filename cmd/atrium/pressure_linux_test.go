package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atrium/store/storetest"
)

// connectionsVariable is the number of connections of the test below; it is skipped
// without it. `make pressure` opens 600.
const connectionsVariable = "ATRIUM_TEST_CONNECTIONS"

// The process has two cores and this memory limit. The limit is one of the garbage
// collector, so the process may exceed it a little.
const (
	pressureLimit  = 256 << 20
	pressureMemory = 300 << 20
)

// pressureRequests are what each connection sends in turn: a page by GraphQL, nested lists,
// and a page by REST.
var pressureRequests = []struct{ method, path, body string }{
	{http.MethodPost, "/graphql", `{"query":"{repos(first: 50) {totalCount nodes {uid name description createTime updateTime}}}"}`},
	{http.MethodPost, "/graphql", `{"query":"{repos(first: 20) {nodes {uid name tags(first: 10) {nodes {name digest updateTime}}}}}"}`},
	{http.MethodGet, "/registry/v2/repos?page_size=50", ""},
}

// A pressing sends requests over its own connections.
type pressing struct {
	client  http.Client
	server  *process
	token   string
	refused atomic.Int64 // requests that were sent again
}

// ask sends the i-th request, again for as long as the server refuses it because of its load.
// It returns how long the answer took, and what is wrong with it.
func (p *pressing) ask(t *testing.T, i int) (time.Duration, string) {
	t.Helper()
	for {
		took, wait, fault := p.askOnce(t, i)
		if wait == 0 {
			return took, fault
		}
		p.refused.Add(1)
		select {
		case <-time.After(rand.N(wait)): // Otherwise all would come again at the same moment.
		case <-t.Context().Done():
			return took, t.Context().Err().Error()
		}
	}
}

// askOnce sends the i-th request. If the server refuses it because of its load, wait is how
// long the client shall wait.
func (p *pressing) askOnce(t *testing.T, i int) (took, wait time.Duration, fault string) {
	t.Helper()
	kind := pressureRequests[i%len(pressureRequests)]
	r, err := http.NewRequestWithContext(t.Context(), kind.method, p.server.url+kind.path, strings.NewReader(kind.body))
	if err != nil {
		return 0, 0, err.Error()
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	r.Header.Set("Content-Type", "application/json")
	began := time.Now()
	answer, err := p.client.Do(r)
	if err != nil {
		return 0, 0, err.Error()
	}
	body, err := io.ReadAll(answer.Body)
	took = time.Since(began)
	_ = answer.Body.Close()
	seconds, malformed := strconv.Atoi(answer.Header.Get("Retry-After"))
	switch {
	case err != nil:
		return took, 0, err.Error()
	case malformed == nil && seconds > 0 && (answer.StatusCode == http.StatusTooManyRequests || strings.Contains(string(body), "the server is busy")):
		return took, time.Duration(seconds) * time.Second, ""
	case answer.StatusCode != http.StatusOK || strings.Contains(string(body), `"errors"`):
		return took, 0, fmt.Sprintf("status %d: %.200s", answer.StatusCode, body)
	default:
		return took, 0, ""
	}
}

// askTogether sends requests over n connections at once, each of them one after the other,
// until goesOn returns false. It returns the sorted times and the number of each fault.
func (p *pressing) askTogether(t *testing.T, n int, goesOn func(request int) bool) (times []time.Duration, faults map[string]int) {
	t.Helper()
	var lock sync.Mutex
	var all sync.WaitGroup
	faults = map[string]int{}
	for c := range n {
		all.Go(func() {
			for i := 0; goesOn(i); i++ {
				took, fault := p.ask(t, c+i)
				lock.Lock()
				times = append(times, took)
				if fault != "" {
					faults[fault]++
				}
				lock.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(times)
	return times, faults
}

// percentile returns a percentile of sorted times.
func percentile(times []time.Duration, percent int) time.Duration {
	return times[min(len(times)*percent/100, len(times)-1)].Round(100 * time.Microsecond)
}

// Every request of many connections is answered on two cores, within the memory limit. Clients
// send those again that are refused because too many wait.
// The times are only reported, also those at half of the highest throughput.
func TestManyConnectionsAreAnswered(t *testing.T) {
	if os.Getenv(connectionsVariable) == "" {
		t.Skip(connectionsVariable + " is not set")
	}
	connections, err := strconv.Atoi(os.Getenv(connectionsVariable))
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range []func(testing.TB) string{storetest.SQLite, storetest.Postgres} { // One after the other, because of the times.
		url := engine(t)
		name, _, _ := strings.Cut(url, ":")
		t.Run(name, func(t *testing.T) {
			server := spawn(t, url, "GOMAXPROCS=2", fmt.Sprintf("GOMEMLIMIT=%d", pressureLimit))
			token := strings.TrimSpace(mustRun(t, url, "token"))
			transport := &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}
			t.Cleanup(transport.CloseIdleConnections)
			p := &pressing{client: http.Client{Transport: transport}, server: server, token: token}

			times, faults := p.askTogether(t, connections, func(i int) bool { return i < 10 })
			t.Logf("%d connections: %d answers, p50 %s, p99 %s, %d requests sent again, peak %d MB",
				connections, len(times), percentile(times, 50), percentile(times, 99), p.refused.Load(), server.memory(t, "VmHWM")>>20)
			for fault, n := range faults {
				t.Errorf("%d times: %s", n, fault)
			}
			if peak := server.memory(t, "VmHWM"); peak > pressureMemory {
				t.Errorf("the process takes %d MB, want at most %d MB", peak>>20, pressureMemory>>20)
			}
			p.reportHalfLoad(t)
		})
	}
}

// reportHalfLoad finds the highest throughput, and logs the times of answers at half of it.
func (p *pressing) reportHalfLoad(t *testing.T) {
	t.Helper()
	const period = 5 * time.Second
	until := time.Now().Add(period)
	busy, _ := p.askTogether(t, 16, func(int) bool { return time.Now().Before(until) })
	var lock sync.Mutex
	var all sync.WaitGroup
	var times []time.Duration
	half := time.NewTicker(2 * period / time.Duration(len(busy)))
	defer half.Stop()
	for i := range len(busy) / 2 {
		<-half.C
		all.Go(func() {
			took, _ := p.ask(t, i)
			lock.Lock()
			defer lock.Unlock()
			times = append(times, took)
		})
	}
	all.Wait()
	slices.Sort(times)
	t.Logf("at most %d answers a second; at half of that p50 %s, p90 %s, p99 %s, peak %d MB",
		len(busy)/int(period.Seconds()), percentile(times, 50), percentile(times, 90), percentile(times, 99), p.server.memory(t, "VmHWM")>>20)
}
