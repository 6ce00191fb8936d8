package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/store/storetest"
)

// vacuumPatience is how long a test waits for a vacuum of a large partition, which keeps it
// from being sealed.
const vacuumPatience = 10 * time.Minute

// partitionEvents makes the partitions of events from a time to another, if the engine has
// partitions. The first call must come before the first event.
func (w *world) partitionEvents(from, to time.Time, width time.Duration) {
	w.t.Helper()
	if w.onSQLite() {
		return
	}
	first := core.FirstEventID(core.At(from))
	if db := w.openDirect(); w.query(db, "SELECT count(*) FROM event_partition")[0][0] == "2" {
		for _, statement := range []string{
			"ALTER TABLE event DETACH PARTITION event_past", "ALTER TABLE event DETACH PARTITION event_future",
			"ALTER TABLE event ATTACH PARTITION event_past FOR VALUES FROM (MINVALUE) TO ('" + first + "')",
			"ALTER TABLE event ATTACH PARTITION event_future FOR VALUES FROM ('" + first + "') TO (MAXVALUE)",
			"UPDATE event_partition SET first_id = '" + first + "' WHERE name = 'event_future'",
		} {
			w.exec(db, statement)
		}
	}
	for at := from; ; at = at.Add(width) {
		if at.After(to) {
			at = to
		}
		_, err := w.store.PartitionEvents(w.t.Context(), core.At(at), width)
		for deadline := time.Now().Add(vacuumPatience); errors.Is(err, context.DeadlineExceeded) && time.Now().Before(deadline); {
			_, err = w.store.PartitionEvents(w.t.Context(), core.At(at), width)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if at.Equal(to) {
			return
		}
	}
}

// partitions lists the names of the partitions of events.
func (w *world) partitions() []string {
	w.t.Helper()
	var names []string
	for _, row := range w.query(w.openDirect(), "SELECT name FROM event_partition ORDER BY first_id") {
		names = append(names, row[0])
	}
	return names
}

// A chronicle records events at times of its choice, and knows what was recorded.
type chronicle struct {
	*world
	root   core.UID
	number int
	events []*core.Event // in the order of the feed
}

func (c *chronicle) newEvent(at time.Time) *core.Event {
	c.number++
	e := &core.Event{
		ID: fmt.Sprintf("%s7000-8000-%012x", core.FirstEventID(core.At(at))[:14], c.number), Type: fmt.Sprint("type ", c.number%3),
		Subject: c.root, Group: c.root, Actor: core.EventActor{Subject: fmt.Sprint("actor ", c.number%2)}, Body: []byte("{}"), Time: core.At(at), Count: 1,
	}
	if c.number%5 == 0 {
		e.Denied, e.Denial = "denied", fmt.Sprint("denial ", c.number)
	}
	return e
}

// record stores one event for each time, each in its own transaction.
func (c *chronicle) record(times ...time.Time) {
	c.t.Helper()
	for _, at := range times {
		e := c.newEvent(at)
		c.insert(func(tx core.Tx) error { tx.Record(e); return nil })
		c.events = append(c.events, e)
	}
}

// checkFeed reads the feed from several positions, in small steps.
func (c *chronicle) checkFeed() {
	c.t.Helper()
	var want []string
	for _, e := range c.events {
		if e.Denied == "" {
			want = append(want, e.ID)
		}
	}
	for from := -1; from < len(want); from += 1 + len(want)/7 {
		at := core.EventPosition{}
		if from >= 0 {
			at, _, _ = c.store.EventPosition(c.t.Context(), want[from])
		}
		for _, roots := range [][]core.UID{nil, {c.root}, {c.root, newDice(99).root()}} {
			if got := c.awaitFeed(roots, at, 3, want[from+1:]); !slices.Equal(got, want[from+1:]) {
				c.t.Errorf("after %d the feed of %v has %d events, want %d:\n%v\n%v", from, roots, len(got), len(want)-from-1, got, want[from+1:])
			}
		}
	}
	last, _, _ := c.store.EventPosition(c.t.Context(), want[len(want)-1])
	waitFor(c.t, fmt.Sprintf("the newest position is not %v", last), func() bool {
		newest, _, err := c.store.EventPosition(c.t.Context(), "")
		return newest == last && err == nil
	})
}

// awaitFeed reads a feed until it has the events of want. A read may return fewer for a
// moment: those after a transaction of another database that ends during the read.
func (c *chronicle) awaitFeed(roots []core.UID, at core.EventPosition, step int, want []string) (got []string) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if got = c.readFeed(roots, at, step); slices.Equal(got, want) || time.Now().After(deadline) {
			return got
		}
	}
}

