package main

import (
	"context"

	"atrium/internal/server"
)

// demoCommand is serve in development mode, which refuses a database with data of others.
type demoCommand struct{ serveCommand }

func (c *demoCommand) check(f *faults) {
	c.Dev = true
	c.serveCommand.check(f)
}

func (c *demoCommand) run(ctx context.Context, p program) error {
	return c.serve(ctx, p, func(config *server.Config) { config.Demonstration = true })
}
