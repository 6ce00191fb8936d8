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
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"atrium/internal/rest"
	"atrium/platform"
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

func TestAStartingServerIsLiveAndNotReady(t *testing.T) {
	t.Parallel()
	front := newFront(rest.Options{Logger: discardLogger()}, (&Config{Logger: discardLogger()}).newRecorder(), nil)
	ask := func(path string) (int, string) {
		w := httptest.NewRecorder()
		front.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code, w.Body.String()
	}
	for path, want := range map[string]int{"/livez": 200, "/readyz": 503, "/registry/v2/repos": 503, "/graphql": 503, "/": 503} {
		if status, body := ask(path); status != want || want == 503 && !strings.Contains(body, "the server is starting") {
			t.Errorf("%s: status %d, want %d: %s", path, status, want, body)
		}
	}
	front.show(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	if status, _ := ask("/"); status != http.StatusTeapot {
		t.Errorf("once it has started: status %d, want %d", status, http.StatusTeapot)
	}
}

func TestAServerThatShutsDownIsNotReadyAndServesDuringTheDrainDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		lingering, end := linger(ctx, time.Minute, slog.New(slog.DiscardHandler))
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
		if err := c.readyCheck(nil)(t.Context()); !errors.Is(err, &platform.Error{Code: platform.CodeUnavailable}) {
			t.Errorf("readiness: %v", err)
		}
	})
}
