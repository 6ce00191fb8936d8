package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"atrium/internal/rest"
	"atrium/platform/core"
)

func TestAPortInUseIsReportedBeforeTheDatabaseIsOpened(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	path := filepath.Join(t.TempDir(), "atrium.db")
	err = Run(t.Context(), Config{Address: taken.Addr().String(), DatabaseURL: "sqlite:" + path, Migrate: true, Logger: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), "--addr "+taken.Addr().String()+": another program already uses this address") {
		t.Errorf("error %v", err)
	}
	if made, _ := filepath.Glob(filepath.Dir(path) + "/*"); len(made) > 0 {
		t.Errorf("made %v", made)
	}
	for cause, want := range map[error]string{syscall.EACCES: "above 1023", syscall.EADDRNOTAVAIL: "does not have", errors.New("other"): "other"} {
		if got := ListenError("addr", "h:1", fmt.Errorf("listen: %w", cause)).Error(); !strings.Contains(got, want) {
			t.Errorf("%v: %s, want it to contain %q", cause, got, want)
		}
	}
}

// A startingServer has a front, and counts the answers by their status.
type startingServer struct {
	*front
	answers map[int]int
	lock    sync.Mutex
}

func newStartingServer() *startingServer {
	return &startingServer{front: newFront(rest.Options{Logger: discardLogger()}, (&Config{Logger: discardLogger()}).newRecorder(), nil), answers: map[int]int{}}
}

// ask sends a request and returns its answer.
func (s *startingServer) ask(path string) (int, string) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	s.lock.Lock()
	defer s.lock.Unlock()
	s.answers[w.Code]++
	return w.Code, w.Body.String()
}

func TestAStartingServerIsLiveAndNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, began := newStartingServer(), time.Now()
		for path, want := range map[string]int{"/livez": 200, "/readyz": 503, "/grpc.health.v1.Health/Check": 503} {
			if status, body := s.ask(path); status != want || want == 503 && !strings.Contains(body, "the server is starting") || time.Since(began) > 0 {
				t.Errorf("%s after %s: status %d, want %d at once: %s", path, time.Since(began), status, want, body)
			}
		}
		for range maxEarly {
			go s.ask("/registry/v2/repos")
		}
		synctest.Wait()
		if status, _ := s.ask("/"); status != 503 || time.Since(began) > 0 {
			t.Errorf("one more than may wait: status %d after %s, want 503 at once", status, time.Since(began))
		}
		time.Sleep(earlyWait + time.Second)
		synctest.Wait()
		if s.answers[503] != maxEarly+3 {
			t.Errorf("answers %v after the longest wait, want %d with 503", s.answers, maxEarly+3)
		}
	})
}

// A load balancer without health checks sends requests to a replica as soon as it accepts
// connections.
func TestRequestsWaitForTheStartOfTheServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStartingServer()
		for _, path := range []string{"/registry/v2/repos", "/graphql", "/"} {
			go s.ask(path)
		}
		time.Sleep(earlyWait - time.Second)
		s.show(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
		synctest.Wait()
		if s.answers[http.StatusTeapot] != 3 || len(s.answers) != 1 {
			t.Errorf("answers %v, want three of the server that has started", s.answers)
		}

		s = newStartingServer()
		go s.ask("/")
		synctest.Wait()
		s.decide() // The start failed.
		synctest.Wait()
		if s.answers[503] != 1 {
			t.Errorf("answers %v, want 503 at once", s.answers)
		}
	})
}

func TestAServerThatShutsDownIsNotReadyAndServesDuringTheDrainDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		lingering, end := (&Config{DrainDelay: time.Minute, Logger: slog.New(slog.DiscardHandler)}).linger(ctx)
		defer end()
		stop()
		time.Sleep(59 * time.Second)
		if lingering.Err() != nil {
			t.Error("it ended too early")
		}
		time.Sleep(2 * time.Second)
		if lingering.Err() == nil {
			t.Error("it goes on too long")
		}
		c := Config{draining: ctx.Done()}
		if err := c.readyCheck(nil)(t.Context()); !errors.Is(err, &core.Error{Code: core.CodeUnavailable}) {
			t.Errorf("readiness: %v", err)
		}
	})
}
