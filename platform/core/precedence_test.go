package core

import (
	"context"
	"errors"
	"testing"
)

func TestTheBackgroundGivesWaySoOftenAndThenDoesNot(t *testing.T) {
	t.Parallel()
	var precedence Precedence
	const acme, other = UID("acme"), UID("other")
	for range MaxEndedTurns {
		gaveWay, err := precedence.Run(t.Context(), acme, func(ctx context.Context, isLast bool) error {
			precedence.Take(other)()
			if isLast || ctx.Err() != nil {
				t.Errorf("a caller in another organization ends the transaction, or it is the last one: %t", isLast)
			}
			precedence.Take(acme)()
			return ctx.Err()
		})
		if !gaveWay || err != nil {
			t.Errorf("the background gives way: %t %v", gaveWay, err)
		}
	}
	release, failed := precedence.Take(acme), errors.New("failed")
	gaveWay, err := precedence.Run(t.Context(), acme, func(ctx context.Context, isLast bool) error {
		if precedence.Take(acme)(); !isLast || ctx.Err() != nil {
			t.Errorf("after %d ends, the transaction is ended again, or is not the last one: %t", MaxEndedTurns, isLast)
		}
		return failed
	})
	if gaveWay || !errors.Is(err, failed) {
		t.Errorf("the last transaction gives way: %t %v", gaveWay, err)
	}
	unit := func(context.Context, bool) error { return nil }
	if gaveWay, err := precedence.Run(t.Context(), acme, unit); !gaveWay || err != nil {
		t.Errorf("the background begins while a caller has the lock: %t %v", gaveWay, err)
	}
	release()
	if gaveWay, err := precedence.Run(t.Context(), acme, unit); gaveWay || err != nil {
		t.Errorf("the background does not begin after the caller: %t %v", gaveWay, err)
	}
	if len(precedence.roots) != 0 {
		t.Errorf("%d organizations are left", len(precedence.roots))
	}
}
