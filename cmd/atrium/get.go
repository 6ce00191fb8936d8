package main

import (
	"context"
	"errors"
	"syscall"

	"atrium/internal/resource"
)

// getCommand shows one resource.
type getCommand struct {
	kindFlags
	Name string `arg:"" help:"UID, name, or the path of the group or repo followed by the name: acme/shop/checkout, acme/shop/checkout:v1."`
}

func (c *getCommand) check(f *faults) {
	c.kindFlags.check(f)
	if c.Group != "" && !c.kind.HasScope() {
		f.add("group", "does not apply to %s, which belong to no group", c.kind.Name)
	}
}

func (c *getCommand) run(ctx context.Context, p program) error {
	server, err := c.client(ctx)
	if err != nil {
		return err
	}
	client := resourceClient{server}
	group, err := c.findGroup(ctx, client)
	if err != nil {
		return err
	}
	item, err := c.kind.Get(ctx, client, c.Name, group)
	if err != nil {
		return lineError{err}
	}
	out := openPager(p)
	err = c.newOutput(p, out, client).Show(ctx, c.kind, item)
	out.wait()
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// kindsToGet returns the kinds of which one can be read.
func kindsToGet(all []*resource.Kind) (found []*resource.Kind) {
	for _, kind := range all {
		if kind.CanGet() {
			found = append(found, kind)
		}
	}
	return found
}
