package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store"
	"atrium/store/pgpool"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

func openPooled(t *testing.T, url string, o store.Options) (s *sqlstore.Store, log *bytes.Buffer) {
	t.Helper()
	log = new(bytes.Buffer)
	o.Logger = slog.New(slog.NewTextHandler(log, nil))
	s, err := store.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, log
}

// This test shows what fails through a pooler in transaction mode, so that the next test
// is known to run through such a pooler.
func TestAPoolerDoesNotPassOnWhatBelongsToASession(t *testing.T) {
	t.Parallel()
	url := storetest.Pooled(t)
	ctx := t.Context()
	connect := func(url string) (*pgx.Conn, error) {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			t.Cleanup(func() { _ = conn.Close(context.Background()) })
		}
		return conn, err
	}
	if _, err := connect(url + "&statement_timeout=4s"); err == nil {
		t.Error("the pooler passes on settings of a session")
	}
	first := must[*pgx.Conn](t)(connect(url))
	second := must[*pgx.Conn](t)(connect(url))
	if _, err := first.Prepare(ctx, "one", "SELECT 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Exec(ctx, "BEGIN"); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Exec(ctx, "one"); err == nil {
		t.Error("the pooler passes on prepared statements")
	}
}

func TestAPoolerIsNoticedAndReportedOnce(t *testing.T) {
	t.Parallel()
	url := storetest.Pooled(t)
	for _, c := range []struct{ name, direct, said string }{
		{"alone", "", "unless --database-direct-url leads past the pooler"},
		{"with a direct URL", storetest.Direct(url), "received by --database-direct-url"},
	} {
		_, log := openPooled(t, url, store.Options{DirectURL: c.direct})
		if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), c.said) || !strings.Contains(log.String(), "not prepared") {
			t.Errorf("%s: the log is %q, want 1 and a text with 'not prepared'", c.name, log)
		}
	}
	_, log := openPooled(t, storetest.Direct(url), store.Options{})
	if log.Len() > 0 {
		t.Errorf("without a pooler the log is %q", log)
	}
}

// While other programs use the pooler, it runs each statement on another connection.
func TestAPoolerIsNoticedBesideOtherPrograms(t *testing.T) {
	t.Parallel()
	url := storetest.Pooled(t)
	runTogether(t, 4, func(int) error {
		for range 25 {
			pool, err := pgpool.Open(t.Context(), url, pgpool.Options{})
			if err != nil {
				return err
			}
			prepares := pool.Prepares
			pool.Close()
			if prepares {
				return errors.New("the pool uses prepared statements, which this pooler does not support")
			}
		}
		return nil
	})
}

func TestManyReadAndWriteThroughAPooler(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Pooled(t))
	w.checkReadsAndWrites(t)
	ctx, org := w.createOrganization("other")
	runTogether(t, 16, func(i int) error {
		for n := range 10 {
			if _, err := w.p.Repos.Create(ctx, org.Group.UID, input[*inventory.Repo](fmt.Sprintf(`{"name": "r-%d-%d"}`, i, n))); err != nil {
				return err
			}
		}
		return nil
	})
}

// A transaction must not leave its settings in the connection of the pooler.
func TestLimitsOfATransactionEndWithIt(t *testing.T) {
	t.Parallel()
	url := storetest.Pooled(t)
	w := newWorld(t, url)
	limit := func() (found string) {
		err := w.store.Write(t.Context(), func(tx core.Tx) error {
			if err := storetest.Tables.Webhooks.SetRelayPosition(t.Context(), tx, core.EventPosition{}); err != nil { // The transaction begins with its first statement.
				return err
			}
			found = w.query(w.openDirect(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1635021417 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")[0][0]
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if n := limit(); n != "1" {
		t.Errorf("%s writers' locks are held, want 1", n)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var after string
	if err := conn.QueryRow(t.Context(), "SELECT current_setting('statement_timeout') || current_setting('idle_in_transaction_session_timeout')", pgx.QueryExecModeSimpleProtocol).Scan(&after); err != nil || after != "00" {
		t.Errorf("a connection is left with limits %s, want 00 (%v)", after, err)
	}
}

func TestReplicasBehindAPoolerHearEachOtherByADirectURL(t *testing.T) {
	t.Parallel()
	url := storetest.Pooled(t)
	w := newWorld(t, url)
	one, other := followPooled(t, url), followPooled(t, url)
	w.awaitListeners(2)
	w.expectWakes(one, other)
	w.expectWakes(other, one)
}

func followPooled(t *testing.T, url string) *sqlstore.Store {
	t.Helper()
	s, _ := openPooled(t, url, store.Options{DirectURL: storetest.Direct(url)})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.Follow(ctx, func(err error) { t.Error(err) }) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return s
}

// LISTEN through a pooler stays on one of its connections. Its later users would receive
// all notifications.
func TestNobodyListensThroughAPooler(t *testing.T) {
	t.Parallel()
	url := storetest.Pooled(t)
	w := newWorld(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.store.Follow(ctx, func(err error) { t.Error(err) }) })
	for i := range 20 {
		if err := w.record(w.store, fmt.Sprint("event ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if n := w.query(w.openDirect(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'")[0][0]; n != "0" {
		t.Errorf("%s connections listen, want 0", n)
	}
	cancel()
	running.Wait()
}

func TestLocksForMigrationsExcludeEachOtherThroughAPooler(t *testing.T) {
	t.Parallel()
	url := storetest.Pooled(t)
	var lock sync.Mutex
	runTogether(t, 6, func(int) error {
		p, err := pgpool.Open(t.Context(), url, pgpool.Options{MaxConnections: 2})
		if err != nil {
			return err
		}
		defer p.Close()
		release, err := p.Lock(t.Context(), "42")
		if err != nil {
			return err
		}
		defer release()
		if !lock.TryLock() {
			t.Error("two have the lock")
			return nil
		}
		defer lock.Unlock()
		_, err = p.Exec(t.Context(), "SELECT pg_sleep(0.05)") // It uses another connection.
		return err
	})
}
