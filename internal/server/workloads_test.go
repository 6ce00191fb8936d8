package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/protobuf/encoding/protowire"

	"atrium/internal/auth"
	"atrium/internal/bench"
	"atrium/platform"
	"atrium/store"
	"atrium/store/storetest"
)

// A workbench is a server with an organisation for the workloads.
type workbench struct {
	cost      tripCounter
	handler   http.Handler
	full      http.Handler // refuses every request of a known caller
	token     string
	org, repo platform.UID
}

func newWorkbench(b testing.TB, url string, readURLs ...string) *workbench {
	b.Helper()
	w := &workbench{}
	s := check(store.Open(b.Context(), url, store.Options{ReadURLs: readURLs, Observers: []store.Observer{&w.cost}}))(b)
	b.Cleanup(func() { _ = s.Close() })
	p := check(platform.New(b.Context(), s, platform.Options{}))(b)
	key := check(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(b)
	issuer := check(auth.NewDevelopmentIssuer(check(x509.MarshalPKCS8PrivateKey(key))(b), nil))(b)
	data := check(bench.Fill(b.Context(), p, 1000, s.Size))(b)

	config := Config{Audience: []string{"atrium"}, ServiceDomain: "atrium.dev", GraphQL: DefaultGraphQL(), Logger: discardLogger(), MaxConcurrent: 12}
	limited := config
	limited.RateLimit, limited.RateBurst, limited.Logger = 1, 1, slog.New(slog.NewJSONHandler(io.Discard, nil))
	w.full = Handler(p, limited, issuer)
	w.handler, w.token, w.org, w.repo = Handler(p, config, issuer), check(issuer.Mint(bench.Owner, "atrium", time.Hour, nil))(b), data.Organisation, data.Repo
	return w
}

// A tripCounter counts statements and round trips.
type tripCounter struct{ statements, trips int }

// countingTrip guards all tripCounters.
var countingTrip sync.Mutex

// RoundTrip counts one round trip.
func (c *tripCounter) RoundTrip(_ context.Context, statements []*store.Statement, _ time.Duration, _ error) {
	countingTrip.Lock()
	defer countingTrip.Unlock()
	c.statements += len(statements)
	c.trips++
}

func check[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// A preparedRequest can be sent many times. The harness allocates little for it.
type preparedRequest struct {
	http.Request
	body string
}

func (w *workbench) request(query string) *preparedRequest {
	r := httptest.NewRequest(http.MethodGet, "/registry/v2/repos?uidp.children_of="+string(w.org)+"&page_size=50", http.NoBody)
	body := ""
	if query != "" {
		variable, value := "org", w.org
		if strings.Contains(query, "$repo") {
			variable, value = "repo", w.repo
		}
		body = fmt.Sprintf(`{"query":%q,"variables":{%q:%q}}`, strings.Join(strings.Fields(query), " "), variable, value)
		r = httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	return &preparedRequest{*r, body}
}

// grpcPage returns the request of W8.
func (w *workbench) grpcPage() *preparedRequest {
	scope := protowire.AppendString(protowire.AppendTag(nil, 3, protowire.BytesType), string(w.org)) // children_of
	message := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), scope)
	r, body := grpcRequest("ListRepos", protowire.AppendVarint(protowire.AppendTag(message, 4, protowire.VarintType), 50))
	r.Header.Set("Authorization", "Bearer "+w.token)
	return &preparedRequest{*r, string(body)}
}

// A sink keeps the answer to a request.
type sink struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(b []byte) (int, error) { return s.body.Write(b) }

// send sends the request to a handler. The test fails if the status is not 200.
func (p *preparedRequest) send(tb testing.TB, handler http.Handler, to *sink) {
	tb.Helper()
	clear(to.header)
	to.status = http.StatusOK
	to.body.Reset()
	r := p.Request
	if p.body != "" {
		r.Body = io.NopCloser(strings.NewReader(p.body))
	}
	handler.ServeHTTP(to, &r)
	if to.status != http.StatusOK || bytes.Contains(to.body.Bytes(), []byte(`"errors"`)) || cmp.Or(to.header.Get("Grpc-Status"), to.header.Get(http.TrailerPrefix+"Grpc-Status"), "0") != "0" {
		tb.Fatalf("got %v %v, want status 200", to.status, to.body.String())
	}
}

// A workload is a request with the handler that answers it.
type workload struct {
	name    string
	request *preparedRequest
	handler http.Handler
}

// workloads returns the workloads. It adds the cost of the harness itself and, on
// PostgreSQL, handlers that are written by hand with pgx.
func (w *workbench) workloads(tb testing.TB, url string) []workload {
	all := []workload{{"bare", w.request(""), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })}}
	for _, load := range bench.Workloads() {
		request := w.request(load.Query)
		if strings.HasSuffix(load.Name, "by gRPC") {
			request = w.grpcPage()
		}
		all = append(all, workload{strings.Fields(load.Name)[0], request, w.handler})
	}
	if strings.HasPrefix(url, "postgres") {
		pool := check(pgxpool.New(tb.Context(), url))(tb)
		tb.Cleanup(pool.Close)
		repo, _ := w.repo.Packed()
		org, _ := w.org.Packed()
		all = append(all, workload{"floor-W1", w.request(""), handWrittenGet(pool, repo)}, workload{"floor-W7", w.request(""), handWrittenPage(pool, org)})
	}
	return all
}

