package main

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// A pager shows a long output page by page.
type pager struct {
	io.Writer
	pipe    io.Closer
	program *exec.Cmd // nil means that the output goes where it went before
}

// openPager starts $PAGER, or less, if the output is a terminal. What is written to the pager must be plain text.
func openPager(p program) *pager {
	direct := &pager{Writer: p.stdout}
	chosen, isSet := p.lookup("PAGER")
	words := strings.Fields(cmp.Or(chosen, "less"))
	if !isTerminal(p.stdout) || isSet && chosen == "" || p.env("TERM") == "dumb" {
		return direct
	}
	program := exec.Command(words[0], words[1:]...) //nolint:gosec,noctx // The person names it, and ends it after an interrupt too.
	program.Stdout, program.Stderr, program.Env = terminalOf(p.stdout), os.Stderr, p.environ()
	if _, isSet := p.lookup("LESS"); !isSet {
		program.Env = append(slices.Clone(program.Env), "LESS=FRSX") // A page that fits is only printed, and long lines are cut.
	}
	pipe, err := program.StdinPipe()
	if err == nil {
		err = program.Start()
	}
	if err != nil { // There is no such program.
		return direct
	}
	return &pager{plainWriter{pipe}, pipe, program}
}

// wait waits until the person has seen enough.
func (o *pager) wait() {
	if o.program != nil {
		_ = o.pipe.Close()
		_ = o.program.Wait() // How it ends is a matter between it and the person.
	}
}
