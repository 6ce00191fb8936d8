package main

import (
	"context"
	"encoding/json"
	"errors"
	"syscall"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
)

type exportAuditCommand struct {
	databaseFlags
	Group   string   `placeholder:"UID" help:"Print only events of this group and its descendants."`
	Since   string   `placeholder:"TIME" help:"Print only events at or after this time, such as 2026-11-21T00:00:00Z."`
	Until   string   `placeholder:"TIME" help:"Print only events before this time."`
	Type    []string `placeholder:"TYPE" help:"Print only events of this type, such as iam.group.created, including events about several resources at once; may be repeated."`
	Actor   string   `placeholder:"ACTOR" help:"Print only events that this actor caused: the UID of an identity, or the name of an operator's command."`
	Subject string   `placeholder:"UID" help:"Print only events about this resource, caused by it, or that name it."`
	Denied  bool     `help:"Print only denied changes."`
}

func (c *exportAuditCommand) check(f *faults) {
	c.databaseFlags.check(f)
	if c.Group != "" {
		checkUID(f, "group", c.Group)
	}
	if c.Subject != "" {
		checkUID(f, "subject", c.Subject)
	}
	checkTime(f, "since", c.Since)
	checkTime(f, "until", c.Until)
}

func checkTime(f *faults, flag, text string) {
	if _, err := parseTime(text); err != nil {
		f.add(flag, "must be a time such as 2026-11-21T00:00:00Z")
	}
}

// Help returns the detailed help.
func (c *exportAuditCommand) Help() string {
	return `Prints the audit log of a database, newest event first, as one JSON object per line: id, type, subject, group, time,
actor, body and count. An update also has changes, the fields that it named. A denied change also has denied, the reason.
Equal denials within a minute are one line, and count is their number. A server may use the database meanwhile.

Examples:
  atrium admin export audit --since 2026-11-01T00:00:00Z > november.jsonl
  atrium admin export audit --denied --group UID | jq -r .actor.subject`
}

// An exportedEvent is a line of the export.
type exportedEvent struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Subject core.UID        `json:"subject"`
	Group   core.UID        `json:"group"`
	Time    core.Time       `json:"time"`
	Actor   core.EventActor `json:"actor"`
	Body    json.RawMessage `json:"body"`
	Denied  string          `json:"denied,omitempty"`
	Count   int32           `json:"count"`

	Changes []core.EventChange `json:"changes,omitempty"`
}

func (c *exportAuditCommand) run(ctx context.Context, p program) error {
	db, err := c.openExisting(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return err
	}
	defer db.close()
	req := events.AuditRequest{DescendantsOf: core.UID(c.Group), Actor: c.Actor, Subject: core.UID(c.Subject), Types: c.Type}
	if c.Denied {
		req.Denied = &c.Denied
	}
	req.Since, _ = parseTime(c.Since) // check has parsed them before
	req.Until, _ = parseTime(c.Until)
	lines := json.NewEncoder(p.stdout)
	lines.SetEscapeHTML(false)
	err = db.AuditLog.Export(ctx, req, func(e *core.Event) error {
		return lines.Encode(exportedEvent{e.ID, e.Type, e.Subject, e.Group, e.Time, e.Actor, e.Body, e.Denied, e.Count, e.Changes})
	})
	if errors.Is(err, syscall.EPIPE) { // the reader of the output has closed it
		return nil
	}
	return err
}

// parseTime reads a time; "" means none.
func parseTime(text string) (core.Time, error) {
	if text == "" {
		return core.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	return core.At(t), err
}