// A shownRepo is a repo in the answers of the handlers that are written by hand.
type shownRepo struct {
	UID                    []byte
	Name, Description      string
	CreateTime, UpdateTime time.Time
}

// handWrittenGet reads one repo for any caller, without GraphQL.
func handWrittenGet(pool *pgxpool.Pool, uid []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var repo shownRepo
		if err := pool.QueryRow(r.Context(), "SELECT name, description, create_time FROM repo WHERE uid = $1", uid).Scan(&repo.Name, &repo.Description, &repo.CreateTime); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(repo)
	})
}

// handWrittenPage reads 50 repos and their total for any caller, without GraphQL.
func handWrittenPage(pool *pgxpool.Pool, org []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var page struct {
			Repos []shownRepo
			Total int64
		}
		var batch pgx.Batch
		batch.Queue("SELECT uid, name, description, create_time, update_time FROM repo WHERE parent = $1 ORDER BY name, uid LIMIT 50", org).Query(func(rows pgx.Rows) (err error) {
			page.Repos, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (repo shownRepo, err error) {
				err = row.Scan(&repo.UID, &repo.Name, &repo.Description, &repo.CreateTime, &repo.UpdateTime)
				return repo, err
			})
			return err
		})
		batch.Queue("SELECT count(*) FROM repo WHERE parent = $1", org).QueryRow(func(row pgx.Row) error { return row.Scan(&page.Total) })
		if err := pool.SendBatch(r.Context(), &batch).Close(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(page)
	})
}

// workloadEngines returns the URLs of the databases by their engines.
func workloadEngines(tb testing.TB) map[string]string {
	engines := map[string]string{"sqlite": storetest.SQLite(tb)}
	if os.Getenv("ATRIUM_TEST_POSTGRES") != "" {
		engines["postgres"] = storetest.Postgres(tb)
	}
	return engines
}

// BenchmarkWorkloads measures the cost of each workload, from the token to the last
// byte, with its statements and round trips.
func BenchmarkWorkloads(b *testing.B) {
	for engine, url := range workloadEngines(b) {
		w, to := newWorkbench(b, url), &sink{header: http.Header{}}
		for _, load := range w.workloads(b, url) {
			b.Run(load.name+"/"+engine, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w.cost = tripCounter{}
					load.request.send(b, load.handler, to)
				}
				b.ReportMetric(float64(w.cost.statements), "statements/op")
				b.ReportMetric(float64(w.cost.trips), "trips/op")
			})
		}
	}
}
