package storetest_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/store/storetest"
)

// A new server counts transactions from the beginning, so that restored rows have higher
// numbers than new ones.
func TestEventsOfAnotherServerAreMovedBeforeNewOnes(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		for _, name := range []string{"told-1", "told-2"} {
			w.repo(ctx, org.Group.UID, name)
		}
		w.relay(len(w.recordedTypes()))
		w.repo(ctx, org.Group.UID, "untold")
		if moved := must[bool](t)(w.store.MoveEvents(t.Context())); moved {
			t.Error("events of this server are moved")
		}
		before := w.recordedTypes()
		if w.onSQLite() {
			return
		}
		w.exec(w.openDirect(), "UPDATE event SET xact = xact + 1000000000")
		w.exec(w.openDirect(), "UPDATE relay SET xact = xact + 1000000000")
		w.repo(ctx, org.Group.UID, "new")
		if n := must[int](t)(w.p.Webhooks.Relay(t.Context())); n != 0 {
			t.Fatalf("%d events are relayed although they are of the future: the test shows nothing", n)
		}
		if moved := must[bool](t)(w.store.MoveEvents(t.Context())); !moved {
			t.Error("nothing is moved")
		}
		if moved := must[bool](t)(w.store.MoveEvents(t.Context())); moved {
			t.Error("they are moved again")
		}
		w.relay(2) // One was recorded before the move, and one after it.
		after := w.recordedTypes()
		if len(after) != len(before)+1 {
			t.Errorf("the feed gives %v, and gave %v", after, before)
		}
		feed := must[*events.Feed](t)(w.p.Events.Open(ctx, events.EventRequest{After: new(string), First: len(after)}))
		given := 0
		if err := feed.Follow(t.Context(), func(*core.Event) error { given++; return nil }); err != nil || given != len(after) {
			t.Errorf("from the oldest event on the feed gives %d of %d (%v)", given, len(after), err)
		}
	})
}

// Replicas that start together after a restore all find that the order is wrong. If the
// second one moved the position of the relay again, every event would be delivered again.
func TestReplicasThatStartAtOnceMoveEventsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.PostgresOrPooled(t)) // SQLite has no transaction ids
	ctx, org := w.createOrganization("acme")
	w.repo(ctx, org.Group.UID, "told")
	w.relay(len(w.recordedTypes()))
	w.exec(w.openDirect(), "UPDATE event SET xact = xact + 1000000000")
	w.exec(w.openDirect(), "UPDATE relay SET xact = xact + 1000000000")
	db := w.openDirect()
	other := must[*sql.Tx](t)(db.BeginTx(t.Context(), nil))
	if _, err := other.ExecContext(t.Context(), "LOCK TABLE counter IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	moved, done := make([]bool, 2), make(chan []error, 1)
	go func() {
		done <- runAtOnce(len(moved), func(i int) (err error) {
			moved[i], err = w.store.MoveEvents(context.WithoutCancel(t.Context()))
			return err
		})
	}()
	waitFor(t, "the replicas do not wait for the lock", func() bool { // until then, both have read the wrong order
		return w.query(db, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")[0][0] == "2"
	})
	if err := errors.Join(other.Rollback(), errors.Join(<-done...)); err != nil {
		t.Fatal(err)
	}
	if moved[0] == moved[1] {
		t.Errorf("moved: %v, want that one replica has", moved)
	}
	if n := must[int](t)(w.p.Webhooks.Relay(t.Context())); n != 0 {
		t.Errorf("%d events are relayed again, want 0", n)
	}
}

// relay relays events until want of them were relayed. A transaction of another test
// that ends while the relay looks at it may delay events until the next call.
func (w *world) relay(want int) {
	w.t.Helper()
	relayed := 0
	waitFor(w.t, "not all events are relayed", func() bool {
		relayed += must[int](w.t)(w.p.Webhooks.Relay(w.t.Context()))
		return relayed >= want
	})
	if relayed > want {
		w.t.Errorf("%d events were relayed, want %d", relayed, want)
	}
}
