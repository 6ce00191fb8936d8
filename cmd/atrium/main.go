// Command atrium serves the platform API, and has the other commands that operators (below admin) and
// users need; `atrium --help` lists them. A command and the commands that belong to it share
// a file. A command reads its flags, calls one function of another package, and prints the
// result.
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

// A program holds what a command may use of its process.
type program struct {
	name   string // name as the person typed it
	lookup func(name string) (value string, isSet bool)
	// environ lists all variables as NAME=VALUE.
	environ func() []string
	stdin   io.Reader
	stdout  io.Writer // receives results
	stderr  io.Writer // receives logs, progress and errors
}

// env returns the value of an environment variable, or "" if it is not set.
func (p program) env(name string) string {
	value, _ := p.lookup(name)
	return value
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	context.AfterFunc(ctx, stop) // a second signal ends the program immediately
	err := run(ctx, os.Args[1:], program{os.Args[0], os.LookupEnv, os.Environ, os.Stdin, os.Stdout, os.Stderr})
	if logged := (loggedError{}); err != nil && !errors.As(err, &logged) {
		_, _ = fmt.Fprintln(plainWriter{os.Stderr}, "atrium:", explain(err))
	}
	os.Exit(exitCode(err))
}

// endSignals returns the signals that end a command in order. SIGHUP is one, as for any program
// whose terminal closes, unless nohup has turned it off. A server has nothing to read again then:
// it reads certificates and passwords again by itself.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// run runs the command that the arguments name. Its output is plain text.
func run(ctx context.Context, args []string, p program) error {
	p.stdout, p.stderr = plainWriter{p.stdout}, plainWriter{p.stderr}
	picked, err := parse(args, p)
	if err == nil && picked != nil {
		err = perform(ctx, picked, p)
	}
	if server, isServer := picked.(*serveCommand); err != nil && isServer {
		return server.logEnd(p, err)
	}
	return err
}

// perform runs a command.
func perform(ctx context.Context, picked command, p program) error {
	if connecting, isDatabase := picked.(connector); isDatabase {
		if err := connecting.fillPasswords(ctx); err != nil {
			return err
		}
	}
	return picked.run(ctx, p)
}

// A loggedError is an error that the log of the command has told.
type loggedError struct{ error }

// Unwrap returns the error.
func (e loggedError) Unwrap() error { return e.error }

// exitCode returns 2 for an error in the command line, 3 for a gate about which nothing could be decided, 1 for any other error,
// and 0 for none.
func exitCode(err error) int {
	var usage usageError
	var undecided undecidedError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return 2
	case errors.As(err, &undecided):
		return 3
	default:
		return 1
	}
}
