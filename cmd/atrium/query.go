package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

type queryCommand struct {
	clientFlags
	Document  string `arg:"" help:"GraphQL document, or - to read it from standard input."`
	Variables string `placeholder:"JSON" help:"Variables of the document, as a JSON object."`
	Watch     bool   `help:"For a subscription: print each answer as one line until the subscription ends."`
}

func (c *queryCommand) check(f *faults) {
	c.clientFlags.check(f)
	var object map[string]json.RawMessage
	if c.Variables != "" && json.Unmarshal([]byte(c.Variables), &object) != nil {
		f.add("variables", "must be a JSON object")
	}
}

// Help returns the detailed help.
func (c *queryCommand) Help() string {
	return `Prints the answer of the server, with control characters as JSON escapes. The exit status is 1 if the answer has errors.

Examples:
  atrium query '{ repos(first: 3) { nodes { name } } }'
  atrium query --variables '{"n": 3}' 'query($n: Int) { repos(first: $n) { totalCount } }'
  atrium query --watch 'subscription { events { type subject } }'
  atrium query - < query.graphql`
}

var errInAnswer = errors.New("the answer has errors")

// run prints the answer of the server.
func (c *queryCommand) run(ctx context.Context, p program) error {
	q := question{Query: c.Document}
	if c.Variables != "" {
		q.Variables = json.RawMessage(c.Variables)
	}
	if c.Document == "-" {
		document, err := io.ReadAll(p.stdin)
		if err != nil {
			return err
		}
		q.Query = string(document)
	}
	server, err := c.client(ctx)
	if err != nil {
		return err
	}
	if c.Watch {
		return watch(ctx, server, q, p.stdout)
	}
	a, err := server.ask(ctx, q)
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, a.raw, "", "  "); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(p.stdout, &indented); err != nil {
		return err
	}
	if a.err() != nil {
		return errInAnswer
	}
	return nil
}

// watch prints the answers to a subscription until the server or the user ends it. A lost
// connection is an error, because the command cannot know how to continue the
// subscription.
func watch(ctx context.Context, server *graphqlClient, q question, out io.Writer) error {
	var failed error
	err := server.subscribe(ctx, q, func(time.Time) {}, func(a *answer) error {
		if a.err() != nil {
			failed = errInAnswer
		}
		return writeLine(out, a.raw)
	})
	if err == nil || ctx.Err() != nil {
		return failed
	}
	return err
}

// writeLine writes JSON as one line.
func writeLine(out io.Writer, raw json.RawMessage) error {
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err := out.Write(line.Bytes())
	return err
}
