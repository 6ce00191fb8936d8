//go:build unix

package storetest_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/store"
	"atrium/store/storetest"
)

// maxPromotionTime is the time after a promotion within which writes must be acknowledged
// again.
const maxPromotionTime = 5 * time.Second

// The primary is killed under load, and its synchronous standby is promoted. The standby
// must have all acknowledged events, and a reader of the feed must get each event once.
func TestAPromotedStandbyHasWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	address := os.Getenv("ATRIUM_TEST_STANDBY")
	if address == "" {
		t.Skip("there is no standby: run the test as `scripts/with-standby go test ./store/storetest -run Promoted`")
	}
	if err := store.Migrate(t.Context(), address, nil); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, address)
	load := newLoad(t, w)
	load.awaitMore(200)
	pid, err := strconv.Atoi(os.Getenv("ATRIUM_TEST_PRIMARY_PID"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	promote(t, address)
	promoted := time.Now()
	load.awaitMore(1)
	took := time.Since(promoted)
	t.Logf("writes were acknowledged again %s after the promotion", took.Round(time.Millisecond))
	if took > maxPromotionTime {
		t.Errorf("writes were acknowledged again %s after the promotion, want %s at most", took, maxPromotionTime)
	}
	load.awaitMore(200)
	load.check()
}

// The standby is promoted while the primary still takes writes, so that it lacks the newest
// events, and then the primary is stopped. The feed has delivered those events, and must not
// continue after them.
func TestAFeedAheadOfItsDatabaseEnds(t *testing.T) {
	t.Parallel()
	primary := os.Getenv("ATRIUM_TEST_POSTGRES")
	standby := storetest.Standbys(t, primary)[0] // skips the test if there is none
	if err := store.Migrate(t.Context(), primary, nil); err != nil {
		t.Fatal(err)
	}
	hostOf := func(address string) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		return u.Host
	}
	w := newWorld(t, strings.Replace(primary, hostOf(primary), hostOf(primary)+","+hostOf(standby), 1))
	ctx, org := w.createOrganization("acme")
	group := org.Group.UID
	w.repo(ctx, group, "kept")
	log := new(lockedBuffer)
	p := must[*platform.Platform](t)(platform.New(t.Context(), w.store, platform.Options{Logger: slog.New(slog.NewTextHandler(log, nil))}))
	onStandby := func() (found string) {
		conn, err := pgx.Connect(t.Context(), standby)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = conn.Close(context.Background()) }()
		_ = conn.QueryRow(t.Context(), "SELECT name FROM repo").Scan(&found)
		return found
	}
	waitFor(t, "the standby does not replay", func() bool { return onStandby() == "kept" })
	runSQL(t, standby, "SELECT pg_promote()")

	const lost, later = 100, 20
	var delivered, stored atomic.Pointer[core.Event]
	ended := make(chan error, 1)
	feed := must[*events.Feed](t)(p.Events.Open(ctx, events.EventRequest{After: new(string)}))
	go func() {
		ended <- feed.Follow(ctx, func(e *core.Event) error {
			if delivered.Swap(e) == nil || strings.Contains(string(e.Body), `"kept"`) {
				stored.Store(e)
			}
			return nil
		})
	}()
	name := func() string {
		if e := delivered.Load(); e != nil {
			return string(e.Body)
		}
		return ""
	}
	waitFor(t, "the feed does not deliver what the standby has", func() bool { return strings.Contains(name(), `"kept"`) })
	for n := range lost {
		w.repo(ctx, group, fmt.Sprint("lost-", n))
	}
	waitFor(t, "the feed does not deliver what the standby lacks", func() bool { return strings.Contains(name(), fmt.Sprintf(`"lost-%d"`, lost-1)) })
	// Unlike kill, this waits for all processes of the primary, which could acknowledge writes.
	stop := append(strings.Fields(os.Getenv("ATRIUM_TEST_PG_CTL")), "stop", "--mode=immediate", "--wait", "--pgdata="+filepath.Join(os.Getenv("ATRIUM_TEST_CLUSTERS"), "primary"))
	if out, err := exec.CommandContext(t.Context(), stop[0], stop[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for n := range later {
		waitFor(t, "no writes are acknowledged", func() bool {
			_, err := p.Repos.Create(ctx, group, fieldmask.TypedInput(&inventory.Repo{Name: fmt.Sprint("later-", n)}, "name"))
			return err == nil || core.AsError(err).Code == core.CodeAlreadyExists
		})
	}
	select {
	case err := <-ended:
		if !strings.Contains(err.Error(), "lacks the newest events") {
			t.Errorf("the feed ends with %v, want that the database lacks its events", err)
		}
	case <-time.After(patience):
		t.Fatal("the feed goes on after events that are lost")
	}
	if n := log.count("live feeds, which may have delivered them, are ended"); n != 1 {
		t.Errorf("the loss was logged %d times, want 1", n)
	}
	id := delivered.Load().ID
	if _, err := p.Events.Open(ctx, events.EventRequest{After: &id}); core.AsError(err).Code != core.CodeInvalidArgument {
		t.Errorf("a feed after a lost event: %v, want INVALID_ARGUMENT", err)
	}
	read := 0
	feed = must[*events.Feed](t)(p.Events.Open(ctx, events.EventRequest{After: &stored.Load().ID, First: later}))
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := feed.Follow(within, func(e *core.Event) error {
		if want := fmt.Sprintf(`"later-%d"`, read); !strings.Contains(string(e.Body), want) {
			t.Errorf("event %d after the last one that is stored is %s, want %s", read, e.Body, want)
		}
		read++
		return nil
	})
	if err != nil || read != later {
		t.Errorf("a feed after the last event that is stored delivers %d events (%v), want %d", read, err, later)
	}
}

// promote promotes the second host of a URL.
func promote(t *testing.T, address string) {
	t.Helper()
	at := strings.Index(address, "@") + 1
	_, rest, _ := strings.Cut(address[at:], ",")
	conn, err := pgx.Connect(t.Context(), address[:at]+rest)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var done bool
	if err := conn.QueryRow(t.Context(), "SELECT pg_promote()").Scan(&done); err != nil || !done {
		t.Fatalf("the standby was not promoted (%v)", err)
	}
}

// A load has several writers that record events, and a reader of the feed.
type load struct {
	t          *testing.T
	w          *world
	endWriting func()
	endReading func()

	lock         sync.Mutex
	acknowledged map[string]bool
	read         map[string]int
}

func newLoad(t *testing.T, w *world) *load {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{t: t, w: w, acknowledged: map[string]bool{}, read: map[string]int{}}
	var writers, reader sync.WaitGroup
	for i := range 4 {
		writing := storetest.Open(t, w.url)
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				id := fmt.Sprintf("load.%d.%d", i, n)
				err := writing.Write(ctx, func(tx core.Tx) error {
					tx.Record(&core.Event{ID: id, Body: []byte("{}"), Time: core.At(time.Now())})
					return nil
				})
				if err == nil {
					l.lock.Lock()
					l.acknowledged[id] = true
					l.lock.Unlock()
				}
			}
		})
	}
	at := core.EventPosition{}
	reading, end := context.WithCancel(t.Context())
	reader.Go(func() {
		for reading.Err() == nil {
			events, err := storetest.Tables.Events.EventsAfter(reading, w.store, nil, at, 50)
			if err != nil {
				continue
			}
			l.lock.Lock()
			for _, e := range events {
				at = e.Position
				l.read[e.ID]++
			}
			l.lock.Unlock()
		}
	})
	l.endWriting, l.endReading = func() { cancel(); writers.Wait() }, func() { end(); reader.Wait() }
	t.Cleanup(func() { l.endWriting(); l.endReading() })
	return l
}

