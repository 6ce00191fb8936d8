package workloads

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/internal/bench"
	"atrium/internal/server"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

// BenchmarkRatios compares the CPU time of a request, of server and database together, with that of handlers that are
// written by hand (floors_test.go), and of SQLite with that of PostgreSQL. Each runs in a process of its own, in turn, so
// that a busy machine is busy for both. The CPU time of one machine says little about another, but the ratios do.
// testdata/ratios.txt has those of today; `make ratios WRITE=1` writes it. ATRIUM_PROFILES is a folder for CPU profiles of the
// processes; the first thing in them is how the database was filled.
func BenchmarkRatios(b *testing.B) {
	subjects := map[string]*subject{}
	for _, engine := range []string{"sqlite", "postgres"} {
		if engine == "postgres" && os.Getenv("ATRIUM_TEST_POSTGRES") == "" {
			continue
		}
		subjects[engine], subjects[engine+"/floor"] = startSubject(b, engine, "program"), startSubject(b, engine, "floor")
	}
	for _, name := range []string{"W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W10", "W8-of-16", "W9-of-16", "W10-of-16", "import"} {
		for _, pair := range [][3]string{{"sqlite", "sqlite/floor", name}, {"postgres", "postgres/floor", name}, {"postgres", "postgres/floor", name + "-checked"}, {"sqlite", "postgres", name}} {
			a, base := subjects[pair[0]], subjects[pair[1]]
			if a == nil || base == nil || len(a.Requests[name]) == 0 || len(base.Requests[pair[2]]) == 0 {
				continue
			}
			for _, connections := range []int{1, writers} {
				if connections == 1 && strings.HasSuffix(name, "-of-16") || connections > 1 && name == "import" {
					continue
				}
				b.Run(fmt.Sprintf("%s/engine=%s/of=%s/connections=%d", name, pair[0], strings.Replace(pair[1], pair[0]+"/", "", 1)+strings.TrimPrefix(pair[2], name), connections), func(b *testing.B) {
					measureRatio(b, [2]turn{{a, a.Requests[name]}, {base, base.Requests[pair[2]]}}, connections)
				})
			}
		}
	}
}

// sliceTime is how long each side is measured in one turn.
const sliceTime = 100 * time.Millisecond

// A turn is one side of a comparison.
type turn struct {
	*subject
	requests []subjectRequest
}

// measureRatio measures both sides in turn, A B A B, and compares the medians: a process in the background disturbs few turns.
func measureRatio(b *testing.B, sides [2]turn, connections int) {
	var costs [2][]float64
	for _, side := range sides { // statements are prepared
		side.drive(b, side.requests, connections)
	}
	for b.Loop() {
		for i, side := range sides {
			before := side.cpu(b)
			answered := side.drive(b, side.requests, connections)
			costs[i] = append(costs[i], float64(side.cpu(b)-before)/float64(answered))
		}
	}
	median := func(costs []float64) float64 {
		slices.Sort(costs)
		return costs[len(costs)/2]
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(costs[0])/median(costs[1]), "ratio")
	b.ReportMetric(median(costs[0])/1000, "cpu-us/request")
}

// A subject is a process that answers requests.
type subject struct {
	Address  string
	Requests map[string][]subjectRequest // those of each workload; each connection sends another one
	process  int
	database string // the process whose children are the database, or ""
	number   atomic.Int64
	callers  []*subjectCaller
}

// A subjectRequest is a request. In its body, %n stands for a number.
type subjectRequest struct{ Path, Token, Body string }

