package core

import (
	"context"
	"log/slog"
	"time"
)

// A Core is what the operations of all areas share. Its fields are set before it is used.
type Core struct {
	Store  Store
	Clock  func() time.Time
	Logger *slog.Logger
	Tokens PageTokens

	Idempotency IdempotencyQueries

	denials denials
}

// NewCore returns the core of a platform over a store.
func NewCore(store Store, clock func() time.Time, logger *slog.Logger) *Core {
	c := &Core{Store: store, Clock: clock, Logger: logger}
	c.Tokens = PageTokens{clock: clock, turn: make(chan struct{}, 1)}
	c.denials.core = c
	return c
}

// Now returns the time.
func (c *Core) Now() Time { return At(c.Clock()) }

// Event makes an event for a change of a resource. The verb is created, updated,
// deleted, and so on.
func (c *Core) Event(ctx context.Context, kind, verb string, subject, group UID, body any) *Event {
	return NewEvent(ctx, c.Now(), kind, verb, subject, group, body)
}