func (c *chronicle) readFeed(roots []core.UID, at core.EventPosition, step int) (ids []string) {
	c.t.Helper()
	for {
		events := must[[]*core.Event](c.t)(storetest.Tables.Events.EventsAfter(c.t.Context(), c.store, roots, at, step))
		for _, e := range events {
			at, ids = e.Position, append(ids, e.ID)
		}
		if len(events) < step {
			return ids
		}
	}
}

// checkLog reads the audit log in both directions, with filters.
func (c *chronicle) checkLog() {
	c.t.Helper()
	yes, no := true, false
	sorted := slices.Clone(c.events)
	slices.SortFunc(sorted, func(a, b *core.Event) int { return strings.Compare(b.ID, a.ID) })
	since, until := sorted[len(sorted)*3/4].Time, sorted[len(sorted)/4].Time
	for name, filter := range map[string]struct {
		req   events.AuditRequest
		keeps func(*core.Event) bool
	}{
		"all":      {events.AuditRequest{}, func(*core.Event) bool { return true }},
		"an actor": {events.AuditRequest{Actor: "actor 1"}, func(e *core.Event) bool { return e.Actor.Subject == "actor 1" }},
		"denied":   {events.AuditRequest{Denied: &yes}, func(e *core.Event) bool { return e.Denied != "" }},
		"made":     {events.AuditRequest{Denied: &no}, func(e *core.Event) bool { return e.Denied == "" }},
		"a time":   {events.AuditRequest{Since: since, Until: until}, func(e *core.Event) bool { return !e.Time.Before(since.Time) && e.Time.Before(until.Time) }},
	} {
		var want []string
		for _, e := range sorted {
			if filter.keeps(e) {
				want = append(want, e.ID)
			}
		}
		for _, backward := range []bool{false, true} {
			req := filter.req
			req.DescendantsOf, req.PageSize, req.Backward = c.root, 3, backward
			if got := c.readLog(req); !slices.Equal(got, want) {
				c.t.Errorf("the log of %s (backward: %v) has %v, want %v", name, backward, got, want)
			}
		}
	}
	for _, e := range sorted {
		if found, err := c.store.Event(c.t.Context(), e.ID); err != nil || found == nil || found.ID != e.ID {
			c.t.Errorf("the event %s is %v (%v)", e.ID, found, err)
		}
	}
}

// readLog reads all pages of the log.
func (c *chronicle) readLog(req events.AuditRequest) (ids []string) {
	c.t.Helper()
	for {
		page := must[events.AuditPage](c.t)(c.p.AuditLog.List(c.operator(), req))
		var more []string
		for _, e := range page.Items {
			more = append(more, e.ID)
		}
		if req.Backward {
			if ids = append(more, ids...); !page.HasPrevious {
				return ids
			}
			req.After = ids[0]
		} else {
			if ids = append(ids, more...); !page.HasNext {
				return ids
			}
			req.After = ids[len(ids)-1]
		}
	}
}

// quarters returns times a quarter of an hour apart.
func quarters(from time.Time, n int) []time.Time {
	return times(n, func(i int) time.Time { return from.Add(time.Duration(i) * 15 * time.Minute) })
}

