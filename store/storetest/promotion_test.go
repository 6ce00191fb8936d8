//go:build unix

package storetest_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"atrium/platform"
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
	url := os.Getenv("ATRIUM_TEST_STANDBY")
	if url == "" {
		t.Skip("there is no standby: run the test as `scripts/with-standby go test ./store/storetest -run Promoted`")
	}
	if err := store.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, url)
	load := newLoad(t, w)
	load.awaitMore(200)
	pid, err := strconv.Atoi(os.Getenv("ATRIUM_TEST_PRIMARY_PID"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	promote(t, url)
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

// promote promotes the second host of a URL.
func promote(t *testing.T, url string) {
	t.Helper()
	at := strings.Index(url, "@") + 1
	_, rest, _ := strings.Cut(url[at:], ",")
	conn, err := pgx.Connect(t.Context(), url[:at]+rest)
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
				err := writing.Write(ctx, func(tx platform.Tx) error {
					tx.Record(&platform.Event{ID: id, Body: []byte("{}"), Time: platform.At(time.Now())})
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
	at := platform.EventPosition{}
	reading, end := context.WithCancel(t.Context())
	reader.Go(func() {
		for reading.Err() == nil {
			events, err := w.store.EventsAfter(reading, nil, at, 50)
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
	at := platform.EventPosition{}
	stored := map[string]bool{}
	for {
		events := must[[]*platform.Event](t)(l.w.store.EventsAfter(t.Context(), nil, at, 500))
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
