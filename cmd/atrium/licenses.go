package main

import (
	"context"

	"atrium/internal/licenses"
)

// licensesCommand prints the licenses of everything that is part of the program.
type licensesCommand struct{}

func (*licensesCommand) check(*faults) {}

func (*licensesCommand) run(_ context.Context, p program) error { return licenses.Write(p.stdout) }
