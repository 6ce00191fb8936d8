package platform_test

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// A promoted standby lacks the newest event of the former primary, and gives its position
// to another one. A feed that continued after this position would skip that event.
func TestAFeedEndsWhenAnEventThatItDeliveredIsLost(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		p, err := platform.New(t.Context(), storetest.Open(t, url), platform.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx := core.WithActor(t.Context(), core.NewOperator("test"))
		org, err := p.Groups.Bootstrap(ctx, "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		create := func() {
			if _, err := p.Repos.Create(ctx, org.Group.UID, fieldmask.TypedInput(&inventory.Repo{Name: newName()}, "name")); err != nil {
				t.Error(err)
			}
		}
		create()
		var delivered []*core.Event
		fromStart := ""
		err = follow(ctx, p, events.EventRequest{After: &fromStart, First: 6}, func(e *core.Event) error {
			delivered = append(delivered, e)
			switch len(delivered) {
			case 4:
				create() // It is delivered live, because all events before it are.
			case 5:
				changeDatabase(t, url, "UPDATE event SET id = 'other' WHERE id = '"+e.ID+"'")
				create()
			}
			return nil
		})
		if got := core.AsError(err); got.Code != core.CodeUnavailable || !strings.Contains(got.Message, "lacks the newest events") {
			t.Fatalf("a feed that has delivered an event which is lost ends after %d events with %v, want UNAVAILABLE after 5", len(delivered), err)
		}
		lost := delivered[4].ID
		if _, err := p.Events.Open(ctx, events.EventRequest{After: &lost}); core.AsError(err).Code != core.CodeInvalidArgument {
			t.Errorf("a feed after the lost event: %v, want INVALID_ARGUMENT", err)
		}
		var again []string
		err = follow(ctx, p, events.EventRequest{After: &delivered[3].ID, First: 2}, func(e *core.Event) error {
			again = append(again, e.ID)
			return nil
		})
		if err != nil || len(again) != 2 || again[0] != "other" {
			t.Errorf("a feed after the last event that is stored delivers %v (%v), want the one instead of the lost one, and the next", again, err)
		}
	})
}

// The newest event is deleted when its retention time is over. Nothing is lost then.
func TestAFeedContinuesWhenItsNewestEventIsTooOld(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		p, err := platform.New(t.Context(), storetest.Open(t, url), platform.Options{AuditRetention: 1})
		if err != nil {
			t.Fatal(err)
		}
		ctx := core.WithActor(t.Context(), core.NewOperator("test"))
		org, err := p.Groups.Bootstrap(ctx, "acme", "https://issuer.example.com", "owner")
		if err != nil {
			t.Fatal(err)
		}
		fromStart, delivered := "", 0
		err = follow(ctx, p, events.EventRequest{After: &fromStart, First: 4}, func(*core.Event) error {
			if delivered++; delivered == 3 {
				changeDatabase(t, url, "DELETE FROM event")
				_, err := p.Repos.Create(ctx, org.Group.UID, fieldmask.TypedInput(&inventory.Repo{Name: newName()}, "name"))
				return err
			}
			return nil
		})
		if err != nil || delivered != 4 {
			t.Errorf("the feed ends after %d events with %v, want 4", delivered, err)
		}
	})
}

func TestTheRelayLogsThatEventsAreLost(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		var log bytes.Buffer
		p, err := platform.New(t.Context(), storetest.Open(t, url), platform.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx := core.WithActor(t.Context(), core.NewOperator("test"))
		if _, err := p.Groups.Bootstrap(ctx, "acme", "https://issuer.example.com", "owner"); err != nil {
			t.Fatal(err)
		}
		// A database that was restored into another server has events at negative positions.
		changeDatabase(t, url, "UPDATE event SET xact = xact - 1000000000")
		changeDatabase(t, url, "UPDATE relay SET xact = xact - 1000000000")
		relayAll(t, ctx, p, 3)
		if strings.Contains(log.String(), "lacks the newest events") {
			t.Errorf("the relay has logged a loss before there was one: %s", &log)
		}
		changeDatabase(t, url, "DELETE FROM event WHERE seq = (SELECT max(seq) FROM event)")
		changeDatabase(t, url, "UPDATE relay SET xact = (SELECT max(xact) FROM event), seq = (SELECT max(seq) FROM event)")
		if _, err := p.Webhooks.Relay(ctx); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(log.String(), "lacks the newest events"); n != 1 {
			t.Errorf("the relay has logged a loss %d times, want 1: %s", n, &log)
		}
	})
}

// relayAll relays a number of events. A transaction of another test may delay some.
func relayAll(t *testing.T, ctx context.Context, p *platform.Platform, count int) {
	t.Helper()
	for relayed := 0; relayed < count; {
		n, err := p.Webhooks.Relay(ctx)
		if err != nil {
			t.Fatal(err)
		}
		relayed += n
	}
}

// changeDatabase runs a statement without the store.
func changeDatabase(t *testing.T, url, statement string) {
	t.Helper()
	driver, name := "pgx", storetest.Direct(url)
	if path, embedded := strings.CutPrefix(url, "sqlite:"); embedded {
		driver, name = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
