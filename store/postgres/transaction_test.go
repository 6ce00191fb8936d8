package postgres

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"atrium/store/sqlstore/dbconn"
)

// PostgreSQL ends each wait for a lock by itself, so a round trip with several locks may take as long as all of them
// and the statement after them.
func TestARoundTripMayTakeTheTimeOfEachOfItsLocks(t *testing.T) {
	t.Parallel()
	const statement, lock = 4 * time.Second, 2 * time.Second
	locks := func(n int) (run []*dbconn.Statement) {
		for range n {
			run = append(run, &dbconn.Statement{Waits: true})
		}
		return append(run, &dbconn.Statement{})
	}
	for name, c := range map[string]struct {
		timeout time.Duration
		pooled  *pgxpool.Conn
		locks   int
		want    time.Duration
	}{
		"the first statements, which begin with a lock": {statement, nil, 0, statement + lock},
		"the first ones, with two more":                 {statement, nil, 2, statement + 3*lock},
		"later ones without a lock":                     {statement, new(pgxpool.Conn), 0, statement},
		"later ones with three":                         {statement, new(pgxpool.Conn), 3, statement + 3*lock},
		"without any limit":                             {0, nil, 3, 0},
	} {
		tx := &transaction{engine: &Engine{lockTimeout: lock}, timeout: c.timeout, pooled: c.pooled}
		if got := tx.limit(locks(c.locks)); got != c.want {
			t.Errorf("%s: the limit is %v, want %v", name, got, c.want)
		}
	}
}
