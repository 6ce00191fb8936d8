package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/alecthomas/kong"
)

// version is set when the program is built.
var version = "dev"

type versionCommand struct{}

func (*versionCommand) check(*faults) {}

func (*versionCommand) run(_ context.Context, p program) error {
	_, err := fmt.Fprintln(p.stdout, describeVersion())
	return err
}

// A versionFlag prints the version instead of anything else.
type versionFlag = kong.VersionFlag

func describeVersion() string {
	return fmt.Sprintf("atrium %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
