package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store"
	"atrium/store/postgres"
	"atrium/store/sqlstore"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// A standbyWorld has a platform that writes to the primary, and another process, reader,
// whose reads go to the standbys.
type standbyWorld struct {
	*world
	standbys []string // URLs
	store    *sqlstore.Store
	reader   *platform.Platform
	log      *lockedBuffer
	owner    context.Context //nolint:containedctx // This context serves the whole test.
	org      core.UID
}

// A lockedBuffer is a buffer for concurrent writers.
type lockedBuffer struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) count(text string) int {
	b.lock.Lock()
	defer b.lock.Unlock()
	return strings.Count(b.text.String(), text)
}

// newStandbyWorld opens the reader with the URLs that read returns, given the URLs of the
// standbys.
func newStandbyWorld(t *testing.T, read func(standbys []string) []string) *standbyWorld {
	t.Helper()
	url := ""
	storetest.Standbys(t, url)
	url = storetest.Postgres(t)
	w := &standbyWorld{world: newWorld(t, url), standbys: storetest.Standbys(t, url), log: new(lockedBuffer)}
	var org *iam.Organization
	w.owner, org = w.createOrganization("acme")
	w.org = org.Group.UID
	s, err := store.Open(t.Context(), url, store.Options{MaxConnections: 8, ReadURLs: read(w.standbys), Logger: slog.New(slog.NewTextHandler(w.log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	w.store, w.reader = s, w.replica(s)
	t.Cleanup(func() { w.onStandbys("SELECT pg_wal_replay_resume() WHERE pg_is_in_recovery()") })
	for _, standby := range w.standbys {
		waitFor(t, "a standby has not replayed the new database", func() bool { return accepts(standby) })
	}
	waitFor(t, "no standby answers", func() bool { return w.reads() > 0 || w.list(w.reader) == nil && w.reads() > 0 })
	return w
}

// accepts reports whether a server accepts a connection to a database.
func accepts(url string) bool {
	conn, err := pgx.Connect(context.Background(), url)
	if err == nil {
		_ = conn.Close(context.Background())
	}
	return err == nil
}

func useAll(standbys []string) []string { return standbys }

// newNaiveReader returns a reader whose reads go to an engine that checks nothing.
func (w *standbyWorld) newNaiveReader(answer func(primary *postgres.Engine) dbconn.Standbys) *platform.Platform {
	w.t.Helper()
	engine := must[*postgres.Engine](w.t)(postgres.Open(w.t.Context(), w.url, postgres.Options{MaxConnections: 4}))
	w.t.Cleanup(func() { _ = engine.Close() })
	return w.replica(sqlstore.New(naiveEngine{engine, answer(engine)}))
}

// A naiveEngine is an engine whose standbys check nothing.
type naiveEngine struct {
	*postgres.Engine
	standbys dbconn.Standbys
}

func (e naiveEngine) Standbys() dbconn.Standbys { return e.standbys }

// naiveStandbys is a naive implementation, which must fail the tests. It reads from a
// standby without any check, or with a check of the position only.
type naiveStandbys struct {
	engine    *postgres.Engine
	positions bool
}

func newNaiveStandbys(t testing.TB, url string, positions bool) func(*postgres.Engine) dbconn.Standbys {
	return func(*postgres.Engine) dbconn.Standbys {
		engine := must[*postgres.Engine](t)(postgres.Open(t.Context(), url, postgres.Options{MaxConnections: 4}))
		t.Cleanup(func() { _ = engine.Close() })
		return naiveStandbys{engine, positions}
	}
}

func (naiveStandbys) AskPosition(at *dbconn.Position) *dbconn.Statement {
	return &dbconn.Statement{SQL: "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint", Row: func(scan func(...any) error) error {
		at.History = "any"
		return scan(&at.Offset)
	}}
}

func (s naiveStandbys) Run(ctx context.Context, at dbconn.Position, statements ...*dbconn.Statement) (bool, error) {
	if s.positions {
		var replayed int64
		ask := &dbconn.Statement{SQL: "SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint", Row: func(scan func(...any) error) error { return scan(&replayed) }}
		if err := s.engine.Run(ctx, ask); err != nil || replayed < at.Offset {
			return false, err
		}
	}
	return true, s.engine.Run(ctx, statements...)
}

func (naiveStandbys) States() []dbconn.StandbyState { return nil }
func (naiveStandbys) Fallbacks() map[string]int64   { return nil }
func (naiveStandbys) Close()                        {}

// onStandbys runs a statement on all standbys, or only on the one with a number.
func (w *standbyWorld) onStandbys(statement string, numbers ...int) {
	w.t.Helper()
	for i, url := range w.standbys {
		if len(numbers) == 0 || numbers[0] == i {
			runSQL(w.t, url, statement)
		}
	}
}

func runSQL(t testing.TB, url, statement string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// request returns the context of a request of the owner that only reads.
func (w *standbyWorld) request(p *platform.Platform) context.Context {
	return p.AllowStandby(w.contextOn(p, "owner of acme"))
}

// maxListTime is how long a list may take. It is shorter than the time after which reads give
// up a silent server, since the watcher of a standby must notice that earlier.
const maxListTime = 4 * time.Second

// list lists the names of all repos.
func (w *standbyWorld) list(p *platform.Platform) []string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.request(p), maxListTime)
	defer cancel()
	page, err := p.Repos.List(ctx, core.ListRequest[*inventory.RepoFilter]{OrderBy: "name", PageSize: 200})
	if err != nil {
		w.t.Fatal(err)
	}
	var names []string
	for _, repo := range page.Items {
		names = append(names, repo.Name)
	}
	return names
}

// page lists the names on a page of two repos.
func (w *standbyWorld) page(p *platform.Platform, skip int) string {
	w.t.Helper()
	page, err := p.Repos.List(w.request(p), core.ListRequest[*inventory.RepoFilter]{OrderBy: "name", PageSize: 2, Skip: skip})
	if err != nil {
		w.t.Fatal(err)
	}
	return page.Items[0].Name + " " + page.Items[1].Name
}

// reads counts the reads that standbys have answered.
func (w *standbyWorld) reads() (n int64) {
	states, _ := w.store.Standbys()
	for _, s := range states {
		n += s.Reads
	}
	return n
}

func (w *standbyWorld) fallbacks(reason string) int64 {
	_, fallbacks := w.store.Standbys()
	return fallbacks[reason]
}

// awaitReads waits until standbys answer again.
func (w *standbyWorld) awaitReads() {
	w.t.Helper()
	before := w.reads()
	waitFor(w.t, "no standby answers", func() bool { w.list(w.reader); return w.reads() > before })
}

func (w *standbyWorld) create(name string) core.UID {
	w.t.Helper()
	return w.repo(w.owner, w.org, name)
}

// Each write of one process is in the next list of another process.
func TestAStandbyHasWhatWasAcknowledged(t *testing.T) {
	w := newStandbyWorld(t, useAll)
	for n := 1; n <= 100; n++ {
		w.create(fmt.Sprintf("repo-%03d", n))
		if got := len(w.list(w.reader)); got != n {
			t.Fatalf("after %d writes, a list has %d repos", n, got)
		}
	}
	_, fallbacks := w.store.Standbys()
	t.Logf("the standbys answered %d reads; the primary answered %v", w.reads(), fallbacks)
	if w.reads() < 50 {
		t.Errorf("the standbys answered %d of 100 lists: this test shows little", w.reads())
	}
}

// While the replay of all standbys is paused, the primary answers. A reader that checks
// nothing loses a write.
func TestAPausedStandbyIsLeftOutAndComesBack(t *testing.T) {
	w := newStandbyWorld(t, useAll)
	w.create("a")
	w.awaitReads()
	naive := w.newNaiveReader(newNaiveStandbys(t, w.standbys[0], false))
	waitFor(t, "the standby does not replay", func() bool { return len(w.list(naive)) == 1 })
	w.onStandbys("SELECT pg_wal_replay_pause()")
	w.create("b")
	if got := w.list(naive); len(got) != 1 {
		t.Errorf("a reader that checks nothing finds %v: this test shows nothing", got)
	}
	for range 20 {
		if got := w.list(w.reader); len(got) != 2 {
			t.Fatalf("a list of a paused standby has %v", got)
		}
	}
	if w.fallbacks("lag") == 0 {
		t.Error("no read has fallen back for lag")
	}
	waitFor(t, "the lag is not logged", func() bool { w.list(w.reader); return w.log.count("behind the primary") == 2 })
	w.onStandbys("SELECT pg_wal_replay_resume()")
	w.awaitReads()
	waitFor(t, "the return is not logged", func() bool { w.list(w.reader); return w.log.count("a standby answers reads") == 4 })
	if got := w.log.count("behind the primary"); got != 2 {
		t.Errorf("the lag of two standbys was logged %d times", got)
	}
}

// A standbyEngine is a naive implementation, which must fail the test: all reads go to a
// standby, also those that find out who the caller is.
type standbyEngine struct {
	*postgres.Engine
	standby *postgres.Engine
}

func (e standbyEngine) Run(ctx context.Context, statements ...*dbconn.Statement) error {
	return e.standby.Run(ctx, statements...)
}

// A right that was revoked has no effect on the next request, though no standby knows.
func TestARightIsNotReadFromAStandby(t *testing.T) {
	w := newStandbyWorld(t, useAll)
	w.create("a")
	alice := w.identity(w.owner, w.org, "alice")
	role, err := w.p.Roles.Create(w.owner, w.org, input[*iam.Role](`{"name":"reader","capabilities":["repo.list"]}`))
	if err != nil {
		t.Fatal(err)
	}
	binding := w.bind(w.owner, w.org, alice, role.UID)
	w.awaitReads()
	standby := must[*postgres.Engine](t)(postgres.Open(t.Context(), w.standbys[0], postgres.Options{MaxConnections: 4}))
	t.Cleanup(func() { _ = standby.Close() })
	primary := must[*postgres.Engine](t)(postgres.Open(t.Context(), w.url, postgres.Options{MaxConnections: 4}))
	t.Cleanup(func() { _ = primary.Close() })
	naive := w.replica(sqlstore.New(standbyEngine{primary, standby}))
	sees := func(p *platform.Platform) bool {
		page, err := p.Repos.List(p.AllowStandby(w.contextOn(p, "alice")), core.ListRequest[*inventory.RepoFilter]{UIDP: core.UIDFilter{ChildrenOf: w.org}})
		if err != nil && core.AsError(err).Code != core.CodePermissionDenied {
			t.Fatal(err)
		}
		return err == nil && len(page.Items) == 1
	}
	waitFor(t, "the standby does not replay", func() bool { return sees(naive) })
	if !sees(w.reader) {
		t.Error("a right that was granted has no effect")
	}
	w.onStandbys("SELECT pg_wal_replay_pause()")
	if err := w.p.RoleBindings.Delete(w.owner, binding); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if sees(w.reader) {
			t.Fatal("a right that was revoked has an effect")
		}
	}
	if !sees(naive) {
		t.Error("a reader that asks a standby for rights refuses: this test shows nothing")
	}
}

// Two standbys replay different parts of the log. The pages of one list come from either
// and repeat nothing.
func TestPagesOfTwoStandbysRepeatNothing(t *testing.T) {
	w := newStandbyWorld(t, useAll)
	a := w.create("a")
	for _, name := range []string{"b", "c", "d", "e"} {
		w.create(name)
	}
	w.awaitReads()
	ahead, behind := w.newNaiveReader(newNaiveStandbys(t, w.standbys[0], false)), w.newNaiveReader(newNaiveStandbys(t, w.standbys[1], false))
	waitFor(t, "the standby does not replay", func() bool { return len(w.list(behind)) == 5 })
	w.onStandbys("SELECT pg_wal_replay_pause()", 1)
	if err := w.p.Repos.Delete(w.owner, a); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the standby does not replay", func() bool { return len(w.list(ahead)) == 4 })
	if first, second := w.page(ahead, 0), w.page(behind, 2); first != "b c" || second != "c d" {
		t.Errorf("readers that check nothing find %s, %s: this test shows nothing", first, second)
	}
	for range 20 {
		if first, second := w.page(w.reader, 0), w.page(w.reader, 2); first != "b c" || second != "d e" {
			t.Fatalf("two pages are %s and %s, want b c and d e", first, second)
		}
	}
}

// A standby that refuses connections, loses them or falls silent is left out and comes back.
func TestADeadStandbyIsLeftOutAndComesBack(t *testing.T) {
	var relay *storetest.Relay
	w := newStandbyWorld(t, func(standbys []string) []string {
		relay = storetest.NewRelay(t, standbys[0])
		return []string{relay.URL}
	})
	w.create("a")
	for name, fail := range map[string]func(){"refuses": relay.Refuse, "is silent": relay.Silence, "loses connections": relay.Cut} {
		w.awaitReads()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range 50 {
				if got := w.list(w.reader); len(got) != 1 {
					t.Errorf("while the standby %s, a list has %v", name, got)
				}
			}
		}()
		fail()
		<-ended
		relay.Cut()
	}
	w.awaitReads()
	if w.log.count("a standby is left out") == 0 {
		t.Error("it is not logged that the standby is left out")
	}
}

// A URL leads to two servers, and the one that is asked for its position is ahead of the
// one that answers. The rows of that one are discarded.
func TestRowsOfAReplacedStandbyAreDiscarded(t *testing.T) {
	var relay *storetest.Relay
	w := newStandbyWorld(t, func(standbys []string) []string {
		relay = storetest.NewRelay(t, standbys[0])
		return []string{relay.URL}
	})
	w.create("a")
	w.awaitReads()
	w.onStandbys("SELECT pg_wal_replay_pause()", 1)
	w.create("b")
	w.awaitReads()
	if err := relay.Lead(w.standbys[1]); err != nil { // the watcher stays where it is
		t.Fatal(err)
	}
	waitFor(t, "no connection was made to the other server", func() bool {
		var lists sync.WaitGroup
		for range 8 { // more than there are connections to the first server
			lists.Go(func() {
				if got := w.list(w.reader); len(got) != 2 {
					t.Errorf("a list of a replaced standby has %v", got)
				}
			})
		}
		lists.Wait()
		return w.fallbacks("replaced") > 0 || t.Failed()
	})
	naive := w.newNaiveReader(newNaiveStandbys(t, relay.URL, false))
	if got := w.list(naive); len(got) != 1 {
		t.Errorf("a reader that checks nothing finds %v: this test shows nothing", got)
	}
	if err := relay.Lead(w.url); err != nil { // the primary is no standby
		t.Fatal(err)
	}
	relay.Cut()
	waitFor(t, "a server that is no standby is not left out", func() bool { w.list(w.reader); return w.log.count("not in recovery") == 1 })
	before := w.reads()
	w.list(w.reader)
	if w.reads() != before {
		t.Error("a server that is no standby answers")
	}
}

// The replay of a change cancels a read on a standby in the middle of its rows. None of
// them is passed on, so that the primary can answer.
func TestAReadThatAStandbyCancelsFallsBack(t *testing.T) {
	w := newStandbyWorld(t, func(standbys []string) []string { return standbys[:1] })
	uid := w.create("a")
	w.onStandbys("ALTER SYSTEM SET max_standby_streaming_delay = 0", 0)
	w.onStandbys("SELECT pg_reload_conf()", 0)
	t.Cleanup(func() {
		w.onStandbys("ALTER SYSTEM RESET max_standby_streaming_delay", 0)
		w.onStandbys("SELECT pg_reload_conf()", 0)
	})
	w.awaitReads()
	engine := must[*postgres.Engine](t)(postgres.Open(t.Context(), w.url, postgres.Options{MaxConnections: 4, ReadURLs: w.standbys[:1]}))
	t.Cleanup(func() { _ = engine.Close() })
	rows, fallen := 0, false
	waitFor(t, "no read was ended by replay", func() bool {
		var at dbconn.Position
		if err := engine.Run(t.Context(), engine.Standbys().AskPosition(&at)); err != nil {
			t.Fatal(err)
		}
		var churn sync.WaitGroup
		stop := make(chan struct{})
		churn.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := w.p.Repos.Update(w.owner, uid, input[*inventory.Repo](`{"name":"a"}`, "name"))
				if err != nil {
					t.Error(err)
					return
				}
				runSQL(t, w.url, "VACUUM repo")
			}
		})
		rows = 0
		done, err := engine.Standbys().Run(t.Context(), at, &dbconn.Statement{
			SQL: "SELECT g::bigint FROM generate_series(1, 40) g, LATERAL (SELECT pg_sleep(0.01 + 0 * g)) s",
			Row: func(scan func(...any) error) error { rows++; return scan(new(int64)) },
		})
		close(stop)
		churn.Wait()
		if err == nil && done && rows != 40 {
			t.Fatalf("a read has %d rows, want 40", rows)
		}
		fallen = !done && rows == 0
		return engine.Standbys().Fallbacks()["conflict"] > 0
	})
	if !fallen {
		t.Errorf("%d rows were passed on before the read was ended", rows)
	}
}

