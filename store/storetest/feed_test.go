package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/store/storetest"
)

// Events are numbered before they are committed, so a reader that uses only the numbers
// would miss events of open transactions. Each event must arrive exactly once, and those
// of one transaction in order.
func TestAFeedReaderMissesNothingThatManyWritersRecord(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		root := org.Group.UID
		at, _, err := w.store.EventPosition(ctx, "")
		if err != nil {
			t.Fatal(err)
		}
		const times, inOne = 12, 3
		done := make(chan []error, 1)
		go func() {
			done <- runAtOnce(writers, func(i int) error {
				for n := range times {
					err := w.store.Write(ctx, func(tx core.Tx) error {
						for k := range inOne {
							tx.Record(&core.Event{ID: fmt.Sprintf("%d.%d.%d", i, n, k), Type: "t", Subject: root, Group: root, Body: []byte("{}"), Time: core.At(w.now())})
						}
						tx.Lock(core.UID(fmt.Sprint(i % 3)))
						return nil
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		}()
		var got []string
		writing := true
		for deadline := time.Now().Add(patience); len(got) < writers*times*inOne || writing; {
			events, err := storetest.Tables.Events.EventsAfter(ctx, w.store, []core.UID{root}, at, 7)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				at = e.Position
				if e.Type == "t" {
					got = append(got, e.ID)
				}
			}
			select {
			case errs := <-done:
				for _, err := range errs {
					if err != nil {
						t.Fatal(err)
					}
				}
				writing = false
			default:
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d of %d events came", len(got), writers*times*inOne)
			}
		}
		next := map[string]int{} // the number of the next event of each transaction
		for _, id := range got {
			dot := strings.LastIndexByte(id, '.')
			if transaction, k := id[:dot], id[dot+1:]; k != strconv.Itoa(next[transaction]) {
				t.Errorf("%s came, want event %d of this transaction", id, next[transaction])
			}
			next[id[:dot]]++
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != writers*times*inOne {
			t.Errorf("%d different events came, want %d", len(slices.Compact(got)), writers*times*inOne)
		}
	})
}

// A caller reads the audit log and follows the feed after the newest event in it. A
// transaction that began earlier commits later, so that its event has an earlier position.
func TestAFeedAfterAnEventOfTheAuditLogMissesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storetest.PostgresOrPooled(t)) // SQLite has one writer
	ctx, org := w.createOrganization("acme")
	begun, finish, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	slow := newDice(43).eventID()
	go func() {
		done <- w.store.Write(context.WithoutCancel(ctx), func(tx core.Tx) error {
			if err := storetest.Tables.Webhooks.SetRelayPosition(ctx, tx, core.EventPosition{}); err != nil { // The transaction now has an id.
				return err
			}
			close(begun)
			<-finish
			tx.Record(&core.Event{ID: slow, Type: "dev.atrium.api.platform.registry.repo.created.v1", Subject: org.Group.UID, Group: org.Group.UID, Body: []byte("{}"), Time: core.At(w.now())})
			return nil
		})
	}()
	select {
	case <-begun:
	case err := <-done:
		t.Fatal("the transaction ended early:", err)
	}
	quick := w.repo(ctx, org.Group.UID, "quick")
	page, err := w.p.AuditLog.List(ctx, events.AuditRequest{})
	if err != nil || page.Items[0].Subject != quick {
		close(finish)
		t.Fatalf("the audit log has %v (%v), want the event of %s first", page.Items, err, quick)
	}
	feed, err := w.p.Events.Open(ctx, events.EventRequest{After: &page.Items[0].ID})
	close(finish)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	later := w.repo(ctx, org.Group.UID, "later")
	var ids []string
	enough := errors.New("the event of the last repo has come")
	err = feed.Follow(ctx, func(e *core.Event) error {
		ids = append(ids, e.ID)
		if e.Subject == later {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	if !slices.Contains(ids, slow) {
		t.Errorf("the feed gives %v, without the event %s, which the audit log did not have", ids, slow)
	}
	if slices.Contains(ids, page.Items[0].ID) {
		t.Errorf("the feed gives %v, and continues after %s", ids, page.Items[0].ID)
	}
}
