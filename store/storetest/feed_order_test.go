package storetest_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/store/sqlstore"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// A transaction of several rows may overwrite what a later transaction has committed. The feed
// has its event after the event of the other.
func TestTheFeedHasTheChangesOfAResourceInTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t))
	ctx, org := w.createOrganization("acme")
	var repos []core.UID
	for i := range 3 {
		repos = append(repos, must[*inventory.Repo](t)(w.p.Repos.Create(ctx, org.Group.UID, input[*inventory.Repo](fmt.Sprintf(`{"name": "r%d"}`, i)))).UID)
	}
	slices.Sort(repos)
	db := w.openDirect()
	other := must[*sql.Tx](t)(db.BeginTx(ctx, nil))
	defer func() { _ = other.Rollback() }()
	must[sql.Result](t)(other.ExecContext(ctx, "SELECT 1 FROM repo WHERE uid = $1 FOR UPDATE", packUID(repos[1])))

	rename := func(name string) fieldmask.Input[*inventory.Repo] {
		return input[*inventory.Repo](fmt.Sprintf(`{"name": %q}`, name))
	}
	changed := make(chan error, 1)
	go func() {
		requests := times(len(repos), func(i int) core.BatchRequest[*inventory.Repo] {
			return core.BatchRequest[*inventory.Repo]{UID: repos[i], Input: rename(fmt.Sprintf("batch-%d", i))}
		})
		_, err := w.p.Repos.UpdateBatch(ctx, requests)
		changed <- err
	}()
	waitFor(t, "the batch does not wait for the second repo", func() bool {
		return w.query(db, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")[0][0] == "1"
	})
	must[*inventory.Repo](t)(w.p.Repos.Update(ctx, repos[2], rename("single")))
	must[any](t)(nil, other.Rollback())
	must[any](t)(nil, <-changed)

	stored := must[*inventory.Repo](t)(w.p.Repos.Get(ctx, repos[2]))
	after := ""
	feed := must[*events.Feed](t)(w.p.Events.Open(ctx, events.EventRequest{After: &after}))
	ctx, stop := context.WithCancel(ctx)
	var names []string
	_ = feed.Follow(ctx, func(e *core.Event) error {
		if e.Subject == repos[2] {
			var repo inventory.Repo
			must[any](t)(nil, json.Unmarshal(e.Body, &repo))
			if names = append(names, repo.Name); len(names) == 3 {
				stop()
			}
		}
		return nil
	})
	if len(names) != 3 || names[1] != "single" || names[2] != stored.Name {
		t.Errorf("the feed has %v, and the stored name is %s, want that the feed ends with single and then this name", names, stored.Name)
	}
}

// A busyCluster is an engine of a cluster with transactions of other databases. Whether an event is settled follows from
// the locks of the moment, so it can have another answer when it is asked again: here only the first answer is yes.
type busyCluster struct{ dbconn.Engine }

func (e busyCluster) Dialect() *dbconn.Dialect {
	d := *e.Engine.Dialect()
	d.NoEarlierWriters = "e.xact < (SELECT CASE nextval('asked') WHEN 1 THEN 9223372036854775807 ELSE 0 END)"
	return &d
}

// The relay asks once what is settled, for events and for denied changes. Otherwise it would leave out a denied change, and
// pass it with a later event.
func TestNoDeniedChangeIsPassedByALaterEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t))
	root := newDice(12).root()
	must[sql.Result](t)(w.openDirect().ExecContext(t.Context(), "CREATE SEQUENCE asked"))
	for n, denied := range []string{"", "denied", ""} {
		e := &core.Event{ID: fmt.Sprintf("%s-%012x", core.FirstEventID(core.At(epoch))[:23], n), Type: fmt.Sprint(n), Subject: root, Group: root, Body: []byte("{}"), Time: core.At(epoch), Denied: denied, Denial: denied}
		must[any](t)(nil, w.store.Write(t.Context(), func(tx core.Tx) error { tx.Record(e); return nil }))
	}
	var types []string
	must[any](t)(nil, sqlstore.New(busyCluster{openEngine(t, w.url)}).Write(t.Context(), func(tx core.Tx) error {
		events, err := storetest.Tables.Webhooks.EventsToRelay(t.Context(), tx, core.EventPosition{}, 10)
		for _, e := range events {
			types = append(types, e.Type)
		}
		return err
	}))
	if !slices.Equal(types, []string{"0", "1", "2"}) {
		t.Errorf("the relay gets the events %v, want 0, 1 and 2", types)
	}
}
