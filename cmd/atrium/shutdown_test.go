package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The attack: PostgreSQL stops answering, so claims, renewals, attempts and the pool wait for
// answers that never arrive.
func TestTheProcessEndsInTimeWhileTheDatabaseDoesNotAnswer(t *testing.T) {
	t.Parallel()
	process, relay, token := startBehindRelay(t)
	acme := demoUID(t, process)
	if status, body := process.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, `{"sink": "https://sink.example.com/"}`); status != http.StatusOK {
		t.Fatalf("status %d, want 200: %s", status, body)
	}
	for i := range 3 { // Deliveries are running, and their results are being stored.
		if status, body := process.send(http.MethodPost, token, "/iam/v2/groups/"+acme, fmt.Sprintf(`{"name": "group-%d"}`, i)); status != http.StatusOK {
			t.Fatalf("status %d, want 200: %s", status, body)
		}
	}
	relay.Silence()
	expectUnavailable(t, process, token) // All connections of the pool are in use.
	process.stop()
	select {
	case err := <-process.ended:
		process.ended <- err // The cleanup receives it again.
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(patience):
		t.Fatalf("the process does not end\n%s", process.stderr)
	}
}

func TestAnOrderlyShutdownAbandonsNothing(t *testing.T) {
	t.Parallel()
	server, _, _ := startBehindRelay(t)
	if err := server.end(); err != nil {
		t.Error(err)
	}
	if logs := server.stderr.String(); strings.Contains(logs, "abandoned") {
		t.Errorf("logs:\n%s, want it without 'abandoned'", logs)
	}
}
