package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v4"

	"atrium/store"
)

// configCommand takes the flags of serve and prints the resulting configuration.
type configCommand struct {
	serveCommand

	settings *yaml.Node
}

// Help returns the detailed help.
func (c *configCommand) Help() string {
	return `Checks the configuration as ` + "`atrium serve`" + ` does, without starting a server. Prints all settings as YAML, each with its
source. The output can be used as --config FILE. Secrets are hidden in it: fill them in, or set their variables.

The value of a setting comes from the first of these sources that has one: the command line; its environment variable
($ATRIUM_ADDR); for a secret, the file that its _FILE variable names ($ATRIUM_ENCRYPTION_KEY_FILE); --config FILE. A variable with an
empty value resets its setting to the default, even if the file of --config has a value.`
}

// hidden replaces a secret in the output.
const hidden = "(hidden)"

// describe records the settings with their sources.
func (c *configCommand) describe(parsed *kong.Context, from map[string]string) {
	c.settings = &yaml.Node{Kind: yaml.MappingNode}
	for _, element := range parsed.Path {
		if element.Flag != nil && !element.Resolved {
			from[element.Flag.Name] = "--" + element.Flag.Name
		}
	}
	for _, flag := range parsed.Selected().Flags {
		if flag.Name == "help" {
			continue
		}
		source := "default"
		if found := from[flag.Name]; found != "" {
			source = found
		}
		name, value := &yaml.Node{}, &yaml.Node{}
		name.SetString(flag.Name)
		if err := value.Encode(c.displayValue(flag, parsed.FlagValue(flag))); err != nil {
			value.SetString(fmt.Sprint(parsed.FlagValue(flag)))
		}
		value.LineComment = source
		if value.Kind != yaml.ScalarNode {
			value.Style = yaml.FlowStyle
		}
		c.settings.Content = append(c.settings.Content, name, value)
	}
}

// displayValue returns a value without secrets.
func (c *configCommand) displayValue(flag *kong.Flag, value any) any {
	text, _ := value.(string)
	switch {
	case flag.Name == "database-url":
		if shown, isSafe := store.HidePassword(text); isSafe {
			return shown
		}
		return hidden
	case isSecret(flag) && text != "":
		return hidden
	}
	switch value := value.(type) {
	case []string:
		if isSecret(flag) {
			return slices.Repeat([]string{hidden}, len(value))
		}
	case time.Duration:
		return value.String()
	case *string:
		_, address := c.metrics(c.Dev)
		return address
	case *int:
		rate, inFlight := c.limitFlags.limits(c.Dev)
		if flag.Name == "rate-limit" {
			return rate
		}
		return inFlight
	}
	return value
}

// fillPasswords does nothing: the configuration is checked without a connection.
func (*configCommand) fillPasswords(context.Context) error { return nil }

// run prints the configuration.
func (c *configCommand) run(_ context.Context, p program) error {
	out := yaml.NewEncoder(p.stdout)
	if err := out.Encode(c.settings); err != nil {
		return err
	}
	return out.Close()
}