// The feed and the log do not notice the boundaries of partitions, also if a clock goes
// back over a boundary after the partition was sealed. Without the trigger that opens the
// partition again, the feed loses these events.
func TestTheFeedAndTheLogCrossPartitions(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		c := &chronicle{world: w, root: newDice(5).root()}
		day := epoch.Add(24 * time.Hour)
		w.partitionEvents(day, day.Add(time.Hour), 2*time.Hour)
		c.record(quarters(day, 20)...)
		w.partitionEvents(day, day.Add(8*time.Hour), 2*time.Hour) // seals the first partitions
		c.record(quarters(day.Add(8*time.Hour), 10)...)
		c.checkFeed()
		c.checkLog()

		// A clock goes back, and others are wrong by years.
		c.record(day.Add(time.Minute), day.Add(9*time.Hour), day.Add(3*time.Hour), epoch.AddDate(-30, 0, 0), epoch.AddDate(70, 0, 0))
		c.record(quarters(day.Add(10*time.Hour), 5)...)
		c.checkFeed()
		c.checkLog()
		w.partitionEvents(day, day.Add(16*time.Hour), 3*time.Hour) // seals them again, with another width
		c.record(day.Add(2*time.Minute), day.Add(16*time.Hour))
		c.checkFeed()
		c.checkLog()
		if w.onSQLite() {
			return
		}
		if names := w.partitions(); len(names) < 8 {
			t.Errorf("the partitions are %v: the test shows little", names)
		}
		if moved := must[bool](t)(w.store.MoveEvents(t.Context())); moved {
			t.Error("events of this server are moved")
		}
		w.exec(w.openDirect(), "UPDATE event SET xact = xact + 1000000000") // as in a restored database
		w.exec(w.openDirect(), "UPDATE relay SET xact = xact + 1000000000")
		if moved := must[bool](t)(w.store.MoveEvents(t.Context())); !moved {
			t.Error("nothing is moved")
		}
		if n := w.query(w.openDirect(), "SELECT count(*) FROM event_partition WHERE last_xact < 9223372036854775807")[0][0]; n != "0" {
			t.Errorf("%s partitions are sealed with transactions of another server", n)
		}
		c.record(day.Add(17 * time.Hour))
		var all, ofRoot int
		waitFor(t, "after a restore the feeds are not complete", func() bool {
			all, ofRoot = len(c.readFeed(nil, core.EventPosition{Transaction: -1 << 62}, 7)), len(c.readFeed([]core.UID{c.root}, core.EventPosition{Transaction: -1 << 62}, 100))
			return all == ofRoot && all >= 30
		})
	})
}

// Whole partitions disappear, the oldest first, but none that has an event which was not
// relayed. A cursor of a dropped event is like that of any unknown event.
func TestOldPartitionsAreDroppedOnceTheirEventsAreRelayed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		c := &chronicle{world: w, root: newDice(6).root()}
		w.partitionEvents(epoch, epoch.Add(time.Hour), time.Hour)
		c.record(quarters(epoch.Add(-time.Hour), 24)...) // the first four are older than all partitions
		w.partitionEvents(epoch, epoch.Add(6*time.Hour), time.Hour)
		purge := func(before time.Time) {
			t.Helper()
			for must[int64](t)(w.store.PurgeEvents(t.Context(), core.FirstEventID(core.At(before)), 2)) == 2 {
			}
		}
		checkCount := func(want int) {
			t.Helper()
			if n := w.query(w.openDirect(), "SELECT count(*) FROM event")[0][0]; n != fmt.Sprint(want) {
				t.Errorf("%s events are left, want %d", n, want)
			}
		}
		setRelayed := func(number int) {
			t.Helper()
			at := w.query(w.openDirect(), "SELECT xact, seq FROM event WHERE id = '"+c.events[number].ID+"'")[0] // It can be a denial.
			w.exec(w.openDirect(), "UPDATE relay SET xact = "+at[0]+", seq = "+at[1])
		}
		if w.exec(w.openDirect(), "UPDATE relay SET xact = -1, seq = 0"); !w.onSQLite() {
			purge(epoch.Add(-45 * time.Minute))
			checkCount(24)
			purge(epoch.Add(2 * time.Hour))
			if checkCount(24); len(c.events) != 24 {
				t.Error("no event was relayed, and some are gone")
			}
			setRelayed(10) // in the second partition
			purge(epoch.Add(2 * time.Hour))
			if names := w.partitions(); names[1] != "event_20260101_010000" {
				t.Errorf("the partitions are %v", names)
			}
		}
		setRelayed(22)
		purge(epoch.Add(2 * time.Hour))
		checkCount(12)
		if _, found, err := w.store.EventPosition(t.Context(), c.events[3].ID); found || err != nil {
			t.Errorf("a deleted event is found (%v)", err)
		}
		after := c.events[3].ID
		_, err := w.p.Events.Open(w.operator(), events.EventRequest{After: &after})
		if code := core.AsError(err).Code; code != core.CodeInvalidArgument {
			t.Errorf("a feed after a deleted event answers %v", err)
		}
		c.events = c.events[12:]
		c.checkFeed()
		c.checkLog()
		c.record(epoch.Add(time.Minute)) // A clock is wrong: the id lies before all partitions.
		c.checkFeed()
		c.checkLog()
		setRelayed(12)
		purge(epoch.Add(2 * time.Hour))
		checkCount(12)
	})
}

