package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"atrium/internal/resource"
	"atrium/platform/core"
)

// A commandLine holds all commands with their flags.
type commandLine struct {
	ConfigFile  string      `name:"config" type:"path" placeholder:"FILE" help:"YAML file of settings, named like flags without the dashes before them, for all commands."`
	ShowVersion versionFlag `name:"version" help:"Print the version."`

	Login   loginCommand  `cmd:"" group:"Sign in:" help:"Sign in to a server."`
	Logout  logoutCommand `cmd:"" group:"Sign in:" help:"Sign out of a server, and delete its token."`
	Whoami  whoamiCommand `cmd:"" group:"Sign in:" help:"Print who you are on a server, and what you may do there."`
	Context struct {
		List   contextListCommand   `cmd:"" help:"List the servers that you are signed in to."`
		Use    contextUseCommand    `cmd:"" help:"Choose the server that commands use."`
		Remove contextRemoveCommand `cmd:"" help:"Delete a server and its token, without a sign-out at the provider."`
	} `cmd:"" group:"Sign in:" help:"Manage the servers that you are signed in to."`

	List   kindCommands  `cmd:"" group:"Look and decide:" help:"List findings, repos and all other resources of a server."`
	Get    kindCommands  `cmd:"" group:"Look and decide:" help:"Show one resource of a server."`
	Query  queryCommand  `cmd:"" group:"Look and decide:" help:"Send a GraphQL document to a running server."`
	Decide decideCommand `cmd:"" group:"Look and decide:" help:"Decide about findings: accept a risk, or say why it does not affect you."`
	Events struct {
		Tail eventsTailCommand `cmd:"" help:"Print the events of a running server as they happen."`
	} `cmd:"" group:"Look and decide:" help:"Follow the events of a server."`

	Check checkCommand `cmd:"" group:"Gate a build:" help:"Check whether images may be released: the gate of a pipeline."`

	Import struct {
		SBOM     importSBOMCommand     `cmd:"" name:"sbom" help:"Import SBOMs of images, from SPDX and CycloneDX documents."`
		VEX      importVEXCommand      `cmd:"" name:"vex" help:"Import decisions about findings from VEX documents."`
		OSV      importOSVCommand      `cmd:"" name:"osv" help:"Import advisories from OSV records."`
		Registry importRegistryCommand `cmd:"" help:"Import repos, tags and images from JSON lines."`
	} `cmd:"" group:"Import and export:" help:"Import SBOMs, VEX documents, advisories and images."`
	Export struct {
		Findings exportFindingsCommand `cmd:"" help:"Print findings as JSON lines, CSV, JSON or SARIF."`
		Packages exportPackagesCommand `cmd:"" help:"Print the packages in images as JSON lines, CSV or JSON."`
		SBOM     exportSBOMCommand     `cmd:"" name:"sbom" help:"Print the SBOM of an image as CycloneDX or SPDX."`
	} `cmd:"" group:"Import and export:" help:"Export findings, packages and SBOMs."`

	Serve  serveCommand  `cmd:"" group:"Serve:" help:"Serve the API."`
	Demo   demoCommand   `cmd:"" group:"Serve:" help:"Run a server with demonstration data, and print a sign-in link for your browser."`
	Token  tokenCommand  `cmd:"" group:"Serve:" help:"Print a token for a server in development mode on this machine."`
	Health healthCommand `cmd:"" group:"Serve:" help:"Check whether a running server is ready."`
	Admin  adminCommands `cmd:"" group:"Serve:" help:"Operate a server: first owner, migrations, backups, feeds, keys."`

	Schema     schemaCommand     `cmd:"" group:"This program:" help:"Print the GraphQL schema for a federation gateway."`
	Completion completionCommand `cmd:"" group:"This program:" help:"Print a shell completion script."`
	Version    versionCommand    `cmd:"" group:"This program:" help:"Print the version."`
	Licenses   licensesCommand   `cmd:"" group:"This program:" help:"Print the licenses of all software in the program."`
	Complete   completeCommand   `cmd:"" name:"complete-words" hidden:"" group:"This program:" help:"List the possible next words."`
}

// A command is one command of the program.
type command interface {
	// check reports all faults of the flags.
	check(*faults)
	run(context.Context, program) error
}

// parse picks the command and checks its configuration. It returns nil if it has printed
// the help. If only the configuration is wrong, it returns the command too.
func parse(args []string, p program) (picked command, err error) {
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help": // of the command that follows
		args = append(args[1:len(args):len(args)], "--help")
	}
	defer func() {
		switch r := recover(); r {
		case nil:
		case errHelpPrinted:
			picked, err = nil, nil
		default:
			panic(r)
		}
	}()
	f := &faults{}
	settings := newSources(p.lookup, f)
	parser, err := newParser(p, f, settings, kindsFor(args))
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(args)
	var lost outputError
	switch {
	case errors.As(err, &lost):
		return nil, lost.error
	case err != nil:
		return nil, usageError{explainParse(err)}
	}
	picked, ok := pickedCommand(parsed.Selected())
	if !ok {
		return nil, usageError{errors.New("unknown command; see --help")}
	}
	if c, ok := picked.(interface{ useEnvironment(p program) }); ok {
		c.useEnvironment(p)
	}
	if c, ok := picked.(describer); ok {
		c.describe(parsed, settings.from)
	}
	picked.check(f)
	if c, ok := picked.(interface {
		checkEnvironment(*faults, program, *kong.Application)
	}); ok {
		c.checkEnvironment(f, p, parser.Model)
	}
	return picked, f.err()
}

// A describer is a command that uses where the values of its flags come from.
type describer interface {
	// describe receives the sources of values that are not from the command line, by flag.
	describe(parsed *kong.Context, from map[string]string)
}

