package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// Two units wait for each other. The database undoes one of them, which must then run
// again.
func TestUnitsThatLostAreRunAgainAsAWhole(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		pair := w.repos(org.Group.UID, 2)
		var runs atomic.Int32
		var started sync.WaitGroup
		started.Add(2)
		runTogether(t, 2, func(i int) error {
			return w.store.Write(ctx, func(tx core.Tx) error {
				run := runs.Add(1)
				for n, at := range []int{i, 1 - i} {
					r := &inventory.Repo{UID: pair[at].UID, Description: fmt.Sprint("by ", i), UpdateTime: core.At(w.now())}
					if err := storetest.Tables.Inventory.Repos.Update(ctx, tx, r, "description"); err != nil {
						return err
					}
					if !w.onSQLite() && run <= 2 && n == 0 { // The first unit waits until the other has its first lock.
						started.Done()
						started.Wait()
					}
				}
				tx.Record(&core.Event{ID: fmt.Sprint("of ", i), Body: []byte("{}")})
				return storetest.Tables.Inventory.Tags.Insert(ctx, tx, &inventory.Tag{UID: newDice(uint64(i)).below(pair[i].UID), Name: "t"})
			})
		})
		if n := runs.Load(); !w.onSQLite() && n < 3 {
			t.Errorf("the units ran %d times, want at least 3", n)
		}
		first, second := must[*inventory.Repo](t)(w.p.Repos.Get(ctx, pair[0].UID)), must[*inventory.Repo](t)(w.p.Repos.Get(ctx, pair[1].UID))
		if first.Description == "" || first.Description != second.Description {
			t.Errorf("the two are %q and %q, want the same", first.Description, second.Description)
		}
		if n := len(w.recordedTypes()); n != 3+2 {
			t.Errorf("%d events are there, want 5", n)
		}
		w.checkCounters(t, 0)
	})
}

func TestWorkWhoseTimeIsUpChangesNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		repo := w.repos(org.Group.UID, 1)[0].UID
		short, cancel := context.WithCancel(ctx)
		err := w.store.Write(short, func(tx core.Tx) error {
			if err := storetest.Tables.Inventory.SetReadme(short, tx, repo, "half"); err != nil {
				return err
			}
			cancel()
			return storetest.Tables.Inventory.SetReadme(short, tx, repo, "whole")
		})
		if code := core.AsError(err).Code; code != core.CodeDeadlineExceeded {
			t.Errorf("got %v (%v), want DEADLINE_EXCEEDED", code, err)
		}
		if _, err := w.p.Repos.List(short, core.ListRequest[*inventory.RepoFilter]{}); core.AsError(err).Code != core.CodeDeadlineExceeded {
			t.Errorf("a list answers %v, want Code %v", err, core.CodeDeadlineExceeded)
		}
		if got := must[*inventory.Readme](t)(w.p.Repos.Readme(ctx, repo)); got.Content != "" {
			t.Errorf("the readme is %q, want Content \"\"", got.Content)
		}
	})
}

// A server that restarts or fails over may fail some requests, which clients can retry,
// and nothing else.
func TestLostConnectionsAreOpenedAgain(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.onSQLite() {
			t.Skip("there is no server to lose")
		}
		ctx, org := w.createOrganization("acme")
		runTogether(t, 8, func(int) error { return w.p.Ready(ctx) }) // This opens as many connections as the pool may have.
		w.exec(w.openDirect(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		for try := range 20 {
			_, err := w.p.Groups.Get(ctx, org.Group.UID)
			if err == nil {
				return
			}
			if !errors.Is(err, &core.Error{Code: core.CodeUnavailable}) {
				t.Fatalf("try %d: got %v, want UNAVAILABLE", try, err)
			}
		}
		t.Error("the pool did not recover")
	})
}

