package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/alecthomas/kong"
)

// version is set by the build.
var version = "dev"

type versionCommand struct{ outputFlags }

// Help returns the detailed help.
func (*versionCommand) Help() string {
	return `With -o json it is an object: version, goVersion, os and arch.`
}

func (c *versionCommand) run(_ context.Context, p program) error {
	if c.isJSON() {
		return writeJSON(p.stdout, struct {
			Version   string `json:"version"`
			GoVersion string `json:"goVersion"`
			OS        string `json:"os"`
			Arch      string `json:"arch"`
		}{version, runtime.Version(), runtime.GOOS, runtime.GOARCH})
	}
	_, err := fmt.Fprintln(p.stdout, describeVersion())
	return err
}

// A versionFlag prints the version and ends the program.
type versionFlag bool

// BeforeReset runs before anything else is parsed. Its error ends the program too.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	if _, err := fmt.Fprintln(app.Stdout, describeVersion()); err != nil {
		return outputError{err}
	}
	app.Exit(0)
	return nil
}

// An outputError is a failure to print what the command line asks for, and no fault of it.
type outputError struct{ error }

func describeVersion() string {
	return fmt.Sprintf("atrium %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
