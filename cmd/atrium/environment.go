package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// othersVariables matches variables that begin like settings and are none: those that Kubernetes sets
// for a Service named atrium, and those of the tests of this program.
var othersVariables = regexp.MustCompile(`^ATRIUM_(TEST_.*|(.*_)?SERVICE_(HOST|PORT(_.*)?)|(.*_)?PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`)

// checkEnvironment reports variables that are no settings, most of which are typing errors, and a proxy
// that the server cannot use.
func (*serveCommand) checkEnvironment(f *faults, p program, model *kong.Application) {
	known := map[string]bool{}
	for _, command := range model.Leaves(false) {
		for _, flag := range slices.Concat(model.Flags, command.Flags) {
			known[variable(flag.Name)] = known[variable(flag.Name)] || !flag.Tag.Has("unset")
			known[variable(flag.Name)+"_FILE"] = isSecret(flag)
			known[variable("no-"+flag.Name)] = flag.Tag.Has("negatable") // which has a fault of its own
		}
	}
	names := map[string]bool{}
	for _, entry := range p.environ() {
		name, _, _ := strings.Cut(entry, "=")
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if strings.HasPrefix(name, "ATRIUM_") && !known[name] && !othersVariables.MatchString(name) {
			*f = append(*f, name+": there is no such setting; `atrium serve --help` lists all of them. Correct the name of the variable, or unset it")
		}
	}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if scheme, _, found := strings.Cut(p.env(name), "://"); found && scheme != "http" && scheme != "https" {
			*f = append(*f, name+": must begin with http:// or https://, because connections to issuers and webhooks need CONNECT, which only an HTTP proxy supports")
		}
	}
}
