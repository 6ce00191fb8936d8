package server

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
)

func TestWorkThatExceedsTheShutdownTimeoutIsAbandonedAndNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testAbandonedWork)
}

func testAbandonedWork(t *testing.T) {
	var logs bytes.Buffer
	s := &shutdown{within: DefaultDrainTimeout, logger: slog.New(slog.NewTextHandler(&logs, nil))}
	ctx, stop := context.WithCancel(t.Context())
	released := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- s.bound(ctx, func(ctx context.Context, _ func()) error {
			defer s.begin("the pool")()
			defer s.background(ctx, "a worker that hangs", func(context.Context) { <-released })()
			s.background(ctx, "a worker that has ended", func(context.Context) {})()
			stop()
			<-ctx.Done()
			return nil
		})
	}()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	close(released)
	if got := logs.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `abandoned="[the pool a worker that hangs]"`) {
		t.Errorf("logs: %s, want it to contain %q", got, `abandoned="[the pool a worker that hangs]"`)
	}
}