// expectUncertain expects the error of a COMMIT of which nobody knows whether it took effect. It
// must not invite a client to repeat the change.
func expectUncertain(t *testing.T, err error) {
	t.Helper()
	if e := core.AsError(err); e.Code != core.CodeAborted || e.Reason != "COMMIT_UNCERTAIN" || e.RetryAfter != 0 {
		t.Errorf("got %v (%s, retry after %v), want ABORTED (COMMIT_UNCERTAIN)", err, e.Reason, e.RetryAfter)
	}
}

// The server has committed, and its answer is lost. The unit must not run again.
func TestACommitWithoutAnAnswerIsUncertain(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.onSQLite() {
			t.Skip("there is no connection to lose")
		}
		relay := storetest.NewRelay(t, w.url)
		behind := storetest.Open(t, relay.URL)
		relay.LoseCommitOf("lost")
		expectUncertain(t, w.record(behind, "lost"))
		if err := w.record(behind, "next"); err != nil {
			t.Errorf("the next write: %v", err)
		}
		if n := len(w.recordedTypes()); n != 2 {
			t.Errorf("%d events are there, want 2", n)
		}
	})
}

// A COMMIT that the server has rejected is certain. One whose session has ended is not, because
// the session may be that of a pooler.
func TestACommitIsUncertainUnlessTheServerRejectsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		late   string // This runs during the COMMIT.
		expect func(*testing.T, error)
	}{
		"it has no room": {"RAISE EXCEPTION SQLSTATE '53100'", func(t *testing.T, err error) {
			t.Helper()
			if core.AsError(err).Code != core.CodeUnavailable {
				t.Errorf("got %v, want UNAVAILABLE", err)
			}
		}},
		"it conflicts": {"RAISE EXCEPTION SQLSTATE '40001'", func(t *testing.T, err error) {
			t.Helper()
			if e := core.AsError(err); e.Code != core.CodeAborted || e.Reason != "ABORTED" || e.RetryAfter == 0 {
				t.Errorf("got %v (%s), want ABORTED", err, e.Reason)
			}
		}},
		"its session ends": {"PERFORM pg_terminate_backend(pg_backend_pid())", expectUncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, storetest.Postgres(t))
			db := w.openDirect()
			w.exec(db, "CREATE FUNCTION be_late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+c.late+"; RETURN NULL; END $$")
			w.exec(db, "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION be_late()")
			c.expect(t, w.record(w.store, "late"))
		})
	}
}

// A process that hangs in a transaction, for example because it is suspended, must not
// delay the events of others for longer than its limit.
func TestAWriterThatHangsDelaysEventsNoLongerThanItsLimit(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.onSQLite() {
			t.Skip("a writer there waits for nobody but the one before it")
		}
		u, err := url.Parse(w.url)
		if err != nil {
			t.Fatal(err)
		}
		query := u.Query()
		query.Set("idle_in_transaction_session_timeout", "3s")
		u.RawQuery = query.Encode()
		hanging := storetest.Open(t, u.String())
		began, end := make(chan struct{}), make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- hanging.Write(t.Context(), func(tx core.Tx) error {
				if err := storetest.Tables.Webhooks.SetRelayPosition(t.Context(), tx, core.EventPosition{}); err != nil { // The transaction now has an id.
					return err
				}
				close(began)
				<-end
				return nil
			})
		}()
		<-began
		if err := w.record(w.store, "other"); err != nil {
			t.Fatal(err)
		}
		find := func() bool {
			events := must[[]*core.Event](t)(storetest.Tables.Events.EventsAfter(t.Context(), w.store, nil, core.EventPosition{}, 10))
			return slices.ContainsFunc(events, func(e *core.Event) bool { return e.ID == "other" })
		}
		if find() {
			t.Error("an event was read beside a writer with an earlier id")
		}
		waitFor(t, "a writer that hangs holds up events", find)
		close(end)
		if err := <-done; core.AsError(err).Code != core.CodeUnavailable {
			t.Errorf("the writer that hung got %v, want UNAVAILABLE", err)
		}
	})
}

