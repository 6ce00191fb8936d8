package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The attack: PostgreSQL says nothing any more, so that the queue's client, its
// completer and the pool wait for answers that never come.
func TestTheProcessEndsInTimeWhileTheDatabaseSaysNothing(t *testing.T) {
	t.Parallel()
	server, relay, token := behindRelay(t)
	acme := demoUID(t, server)
	if status, body := server.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, `{"sink": "https://sink.example.com/"}`); status != http.StatusOK {
		t.Fatalf("%d: %s", status, body)
	}
	for i := range 3 { // deliveries are under way, and noted as ended
		if status, body := server.send(http.MethodPost, token, "/iam/v2/groups/"+acme, fmt.Sprintf(`{"name": "group-%d"}`, i)); status != http.StatusOK {
			t.Fatalf("%d: %s", status, body)
		}
	}
	relay.Silence()
	isUnavailable(t, server, token) // every connection of the pool has been asked for
	server.stop()
	select {
	case err := <-server.ended:
		server.ended <- err // for the cleanup
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(shutdownTimeout + 10*time.Second): // which leaves time to a busy machine
		t.Fatalf("the process does not end\n%s", server.stderr)
	}
}

func TestWhatDoesNotEndInTimeIsAbandonedAndNamed(t *testing.T) {
	t.Parallel()
	var logs lockedBuffer
	s := &shutdown{within: 10 * time.Millisecond, logger: slog.New(slog.NewTextHandler(&logs, nil))}
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
		t.Errorf("logs: %s", got)
	}
}

func TestAnOrderlyShutdownAbandonsNothing(t *testing.T) {
	t.Parallel()
	server, _, _ := behindRelay(t)
	if err := server.end(); err != nil {
		t.Error(err)
	}
	if logs := server.stderr.String(); strings.Contains(logs, "abandoned") {
		t.Errorf("logs:\n%s", logs)
	}
}
