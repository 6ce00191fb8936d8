package storetest_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"atrium/platform/core"
	"atrium/store/postgres"
	"atrium/store/sqlstore"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// A sharingEngine notes whether requests have shared a round trip that reads repos and groups.
type sharingEngine struct {
	*postgres.Engine
	shared atomic.Bool
}

func (e *sharingEngine) Run(ctx context.Context, statements ...*dbconn.Statement) error {
	reads := func(table string) bool {
		for _, s := range statements {
			if strings.Contains(s.SQL, " FROM "+table+" t ") {
				return true
			}
		}
		return false
	}
	if reads("repo") && reads("grp") {
		e.shared.Store(true)
	}
	return e.Engine.Run(ctx, statements...)
}

// Requests for groups share round trips with requests for repos. While the table of repos is
// locked, the groups must be read all the same, and the repos once it is free. The connections
// have prepared nothing yet, and preparing a statement needs the lock too.
func TestALockedTableDelaysOnlyWhatReadsIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode   string
		shares bool
	}{{"cache_statement", true}, {"cache_describe", false}} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, storetest.Postgres(t))
			ctx, org := w.createOrganization("acme")
			repo := w.repo(ctx, org.Group.UID, "nginx")
			patient := addParameters(t, w.url, url.Values{"lock_timeout": {"1min"}, "statement_timeout": {"1min"}})
			engine := &sharingEngine{Engine: openPostgres(t, patient, postgres.Options{QueryMode: c.mode, MaxConnections: 40})}
			w.p = w.replica(sqlstore.New(engine))
			ctx = w.contextAs("owner of acme")
			for tries := 1; tries == 1 || c.shares && !engine.shared.Load() && tries < 10; tries++ {
				w.readBesideALock(ctx, 16, repo, org.Group.UID)
			}
			if got := engine.shared.Load(); got != c.shares {
				t.Errorf("requests share round trips: %t, want %t", got, c.shares)
			}
		})
	}
}

// readBesideALock reads a group while the table of repos is locked, and the repo once it is
// free, by a number of concurrent requests each.
func (w *world) readBesideALock(ctx context.Context, readers int, repo, group core.UID) {
	w.t.Helper()
	locking := must[*sql.Tx](w.t)(w.openDirect().BeginTx(ctx, nil))
	if _, err := locking.ExecContext(ctx, "LOCK TABLE repo IN ACCESS EXCLUSIVE MODE"); err != nil {
		w.t.Fatal(err)
	}
	var repos, groups sync.WaitGroup
	var isFree atomic.Bool
	for range readers {
		repos.Go(func() {
			if _, err := w.p.Repos.Get(ctx, repo); err != nil || !isFree.Load() {
				w.t.Errorf("a repo is read with %v; the table is free: %t", err, isFree.Load())
			}
		})
		groups.Go(func() {
			if _, err := w.p.Groups.Get(ctx, group); err != nil {
				w.t.Errorf("a group is read with %v", err)
			}
		})
	}
	groups.Wait()
	isFree.Store(true)
	if err := locking.Rollback(); err != nil {
		w.t.Error(err)
	}
	repos.Wait()
}

// unpreparedModes are the modes in which no statement stays prepared.
var unpreparedModes = []string{"cache_describe", "describe_exec", "exec"}

func TestTheStatementThatFailsIsMarkedWithoutPreparing(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	for _, mode := range unpreparedModes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			engine := openPostgres(t, address, postgres.Options{QueryMode: mode, MaxConnections: 1})
			for _, query := range []string{"SELECT name FROM missing", "SELECT 1/(2 - n) FROM generate_series(1, 2) n"} {
				first, broken, last := &dbconn.Statement{SQL: "SELECT 'first'"}, &dbconn.Statement{SQL: query}, &dbconn.Statement{SQL: "SELECT 'last'"}
				if err := engine.Run(t.Context(), first, broken, last); err == nil || first.Failed || !broken.Failed || last.Failed {
					t.Errorf("%s ends with %v; failed are %t, %t, %t, want only the second", query, err, first.Failed, broken.Failed, last.Failed)
				}
				if err := engine.Run(t.Context(), broken); err == nil || !broken.Failed {
					t.Errorf("alone, %s ends with %v; it has failed: %t", query, err, broken.Failed)
				}
			}
		})
	}
}

func TestAPanicOnARowLeavesNoConnectionInUse(t *testing.T) {
	t.Parallel()
	address := storetest.Postgres(t)
	for _, mode := range append(unpreparedModes, "cache_statement") {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			engine := openPostgres(t, address, postgres.Options{QueryMode: mode, MaxConnections: 1})
			for range 2 {
				panicking := &dbconn.Statement{SQL: "SELECT 'first'", Row: func(func(...any) error) error { panic(errPanic) }}
				if err := runRecovered(t.Context(), engine, panicking, &dbconn.Statement{SQL: "SELECT 'last'"}); !errors.Is(err, errPanic) || !panicking.Failed {
					t.Errorf("a panic on a row ends with %v; its statement has failed: %t", err, panicking.Failed)
				}
			}
		})
	}
}

var errPanic = errors.New("a row that nobody can read")

// runRecovered runs statements, and returns the error with which a row panics.
func runRecovered(ctx context.Context, engine *postgres.Engine, statements ...*dbconn.Statement) (err error) {
	defer func() {
		if cause, ok := recover().(error); ok {
			err = cause
		}
	}()
	return engine.Run(ctx, statements...)
}
