package server

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// The processors are busy: a round ends, but late.
func TestRoundsEndAndAreMeasured(t *testing.T) { //nolint:paralleltest // It would disturb the tests beside it.
	ended := make(chan struct{}, 1)
	r := &rounds{end: func() { ended <- struct{}{} }, open: os.Pipe}
	if r.areLong() {
		t.Error("rounds were long before one was measured")
	}
	var stop atomic.Bool
	defer stop.Store(true)
	for range 8 * runtime.GOMAXPROCS(0) {
		go func() {
			for !stop.Load() {
				for end := time.Now().Add(time.Millisecond); time.Now().Before(end); {
				}
				runtime.Gosched()
			}
		}()
	}
	for deadline := time.Now().Add(time.Minute); !r.areLong(); {
		for range 10 {
			runtime.Gosched() // until the reader of the pipe waits again
			r.await()
			<-ended
		}
		if time.Now().After(deadline) {
			t.Fatal("rounds of busy processors are not long")
		}
	}
	if r.areLong() {
		t.Error("rounds are counted twice")
	}
}

// The system has no pipe left, or the pipe does not take the byte: the timer ends the round, so
// that no request waits forever. The next round uses a new pipe.
func TestARoundEndsWithoutAPipe(t *testing.T) {
	t.Parallel()
	noPipe := func() (from, to *os.File, err error) { return nil, nil, syscall.EMFILE }
	closed, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	if err == nil {
		err = closed.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*rounds{{open: noPipe}, {pipe: closed}} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan struct{}, 1)
			r.end = func() { ended <- struct{}{} }
			start := time.Now()
			r.await()
			<-ended
			if took := time.Since(start); took != maxRound || !r.areLong() {
				t.Errorf("the round has ended after %v, want %v and that it is long", took, maxRound)
			}
			r.open = os.Pipe
			start = time.Now()
			r.await()
			<-ended
			if took := time.Since(start); took != 0 {
				t.Errorf("after the failure a round has ended after %v, want that the pipe has ended it", took)
			}
			if err := r.pipe.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Requests that wait are served by the rounds of the real scheduler.
func TestRoundsServeThoseWhoWait(t *testing.T) {
	t.Parallel()
	g := newGate(newQuotas(0, 1, 0), 1)
	handler := passGate(g, http.HandlerFunc(answerOK))
	runs := make(chan int, 50*queuePerSlot)
	for range 50 {
		var all sync.WaitGroup
		for range queuePerSlot {
			all.Go(func() {
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/registry/v2/repos", nil))
				runs <- w.Code
			})
		}
		all.Wait()
	}
	close(runs)
	for code := range runs {
		if code != http.StatusOK {
			t.Fatalf("a request that may wait is answered with %d", code)
		}
	}
	if g.state().Waits == 0 {
		t.Error("no request has waited")
	}
	expectEmpty(t, g)
}

// The attack is requests that arrive together. If each ran to its end before the next one
// reached the gate, none would ever wait there, so that there would be no turns.
func TestRequestsThatArriveTogetherMeetAtTheGate(t *testing.T) {
	t.Parallel()
	const requests = 200
	synctest.Test(t, func(t *testing.T) {
		g := newTestGate(1)
		handler := passGate(g, http.HandlerFunc(answerOK))
		start := make(chan struct{})
		for range requests {
			go func() {
				<-start
				handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/registry/v2/repos", nil))
			}()
		}
		close(start)
		synctest.Wait()
		if waits := g.state().Waits; waits < requests/2 {
			t.Errorf("%d of %d requests have waited", waits, requests)
		}
		expectEmpty(t, g)
	})
}