// A demoted server keeps its connections and rejects writes. New connections find the
// promoted server.
func TestAServerThatTakesNoWritesIsLeft(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.onSQLite() || storetest.Direct(w.url) != w.url {
			t.Skip("there is no other server, or a pooler keeps connections to it")
		}
		demote := func(on string) {
			w.exec(w.openDirect(), "BEGIN READ WRITE; DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET default_transaction_read_only = "+on+"'; END $$; COMMIT")
		}
		demote("on")
		connected := storetest.Open(t, w.url)
		runTogether(t, 8, func(int) error {
			if err := w.record(connected, "one"); core.AsError(err).Code != core.CodeUnavailable {
				return fmt.Errorf("a server that takes no writes answers %w, want UNAVAILABLE", err)
			}
			return nil
		})
		demote("off")
		if err := w.record(connected, "two"); err != nil {
			t.Errorf("the server that was promoted is not found: %v", err)
		}
	})
}

// A process that commits drops the number of its virtual transaction before its locks. A
// reader that lists locks at this moment sees some with the number and some without, here
// by a view before that of the server. It must not take the writer for a foreign
// transaction and pass its event.
func TestAWriterThatCommitsWhileLocksAreListedIsNotPassed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if w.onSQLite() {
			t.Skip("there are no locks to list")
		}
		w.exec(w.openDirect(), `CREATE VIEW pg_locks AS SELECT locktype, database, relation, transactionid, classid, objid, objsubid, pid, mode, granted,
			CASE WHEN locktype = 'transactionid' THEN virtualtransaction ELSE '9/0' END AS virtualtransaction FROM pg_catalog.pg_locks`)
		u, err := url.Parse(storetest.Direct(w.url)) // A pooler rejects the search path.
		if err != nil {
			t.Fatal(err)
		}
		query := u.Query()
		query.Set("search_path", "public,pg_catalog")
		u.RawQuery = query.Encode()
		reader := storetest.Open(t, u.String())
		err = w.store.Write(t.Context(), func(tx core.Tx) error {
			if err := storetest.Tables.Webhooks.SetRelayPosition(t.Context(), tx, core.EventPosition{}); err != nil { // The transaction now has an id.
				return err
			}
			if err := w.record(w.store, "later"); err != nil {
				return err
			}
			if read := must[[]*core.Event](t)(storetest.Tables.Events.EventsAfter(t.Context(), reader, nil, core.EventPosition{}, 10)); len(read) != 0 {
				t.Errorf("a reader gets %s beside a writer with an earlier id", read[0].ID)
			}
			tx.Record(&core.Event{ID: "earlier", Body: []byte("{}")})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, "the reader does not get both events", func() bool {
			return len(must[[]*core.Event](t)(storetest.Tables.Events.EventsAfter(t.Context(), reader, nil, core.EventPosition{}, 10))) == 2
		})
	})
}

// A unit that panics holds no connection afterwards. SQLite has only one that writes.
func TestAUnitThatPanicsIsUndone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		repo := w.repos(org.Group.UID, 1)[0].UID
		func() {
			defer func() {
				if r := recover(); r != "unit" {
					t.Errorf("the panic is %v, want that of the unit", r)
				}
			}()
			_ = w.store.Write(ctx, func(tx core.Tx) error {
				r := &inventory.Repo{UID: repo, Description: "undone", UpdateTime: core.At(w.now())}
				if err := storetest.Tables.Inventory.Repos.Update(ctx, tx, r, "description"); err != nil {
					t.Error(err)
				}
				panic("unit")
			})
		}()
		waitFor(t, "the unit still has a connection", func() bool { return w.store.Pool().Used == 0 })
		if r := must[*inventory.Repo](t)(w.p.Repos.Get(ctx, repo)); r.Description != "" {
			t.Errorf("the description is %q, want none", r.Description)
		}
		w.repo(ctx, org.Group.UID, "later")
	})
}
