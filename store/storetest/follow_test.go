package storetest_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

// patience is how long a test waits for something that happens at once, unless the machine is
// busy, or never.
const patience = 2 * time.Minute

// A follower is the store of one replica, which follows the others.
type follower struct {
	*sqlstore.Store
	lost chan error
	stop func() // stop ends Follow and waits for it.
}

func follow(t testing.TB, url string) *follower {
	t.Helper()
	f := &follower{Store: storetest.Open(t, url), lost: make(chan error, 100)}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Follow(ctx, func(err error) { f.lost <- err }) })
	f.stop = func() { cancel(); running.Wait() }
	t.Cleanup(f.stop)
	return f
}

// onPostgres runs test on the engine that has replicas.
func onPostgres(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	test(t, newWorld(t, storetest.Postgres(t)))
}

// awaitListeners waits until n connections listen, none of which has a process id in
// gone. It returns the process ids.
func (w *world) awaitListeners(n int, gone ...string) (pids []string) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		pids = nil
		for _, row := range w.query(w.openDirect(), "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %' ORDER BY pid") {
			if !slices.Contains(gone, row[0]) {
				pids = append(pids, row[0])
			}
		}
		if len(pids) == n {
			return pids
		}
	}
	w.t.Fatalf("%v listen, want %d", pids, n)
	return nil
}

// record stores an event through s.
func (w *world) record(s platform.Store, id string) error {
	return s.Write(w.t.Context(), func(tx core.Tx) error {
		tx.Record(&core.Event{ID: id, Body: []byte("{}"), Time: core.At(w.now())})
		return nil
	})
}

// awaitChange waits until changed is closed.
func (w *world) awaitChange(changed <-chan struct{}) {
	w.t.Helper()
	select {
	case <-changed:
	case <-time.After(patience):
		w.t.Fatal("nobody was woken")
	}
}

// expectWakes expects that events stored through one store wake the other. A new listener
// is also woken when it begins, so this stores more than one event.
func (w *world) expectWakes(one, other platform.Store) {
	w.t.Helper()
	for range 20 {
		changed := other.Changed()
		if err := w.record(one, newDice(uint64(time.Now().UnixNano())).hex(8)); err != nil {
			w.t.Fatal(err)
		}
		w.awaitChange(changed)
	}
}

func TestAnEventThatOneReplicaStoresWakesTheOthers(t *testing.T) {
	onPostgres(t, func(_ *testing.T, w *world) {
		one, other := follow(w.t, w.url), follow(w.t, w.url)
		w.awaitListeners(2)
		w.expectWakes(one, other)
		w.expectWakes(other, one)
		one.stop()
		changed := other.Changed()
		if err := w.record(other, "own"); err != nil {
			w.t.Fatal(err)
		}
		w.awaitChange(changed)
	})
}

// One NOTIFY for each commit would cost the server more than the commits.
func TestManyTransactionsShareOneNotification(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		one, third := follow(t, w.url), w.listenForPayloads()
		w.awaitListeners(2)
		const each = 50
		began := time.Now()
		runTogether(t, writers, func(i int) error {
			for n := range each {
				if err := w.record(one, fmt.Sprint(i, ".", n)); err != nil {
					return err
				}
			}
			return nil
		})
		one.stop()
		took := time.Since(began)
		w.exec(w.openDirect(), "SELECT pg_notify("+channel+", 'end')")
		told := 0
		for payload := third(); payload != "end"; payload = third() {
			if payload != "" { // An empty payload is an echo.
				told++
			}
		}
		if most := 1 + int(took/(20*time.Millisecond)); told == 0 || told > most {
			t.Errorf("%d transactions were told of %d times in %s, want 1 to %d", writers*each, told, took, most)
		}
	})
}

const channel = "'atrium_' || hashtextextended(current_schema(), 0)"

// listenForPayloads listens like one more replica. next waits for the next payload.
func (w *world) listenForPayloads() (next func() string) {
	w.t.Helper()
	ctx := w.t.Context()
	conn, err := pgx.Connect(ctx, w.url)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	name := w.query(w.openDirect(), "SELECT "+channel)[0][0]
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{name}.Sanitize()); err != nil {
		w.t.Fatal(err)
	}
	return func() string {
		w.t.Helper()
		within, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		told, err := conn.WaitForNotification(within)
		if err != nil {
			w.t.Fatal(err)
		}
		return told.Payload
	}
}