// While partitions are made and dropped, all writes succeed, and a reader of the feed gets
// each event once. Without the lock of the whole table or without its short timeout, writes fail.
func TestServersWriteWhilePartitionsChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.PostgresOrPooled(t))
	c := &chronicle{world: w, root: newDice(7).root()}
	w.partitionEvents(epoch, epoch, time.Hour)
	var clock atomic.Int64 // minutes since epoch
	var written sync.Map
	var slowest atomic.Int64
	stop, done := make(chan struct{}), make(chan []error, 1)
	go func() {
		done <- runAtOnce(4, func(writer int) error {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return nil
				default:
				}
				at := epoch.Add(time.Duration(clock.Load()-int64(writer)*20) * time.Minute) // Their clocks differ.
				e := &core.Event{ID: fmt.Sprintf("%s7%03x-8000-%012x", core.FirstEventID(core.At(at))[:14], writer, n), Type: "t", Subject: c.root, Group: c.root, Body: []byte("{}"), Time: core.At(at), Count: 1}
				start := time.Now()
				err := w.store.Write(t.Context(), func(tx core.Tx) error { tx.Record(e); return nil })
				if err != nil {
					return err
				}
				written.Store(e.ID, true)
				slowest.Store(max(slowest.Load(), int64(time.Since(start))))
			}
		})
	}()
	read := map[string]int{}
	var at core.EventPosition
	readAll := func() {
		for {
			events := must[[]*core.Event](t)(storetest.Tables.Events.EventsAfter(t.Context(), w.store, nil, at, 100))
			for _, e := range events {
				at = e.Position
				read[e.ID]++
			}
			if len(events) < 100 {
				return
			}
		}
	}
	for hour := range 24 {
		clock.Store(int64(hour) * 60)
		now := core.At(epoch.Add(time.Duration(hour) * time.Hour))
		if _, err := w.store.PartitionEvents(t.Context(), now, time.Hour); err != nil {
			t.Fatal(err)
		}
		readAll()
		w.exec(w.openDirect(), fmt.Sprintf("UPDATE relay SET xact = %d, seq = %d", at.Transaction, at.Number))
		if _, err := w.store.PurgeEvents(t.Context(), core.FirstEventID(core.At(now.Add(-6*time.Hour))), 1000); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	for _, err := range <-done {
		if err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	written.Range(func(any, any) bool { count++; return true })
	// The newest events wait for transactions that are older, also of PostgreSQL itself.
	waitFor(t, "the newest events are not read", func() bool { readAll(); return len(read) >= count })
	written.Range(func(id, _ any) bool {
		if read[id.(string)] != 1 {
			t.Errorf("%v was read %d times, want once", id, read[id.(string)])
		}
		return true
	})
	if names := w.partitions(); len(names) > 13 || count < 100 {
		t.Errorf("%d events were written, and %d partitions are left: %v", count, len(names), names)
	}
	t.Logf("%d events; the slowest write took %s", count, time.Duration(slowest.Load()))
}

// A transaction that reads events for a long time, such as a backup, keeps partitions from
// being made and dropped, but no write waits for longer than the limit of one try.
func TestAnOpenReaderDelaysRetentionAndNoWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.PostgresOrPooled(t))
	c := &chronicle{world: w, root: newDice(8).root()}
	w.partitionEvents(epoch, epoch.Add(time.Hour), time.Hour)
	c.record(quarters(epoch, 8)...)
	w.partitionEvents(epoch, epoch.Add(4*time.Hour), time.Hour)
	w.exec(w.openDirect(), "UPDATE relay SET xact = 9223372036854775806")
	reader := must[interface {
		Rollback() error
	}](t)(w.beginReading("SELECT count(*) FROM event"))
	before := core.FirstEventID(core.At(epoch.Add(time.Hour)))
	purged := make(chan error, 1)
	go func() { _, err := w.store.PurgeEvents(t.Context(), before, 1000); purged <- err }()
	for waiting := true; waiting; {
		c.record(epoch.Add(4 * time.Hour)) // This fails if it waits for longer than the limit of all locks.
		select {
		case err := <-purged:
			if waiting = false; err == nil || !strings.Contains(err.Error(), "drop the partition event_20260101_000000") {
				t.Errorf("beside a reader, retention says %v", err)
			}
		default:
		}
	}
	c.checkFeed()
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	must[int64](t)(w.store.PurgeEvents(t.Context(), before, 1000))
	if names := w.partitions(); names[1] != "event_20260101_010000" {
		t.Errorf("the partitions are %v", names)
	}
}

