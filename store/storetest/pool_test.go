package storetest_test

import (
	"net/url"
	"testing"

	"atrium/store/postgres"
	"atrium/store/storetest"
)

func TestTheSizeOfThePoolIsThatOfTheURL(t *testing.T) {
	t.Parallel()
	plain, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	sized := *plain
	query := sized.Query()
	query.Set("pool_max_conns", "3")
	sized.RawQuery = query.Encode()
	for address, want := range map[string]int{plain.String(): 7, sized.String(): 3} {
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
