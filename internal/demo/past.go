package demo

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"atrium/platform"
	"atrium/platform/core"
)

// This file has the clock of the past, and a store that goes by it.

// historyDays is how long ago the organization was created.
const historyDays = 26 * 7

// Retention is how long a server keeps the events of the demonstration, so that the audit log begins with it.
const Retention = (historyDays + 28) * core.Day

// A clock shows a time in the past. Each look at it moves it, so that what happens one after the other has an order.
type clock struct {
	started time.Time // by the true clock
	at      atomic.Int64
}

func newClock(now func() time.Time) *clock {
	if now == nil {
		now = time.Now
	}
	return &clock{started: now()}
}

func (c *clock) set(at time.Time) { c.at.Store(at.UnixMilli()) }

func (c *clock) now() time.Time { return time.UnixMilli(c.at.Add(1)).UTC() }

// daysAgo returns the time at an hour in UTC of the day that is so many days before today. Days before today have passed.
func (c *clock) daysAgo(days, hour int) time.Time {
	return c.started.UTC().Truncate(core.Day).Add(time.Duration(hour)*time.Hour - time.Duration(days)*core.Day)
}

// A pastStore is a store whose time is that of a clock.
type pastStore struct {
	platform.Store
	clock *clock
}

// Now returns the time of the clock.
func (s pastStore) Now(context.Context) (core.Time, error) { return core.At(s.clock.now()), nil }

// Write runs unit in a transaction that goes by the clock.
func (s pastStore) Write(ctx context.Context, unit func(core.Tx) error) error {
	return s.Store.Write(ctx, func(tx core.Tx) error { return unit(pastTx{tx, s.clock}) })
}

// A pastTx is a transaction of a pastStore.
type pastTx struct {
	core.Tx
	clock *clock
}

// Now returns the time of the clock.
func (tx pastTx) Now(context.Context) (core.Time, error) { return core.At(tx.clock.now()), nil }

// A moment is something that happened in the past.
type moment struct {
	at     time.Time
	happen func()
}

// A calendar collects moments.
type calendar struct {
	clock   *clock
	moments []moment
}

// add notes what happened at an hour of a day.
func (c *calendar) add(days, hour int, happen func()) {
	c.moments = append(c.moments, moment{c.clock.daysAgo(days, hour), happen})
}

// addAt notes what happened at a time.
func (c *calendar) addAt(at core.Time, happen func()) {
	c.moments = append(c.moments, moment{at.Time, happen})
}

func compareMoments(x, y moment) int { return cmp.Compare(x.at.UnixMilli(), y.at.UnixMilli()) }