// beginReading begins a transaction with a snapshot, and reads.
func (w *world) beginReading(query string) (interface{ Rollback() error }, error) {
	tx, err := w.openDirect().BeginTx(w.t.Context(), nil)
	if err == nil {
		_, err = tx.ExecContext(w.t.Context(), query)
	}
	return tx, err
}

// If no server ran for long, events are in event_future. They are moved into partitions, not
// too many at once, and keep their positions.
func TestEventsThatCameBeforeTheirPartition(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.PostgresOrPooled(t))
	c := &chronicle{world: w, root: newDice(9).root()}
	w.partitionEvents(epoch, epoch, time.Hour)
	c.record(quarters(epoch.Add(12*time.Hour), 40)...)
	c.record(epoch.Add(12*time.Hour), epoch.AddDate(50, 0, 0))
	const many = 45_000
	w.exec(w.openDirect(), fmt.Sprintf(`INSERT INTO event (id, type, root, subject, grp, actor, body, time)
		SELECT substr($1, 1, 14) || '7000-9000-' || lpad(to_hex(i), 12, '0'), 't', 'x', 'x', 'x', '{}', '{}', now() FROM generate_series(1, %d) i`, many), core.FirstEventID(core.At(epoch.Add(12*time.Hour-time.Second)))) // A partition ends where the move must end.
	c.checkLog()
	denied := len(slices.DeleteFunc(slices.Clone(c.events), func(e *core.Event) bool { return e.Denied == "" }))
	isComplete := func() bool {
		return len(c.readFeed(nil, core.EventPosition{}, 10_000)) == many+len(c.events)-denied
	}
	waitFor(t, "the feed is not complete", isComplete)
	before := c.readFeed([]core.UID{c.root}, core.EventPosition{}, 100)
	if _, err := w.store.PartitionEvents(t.Context(), core.At(epoch.Add(30*time.Hour)), time.Hour); err != nil {
		t.Fatal(err)
	}
	c.checkLog()
	c.checkFeedOf(before)
	waitFor(t, "the feed has not as many events as before", isComplete)
	if n := w.query(w.openDirect(), "SELECT count(*) FROM event_future")[0][0]; n != "1" { // the one of the year 2076
		t.Errorf("%s events are left in event_future, want 1; the partitions are %v", n, w.partitions())
	}
}