// startSubject starts a process of this test that answers as the program does, or as the floor.
func startSubject(b *testing.B, engine, what string) *subject {
	b.Helper()
	command := exec.CommandContext(context.WithoutCancel(b.Context()), check(os.Executable())(b), "-test.run=^TestAnswerBenchmark$", "-test.timeout=0") //nolint:gosec // this program
	if folder := os.Getenv("ATRIUM_PROFILES"); folder != "" {
		command.Args = append(command.Args, "-test.cpuprofile="+filepath.Join(folder, engine+"-"+what+".pprof"))
	}
	command.Env = append(os.Environ(), "ATRIUM_ANSWER="+engine+"/"+what)
	command.Stderr = os.Stderr
	stop := check(command.StdinPipe())(b)
	out := check(command.StdoutPipe())(b)
	check(0, command.Start())(b)
	b.Cleanup(func() { _ = stop.Close(); _ = command.Wait() })
	s := &subject{process: command.Process.Pid}
	if said := bufio.NewReader(out); json.NewDecoder(said).Decode(s) != nil {
		rest, _ := io.ReadAll(said)
		b.Fatalf("%s of %s did not start: %s", what, engine, rest)
	}
	if engine == "postgres" {
		s.database = postmaster(b)
	}
	return s
}

// postmaster returns the process that has started those of PostgreSQL.
func postmaster(b *testing.B) string {
	b.Helper()
	conn := check(pgx.Connect(b.Context(), os.Getenv("ATRIUM_TEST_POSTGRES")))(b)
	defer func() { _ = conn.Close(b.Context()) }()
	stat := check(os.ReadFile(fmt.Sprintf("/proc/%d/stat", conn.PgConn().PID())))(b)
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.Fields(rest)[1]
}

// cpu returns the CPU time of server and database in nanoseconds.
func (s *subject) cpu(b *testing.B) int64 {
	b.Helper()
	total := int64(0)
	for _, path := range check(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.process)))(b) {
		total += spentIn(b, path)
	}
	if s.database != "" {
		total += cpuOf(b, s.database)
	}
	return total
}

// drive sends requests over connections for the time of a slice, and returns how many were answered.
func (s *subject) drive(b *testing.B, requests []subjectRequest, connections int) int64 {
	b.Helper()
	for len(s.callers) < connections {
		conn := check(new(net.Dialer).DialContext(b.Context(), "tcp", s.Address))(b)
		s.callers = append(s.callers, &subjectCaller{conn: conn, in: bufio.NewReader(conn)})
	}
	var all sync.WaitGroup
	var answered atomic.Int64
	end := time.Now().Add(sliceTime)
	for i, caller := range s.callers[:connections] {
		all.Go(func() {
			for time.Now().Before(end) {
				if err := caller.send(requests[i%len(requests)], s.number.Add(1)); err != nil {
					b.Error(err)
					return
				}
				answered.Add(1)
			}
		})
	}
	all.Wait()
	return answered.Load()
}

// A subjectCaller sends requests over one connection. It needs little CPU time.
type subjectCaller struct {
	conn     net.Conn
	in       *bufio.Reader
	out      []byte
	response bytes.Buffer
}

