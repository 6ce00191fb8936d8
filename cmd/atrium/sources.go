package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v4"
)

// sources finds the values of flags that are not on the command line. The first source
// that has a value wins: the environment variable, the file that the variable with _FILE
// names, or the file of --config. A variable that is set and empty gives a flag its default,
// whatever the file of --config has.
type sources struct {
	lookup func(string) (value string, isSet bool)
	faults *faults
	file   string         // path of --config; "" means none
	given  map[string]any // the values in that file, by flag
	from   map[string]string
	opened bool
}

func newSources(lookup func(string) (string, bool), f *faults) *sources {
	return &sources{lookup: lookup, faults: f, from: map[string]string{}}
}

// isUnset reports whether a flag is allowed only on the command line.
func isUnset(flag *kong.Flag) bool {
	return flag.Name == "help" || flag.Name == "version" || flag.Tag.Has("unset")
}

// Validate does nothing, because Resolve collects the faults.
func (*sources) Validate(*kong.Application) error { return nil }

// Resolve returns the value of a flag, or nil if no source has one.
func (s *sources) Resolve(kctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if isUnset(flag) {
		return nil, nil
	}
	if flag.Name == configFlag {
		return s.variable(flag), nil
	}
	if !s.opened {
		s.opened = true
		s.open(kctx)
	}
	if value := s.variable(flag); value != nil {
		return value, nil
	}
	if _, isSet := s.lookup(variable(flag.Name)); isSet && s.given[flag.Name] != nil {
		if isSecret(flag) { // The default may be another database, or no encryption key.
			s.faults.add(flag.Name, "$%s is set and empty, and the configuration file has a value: unset the variable, or give it a value", variable(flag.Name))
		}
		s.from[flag.Name] = "default, since $" + variable(flag.Name) + " is empty"
		return nil, nil
	}
	if value, given := s.given[flag.Name]; given {
		s.from[flag.Name] = s.file
		return value, nil
	}
	return nil, nil
}

func (s *sources) env(name string) string {
	value, _ := s.lookup(name)
	return value
}

// variable returns the value of a flag in the environment, or nil if it is empty.
func (s *sources) variable(flag *kong.Flag) any {
	name := variable(flag.Name)
	if negated := variable("no-" + flag.Name); flag.Tag.Has("negatable") && s.env(negated) != "" {
		s.faults.add(flag.Name, "%s is not a variable; set %s to false instead", negated, name)
	}
	text, file := s.env(name), ""
	if isSecret(flag) {
		file = s.env(name + "_FILE")
	}
	switch {
	case text != "" && file != "":
		s.faults.add(flag.Name, "%s and %[1]s_FILE are both set; unset one of them", name)
	case text != "":
		s.from[flag.Name] = "$" + name
		return text
	case file != "":
		s.from[flag.Name] = "$" + name + "_FILE"
		return s.secret(flag.Name, file)
	}
	return nil
}

// maxSecretBytes is much longer than any secret. A larger file was named by mistake.
const maxSecretBytes = 64 << 10

// secret reads a file that contains one value.
func (s *sources) secret(flag, path string) any {
	file, err := os.Open(path)
	if err != nil {
		s.faults.add(flag, "%s_FILE cannot be read: %s", variable(flag), explainFileError(err))
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxSecretBytes+1))
	switch value := strings.TrimRight(string(text), "\r\n"); {
	case err != nil:
		s.faults.add(flag, "%s_FILE cannot be read: %s", variable(flag), explainFileError(err))
	case value == "" || len(text) > maxSecretBytes:
		s.faults.add(flag, "%s_FILE names %s, which must contain only the value", variable(flag), path)
	default:
		return value
	}
	return nil
}

// configFlag is the flag that names the file of settings.
const configFlag = "config"

// open reads the file of --config.
func (s *sources) open(kctx *kong.Context) {
	s.file = s.env(variable(configFlag))
	for _, element := range kctx.Path {
		if element.Flag != nil && element.Flag.Name == configFlag {
			s.file, _ = kctx.FlagValue(element.Flag).(string)
		}
	}
	if s.file == "" {
		return
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		s.faults.add(configFlag, "cannot be read: %s", explainFileError(err))
		return
	}
	if s.given, err = readSettings(text); err != nil {
		s.faults.add(configFlag, "%s: %s", s.file, err)
		return
	}
	s.checkNames(kctx.Model)
}

// checkNames reports settings that are no flag of any command, because most of them are
// typing errors. All commands share the file, so flags of other commands are allowed.
func (s *sources) checkNames(model *kong.Application) {
	known := map[string]bool{}
	for _, command := range model.Leaves(false) {
		for _, flag := range command.Flags {
			known[flag.Name] = known[flag.Name] || !isUnset(flag)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.given)) {
		if !known[name] {
			s.faults.add(configFlag, "%s: there is no setting %q; settings are named like flags, without the dashes before them", s.file, name)
		}
	}
}

// readSettings parses a YAML map of flags. A value is a text, a number, a Boolean, a list
// of these and of maps, which become JSON, or a map of numbers.
func readSettings(text []byte) (map[string]any, error) {
	var document map[string]yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	settings := make(map[string]any, len(document))
	for _, name := range slices.Sorted(maps.Keys(document)) {
		node := document[name]
		value, err := settingOf(&node)
		if err != nil {
			return nil, fmt.Errorf("%s (line %d): %w", name, node.Line, err)
		}
		if value != nil {
			settings[name] = value
		}
	}
	return settings, nil
}

// settingOf returns a value in the form that kong decodes. Scalars stay as they are
// written, as on the command line.
func settingOf(node *yaml.Node) (any, error) {
	switch {
	case node.Kind == yaml.AliasNode:
		return settingOf(node.Alias)
	case node.Kind == yaml.ScalarNode && node.Tag == "!!null":
		return nil, nil
	case node.Kind == yaml.ScalarNode:
		return node.Value, nil
	case node.Kind == yaml.SequenceNode:
		var list []any
		err := node.Decode(&list)
		if err != nil {
			return nil, err
		}
		for i, item := range list {
			if list[i], err = itemOf(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	numbers := map[string]int{}
	if err := node.Decode(&numbers); err != nil {
		return nil, errors.New("must be a text, a number, a list of these, or a map of numbers")
	}
	pairs := make([]string, 0, len(numbers))
	for _, key := range slices.Sorted(maps.Keys(numbers)) {
		pairs = append(pairs, fmt.Sprintf("%s=%d", key, numbers[key]))
	}
	return strings.Join(pairs, ","), nil
}

// itemOf returns an item of a list as a text: a map as JSON, and what else there is as it is
// written on the command line.
func itemOf(item any) (string, error) {
	if _, isMap := item.(map[string]any); !isMap {
		return fmt.Sprint(item), nil
	}
	text, err := json.Marshal(item)
	return string(text), err
}

// isSecret reports whether the value of a flag must not be shown. The field of such a flag
// has the tag `secret`.
func isSecret(flag *kong.Flag) bool { return flag.Tag.Has("secret") }
