package core

import (
	"context"
	"log/slog"
)

type backgroundKey struct{}

// InBackground marks ctx as background work, which no request waits for, such as
// webhooks and live feeds. The store gives background work only a part of its
// connections, so that some are always free for requests.
func InBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsBackground reports whether InBackground has marked ctx.
func IsBackground(ctx context.Context) bool {
	marked, _ := ctx.Value(backgroundKey{}).(bool)
	return marked
}

// A Chore is background work that is done again and again. The log tells when it begins to fail, and when it works
// again, but not each time that it fails, because an outage of the database fails all of them every second.
type Chore struct {
	Logger  *slog.Logger
	Warning string // what the log says when it fails
	failing bool
}

// NewChore returns a chore of this process.
func (c *Core) NewChore(warning string) *Chore {
	return &Chore{Logger: c.Logger, Warning: warning}
}

// Note notes how the work has ended. An error of a shutdown is none.
func (c *Chore) Note(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
		return
	case err != nil && !c.failing:
		c.Logger.Warn(c.Warning, "error", err)
	case err == nil && c.failing:
		c.Logger.Info("background work succeeds again", "warning", c.Warning)
	}
	c.failing = err != nil
}
