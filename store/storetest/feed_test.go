package storetest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"atrium/platform"
)

// Events are numbered before they are committed, so a reader that uses only the numbers
// would miss events of open transactions. Each event must arrive exactly once, and those
// of one transaction in order.
func TestAFeedReaderMissesNothingThatManyWritersRecord(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganisation("acme")
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
					err := w.store.Write(ctx, func(tx platform.Tx) error {
						for k := range inOne {
							tx.Record(&platform.Event{ID: fmt.Sprintf("%d.%d.%d", i, n, k), Type: "t", Subject: root, Group: root, Body: []byte("{}"), Time: platform.At(w.now())})
						}
						return tx.Lock(ctx, platform.UID(fmt.Sprint(i%3)))
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
		for deadline := time.Now().Add(20 * time.Second); len(got) < writers*times*inOne || writing; {
			events, err := w.store.EventsAfter(ctx, []platform.UID{root}, at, 7)
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
		for i := 0; i+inOne <= len(got); i += inOne {
			if got[i][:len(got[i])-1] != got[i+inOne-1][:len(got[i+inOne-1])-1] || got[i][len(got[i])-1] != '0' {
				t.Errorf("the events of one transaction came as %v", got[i:i+inOne])
			}
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != writers*times*inOne {
			t.Errorf("%d different events came, want %d", len(slices.Compact(got)), writers*times*inOne)
		}
	})
}