// errHelpPrinted ends the parsing after the help was printed. kong itself would end the
// process.
const errHelpPrinted = "help was printed"

func newParser(p program, f *faults, settings *sources, kinds []*resource.Kind) (*kong.Kong, error) {
	limits := core.DefaultMemoryLimits()
	commands := &commandLine{
		List: newKindCommands[listCommand](kinds, "", true), Get: newKindCommands[getCommand](kindsToGet(kinds), "Shows one %s.", false),
	}
	return kong.New(commands,
		kong.Name("atrium"),
		kong.Description("Atrium is an inventory of container images and their vulnerabilities, with GraphQL, REST and gRPC."),
		kong.Vars{
			"database_url": defaultDatabaseURL, "audience": defaultAudience, "most_requests": strconv.Itoa(maxConcurrency),
			"answer_bytes": strconv.FormatInt(limits.PerResponse, 10), "answer_memory": strconv.FormatInt(limits.Total, 10),
		},
		kong.Writers(p.stdout, p.stderr),
		kong.Exit(func(int) { panic(errHelpPrinted) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, FlagsLast: true}),
		kong.Help(printHelp),
		kong.KindMapper(reflect.Bool, switchMapper{f}),
		mapValues[string](f, "one text"), mapValues[int](f, "a number"), mapValues[int64](f, "a number"),
		mapValues[time.Duration](f, "a duration such as 90s, 15m or 2h"), kong.TypeMapper(reflect.TypeFor[map[string]int](), valueMapper{kong.MapperFunc(decodeNumbers), f, "NAME=N, with commas between several"}),
		kong.Resolvers(settings),
		kong.ValueFormatter(func(value *kong.Value) string {
			if value.Flag == nil || isUnset(value.Flag) {
				return value.Help
			}
			return fmt.Sprintf("%s ($%s)", value.Help, variable(value.Name))
		}),
	)
}

// variable returns the name of the environment variable of a flag.
func variable(flag string) string {
	return "ATRIUM_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// A switchMapper reads Boolean flags. An invalid value becomes a fault among others,
// while kong would stop at it.
type switchMapper struct{ faults *faults }

// Decode reads the value of the flag, if it has one.
func (m switchMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	on := true
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		var err error
		if on, err = strconv.ParseBool(fmt.Sprint(ctx.Scan.Pop().Value)); err != nil {
			m.faults.add(ctx.Value.Name, "must be true or false")
		}
	}
	target.SetBool(on)
	return nil
}

// IsBool makes the value optional.
func (switchMapper) IsBool() bool { return true }

// A valueMapper reads flags of one type. An invalid value becomes a fault among others, while
// kong would stop at it.
type valueMapper struct {
	kong.Mapper // reads valid values
	faults      *faults
	form        string // what a value must be
}

// mapValues makes a valueMapper read the flags of a type that kong knows.
func mapValues[T any](f *faults, form string) kong.Option {
	t := reflect.TypeFor[T]()
	return kong.TypeMapper(t, valueMapper{kong.NewRegistry().RegisterDefaults().ForType(t), f, form})
}

// Decode reads the value of the flag. If it is invalid, the flag keeps its default, so that it
// has no second fault.
func (m valueMapper) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	given := ctx.Scan.Peek()
	err := m.Mapper.Decode(ctx, target)
	if err == nil || ctx.Value.Flag == nil || !given.IsValue() {
		return err
	}
	if isSecret(ctx.Value.Flag) {
		m.faults.add(ctx.Value.Name, "must be %s", m.form)
	} else {
		m.faults.add(ctx.Value.Name, "must be %s, not %.100q", m.form, fmt.Sprint(given.Value))
	}
	if !ctx.Value.HasDefault {
		return nil
	}
	return m.Mapper.Decode(ctx.WithScanner(kong.ScanAsType(kong.FlagValueToken, ctx.Value.Default)), target)
}

// decodeNumbers reads a map of numbers, such as cost=10,depth=5. Semicolons may separate them too.
func decodeNumbers(ctx *kong.DecodeContext, target reflect.Value) error {
	text := ""
	if err := ctx.Scan.PopValueInto("map", &text); err != nil {
		return err
	}
	if target.IsNil() {
		target.Set(reflect.MakeMap(target.Type()))
	}
	for pair := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' }) {
		name, number, _ := strings.Cut(pair, "=")
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil {
			return err
		}
		target.SetMapIndex(reflect.ValueOf(strings.TrimSpace(name)), reflect.ValueOf(n))
	}
	return nil
}

// A usageError is an error in the command line or in the configuration.
type usageError struct{ error }

// faults collects the errors of the configuration, so that one run reports all of them.
type faults []string

// add reports a fault of a flag. The message also names the environment variable.
func (f *faults) add(flag, format string, args ...any) {
	*f = append(*f, fmt.Sprintf("--%s (%s): %s", flag, variable(flag), fmt.Sprintf(format, args...)))
}

// addOwn reports a fault of a flag that only the command line sets.
func (f *faults) addOwn(flag, format string, args ...any) {
	*f = append(*f, fmt.Sprintf("--%s: %s", flag, fmt.Sprintf(format, args...)))
}

// require reports a fault if a flag has no value.
func (f *faults) require(flag, value string) {
	if value == "" {
		f.add(flag, "is required")
	}
}

func (f *faults) err() error {
	switch len(*f) {
	case 0:
		return nil
	case 1:
		return usageError{errors.New((*f)[0])}
	default:
		return usageError{fmt.Errorf("the configuration has %d errors:\n  %s", len(*f), strings.Join(*f, "\n  "))}
	}
}
