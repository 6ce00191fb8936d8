package platform_test

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/store/storetest"
)

// An outageLog collects a log.
type outageLog struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (l *outageLog) Write(line []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(line)
}

// Some work is done every second. An outage of the database fails all of it, for as long as it takes.
func TestAnOutageIsLoggedOnceByEachWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := storetest.Open(t, storetest.SQLite(t))
		log := &outageLog{}
		p, err := platform.New(t.Context(), sharedClock{store, time.Now}, platform.Options{
			EncryptionKey: bytes.Repeat([]byte{1}, 32),
			Logger:        slog.New(slog.NewTextHandler(log, nil)),
			IssuerFile:    func(context.Context, string) ([]core.UID, error) { return nil, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Run(ctx) })
		time.Sleep(time.Minute)
		synctest.Wait()
		if log.text.Len() > 0 {
			t.Errorf("before the outage the log has\n%s", log.text.String())
		}
		_ = store.Close()
		time.Sleep(2 * time.Hour)
		end()
		running.Wait()
		times := map[string]int{}
		for _, found := range regexp.MustCompile(`msg="([^"]*)"`).FindAllStringSubmatch(log.text.String(), -1) {
			times[found[1]]++
		}
		for message, n := range times {
			if n > 1 {
				t.Errorf("%q is logged %d times", message, n)
			}
		}
		if len(times) < 5 || !strings.Contains(log.text.String(), "expired role bindings were not deleted") {
			t.Errorf("%d messages: what does an outage stop now?\n%s", len(times), log.text.String())
		}
	})
}
