package storetest_test

import (
	"database/sql"
	"testing"
	"time"

	"atrium/store"
	"atrium/store/storetest"
)

// Each partition of events has the indexes of types, also those that are made later. An earlier
// attempt to migrate may have made some of them.
func TestEachPartitionOfEventsHasTheIndexesOfTypes(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	w := emptyVersion(t, url, 35)
	db := w.openDirect()
	w.exec(db, "CREATE INDEX event_past_type ON event_past (root, type, id) WHERE type <> '"+frequentEvent+"'")
	must[any](t)(nil, store.Migrate(t.Context(), url))
	w = newWorld(t, url)
	now := time.Now()
	w.partitionEvents(now, now.AddDate(0, 0, 9), 24*time.Hour)
	rows, err := db.QueryContext(t.Context(), "SELECT p.inhrelid::regclass::text, (SELECT count(*) FROM pg_index i JOIN pg_inherits h ON h.inhrelid = i.indexrelid"+
		" WHERE i.indrelid = p.inhrelid AND i.indisvalid AND pg_get_indexdef(h.inhparent) LIKE '% type, id)%') FROM pg_inherits p WHERE p.inhparent = 'event'::regclass")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	partitions := 0
	for rows.Next() {
		var name string
		var indexes int
		if err := rows.Scan(&name, &indexes); err != nil {
			t.Fatal(err)
		}
		if partitions++; indexes != 3 {
			t.Errorf("%s has %d indexes of types, want 3", name, indexes)
		}
	}
	if err := rows.Err(); err != nil || partitions < 3 {
		t.Errorf("%d partitions, %v, want event_past, event_future and another", partitions, err)
	}
}

// A server may drop a partition of old events while the migration makes the indexes.
func TestAPartitionIsDroppedWhileTheIndexesOfTypesAreMade(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyPostgres(t)
	w := emptyVersion(t, url, 35)
	db := w.openDirect()
	drop := must[*sql.Tx](t)(db.BeginTx(t.Context(), nil))
	defer func() { _ = drop.Rollback() }()
	must[sql.Result](t)(drop.ExecContext(t.Context(), "DROP TABLE event_past"))
	migrated := make(chan error, 1)
	go func() { migrated <- store.Migrate(t.Context(), url) }()
	waitFor(t, "the migration does not wait for the partition", func() bool {
		return w.query(db, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")[0][0] == "1"
	})
	must[any](t)(nil, drop.Commit())
	must[any](t)(nil, <-migrated)
}