// A standby of another history is left out, though its position is high: it follows a
// server that was a primary before another was promoted.
func TestAStandbyOfAnOldTimelineIsLeftOut(t *testing.T) {
	w := newStandbyWorld(t, useAll)
	w.create("a")
	w.awaitReads()
	// Another role than a superuser, who sees the receiver of a standby, is enough.
	runSQL(t, w.url, "CREATE ROLE ordinary LOGIN PASSWORD 'ordinary' IN ROLE pg_read_all_data")
	promoted, old := w.standbys[0], w.standbys[1]
	waitFor(t, "the standbys do not replay", func() bool { return w.list(w.reader) != nil && hasRole(t, promoted) && hasRole(t, old) })
	runSQL(t, promoted, "SELECT pg_promote()")
	for n := range 50 { // the old timeline gets longer than the new one
		w.create(fmt.Sprintf("lost-%d", n))
	}
	p := newWorld(t, promoted)
	ctx := p.contextAs("owner of acme")
	p.repo(ctx, w.org, "b")

	engine := must[*postgres.Engine](t)(postgres.Open(t.Context(), promoted, postgres.Options{MaxConnections: 4}))
	t.Cleanup(func() { _ = engine.Close() })
	naive := p.replica(sqlstore.New(naiveEngine{engine, newNaiveStandbys(t, old, true)(nil)}))
	for name, read := range map[string]string{"superuser": old, "ordinary": replaceUser(t, old, "ordinary")} {
		log := new(lockedBuffer)
		s := must[*sqlstore.Store](t)(store.Open(t.Context(), promoted, store.Options{MaxConnections: 4, ReadURLs: []string{read}, Logger: slog.New(slog.NewTextHandler(log, nil))}))
		t.Cleanup(func() { _ = s.Close() })
		reader := p.replica(s)
		list := func(p *platform.Platform) string {
			page, err := p.Repos.List(p.AllowStandby(w.contextOn(p, "owner of acme")), core.ListRequest[*inventory.RepoFilter]{OrderBy: "name"})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, r := range page.Items {
				names = append(names, r.Name)
			}
			return strings.Join(names, " ")
		}
		waitFor(t, "the old timeline is not logged", func() bool {
			if got := list(reader); got != "a b" {
				t.Fatalf("%s: a list has %s, want a b", name, got)
			}
			return log.count("replayed timeline 1") == 1
		})
		if states, _ := s.Standbys(); states[0].Reads != 0 || states[0].Available {
			t.Errorf("%s: the standby of an old timeline answers", name)
		}
		if got := list(naive); strings.Contains(got, " b") {
			t.Errorf("a reader that compares positions only finds %s: this test shows nothing", got)
		}
	}
}

// hasRole reports whether a server has replayed the creation of the role ordinary.
func hasRole(t testing.TB, url string) bool {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	var n int
	err = conn.QueryRow(ctx, "SELECT count(*) FROM pg_roles WHERE rolname = 'ordinary'").Scan(&n)
	return err == nil && n == 1
}

// replaceUser returns the URL for another user, whose password is the user's name.
func replaceUser(t testing.TB, databaseURL, user string) string {
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(user, user)
	return u.String()
}

// SQLite has no standbys, and a malformed URL does not show its password.
func TestStandbyURLsAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, read, want string }{
		{storetest.SQLite(t), "postgres://a:secret@b/c", "no standbys"},
		{storetest.Postgres(t), "postgres://a:secret@b:port/c", "--read-database-url: the PostgreSQL URL is malformed"},
	} {
		s, err := store.Open(t.Context(), c.url, store.Options{ReadURLs: []string{c.read}})
		if err == nil {
			err = errors.Join(errors.New("opened"), s.Close())
		}
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("with %s, the error is %v, want %q in it", c.read, err, c.want)
		}
	}
}
