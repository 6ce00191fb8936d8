package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/intake"
)

type feedsRunCommand struct {
	databaseFlags
	Names []string `arg:"" optional:"" name:"feed" help:"Names of feeds, as atrium admin status shows them, such as kev. Default: all feeds."`
}

func (c *feedsRunCommand) check(f *faults) { c.databaseFlags.check(f) }

// Help returns the detailed help.
func (*feedsRunCommand) Help() string {
	return `Makes the servers of the database read feeds as soon as one of them is free, and does not wait for the result. A feed that a server is already
reading is read once more afterwards. atrium admin status shows the result.`
}

func (c *feedsRunCommand) run(ctx context.Context, p program) error {
	db, err := c.openExisting(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return err
	}
	defer db.close()
	ctx = core.WithActor(ctx, core.NewOperator("feeds run"))
	feeds, err := db.Sources.Feeds(ctx)
	if err != nil {
		return err
	}
	known := make([]string, len(feeds))
	for i, feed := range feeds {
		known[i] = feed.Name
	}
	for _, name := range c.Names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no feed %q: the feeds are %s", name, strings.Join(known, ", "))
		}
	}
	asked := slices.DeleteFunc(feeds, func(feed *intake.Source) bool { return len(c.Names) > 0 && !slices.Contains(c.Names, feed.Name) })
	if len(asked) == 0 {
		return errors.New("there are no feeds: give them to `atrium serve --feeds`")
	}
	for _, feed := range asked {
		if _, err := db.Sources.Run(ctx, feed.UID); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(p.stdout, "%s is read as soon as a server is free\n", feed.Name)
	}
	return nil
}
