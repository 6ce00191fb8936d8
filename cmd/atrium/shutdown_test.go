package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"atrium/server"
)

// The attack: PostgreSQL says nothing any more, so that the queue's client, its
// completer and the pool wait for answers that never come.
func TestTheProcessEndsInTimeWhileTheDatabaseSaysNothing(t *testing.T) {
	t.Parallel()
	process, relay, token := behindRelay(t)
	acme := demoUID(t, process)
	if status, body := process.send(http.MethodPost, token, "/events/v2/subscriptions/"+acme, `{"sink": "https://sink.example.com/"}`); status != http.StatusOK {
		t.Fatalf("%d: %s", status, body)
	}
	for i := range 3 { // deliveries are under way, and noted as ended
		if status, body := process.send(http.MethodPost, token, "/iam/v2/groups/"+acme, fmt.Sprintf(`{"name": "group-%d"}`, i)); status != http.StatusOK {
			t.Fatalf("%d: %s", status, body)
		}
	}
	relay.Silence()
	isUnavailable(t, process, token) // every connection of the pool has been asked for
	process.stop()
	select {
	case err := <-process.ended:
		process.ended <- err // for the cleanup
		if err != nil {
			t.Errorf("ended with %v", err)
		}
	case <-time.After((&server.Config{DrainTimeout: server.DefaultDrainTimeout}).ShutdownTimeout() + 10*time.Second): // which leaves time to a busy machine
		t.Fatalf("the process does not end\n%s", process.stderr)
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