func (c *chronicle) checkFeedOf(want []string) {
	c.t.Helper()
	if got := c.awaitFeed([]core.UID{c.root}, core.EventPosition{}, 100, want); !slices.Equal(got, want) {
		c.t.Errorf("the feed is %v, want %v", got, want)
	}
}

// Equal denials share a row, also if several replicas record them at the same time.
func TestEqualDenialsShareARowOfAPartition(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		root := newDice(10).root()
		w.partitionEvents(epoch, epoch, time.Hour)
		const replicas, each = 8, 10
		at := core.At(epoch.Add(time.Hour - time.Second)) // just before a boundary
		runTogether(t, replicas, func(i int) error {
			for n := range each {
				e := &core.Event{
					ID: fmt.Sprintf("%s7000-8%03x-%012x", core.FirstEventID(at)[:14], i, n), Type: "t", Subject: root, Group: root, Body: []byte("{}"), Time: at,
					Denied: "denied", Denial: fmt.Sprint("denial ", n%2), Count: 3,
				}
				if err := w.store.Write(context.WithoutCancel(t.Context()), func(tx core.Tx) error { tx.Record(e); return nil }); err != nil {
					return err
				}
			}
			return nil
		})
		if rows := w.query(w.openDirect(), "SELECT denial, times FROM event WHERE denied <> '' ORDER BY denial"); fmt.Sprint(rows) != fmt.Sprintf("[[denial 0 %d] [denial 1 %[1]d]]", replicas*each*3/2) {
			t.Errorf("the denials are %v", rows)
		}
	})
}

// A process with a clock that is months ahead must not delete what the others keep.
func TestAWrongClockIsCorrected(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.PostgresOrPooled(t))
	const day = 24 * time.Hour
	used, err := w.store.PartitionEvents(t.Context(), core.At(time.Now().Add(100*day)), 7*day)
	if ahead := time.Until(used.Time); err != nil || ahead > day+time.Minute || ahead < day-time.Hour {
		t.Errorf("the time is %s ahead (%v), want a day at most", ahead, err)
	}
}

// Without a key, or another identity of their rows, tables cannot be changed once they are published to a copy of
// the database. The databases of all tests are published, so that a statement that forgets this fails there too.
func TestEveryTableAndPartitionCanBePublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.Postgres(t))
	const day = 24 * time.Hour
	now := time.Now()
	w.partitionEvents(now.Add(-3*day), now.Add(3*day), day)
	must[core.Time](t)(w.store.PartitionEvents(t.Context(), core.At(now.Add(3*day)), day))
	if err := w.store.PartitionDeliveries(t.Context(), core.At(now), day); err != nil {
		t.Fatal(err)
	}
	db := w.openDirect()
	if published := w.query(db, "SELECT count(*) FROM pg_publication WHERE puballtables")[0][0]; published != "1" {
		t.Fatalf("%s publications have all tables, want 1", published)
	}
	tables := w.query(db, `SELECT c.relname, c.relreplident = 'f' OR EXISTS (
			SELECT 1 FROM pg_index x WHERE x.indrelid = c.oid AND (c.relreplident = 'd' AND x.indisprimary OR c.relreplident = 'i' AND x.indisreplident))
		FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relpersistence = 'p'`)
	partitions := 0
	for _, row := range tables {
		if row[1] != "true" {
			t.Errorf("the rows of %s have no identity: %v", row[0], row)
		}
		if strings.HasPrefix(row[0], "event_2") || strings.HasPrefix(row[0], "delivery_2") {
			partitions++
		}
	}
	if partitions < 3 {
		t.Errorf("%d tables are partitions by time: %v", partitions, tables)
	}
}
