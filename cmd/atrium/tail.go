package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"atrium/platform/core"

	"atrium/platform"
)

type eventsTailCommand struct {
	clientFlags
	Group  string   `placeholder:"UID" help:"Print only events of this group and its descendants."`
	Type   []string `placeholder:"TYPE" help:"Print only events of this type, such as iam.group.created, including events about several resources at once; may be repeated."`
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

// Help returns the detailed help.
func (c *eventsTailCommand) Help() string {
	return `Reconnects after a lost connection and continues after the last event, without a gap. The columns are the time (UTC), the
type, the uid of the changed resource, who changed it, and its name.

Examples:
  atrium events tail
  atrium events tail --type platform.registry.tag.created --group UID
  atrium events tail --after "" --output json | jq .body`
}

// run prints events until it has printed enough, or the user or the reader of the output
// ends it.
func (c *eventsTailCommand) run(ctx context.Context, p program) error {
	server, err := c.client(ctx)
	if err != nil {
		return err
	}
	t := &tail{client: server, log: p.stderr, after: c.After, first: c.First, group: c.Group, kinds: eventKinds(c.Type), print: newPrinter(c.Output, p)}
	if err := t.follow(ctx); ctx.Err() == nil {
		return err
	}
	return nil // the user or the reader of the output ended it
}

// eventKinds returns the names that types of events have in the graph. The server refuses those that it does not know.
func eventKinds(types []string) []string {
	all := platform.AllEventTypes()
	kinds := all.FullTypes(types)
	for i, full := range kinds {
		kinds[i], _ = all.KindName(full)
	}
	return kinds
}

// A receivedEvent is an event as a GraphQL response contains it.
type receivedEvent struct {
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

const tailQuery = `subscription Tail($group: UID, $kinds: [EventKind!], $after: String) {
  events(within: $group, kinds: $kinds, after: $after) { id type subject group: groupUid time actor { subject act } body }
}`

// A tail prints the event feed. It reconnects when the connection is lost.
type tail struct {
	client *graphqlClient
	log    io.Writer
	group  string
	kinds  []string
	after  *string // id after which the next connection continues; nil means new events only
	first  int     // how many events remain to be printed; 0 means no limit
	print  func(raw json.RawMessage, c *receivedEvent) error

	begun time.Time // when the first connection began, by the server's clock; zero before that
	since time.Time // older events are not printed; zero means none
}

// The pause before a new connection doubles from minReconnectWait to maxReconnectWait
// while connections fail quickly.
const (
	minReconnectWait = time.Second
	maxReconnectWait = 30 * time.Second
)

// clockTolerance is how much earlier than the moment at which it becomes readable an event
// may be dated: the duration of its transaction, and the difference between two clocks.
const clockTolerance = 10 * time.Second

var errEnough = errors.New("the requested number of events was printed")

// follow prints events. It fails if the first connection fails, or with an error that is
// not temporary.
func (t *tail) follow(ctx context.Context) error {
	for wait := minReconnectWait; ; wait = min(2*wait, maxReconnectWait) {
		started := time.Now()
		err := t.readConnection(ctx)
		switch {
		case errors.Is(err, errEnough):
			return nil
		case t.begun.IsZero(), !isTemporary(err) && !t.isOutdated(ctx, err), ctx.Err() != nil:
			return err
		case time.Since(started) > maxReconnectWait:
			wait = minReconnectWait
		}
		if t.after == nil {
			t.rewind()
		}
		t.notify("%v; retrying in %v", err, wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isOutdated reports whether the server refused a token that has ended, and there is a new one.
func (t *tail) isOutdated(ctx context.Context, err error) bool {
	var e *core.Error
	return errors.As(err, &e) && e.Code == core.CodeUnauthenticated && t.client.hasNewToken(ctx)
}

// rewind is called if the connection was lost before the first event. There is no event
// to continue after, and no event may be missed. So the next connection begins with the
// oldest event, and events that are too old are not printed.
func (t *tail) rewind() {
	t.after, t.since = new(string), t.begun.Add(-clockTolerance)
}

func (t *tail) readConnection(ctx context.Context) error {
	variables := map[string]any{"kinds": t.kinds, "after": t.after}
	if t.group != "" {
		variables["group"] = t.group
	}
	return t.client.subscribe(ctx, question{tailQuery, variables}, t.begin, t.take)
}

func (t *tail) begin(now time.Time) {
	if t.begun.IsZero() {
		t.begun = now
	}
	t.notify("following the events of %s", t.client.server)
}

// notify writes a message for the user. It ignores errors.
func (t *tail) notify(format string, args ...any) {
	_, _ = fmt.Fprintf(t.log, format+"\n", args...)
}

// take prints the event in an answer, unless it is too old. It fails with errEnough after
// the last requested event.
func (t *tail) take(a *answer) error {
	if err := a.err(); err != nil {
		return err
	}
	var data struct{ Events json.RawMessage }
	var c receivedEvent
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
	t.since = time.Time{} // all later events are new
	if err := t.print(data.Events, &c); err != nil {
		return err
	}
	if t.first--; t.first == 0 {
		return errEnough
	}
	return nil
}