func TestAListenerThatIsKilledListensAgain(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		one, other := follow(t, w.url), follow(t, w.url)
		for range 3 {
			killed := w.awaitListeners(2)
			w.expectWakes(one, other) // Both replicas have notified each other.
			w.exec(w.openDirect(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN ("+killed[0]+", "+killed[1]+")")
			w.awaitListeners(2, killed...)
			w.expectWakes(one, other)
		}
		if len(one.lost)+len(other.lost) > 0 {
			t.Errorf("a listener that came back at once was reported: %v", <-other.lost)
		}
	})
}

// A notification is lost while nobody listens, so a replica must read the database when
// it listens again.
func TestAReplicaReadsWhatItMissedAfterAFailedListen(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		relay := storetest.NewRelay(t, w.url)
		one, other := follow(t, w.url), follow(t, relay.URL)
		w.awaitListeners(2)
		w.expectWakes(one, other)
		relay.Refuse()
		w.awaitListeners(1)
		select {
		case <-other.lost:
		case <-time.After(patience):
			t.Fatal("that others are not heard was not reported")
		}
		missed := other.Changed()
		if err := w.record(one, "missed"); err != nil {
			t.Fatal(err)
		}
		refused := relay.Refused()
		waitFor(t, "the replica does not try again", func() bool { return relay.Refused() > refused+1 })
		select {
		case <-missed:
			t.Fatal("it was heard through a relay that refuses")
		default:
		}
		relay.Cut()
		w.awaitChange(missed)
		if n := len(other.lost); n > 0 {
			t.Errorf("it was reported %d times more", n)
		}
		w.expectWakes(one, other)
	})
}

// A broken connection looks like one without notifications.
func TestASilentListenerChecksItsConnection(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		relay := storetest.NewRelay(t, w.url)
		one, other := follow(t, w.url), follow(t, relay.URL)
		w.awaitListeners(2)
		w.expectWakes(one, other)
		relay.Silence()
		select {
		case <-other.lost:
		case <-time.After(2 * patience):
			t.Fatal("the silence was not noticed")
		}
		relay.Cut()
		w.awaitListeners(2)
		w.expectWakes(one, other)
	})
}

func TestFollowingLeavesNothingBehind(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		listens := !w.onSQLite() && storetest.Direct(w.url) == w.url // A replica behind a pooler does not listen.
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			pprof.Do(ctx, pprof.Labels("follower", w.url), func(ctx context.Context) {
				w.store.Follow(ctx, func(err error) { t.Error(err) })
			})
		})
		if listens {
			w.awaitListeners(1)
		}
		if err := w.record(w.store, "told"); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "no goroutine follows", func() bool { return goroutinesOf(t, w.url) > 0 })
		cancel()
		running.Wait()
		if listens {
			w.awaitListeners(0)
		}
		waitFor(t, "goroutines are left", func() bool { return goroutinesOf(t, w.url) == 0 })
	})
}

func waitFor(t testing.TB, otherwise string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(otherwise)
		}
	}
}

// goroutinesOf counts a labeled goroutine and those that it started.
func goroutinesOf(t *testing.T, follower string) int {
	t.Helper()
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		t.Fatal(err)
	}
	return bytes.Count(all.Bytes(), fmt.Appendf(nil, "%q:%q", "follower", follower))
}

// A pooler in transaction mode accepts LISTEN, but no notification arrives. In this test,
// the listener finds another schema than the pool.
func TestListeningInVainIsReported(t *testing.T) {
	onPostgres(t, func(t *testing.T, w *world) {
		w.exec(w.openDirect(), "CREATE SCHEMA elsewhere")
		one := storetest.Open(t, w.url)
		w.exec(w.openDirect(), "DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET search_path = elsewhere'; END $$")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		var reason error
		one.Follow(ctx, func(err error) { reason = err; cancel() })
		if reason == nil || core.AsError(reason).Code == core.CodeUnavailable {
			t.Errorf("the reason is %v", reason)
		}
	})
}
