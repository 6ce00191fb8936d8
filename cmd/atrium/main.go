// Command atrium is the whole program: it serves the platform API and does
// what an operator needs beside that. One file per command; `atrium --help`
// lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// A program is what a command may use of the process it runs in.
type program struct {
	name   string // as the person typed it
	env    func(name string) string
	stdin  io.Reader
	stdout io.Writer // answers
	stderr io.Writer // logs, progress, faults
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	err := run(ctx, os.Args[1:], program{os.Args[0], os.Getenv, os.Stdin, os.Stdout, os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, "atrium:", explained(err))
	}
	os.Exit(exitCode(err))
}

// run does what the arguments say.
func run(ctx context.Context, args []string, p program) error {
	command, err := parse(args, p)
	if command == nil || err != nil {
		return err
	}
	return command.run(ctx, p)
}

// exitCode is 2 for what was typed wrong and 1 for what went wrong.
func exitCode(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	default:
		return 1
	}
}
