package storetest_test

import (
	"context"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"atrium/store"
	"atrium/store/pgpool"
	"atrium/store/postgres"
	"atrium/store/storetest"
)

// addPoolSize adds a size of the pool to a URL.
func addPoolSize(t *testing.T, address string) string {
	t.Helper()
	sized, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := sized.Query()
	query.Set("pool_max_conns", "3")
	sized.RawQuery = query.Encode()
	return sized.String()
}

func TestTheSizeOfThePoolIsThatOfTheURL(t *testing.T) {
	t.Parallel()
	plain := storetest.Postgres(t)
	for address, want := range map[string]int{plain: 7, addPoolSize(t, plain): 3} {
		engine, err := postgres.Open(t.Context(), address, postgres.Options{MaxConnections: 7})
		if err != nil {
			t.Fatal(err)
		}
		if got := engine.Connections(); got != want {
			t.Errorf("the pool has %d connections, want %d", got, want)
		}
		_ = engine.Close()
	}
}

// A server rejects connections with a setting that it does not know.
func TestADirectURLMayHaveTheSizeOfAPool(t *testing.T) {
	t.Parallel()
	plain := storetest.Postgres(t)
	sized := addPoolSize(t, plain)
	if err := store.CheckDirect(t.Context(), sized, sized); err != nil {
		t.Errorf("the direct URL is rejected: %v", err)
	}
	pool, err := pgpool.Open(t.Context(), plain, pgpool.Options{DirectURL: sized})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	conn, err := pgx.ConnectConfig(t.Context(), pool.Listen)
	if err != nil {
		t.Fatalf("nobody can listen by the direct URL: %v", err)
	}
	_ = conn.Close(t.Context())
}

// A role may open fewer connections than the pool may have. Work then waits for one of those.
func TestWorkWaitsForAConnectionIfTheServerAcceptsNoMore(t *testing.T) {
	t.Parallel()
	plain := storetest.Postgres(t)
	owner, err := pgx.Connect(t.Context(), plain)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(context.WithoutCancel(t.Context())) }()
	const role = "limited_to_two"
	if _, err := owner.Exec(t.Context(), "CREATE ROLE "+role+" LOGIN PASSWORD 'secret' CONNECTION LIMIT 2"); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = owner.Exec(context.WithoutCancel(t.Context()), "DROP ROLE "+role) }()
	limited, err := url.Parse(plain)
	if err != nil {
		t.Fatal(err)
	}
	limited.User = url.UserPassword(role, "secret")
	pool, err := pgpool.Open(t.Context(), limited.String(), pgpool.Options{MaxConnections: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var workers sync.WaitGroup
	for range 10 {
		workers.Go(func() {
			for range 20 {
				conn, err := pool.Acquire(t.Context())
				if err != nil {
					t.Errorf("beside others, a connection is not awaited: %v", err)
					return
				}
				if _, err := conn.Exec(t.Context(), "SELECT 1"); err != nil {
					t.Error(err)
				}
				pool.Release(conn)
			}
		})
	}
	workers.Wait()
	if err := pool.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
