package storetest_test

import (
	"net/url"
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
