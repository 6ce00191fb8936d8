package main

import (
	"context"
	"fmt"
	"runtime"
)

// version is set when the program is built.
var version = "dev"

type versionCommand struct{}

func (*versionCommand) check(*faults) {}

func (*versionCommand) run(_ context.Context, p program) error {
	_, err := fmt.Fprintf(p.stdout, "atrium %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
