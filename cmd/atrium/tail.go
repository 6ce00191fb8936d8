package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

type eventsTailCommand struct {
	clientFlags
	Group  string   `placeholder:"UID" help:"Print only events of this group and its descendants."`
	Type   []string `placeholder:"TYPE" help:"Print only events of this type, such as iam.group.created; may be repeated."`
	After  *string  `placeholder:"ID" help:"Begin after the event with this id, or with the oldest stored event if empty. Default: begin with new events."`
	First  int      `placeholder:"N" help:"Exit after this number of events; 0 is never."`
	Output string   `default:"text" help:"Output format: text or json, with one event per line."`
}

func (c *eventsTailCommand) check(f *faults) {
	c.clientFlags.check(f)
	if c.Group != "" {
		checkUID(f, "group", c.Group)
	}
	if c.First < 0 {
		f.add("first", "must not be negative")
	}
	if c.Output != "text" && c.Output != "json" {
		f.add("output", "must be text or json")
	}
}

// Help tells what the flags cannot.
func (c *eventsTailCommand) Help() string {
	return `Reconnects after a lost connection and continues after the last event, without a gap. The columns are the time (UTC), the
type, the uid of the changed resource, who changed it, and its name.

Examples:
  atrium events tail
  atrium events tail --type platform.registry.tag.created --group UID
  atrium events tail --after "" --output json | jq .body`
}

// run prints events until there were enough, or nobody wants more.
func (c *eventsTailCommand) run(ctx context.Context, p program) error {
	server, err := c.client(ctx)
	if err != nil {
		return err
	}
	t := &tail{client: server, log: p.stderr, after: c.After, first: c.First, group: c.Group, print: printer(c.Output, p)}
	for _, short := range c.Type {
		t.types = append(t.types, fullType(short))
	}
	if err := t.follow(ctx); ctx.Err() == nil {
		return err
	}
	return nil // nobody wants more
}

const (
	eventPrefix  = "dev.atrium.api."
	eventVersion = ".v1"
)

var versioned = regexp.MustCompile(`\.v[0-9]+$`)

// fullType is the type that a short one stands for.
func fullType(short string) string {
	if !strings.HasPrefix(short, eventPrefix) {
		short = eventPrefix + short
	}
	if !versioned.MatchString(short) {
		short += eventVersion
	}
	return short
}

// shortType is a type without what they all have.
func shortType(full string) string {
	return strings.TrimSuffix(strings.TrimPrefix(full, eventPrefix), eventVersion)
}

// A change is an event as the graph shows it.
type change struct {
	ID      string
	Type    string
	Subject string
	Time    time.Time
	Actor   struct {
		Subject string
		Act     map[string]string
	}
	Body json.RawMessage
}

const tailQuery = `subscription Tail($group: ID, $types: [String!], $after: String) {
  events(descendantsOf: $group, types: $types, after: $after) { id type subject group time actor { subject act } body }
}`

// A tail follows the feed over connections that come and go.
type tail struct {
	client *graphqlClient
	log    io.Writer
	group  string
	types  []string
	after  *string // where the next connection goes on; nil: from then on
	first  int     // how many are still wanted; 0: any number
	print  func(raw json.RawMessage, c *change) error

	begun time.Time // by the server's clock; zero: there was no connection yet
	since time.Time // what is older was before all of this; zero: nothing is
}

// How long to wait before a new connection: ever longer, while none lasts.
const (
	leastWait = time.Second
	mostWait  = 30 * time.Second
)

// beforehand is how much older an event may be than the moment from which it
// can be read: the time of its transaction, and between two clocks.
const beforehand = 10 * time.Second

var errEnough = errors.New("the requested number of events was printed")

// follow prints events. It gives up when the first connection fails, or with an
// error that will not pass.
func (t *tail) follow(ctx context.Context) error {
	for wait := leastWait; ; wait = min(2*wait, mostWait) {
		started := time.Now()
		err := t.connection(ctx)
		switch {
		case errors.Is(err, errEnough):
			return nil
		case t.begun.IsZero(), !passing(err), ctx.Err() != nil:
			return err
		case time.Since(started) > mostWait:
			wait = leastWait
		}
		if t.after == nil {
			t.rewind()
		}
		t.tell("%v; retrying in %v", err, wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// rewind is for a connection that was lost before the first event: there is no
// id to go on behind, and what happens meanwhile must not be missed. So the next
// one begins with the oldest event, and what is too old is passed over.
func (t *tail) rewind() {
	t.after, t.since = new(string), t.begun.Add(-beforehand)
}

func (t *tail) connection(ctx context.Context) error {
	variables := map[string]any{"types": t.types, "after": t.after}
	if t.group != "" {
		variables["group"] = t.group
	}
	return t.client.subscribe(ctx, question{tailQuery, variables}, t.opened, t.take)
}

func (t *tail) opened(now time.Time) {
	if t.begun.IsZero() {
		t.begun = now
	}
	t.tell("following the events of %s", t.client.server)
}

// tell says what is no event. Nobody has to listen.
func (t *tail) tell(format string, args ...any) {
	_, _ = fmt.Fprintf(t.log, format+"\n", args...)
}

func (t *tail) take(a *answer) error {
	if err := a.err(); err != nil {
		return err
	}
	var data struct{ Events json.RawMessage }
	var c change
	if err := json.Unmarshal(a.Data, &data); err != nil {
		return err
	}
	if err := json.Unmarshal(data.Events, &c); err != nil {
		return err
	}
	t.after = &c.ID
	if c.Time.Before(t.since) {
		return nil
	}
	t.since = time.Time{} // from here on everything is new
	if err := t.print(data.Events, &c); err != nil {
		return err
	}
	if t.first--; t.first == 0 {
		return errEnough
	}
	return nil
}
