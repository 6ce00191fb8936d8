package platform_test

import (
	"context"
	"testing"

	"atrium/platform"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

// A latecomer runs a function between the relay's count of waiting deliveries and its
// commit.
type latecomer struct {
	*sqlstore.Store
	meanwhile func()
}

func (s latecomer) Write(ctx context.Context, unit func(platform.Tx) error) error {
	return s.Store.Write(ctx, func(tx platform.Tx) error { return unit(lateTx{tx, s.meanwhile}) })
}

type lateTx struct {
	platform.Tx
	meanwhile func()
}

func (t lateTx) CountWaiting(ctx context.Context, subscriptions []platform.UID) (map[platform.UID]int, error) {
	waiting, err := t.Tx.CountWaiting(ctx, subscriptions)
	t.meanwhile()
	return waiting, err
}

// Deliveries that end while others are being held back cannot see those. Without a second
// check nothing would ever make them ready.
func TestHeldDeliveriesAreReleasedWhenOthersEnd(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t) // SQLite has one writer at a time.
	w := &world{TB: t, url: url, store: storetest.Open(t, url)}
	w.p = w.replica(w.store, platform.Options{})
	acme := w.found("acme")
	w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1")
	make8 := func() {
		for range 8 {
			w.repo(acme.uid)
		}
	}
	make8()
	w.relay()
	waiting := w.queuedUIDs()
	make8()
	ended := false
	late := w.replica(latecomer{w.store, func() {
		if ended {
			return
		}
		ended = true
		for _, d := range waiting {
			w.end(d, platform.Attempt{Status: 200})
		}
	}}, platform.Options{})
	for !ended { // Older transactions of other tests may have to end first.
		_, err := late.Webhooks.Relay(t.Context())
		must(t, err)
	}
	w.relay()
	if n := len(w.queuedUIDs()); n != 8 {
		t.Errorf("%d of the held deliveries are made ready, want 8", n)
	}
}

// Only the first attempt of a delivery makes room for another one. If each retry did, the
// queue would fill with the deliveries of a sink that fails.
func TestRetriesReleaseNoHeldDeliveries(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1")
		for range 20 {
			w.repo(acme.uid)
		}
		w.relay()
		first := w.queuedUIDs()
		for range 4 { // attempts of each
			for _, uid := range first {
				w.end(uid, platform.Attempt{Status: 500})
			}
		}
		held := 0
		for _, d := range w.deliveries(sub.UID) {
			if d.Stage == platform.StageHeld {
				held++
			}
		}
		if want := 20 - 2*len(first); held != want {
			t.Errorf("%d deliveries are held after the retries of %d, want %d", held, len(first), want)
		}
	})
}

// The attack is one call that redelivers many deliveries to a sink that hangs, and thus fills
// the queue.
func TestRedeliveriesObeyTheLimitOfTheQueue(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1").UID
		for range 24 {
			w.repo(acme.uid)
		}
		w.relay()
		deliver := func() (times int) {
			t.Helper()
			for {
				queued := w.queuedUIDs()
				if len(queued) > 8 {
					t.Errorf("%d deliveries are in the queue, want at most 8", len(queued))
				}
				if len(queued) == 0 {
					return times
				}
				for _, d := range queued {
					times++
					w.end(d, platform.Attempt{Status: 200})
				}
			}
		}
		deliver()
		var uids []platform.UID
		for _, d := range w.deliveries(sub) {
			uids = append(uids, d.UID)
		}
		w.repo(acme.uid)
		w.relay() // One delivery is waiting already.
		again, err := w.p.Deliveries.Redeliver(acme.owner, uids)
		must(t, err)
		held := 0
		for _, d := range again {
			if d.State != platform.DeliveryPending || d.Attempts != 0 {
				t.Errorf("to be sent again: %+v", d)
			}
			if d.Stage == platform.StageHeld {
				held++
			}
		}
		if want := 24 - 7; held != want {
			t.Errorf("%d redeliveries are held beside one delivery that waits, want %d", held, want)
		}
		if times := deliver(); times != 25 {
			t.Errorf("%d deliveries were made, want 25", times)
		}
	})
}
