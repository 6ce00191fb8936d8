package bench_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"atrium/internal/auth"
	"atrium/internal/bench"
	"atrium/internal/server"
	"atrium/platform"
	"atrium/store"
	"atrium/store/storetest"
)

func check[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// newOptions returns the options of a short measurement of a server in this process.
func newOptions(t *testing.T, url string) bench.Options {
	t.Helper()
	s := check[interface {
		platform.Store
		Size(context.Context) (int64, error)
	}](t)(store.Open(t.Context(), url, store.Options{}))
	t.Cleanup(func() { _ = s.Close() })
	core := check[*platform.Platform](t)(platform.New(t.Context(), s, platform.Options{}))
	start := func(_ context.Context, sink string) (bench.Server, error) {
		metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "process_cpu_seconds_total 1.5\nprocess_resident_memory_bytes 5e+07\n")
		}))
		t.Cleanup(metrics.Close)
		ctx, stop := context.WithCancel(t.Context())
		at, ended := make(chan string, 1), make(chan error, 1)
		t.Cleanup(func() { stop(); <-ended })
		go func() {
			ended <- server.Run(ctx, server.Config{
				Address: "127.0.0.1:0", DatabaseURL: url, Development: true, Audience: []string{"atrium"}, ServiceDomain: "atrium.dev",
				GraphQL: server.DefaultGraphQL(), Logger: slog.New(slog.DiscardHandler), PrivateSinks: []string{sink}, Webhooks: true,
				Core: platform.Options{AuditRetention: 24 * time.Hour, DeliveryRetention: time.Hour}, Started: func(s server.Start) error { at <- s.URL; return nil },
			})
		}()
		url := <-at
		issuer := check[*auth.Issuer](t)(server.DevelopmentIssuer(t.Context(), core))
		return bench.Server{URL: url, MetricsURL: metrics.URL, Mint: func(subject string) (string, error) { return issuer.Mint(subject, "atrium", time.Hour, nil) }}, nil
	}
	return bench.Options{Sizes: bench.Sizes{Repos: 50, Tags: 12, People: 2}, Connections: 2, Sockets: 3, Duration: time.Millisecond, Platform: core, Size: s.Size, Start: start}
}

func TestEachWorkloadIsMeasured(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		o, out := newOptions(t, url), &strings.Builder{}
		if err := bench.Run(t.Context(), o, out); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want := []string{`(?m)^repos +50 +\d+ +\d+$`, `(?m)^tags +600 +\d+ +\d+$`, `(?m)^SBOMs with their findings +50 +\d+ +\d+$`, `(?m)^idle +50$`, `(?m)^3 websockets, callers: 1 +[\d.]+ +[\d.]+ +[\d.]+ +50$`, `(?m)^3 websockets, callers: 2 +[\d.]+ +[\d.]+ +[\d.]+ +50$`, `(?m)^create a repo +\d+`, `(?m)^deliver its event +\d+$`}
		for _, w := range bench.Workloads() {
			want = append(want, fmt.Sprintf(`(?m)^%s +\d+ +[\d.]+ +[\d.]+ +[\d.]+ +50$`, w.Name))
		}
		for _, line := range want {
			if !regexp.MustCompile(line).MatchString(out.String()) {
				t.Errorf("no line %s in\n%s", line, out)
			}
		}
		if err := bench.Run(t.Context(), o, io.Discard); err == nil || !strings.Contains(err.Error(), "name an empty one") {
			t.Errorf("a database that is not empty: %v, want an error", err)
		}
	})
}
