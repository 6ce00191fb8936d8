package workloads

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/binary"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"atrium/internal/auth"
	"atrium/internal/bench"
	"atrium/internal/server"
	"atrium/platform"
	"atrium/store"
	"atrium/store/storetest"
)

// A workbench is a server with an organization for the workloads.
type workbench struct {
	*bench.Data
	bench.Sizes
	p       *platform.Platform
	issuer  *auth.Issuer
	cost    tripCounter
	handler http.Handler
	full    http.Handler // refuses every request of a known caller
	token   string
}

// sizes are those of the benchmark that compares servers.
var sizes = bench.Sizes{Repos: 1000, Tags: 12, People: 60}

func newWorkbench(b testing.TB, url string, readURLs ...string) *workbench {
	b.Helper()
	return fillWorkbench(b, url, sizes, slog.New(slog.DiscardHandler), readURLs...)
}

func fillWorkbench(b testing.TB, url string, sizes bench.Sizes, logger *slog.Logger, readURLs ...string) *workbench {
	b.Helper()
	w := &workbench{Sizes: sizes}
	s := check(store.Open(b.Context(), url, store.Options{ReadURLs: readURLs, Observers: []store.Observer{&w.cost}}))(b)
	b.Cleanup(func() { _ = s.Close() })
	p := check(platform.New(b.Context(), s, platform.Options{}))(b)
	key := check(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(b)
	issuer := check(auth.NewDevelopmentIssuer(check(x509.MarshalPKCS8PrivateKey(key))(b), nil))(b)
	w.Data, w.p, w.issuer = check(bench.Fill(b.Context(), p, sizes, s.Size))(b), p, issuer

	config := server.Config{Audience: []string{"atrium"}, ServiceDomain: "atrium.dev", GraphQL: server.DefaultGraphQL(), Logger: logger, MaxConcurrent: 12}
	limited := config
	limited.RateLimit, limited.RateBurst, limited.Logger = 1, 1, slog.New(slog.NewJSONHandler(io.Discard, nil))
	w.full = server.Handler(p, limited, issuer)
	w.handler, w.token = server.Handler(p, config, issuer), w.mint(b, bench.Owner)
	return w
}

// mint returns a token of a subject.
func (w *workbench) mint(tb testing.TB, subject string) string {
	tb.Helper()
	return check(w.issuer.Mint(subject, "atrium", 12*time.Hour, nil))(tb)
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

// restPage is the path of W7.
func (w *workbench) restPage() string {
	return "/registry/v2/repos?uidp.children_of=" + string(w.Organization) + "&page_size=50"
}

func (w *workbench) request(load bench.Workload) *preparedRequest {
	r := httptest.NewRequest(http.MethodGet, w.restPage(), http.NoBody)
	body := ""
	if load.Query != "" {
		body = load.Body(w.Data)
		r = httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+w.token)
	return &preparedRequest{*r, body}
}

// grpcPage returns the request of W7b.
func (w *workbench) grpcPage() *preparedRequest {
	scope := protowire.AppendString(protowire.AppendTag(nil, 3, protowire.BytesType), string(w.Organization)) // children_of
	message := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), scope)
	message = protowire.AppendVarint(protowire.AppendTag(message, 4, protowire.VarintType), 50)
	body := string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))) + string(message) //nolint:gosec // it is short
	r := httptest.NewRequest(http.MethodPost, "/platform.registry.v2.ReposService/ListRepos", strings.NewReader(body))
	r.ProtoMajor, r.Proto = 2, "HTTP/2.0"
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("Authorization", "Bearer "+w.token)
	return &preparedRequest{*r, body}
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

// workloads returns the workloads, and the cost of the harness itself.
func (w *workbench) workloads() []workload {
	all := []workload{{"bare", w.request(bench.Workload{}), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })}}
	for _, load := range bench.Workloads() {
		request := w.request(load)
		if strings.HasSuffix(load.Name, "by gRPC") {
			request = w.grpcPage()
		}
		all = append(all, workload{strings.Fields(load.Name)[0], request, w.handler})
	}
	return all
}

// floors returns the handlers that are written by hand, for the workloads that only read.
func (w *workbench) floors(tb testing.TB, url string) (all []workload) {
	handler := newFloor(tb, w, url)
	for _, name := range []string{"W1", "W1-checked", "W2", "W3", "W4", "W5", "W6", "W7"} {
		r := httptest.NewRequest(http.MethodGet, "/"+name, http.NoBody)
		r.Header.Set("Authorization", "Bearer "+w.token)
		all = append(all, workload{"floor-" + name, &preparedRequest{Request: *r}, handler})
	}
	return all
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
		for _, load := range append(w.workloads(), w.floors(b, url)...) {
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
