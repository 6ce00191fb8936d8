package storetest_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/store"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

// oldEvents writes events into a database of schema 32, as servers of that time did.
type oldEvents struct {
	*world
	db      *sql.DB
	root    platform.UID
	written []string
	denials int
}

func newOldEvents(t *testing.T) *oldEvents {
	w := emptyVersion(t, storetest.EmptyPostgres(t), 32)
	return &oldEvents{world: w, db: w.openDirect(), root: newDice(21).root()}
}

const insertOldEvent = "INSERT INTO event (id, type, root, g2, g3, subject, grp, actor, actor_subject, body, time, denied, changes"

// write records an event, and a denial for each tenth.
func (o *oldEvents) write(at time.Time) error {
	n := len(o.written)
	id := fmt.Sprintf("%s7000-8000-%012x", platform.FirstEventID(platform.At(at))[:14], n)
	_, err := o.db.ExecContext(o.t.Context(), insertOldEvent+") VALUES ($1, 't', $2, NULL, NULL, $2, $2, '{}', '', '{}', $3, '', '')", id, string(o.root), at)
	if err == nil {
		o.written = append(o.written, id)
	}
	if err == nil && n%10 == 0 {
		_, err = o.db.ExecContext(o.t.Context(), insertOldEvent+", times, denial) VALUES ($1, 't', $2, NULL, NULL, $2, $2, '{}', '', '{}', $3, 'denied', '', 1, 'd')"+
			" ON CONFLICT (denial) WHERE denial IS NOT NULL DO UPDATE SET times = event.times + excluded.times", strings.Replace(id, "-8000-", "-9000-", 1), string(o.root), at)
		if err == nil {
			o.denials++
		}
	}
	return err
}

// check expects all events that were written, in their order, in the feed and the log of
// this version.
func (o *oldEvents) check(t *testing.T, w *world) {
	t.Helper()
	c := &chronicle{world: w, root: o.root}
	c.checkFeedOf(o.written)
	req := platform.AuditRequest{DescendantsOf: o.root, PageSize: 500}
	if got, want := len(c.readLog(req)), len(o.written)+1; got != want {
		t.Errorf("the log has %d entries, want %d", got, want)
	}
	yes := true
	if page := must[platform.AuditPage](t)(w.p.AuditLog.List(w.operator(), platform.AuditRequest{DescendantsOf: o.root, Denied: &yes})); len(page.Items) != 1 || int(page.Items[0].Count) != o.denials {
		t.Errorf("the denials are %+v, want %d of them in one row", page.Items, o.denials)
	}
}

// Servers of the previous version record events and denials while the table becomes
// partitions, and events even afterwards.
func TestServersWriteWhileEventsBecomePartitions(t *testing.T) {
	t.Parallel()
	o := newOldEvents(t)
	now := time.Now()
	for range 3_000 {
		must[any](t)(nil, o.write(now))
	}
	done := make(chan error, 1)
	m := must[*sqlstore.Migrator](t)(openEngine(t, o.url).Migrator(t.Context()))
	t.Cleanup(func() { _ = m.Close() })
	go func() { done <- m.UpTo(t.Context(), 33) }()
	var slowest time.Duration
	for migrated := false; !migrated; {
		start := time.Now()
		err := o.write(time.Now())
		slowest = max(slowest, time.Since(start))
		if err != nil && !strings.Contains(err.Error(), "42P10") { // The last step has been done: denials have no unique index any more.
			t.Fatal("servers cannot write during the upgrade:", err)
		}
		select {
		case failed := <-done:
			if migrated = true; failed != nil {
				t.Fatal(failed)
			}
		default:
		}
	}
	if len(o.written) == 3_000 || slowest > 2*time.Second {
		t.Errorf("%d events were written during the upgrade, one in %s", len(o.written)-3_000, slowest)
	}
	for len(o.written)%10 != 0 {
		must[any](t)(nil, o.write(time.Now()))
	}
	if err := o.write(time.Now()); err == nil || !strings.Contains(err.Error(), "42P10") {
		t.Errorf("a denial of the previous version answers %v", err)
	}
	must[any](t)(nil, store.Migrate(t.Context(), o.url))
	o.check(t, newWorld(t, o.url))
}

// An interrupted migration leaves no limit behind, and the next one resumes. Wrong clocks of
// earlier times do not prevent it.
func TestTheMigrationOfEventsIsInterrupted(t *testing.T) {
	t.Parallel()
	o := newOldEvents(t)
	for i := range 500 {
		must[any](t)(nil, o.write(time.Now().AddDate(0, 0, i-500)))
	}
	must[any](t)(nil, o.write(time.Now().AddDate(80, 0, 0)))
	interrupted := 0
	for patience := 30 * time.Millisecond; ; patience = patience * 5 / 4 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := store.Migrate(ctx, o.url)
		stopped := ctx.Err() != nil || err != nil && strings.Contains(err.Error(), "timeout") // A driver notices the end of ctx first.
		cancel()
		if err == nil {
			break
		}
		if !stopped {
			t.Fatal(err)
		}
		interrupted++
		if err := o.write(time.Now().AddDate(90, 0, interrupted)); err != nil && !strings.Contains(err.Error(), "42P10") {
			t.Fatalf("after an interruption a server with a wrong clock cannot write: %v", err)
		}
	}
	if interrupted == 0 {
		t.Error("the migration was not interrupted")
	}
	must[any](t)(nil, store.Migrate(t.Context(), o.url))
	o.check(t, newWorld(t, o.url))
}