// awaitMore waits until n more events are acknowledged.
func (l *load) awaitMore(n int) {
	l.t.Helper()
	count := func() int {
		l.lock.Lock()
		defer l.lock.Unlock()
		return len(l.acknowledged)
	}
	upTo := count() + n
	waitFor(l.t, "no writes are acknowledged", func() bool { return count() >= upTo })
}

// check expects that each acknowledged event exists and was read once.
func (l *load) check() {
	t := l.t
	t.Helper()
	l.endWriting()
	waitFor(t, "the reader of the feed has missed acknowledged events", func() bool {
		l.lock.Lock()
		defer l.lock.Unlock()
		for id := range l.acknowledged {
			if l.read[id] == 0 {
				return false
			}
		}
		return true
	})
	l.endReading()
	at := core.EventPosition{}
	stored := map[string]bool{}
	for {
		events := must[[]*core.Event](t)(storetest.Tables.Events.EventsAfter(t.Context(), l.w.store, nil, at, 500))
		for _, e := range events {
			at, stored[e.ID] = e.Position, true
		}
		if len(events) == 0 {
			break
		}
	}
	lost := 0
	for id := range l.acknowledged {
		if !stored[id] {
			lost++
		}
	}
	twice := 0
	for _, n := range l.read {
		if n > 1 {
			twice++
		}
	}
	t.Logf("%d writes were acknowledged, %d events are stored, %d were read", len(l.acknowledged), len(stored), len(l.read))
	if lost > 0 || twice > 0 {
		t.Errorf("%d acknowledged events are lost, and %d were read twice", lost, twice)
	}
}
