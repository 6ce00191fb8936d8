package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"time"

	"atrium/internal/resource"
)

const (
	// watchPause is the least time between two reads of a list, however much happens.
	watchPause = time.Second
	// clearScreen moves the cursor home and clears what is there.
	clearScreen = "\x1b[H\x1b[2J\x1b[3J"
)

// A bell rings when a list may have changed. It is the log of a tail too, which writes when the feed begins: what happened before that
// may have been missed.
type bell chan struct{}

// Write rings the bell.
func (b bell) Write(text []byte) (int, error) {
	select {
	case b <- struct{}{}:
	default: // It rings already.
	}
	return len(text), nil
}

// watch shows the list again whenever it has changed, until the person ends it. It reads the list after events, and from time to time where
// there are none.
func (c *listCommand) watch(ctx context.Context, p program, client resourceClient, query resource.Query) error {
	ctx, stop := context.WithCancel(ctx)
	changed, feedEnds := make(bell, 1), make(chan struct{})
	feed := &tail{client: client.graphqlClient, log: changed, group: query.Group, kinds: nil, print: func(json.RawMessage, *receivedEvent) error {
		_, err := changed.Write(nil)
		return err
	}}
	go func() {
		defer close(feedEnds)
		_ = feed.follow(ctx) // Without a feed, the list is read from time to time.
	}()
	defer func() { stop(); <-feedEnds }()
	var poll <-chan time.Time
	ended, last := feedEnds, ""
	for {
		text, err := c.render(ctx, p, client, query)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !isTemporary(err):
			return err
		case err == nil && text != last:
			if err := c.draw(p, text, last == ""); err != nil {
				return err
			}
			last = text
		}
		select {
		case <-time.After(watchPause):
		case <-ctx.Done():
			return nil
		}
		for wait := true; wait; {
			select {
			case <-ended:
				ended, poll = nil, time.Tick(c.Interval)
				continue
			case <-changed:
			case <-poll:
			case <-ctx.Done():
				return nil
			}
			wait = false
		}
	}
}

// render returns the table as text.
func (c *listCommand) render(ctx context.Context, p program, client resourceClient, query resource.Query) (string, error) {
	var text bytes.Buffer
	o := c.newOutput(p, &text, client)
	shown, err := c.write(ctx, o, query)
	if err == nil {
		err = c.conclude(program{stderr: &text}, shown)
	}
	return text.String(), err
}

// draw replaces the table on a terminal, and elsewhere writes it below the one before.
func (c *listCommand) draw(p program, text string, isFirst bool) error {
	switch {
	case isTerminal(p.stdout):
		text = clearScreen + text
	case !isFirst:
		text = "\n" + text
	}
	_, err := io.WriteString(terminalOf(p.stdout), text)
	return err
}