// If the last step fails, the limit of ids is removed, so servers of the previous version
// can record events for as long as they like.
func TestAFailedMigrationOfEventsLeavesNoLimit(t *testing.T) {
	t.Parallel()
	o := newOldEvents(t)
	must[any](t)(nil, o.write(time.Now()))
	o.exec(o.db, "CREATE TABLE event_future (id int)")
	if err := store.Migrate(t.Context(), o.url); err == nil || !strings.Contains(err.Error(), "event_future") {
		t.Fatalf("the migration answers %v", err)
	}
	if err := o.write(time.Now().AddDate(1, 0, 0)); err != nil {
		t.Errorf("a server with a later clock cannot write: %v", err)
	}
	o.exec(o.db, "DROP TABLE event_future")
	must[any](t)(nil, store.Migrate(t.Context(), o.url))
	o.check(t, newWorld(t, o.url))
}

// A process that is killed leaves the limit of ids behind. The next migration sets
// another one.
func TestTheMigrationOfEventsFindsAnOlderLimit(t *testing.T) {
	t.Parallel()
	o := newOldEvents(t)
	must[any](t)(nil, o.write(time.Now()))
	o.exec(o.db, "ALTER TABLE event ADD CONSTRAINT event_end CHECK (id < '"+platform.FirstEventID(platform.At(time.Now().Add(time.Hour)))+"') NOT VALID")
	must[any](t)(nil, store.Migrate(t.Context(), o.url))
	w := newWorld(t, o.url)
	if n := w.query(w.openDirect(), "SELECT count(*) FROM pg_constraint WHERE conname = 'event_end'")[0][0]; n != "0" {
		t.Errorf("%s limits are left, want none", n)
	}
	o.check(t, w)
}

// Identifiers that are no UUIDs, which only SQL can have written, stay readable.
func TestTheMigrationKeepsEventsWithOddIDs(t *testing.T) {
	t.Parallel()
	o := newOldEvents(t)
	must[any](t)(nil, o.write(time.Now()))
	o.exec(o.db, insertOldEvent+") VALUES ('it''s late', 't', $1, NULL, NULL, $1, $1, '{}', '', '{}', now(), '', '')", string(o.root))
	o.written = append(o.written, "it's late")
	must[any](t)(nil, store.Migrate(t.Context(), o.url))
	w := newWorld(t, o.url)
	if err := w.p.Maintain(t.Context()); err == nil || !strings.Contains(err.Error(), `before the id "it's late0"`) {
		t.Errorf("that there will be no partitions is told by %v", err)
	}
	o.check(t, w)
}

// oldDeliveries writes deliveries into a database of schema 33, as servers of that time did.
type oldDeliveries struct {
	*world
	db      *sql.DB
	written int
}

func newOldDeliveries(t *testing.T) *oldDeliveries {
	w := emptyVersion(t, storetest.EmptyPostgres(t), 33)
	o := &oldDeliveries{world: w, db: w.openDirect()}
	for _, statement := range []string{
		"INSERT INTO grp (uid, root, name, description, resource_limits, verified, kind, status, create_time, update_time) VALUES ('\\x01020304', '\\x01020304', 'g', '', '', false, '', '', now(), now())",
		"INSERT INTO subscription (uid, root, parent, sink, types, secret, create_time, update_time) VALUES ('\\x05', '\\x01020304', '\\x01020304', 'https://sink.example.com', '', '', now(), now())",
	} {
		w.exec(o.db, statement)
	}
	return o
}

// write stores two deliveries, of which one ends at a time.
func (o *oldDeliveries) write(ended time.Time) error {
	const insert = `INSERT INTO delivery (uid, root, parent, event_id, event_type, state, stage, attempts, last_status, last_error, last_answer, last_attempt_time, next_attempt_time, create_time, update_time)
		VALUES (decode(lpad(to_hex($1::int), 8, '0'), 'hex'), '\x01020304', '\x05', $1::text, 't', 'PENDING', 2, 0, 0, '', '', now(), now(), now(), now())`
	for range 2 {
		if _, err := o.db.ExecContext(o.t.Context(), insert, o.written); err != nil {
			return err
		}
		o.written++
	}
	_, err := o.db.ExecContext(o.t.Context(), "UPDATE delivery SET stage = 4, state = 'DELIVERED', update_time = $2 WHERE event_id = $1", fmt.Sprint(o.written-1), ended)
	return err
}

