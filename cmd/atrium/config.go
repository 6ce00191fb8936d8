package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/alecthomas/kong"
	yaml "github.com/oasdiff/yaml3"
)

// configCommand takes the flags of serve, and prints what they come to.
type configCommand struct {
	serveCommand

	settings *yaml.Node
}

// Help tells what the flags cannot.
func (c *configCommand) Help() string {
	return `Checks the configuration as ` + "`atrium serve`" + ` does, without starting anything, and prints every setting that is in force
as YAML, each with where it comes from. What is printed can be used as --config FILE, once the secrets, which are hidden,
are filled in or given by variables.

A setting is looked for on the command line, then in its variable ($ATRIUM_ADDR), then, for secrets, in the file that its
variable with _FILE names ($ATRIUM_ENCRYPTION_KEY_FILE), then in --config FILE.`
}

// hidden stands for a secret.
const hidden = "(hidden)"

// describe notes what is in force.
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
			name.HeadComment, value.LineComment, value.Style = "", "", yaml.FlowStyle
			value.LineComment = source
		}
		c.settings.Content = append(c.settings.Content, name, value)
	}
}

// displayValue is a value as it may be printed.
func (c *configCommand) displayValue(flag *kong.Flag, value any) any {
	text, _ := value.(string)
	switch {
	case flag.Name == "database-url":
		return withoutPassword(text)
	case isSecret(flag) && text != "":
		return hidden
	}
	switch value := value.(type) {
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

// withoutPassword hides the password of a URL.
func withoutPassword(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return hidden
	}
	if query := u.Query(); query.Has("password") || query.Has("sslpassword") {
		for _, name := range []string{"password", "sslpassword"} {
			if query.Has(name) {
				query.Set(name, "xxxxx")
			}
		}
		u.RawQuery = query.Encode()
	}
	return u.Redacted()
}

// run prints what is in force.
func (c *configCommand) run(_ context.Context, p program) error {
	out := yaml.NewEncoder(p.stdout)
	if err := out.Encode(c.settings); err != nil {
		return err
	}
	return out.Close()
}
