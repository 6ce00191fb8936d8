package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/alecthomas/kong"
)

// version is set by the build.
var version = "dev"

type versionCommand struct{}

func (*versionCommand) check(*faults) {}

func (*versionCommand) run(_ context.Context, p program) error {
	_, err := fmt.Fprintln(p.stdout, describeVersion())
	return err
}

// A versionFlag prints the version and ends the program.
type versionFlag = kong.VersionFlag

func describeVersion() string {
	return fmt.Sprintf("atrium %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
