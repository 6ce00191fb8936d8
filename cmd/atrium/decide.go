package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// No variable sets the flags of a decision: one that is set for something else would decide.
type decideCommand struct {
	clientFlags
	Findings      []string `arg:"" name:"finding" help:"UIDs of findings, as 'atrium list findings -q' prints them."`
	State         string   `required:"" unset:"" placeholder:"STATE" help:"State to set: accepted, not-affected, in-triage, or open, which withdraws a decision."`
	Justification string   `unset:"" placeholder:"WHY" help:"Justification of not-affected: component-not-present, vulnerable-code-not-present, vulnerable-code-not-in-execute-path, vulnerable-code-cannot-be-controlled-by-adversary or inline-mitigations-already-exist."`
	Note          string   `unset:"" help:"Note about the decision, such as its reason."`
	Until         string   `unset:"" placeholder:"TIME|Nd" help:"When the decision ends, and the findings are open again: a time such as 2027-01-31T00:00:00Z, or days from now such as 30d."`

	end time.Time
}

var (
	decisionStates = []string{"open", "in-triage", "accepted", "not-affected"}
	justifications = []string{
		"component-not-present", "vulnerable-code-not-present", "vulnerable-code-not-in-execute-path", "vulnerable-code-cannot-be-controlled-by-adversary", "inline-mitigations-already-exist",
	}
)

func (c *decideCommand) check(f *faults) {
	c.clientFlags.check(f)
	if !slices.Contains(decisionStates, c.State) {
		f.addOwn("state", "must be one of %s", strings.Join(decisionStates, ", "))
	}
	if c.Justification != "" && !slices.Contains(justifications, c.Justification) {
		f.addOwn("justification", "must be one of %s", strings.Join(justifications, ", "))
	}
	var err error
	if c.end, err = parseEnd(c.Until, time.Now()); err != nil {
		f.addOwn("until", "%s", err)
	}
}

var errEnd = errors.New("must be a time such as 2027-01-31T00:00:00Z, or days such as 30d")

// parseEnd returns the time that a text means: a time, or days from now. No text means no end.
func parseEnd(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 {
			return time.Time{}, errEnd
		}
		return now.AddDate(0, 0, n), nil
	}
	end, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, errEnd
	}
	return end, nil
}

// Help returns the detailed help.
func (*decideCommand) Help() string {
	return `Sets the state of the findings that you name. If it cannot set one of them, it sets none. The decision replaces the previous one.

Examples:
  atrium decide UID --state accepted --note "we upgrade next week" --until 7d
  atrium decide UID --state not-affected --justification vulnerable-code-not-in-execute-path
  atrium list findings --group acme/shop --package qs -q | xargs atrium decide --state in-triage`
}

const decideDocument = `mutation Decide($input: UpdateFindingsInput!) { updateFindings(input: $input) { updatedCount } }`

// run decides about the findings.
func (c *decideCommand) run(ctx context.Context, p program) error {
	spell := func(word string) string { return strings.ToUpper(strings.ReplaceAll(word, "-", "_")) }
	variables := map[string]any{"input": struct {
		UIDs          []string  `json:"uids"`
		State         string    `json:"state"`
		Justification string    `json:"justification,omitempty"`
		Note          string    `json:"note,omitempty"`
		ExpireTime    time.Time `json:"expireTime,omitzero"`
	}{c.Findings, spell(c.State), spell(c.Justification), c.Note, c.end.UTC()}}
	client, err := c.client(ctx)
	if err != nil {
		return err
	}
	a, err := client.ask(ctx, question{Query: decideDocument, Variables: variables})
	if err != nil {
		return err
	}
	if err := a.err(); err != nil {
		return err
	}
	var decided struct {
		UpdateFindings struct {
			UpdatedCount int `json:"updatedCount"`
		} `json:"updateFindings"`
	}
	if err := json.Unmarshal(a.Data, &decided); err != nil {
		return err
	}
	until := ""
	if !c.end.IsZero() {
		until = ", until " + formatTime(c.end)
	}
	_, err = fmt.Fprintf(p.stdout, "Updated findings: %d. They are now %s%s.\n", decided.UpdateFindings.UpdatedCount, c.State, until)
	return err
}
