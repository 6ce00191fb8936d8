package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"atrium/internal/export"
	"atrium/internal/resource"
	"atrium/platform/core"
)

// kindFlags are the flags of commands that show resources.
type kindFlags struct {
	clientFlags
	Output string `short:"o" default:"table" placeholder:"FORMAT" help:"Format of the output: table, wide (more columns), json, yaml, csv or name."`
	Quiet  bool   `short:"q" help:"Print uids alone, one per line."`
	Group  string `placeholder:"PATH|UID" help:"List only resources below this group or repo, by its path such as acme/shop or by its UID."`

	kind    *resource.Kind
	filters reflect.Value
}

func (c *kindFlags) setKind(kind *resource.Kind, filters reflect.Value) {
	c.kind, c.filters = kind, filters
}

func (c *kindFlags) check(f *faults) {
	c.clientFlags.check(f)
	if !slices.Contains(resource.Formats, c.Output) {
		f.add("output", "must be one of %s", strings.Join(resource.Formats, ", "))
	}
}

// newOutput returns the form of output that the flags choose.
func (c *kindFlags) newOutput(p program, out io.Writer, client resource.Client) *resource.Output {
	if shown, ok := out.(*pager); ok {
		out = shown.Writer
	}
	o := &resource.Output{Out: out, Format: c.Output, Escape: escapeLine, Defuse: export.Defuse, Now: time.Now(), Client: client}
	if c.Quiet {
		o.Format = resource.UIDs
	}
	if o.Format == resource.Table || o.Format == resource.Wide {
		// These escape the texts of the server themselves, and may have colors between them.
		o.Out, o.Colors = terminalOf(out), isTerminal(p.stdout) && p.env("NO_COLOR") == "" && p.env("TERM") != "dumb"
	}
	return o
}

// findGroup returns the uid of the group or the repo that --group names.
func (c *kindFlags) findGroup(ctx context.Context, client resource.Client) (string, error) {
	if c.Group == "" {
		return "", nil
	}
	return findGroup(ctx, client, c.Group)
}

// findGroup returns the uid of the group or the repo that is named by its uid or its path.
func findGroup(ctx context.Context, client resource.Client, named string) (string, error) {
	if core.UID(named).Valid() {
		return named, nil
	}
	uid, err := client.Find(ctx, named)
	if err == nil && uid == "" {
		err = fmt.Errorf("--group: there is no group and no repo %s that you may see", named)
	}
	return uid, err
}

// listCommand lists resources of one kind.
type listCommand struct {
	kindFlags
	DirectOnly bool          `help:"With --group, list only resources directly in it; without, only resources in no group."`
	OrderBy    string        `placeholder:"FIELD" help:"Field to sort by, with desc after it for descending order: 'name desc'; commas separate several."`
	Limit      int           `default:"50" placeholder:"N" help:"Maximum number of resources; 0 lists all."`
	Watch      bool          `short:"w" help:"Refresh the list whenever something changes."`
	Interval   time.Duration `default:"10s" help:"With --watch, how often to read the list if the server sends no live events about it; 1s or more."`
}

// Help returns the detailed help of all kinds.
func (*kindCommands) Help() string {
	return `Lists resources of the server of 'atrium login' or --url. Each kind has its own filters: see 'atrium list findings --help'. Colors and a pager are
used only on a terminal. $NO_COLOR and $PAGER change them.

Examples:
  atrium list findings --group acme/shop --severity critical,high
  atrium list repos -o csv > repos.csv
  atrium get repos acme/shop/checkout -o yaml
  atrium list tags -q --group acme/shop/checkout --direct-only`
}

func (c *listCommand) query() resource.Query {
	return resource.Query{DirectOnly: c.DirectOnly, Filters: filterValues(c.kind, c.filters), OrderBy: c.OrderBy, Limit: c.Limit}
}

func (c *listCommand) check(f *faults) {
	c.kindFlags.check(f)
	for _, fault := range c.kind.Check(c.query()) {
		if fault.Flag == "order-by" {
			f.add(fault.Flag, "%s", fault.Text)
		} else {
			f.addOwn(fault.Flag, "%s", fault.Text)
		}
	}
	if c.Limit < 0 {
		f.add("limit", "must not be negative")
	}
	switch {
	case c.Group == "" && c.kind.NeedsGroup():
		f.add("group", "is required")
	case c.Group != "" && !c.kind.HasScope():
		f.add("group", "does not apply to %s, which belong to no group", c.kind.Name)
	}
	if c.DirectOnly && !c.kind.HasChildren() {
		f.add("direct-only", "does not apply to %s", c.kind.Name)
	}
	if c.Watch && (c.Quiet || c.Output != resource.Table && c.Output != resource.Wide) {
		f.add("watch", "shows tables only")
	}
	if c.Interval < time.Second {
		f.add("interval", "must be 1s or more")
	}
}

func (c *listCommand) run(ctx context.Context, p program) error {
	server, err := c.client(ctx)
	if err != nil {
		return err
	}
	client := resourceClient{server}
	query := c.query()
	if query.Group, err = c.findGroup(ctx, client); err != nil {
		return err
	}
	if c.Watch {
		return c.watch(ctx, p, client, query)
	}
	out := openPager(p)
	shown, err := c.write(ctx, c.newOutput(p, out, client), query)
	out.wait()
	if errors.Is(err, syscall.EPIPE) { // the reader of the output has closed it
		return nil
	}
	if err != nil {
		return err
	}
	return c.conclude(p, shown)
}

// shownRows says how many rows of a list were shown.
type shownRows struct {
	rows, total int // total is -1 if the server does not tell it
	more        bool
}

func (c *listCommand) write(ctx context.Context, o *resource.Output, query resource.Query) (shown shownRows, err error) {
	err = c.kind.List(ctx, o.Client, query, func(page resource.Page) error {
		shown = shownRows{shown.rows + len(page.Items), page.Total, page.More}
		return o.Write(ctx, c.kind, page.Items)
	})
	if err != nil {
		return shown, err
	}
	return shown, o.Close(c.kind)
}

// conclude tells people what the table does not show.
func (c *listCommand) conclude(p program, shown shownRows) error {
	if c.Quiet || c.Output != resource.Table && c.Output != resource.Wide {
		return nil
	}
	var text string
	switch {
	case shown.rows == 0:
		text = fmt.Sprintf("There are no matching %s that you may see.", strings.ReplaceAll(c.kind.Name, "-", " "))
	case shown.more && shown.total >= 0:
		text = fmt.Sprintf("Showing %d of %d; --limit 0 lists all.", shown.rows, shown.total)
	case shown.more:
		text = fmt.Sprintf("Showing the first %d; --limit 0 lists all.", shown.rows)
	default:
		return nil
	}
	_, err := fmt.Fprintln(p.stderr, text)
	return err
}
