package events

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"atrium/platform/core"
)

// Others must get their turn between the waves in which feeds are woken: Go reads answers
// from the network only when nothing else can run.
func TestManyFeedsAreWokenInWaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		crowd := make([]*listener, 2*wakeBatch+1)
		for i := range crowd {
			crowd[i] = &listener{wants: func(*core.Event) bool { return true }, wake: make(chan struct{}, 1)}
			if added, first := crowd[i].enqueue(&core.Event{}, 1); !added || !first {
				t.Fatal("the event was not added to an empty queue")
			}
			if added, first := crowd[i].enqueue(&core.Event{}, 1); !added || first {
				t.Fatal("a listener that is to be woken is woken twice")
			}
		}
		awake := func() (n int) {
			for _, l := range crowd {
				n += len(l.wake)
			}
			return n
		}
		asked := &grantRead{done: make(chan struct{})}
		go wakeList{operators: crowd[:1], others: crowd[1:], grants: asked}.wake(t.Context())
		for i, want := range []int{1, 1 + wakeBatch, 1 + 2*wakeBatch} {
			if i == 1 {
				close(asked.done)
			}
			synctest.Wait()
			if got := awake(); got != want {
				t.Errorf("%d feeds are awake, want %d", got, want)
			}
			if i > 0 {
				time.Sleep(wakePause)
			}
		}
	})
}

func TestWakingListenersReturnsWhenTheReaderHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wakeList{grants: &grantRead{done: make(chan struct{})}}.wake(ctx) // The call must return.
}
