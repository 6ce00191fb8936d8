package main

import (
	"context"

	"atrium/internal/licences"
)

// licencesCommand prints the licences of everything that is part of the program.
type licencesCommand struct{}

func (*licencesCommand) check(*faults) {}

func (*licencesCommand) run(_ context.Context, p program) error { return licences.Write(p.stdout) }
