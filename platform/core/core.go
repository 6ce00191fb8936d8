package platform

import (
	"context"
	"log/slog"
	"time"
)

// A Core is what the operations of all areas share. Its fields are set before it is used.
type Core struct {
	store  CoreStore
	clock  func() time.Time
	logger *slog.Logger
	tokens pageTokens

	denials denials
}

func newCore(store CoreStore, clock func() time.Time, logger *slog.Logger) *Core {
	c := &Core{store: store, clock: clock, logger: logger}
	c.tokens = pageTokens{clock: clock, turn: make(chan struct{}, 1)}
	c.denials.core = c
	return c
}

func (c *Core) now() Time { return At(c.clock()) }

// event makes an event for a change of a resource. The verb is created, updated,
// deleted, and so on.
func (c *Core) event(ctx context.Context, kind, verb string, subject, group UID, body any) *Event {
	return newEvent(ctx, c.now(), kind, verb, subject, group, body)
}
