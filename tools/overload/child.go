package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"io"
	"os"
	"os/exec"
	"time"
)

// A plan is a load for a process of its own. The answers to a few requests must not wait in
// this process behind the many answers to a flood.
type plan struct {
	Address  string
	Rate     float64
	Requests [][]byte
	Length   time.Duration
}

// A report is the outcome of a plan.
type report struct {
	Served, Late    []time.Duration
	Refused, Unsent int
	Failures        map[string]int
}

// runApart sends the load for a time from a process of its own.
func (l load) runApart(ctx context.Context, length time.Duration) (*outcome, error) {
	var in, answer bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(plan{l.address, l.rate, l.requests, length}); err != nil {
		return nil, err
	}
	child := exec.CommandContext(ctx, os.Args[0], "-child") //nolint:gosec // this program
	child.Stdin, child.Stdout, child.Stderr = &in, &answer, os.Stderr
	if err := child.Run(); err != nil {
		return nil, err
	}
	var r report
	err := gob.NewDecoder(&answer).Decode(&r)
	return &outcome{load: l, length: length, served: r.Served, late: r.Late, refused: r.Refused, unsent: r.Unsent, failures: r.Failures}, err
}

// runChild sends the load of a plan, and writes the report.
func runChild(ctx context.Context, in io.Reader, to io.Writer) error {
	var p plan
	if err := gob.NewDecoder(in).Decode(&p); err != nil {
		return err
	}
	out := load{address: p.Address, rate: p.Rate, requests: p.Requests}.run(ctx, p.Length)
	return gob.NewEncoder(to).Encode(report{out.served, out.late, out.refused, out.unsent, out.failures})
}