// check expects as many deliveries in each stage as were written, and the same tables as in
// a new database.
func (o *oldDeliveries) check(t *testing.T) {
	t.Helper()
	want := fmt.Sprintf("[[2 %d] [4 %[1]d]]", o.written/2)
	if got := fmt.Sprint(o.query(o.db, "SELECT stage, count(*) FROM delivery GROUP BY stage ORDER BY stage")); got != want {
		t.Errorf("the deliveries by stage are %s, want %s", got, want)
	}
	if n := o.query(o.db, "SELECT count(*) FROM pg_constraint WHERE conname = 'delivery_end'")[0][0]; n != "0" {
		t.Errorf("%s limits are left, want none", n)
	}
	s := storetest.Open(t, o.url)
	for _, at := range []time.Time{time.Now().AddDate(0, 0, 20), time.Now().AddDate(0, 0, 40)} {
		if err := s.PartitionDeliveries(t.Context(), platform.At(at), 10*24*time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.PurgeDeliveries(t.Context(), platform.At(time.Now().AddDate(0, 0, 30)), 1_000_000); err != nil {
		t.Fatal(err)
	}
	if n := o.query(o.db, "SELECT count(*) FROM delivery WHERE stage = 4 AND update_time < now() + interval '5 days'")[0][0]; n != "0" {
		t.Errorf("%s old deliveries are left", n)
	}
}

// Servers of the previous version create and end deliveries while the table becomes
// partitions, and afterwards.
func TestServersWriteWhileDeliveriesBecomePartitions(t *testing.T) {
	t.Parallel()
	o := newOldDeliveries(t)
	for range 1_000 {
		must[any](t)(nil, o.write(time.Now()))
	}
	before, done := o.written, make(chan error, 1)
	go func() { done <- store.Migrate(t.Context(), o.url) }()
	var slowest time.Duration
	for migrated := false; !migrated; {
		start := time.Now()
		must[any](t)(nil, o.write(time.Now()))
		slowest = max(slowest, time.Since(start))
		select {
		case failed := <-done:
			if migrated = true; failed != nil {
				t.Fatal(failed)
			}
		default:
		}
	}
	if o.written == before || slowest > 2*time.Second {
		t.Errorf("%d deliveries were written during the upgrade, one in %s", o.written-before, slowest)
	}
	must[any](t)(nil, o.write(time.Now()))
	must[any](t)(nil, o.write(time.Now().AddDate(1, 0, 0))) // a wrong clock
	must[any](t)(nil, o.write(time.Now().AddDate(-1, 0, 0)))
	o.check(t)
}

// Interrupted and failed migrations leave no limit behind, and the next one resumes. Wrong
// clocks of earlier times do not prevent it.
func TestTheMigrationOfDeliveriesIsInterrupted(t *testing.T) {
	t.Parallel()
	o := newOldDeliveries(t)
	must[any](t)(nil, o.write(time.Now()))
	must[any](t)(nil, o.write(time.Now().Add(240*time.Hour).Truncate(time.Hour)))
	o.exec(o.db, "ALTER TABLE delivery ADD CONSTRAINT delivery_end CHECK (stage < 5) NOT VALID") // of a process that was killed
	o.exec(o.db, "CREATE TABLE delivery_future (id int)")
	if err := store.Migrate(t.Context(), o.url); err == nil || !strings.Contains(err.Error(), "delivery_future") {
		t.Fatalf("the migration answers %v", err)
	}
	if err := o.write(time.Now().AddDate(0, 1, 0)); err != nil {
		t.Errorf("a server with a later clock cannot write: %v", err)
	}
	o.exec(o.db, "DROP TABLE delivery_future")
	must[any](t)(nil, store.Migrate(t.Context(), o.url))
	if err := storetest.Open(t, o.url).PartitionDeliveries(t.Context(), platform.At(time.Now()), 24*time.Hour); err == nil || !strings.Contains(err.Error(), "delivery_active has all deliveries that end before") {
		t.Errorf("that there will be no partitions for weeks is told by %v", err)
	}
	o.check(t)
}

// The operator may migrate as another role than the servers use. They must be able to use
// the partitions as they used the table.
func TestPartitionsHaveTheOwnerAndThePrivilegesOfTheTable(t *testing.T) {
	t.Parallel()
	for table, version := range map[string]int64{"event": 32, "delivery": 33} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			w := emptyVersion(t, storetest.EmptyPostgres(t), version)
			db, owner, reader := w.openDirect(), w.createRole("LOGIN"), w.createRole("LOGIN")
			w.exec(db, "ALTER TABLE "+table+" OWNER TO "+owner)
			w.exec(db, "GRANT SELECT ON "+table+" TO "+reader+", PUBLIC")
			must[any](t)(nil, store.Migrate(t.Context(), w.url))
			rows := w.query(db, "SELECT c.relname, pg_get_userbyid(c.relowner), c.relacl::text LIKE '%'||$2||'=r/%', c.relacl::text LIKE '%,=r/%' FROM pg_class c"+
				" WHERE c.oid = $1::regclass OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = $1::regclass)", table, reader)
			if len(rows) < 3 {
				t.Errorf("the tables are %v, want %s and its partitions", rows, table)
			}
			for _, row := range rows {
				if got, want := fmt.Sprint(row[1:]), fmt.Sprint([]string{owner, "true", "true"}); got != want {
					t.Errorf("%s has the owner, and privileges for the reader and for all, %s, want %s", row[0], got, want)
				}
			}
		})
	}
}