// send sends a request, which must succeed.
func (c *subjectCaller) send(r subjectRequest, number int64) error {
	method := http.MethodGet
	if r.Body != "" {
		method = http.MethodPost
		r.Body = strings.ReplaceAll(r.Body, "%n", strconv.FormatInt(number, 10))
	}
	c.out = fmt.Appendf(c.out[:0], "%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", method, r.Path, r.Token, len(r.Body), r.Body)
	if _, err := c.conn.Write(c.out); err != nil {
		return err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	c.response.Reset()
	if _, err := c.response.ReadFrom(response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || bytes.Contains(c.response.Bytes(), []byte(`"errors":`)) {
		return fmt.Errorf("%s %.100s: %s %.300s", r.Path, r.Body, response.Status, c.response.Bytes())
	}
	return nil
}

// TestAnswerBenchmark is no test: BenchmarkRatios runs it in processes of their own, each with its own database.
func TestAnswerBenchmark(t *testing.T) {
	engine, what, asked := strings.Cut(os.Getenv("ATRIUM_ANSWER"), "/")
	if !asked {
		t.Skip("BenchmarkRatios starts it")
	}
	debug.SetGCPercent(400) // as a server does
	url := storetest.SQLite(t)
	if engine == "postgres" {
		url = storetest.Postgres(t)
	}
	w := fillWorkbench(t, url, sizes, slog.New(slog.NewJSONHandler(io.Discard, nil)))
	organizations := w.addOrganizations(t)
	s := &subject{Requests: w.subjectRequests(organizations)}
	handler := http.NewServeMux()
	handler.Handle("/", w.handler)
	handler.Handle("/import", w.importTags(organizations[0].repos))
	if what == "floor" {
		f := newFloor(t, w, url)
		f.takeSamples(t, w, url, organizations)
		s.Requests = f.subjectRequests(w, s.Requests)
		handler = f.ServeMux
	}
	settle(t, url)
	listener := check(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	s.Address = listener.Addr().String()
	// The time limits cost what those of the program do.
	served := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, ReadTimeout: time.Minute, IdleTimeout: server.DefaultIdleTimeout}
	go func() { _ = served.Serve(listener) }()
	defer func() { _ = served.Close() }()
	check(0, json.NewEncoder(os.Stdout).Encode(s))(t)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark ends
}

// settle ends the work that filling a database of PostgreSQL leaves for later.
func settle(t *testing.T, url string) {
	t.Helper()
	if !strings.HasPrefix(url, "postgres") {
		return
	}
	conn := check(pgx.Connect(t.Context(), url))(t)
	defer func() { _ = conn.Close(t.Context()) }()
	for _, statement := range []string{"VACUUM (ANALYZE)", "CHECKPOINT"} {
		check(conn.Exec(t.Context(), statement))(t)
	}
}

// subjectRequests returns the requests of the program, by their workloads.
func (w *workbench) subjectRequests(organizations []writingOrganization) map[string][]subjectRequest {
	all := map[string][]subjectRequest{"W7": {{w.restPage(), w.token, ""}}, "import": {{"/import", "", "%n"}}}
	for _, load := range bench.Workloads() {
		if load.Query != "" {
			all[strings.Fields(load.Name)[0]] = []subjectRequest{{"/graphql", w.token, load.Body(w.Data)}}
		}
	}
	for i, o := range organizations {
		for _, repo := range o.repos {
			for name, body := range o.writeBodies(repo) {
				r := subjectRequest{"/graphql", o.token, body}
				if i == 0 {
					all[name] = append(all[name], r)
				}
				if repo == o.repos[0] {
					all[name+"-of-16"] = append(all[name+"-of-16"], r)
				}
			}
		}
	}
	return all
}

// importTags returns a handler that imports importedTags to each repo, as the command does. The body is a number for their names.
func (w *workbench) importTags(repos []core.UID) http.HandlerFunc {
	return func(to http.ResponseWriter, r *http.Request) {
		number, _ := io.ReadAll(r.Body)
		var all []*registry.ImportedTag
		for _, repo := range repos {
			for _, name := range importedNames(number) {
				all = append(all, &registry.ImportedTag{Repo: repo, Tag: inventory.Tag{Name: name, Digest: "sha256:" + strings.Repeat("0", 64)}})
			}
		}
		if done, err := w.p.Registry.ImportTags(core.WithActor(r.Context(), core.NewOperator("bench")), all, core.ImportOptions{}); err != nil || done.Added != len(all) {
			http.Error(to, fmt.Sprintf("%+v, %v", done, err), http.StatusInternalServerError)
		}
	}
}

// importedTags is the number of tags in an import to each of writers repos.
const importedTags = 60

func importedNames(number []byte) (names []string) {
	for i := range importedTags {
		names = append(names, fmt.Sprintf("imported-%s-%d", number, i))
	}
	return names
}

// subjectRequests returns the requests of the floor: the same bodies, and a path for each workload.
func (*floor) subjectRequests(w *workbench, of map[string][]subjectRequest) map[string][]subjectRequest {
	all := map[string][]subjectRequest{"W1-checked": {{"/W1-checked", w.token, ""}}}
	for name, requests := range of {
		for _, r := range requests {
			r.Path = "/" + strings.TrimSuffix(name, "-of-16")
			if strings.HasPrefix(r.Body, `{"query":"query`) {
				r.Body = ""
			}
			all[name] = append(all[name], r)
		}
	}
	return all
}
